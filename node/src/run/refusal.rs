//! What an operator can do about an error of the system, said once for every place where one can happen.

use std::io;

use cairn_block_log::LogError;
use cairn_rules::registers::TableError;
use cairn_state::StateError;
use cairn_sync::download::SyncError;
use cairn_sync::replay::ReplayError;
use cairn_sync::writer::WriterError;
use rustix::io::Errno;

/// Puts the remedy before an error whose cause is one of the system that people can do something about.
pub fn explain(error: anyhow::Error) -> anyhow::Error {
    let advice = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .and_then(advice);
    match advice {
        Some(advice) => error.context(advice),
        None => error,
    }
}

fn advice(error: &io::Error) -> Option<String> {
    let user = rustix::process::geteuid().as_raw();
    match error.kind() {
        io::ErrorKind::PermissionDenied => Some(format!(
            "the data folder and everything in it must be readable and writable for the user that runs the node \
             (user id {user}); check owner and permissions"
        )),
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("the data folder lies on a file system that is mounted read-only".to_owned())
        }
        _ if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            Some("the limit of open files is reached; raise it (`ulimit -n`) and start again".to_owned())
        }
        _ => None,
    }
}

/// Whether an error means that a disk is full: a reason to wait, not to end.
pub fn is_disk_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            );
        }
        cause
            .downcast_ref::<SyncError>()
            .is_some_and(SyncError::is_disk_full)
            || cause
                .downcast_ref::<ReplayError>()
                .is_some_and(ReplayError::is_disk_full)
            || cause
                .downcast_ref::<WriterError>()
                .is_some_and(WriterError::is_disk_full)
            || cause
                .downcast_ref::<LogError>()
                .is_some_and(LogError::is_disk_full)
            || cause
                .downcast_ref::<StateError>()
                .is_some_and(StateError::is_disk_full)
            || matches!(cause.downcast_ref(), Some(TableError::State(error)) if error.is_disk_full())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_error(kind: io::ErrorKind) -> LogError {
        LogError::Io {
            action: "write",
            path: "/node/blockchain/block_log".into(),
            source: kind.into(),
        }
    }

    #[test]
    fn a_full_disk_is_found_under_every_wrapping() {
        let full = || WriterError::Log(log_error(io::ErrorKind::StorageFull));
        assert!(is_disk_full(&anyhow::Error::new(SyncError::Writer(full()))));
        assert!(is_disk_full(&anyhow::Error::new(ReplayError::Writer(
            full().into()
        ))));
        assert!(is_disk_full(
            &anyhow::Error::new(log_error(io::ErrorKind::QuotaExceeded)).context("x")
        ));
        let other = anyhow::Error::new(log_error(io::ErrorKind::PermissionDenied));
        assert!(!is_disk_full(&other));
        let told = format!("{:#}", explain(other));
        assert!(
            told.starts_with("the data folder and everything in it must be")
                && told.contains("/node/blockchain"),
            "{told}"
        );
    }
}
