//! The node's key, from which its id on the network follows.
//!
//! The file holds the key pair in libp2p's protobuf encoding: for Ed25519 the bytes `08 01 12 40`, the 32
//! secret and the 32 public bytes, 68 in all. It is made with mode 0600 when it is missing. A file that
//! cannot be read as a key is an error and stays as it is: a node must not change its id silently.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use libp2p::identity::Keypair;

/// A key file of libp2p is under 100 bytes for Ed25519 and under 2.5 KiB for RSA; more is something else.
const LONGEST_KEY_FILE: u64 = 8 * 1024;

/// Where the node's key comes from.
#[derive(Debug, Clone, Default)]
pub enum Identity {
    /// A new key at each start: for tests and throw-away nodes.
    #[default]
    Ephemeral,
    /// A key kept in this file, created when it is missing.
    File(PathBuf),
}

/// Why there is no node key.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The file exists but cannot be read.
    #[error("cannot read the node key {}: {source}", path.display())]
    Read {
        /// The key file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is missing and cannot be written.
    #[error("cannot create the node key {}: {source}", path.display())]
    Create {
        /// The key file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds something else than a key.
    #[error(
        "the node key {} ({length} bytes) is not a libp2p key: {reason}; restore it, or move it away and \
         the node makes a new one (and gets a new id)",
        path.display()
    )]
    Broken {
        /// The key file.
        path: PathBuf,
        /// How long it is, in bytes.
        length: u64,
        /// What the decoder said.
        reason: String,
    },
}

impl Identity {
    /// The key pair; makes and keeps one when there is none yet.
    ///
    /// # Errors
    /// [`IdentityError`]; an existing file is never changed.
    pub fn load(&self) -> Result<Keypair, IdentityError> {
        match self {
            Self::Ephemeral => Ok(Keypair::generate_ed25519()),
            Self::File(path) => match File::open(path) {
                Ok(file) => read(path, file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => create(path),
                Err(source) => Err(IdentityError::Read {
                    path: path.clone(),
                    source,
                }),
            },
        }
    }
}

fn read(path: &Path, file: File) -> Result<Keypair, IdentityError> {
    let failed = |source| IdentityError::Read {
        path: path.to_owned(),
        source,
    };
    let metadata = file.metadata().map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LONGEST_KEY_FILE)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    warn_if_readable_by_others(path, &metadata);
    let broken = |reason| IdentityError::Broken {
        path: path.to_owned(),
        length: metadata.len(),
        reason,
    };
    if metadata.len() > LONGEST_KEY_FILE {
        return Err(broken(format!("longer than {LONGEST_KEY_FILE} bytes")));
    }
    Keypair::from_protobuf_encoding(&bytes).map_err(|error| broken(error.to_string()))
}

/// The key is written beside its place and linked there when it is on the disk, so that a crash leaves no half
/// a key, and a second process cannot have its key replaced.
fn create(path: &Path) -> Result<Keypair, IdentityError> {
    let failed = |source| IdentityError::Create {
        path: path.to_owned(),
        source,
    };
    let key = Keypair::generate_ed25519();
    let bytes = key
        .to_protobuf_encoding()
        .map_err(|error| failed(io::Error::other(error)))?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".new-{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    // A crash may have left one, and in a container every start has the same process id.
    let _ = fs::remove_file(&temporary);
    let placed = write_new(&temporary, &bytes).and_then(|()| match fs::hard_link(&temporary, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links.
        Err(_) => fs::rename(&temporary, path),
    });
    // Gone already if it was renamed; worthless in every other case.
    let _ = fs::remove_file(&temporary);
    match placed {
        Ok(()) => Ok(key),
        // Another process was quicker: its key is the node's key.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read(path, File::open(path).map_err(failed)?)
        }
        Err(source) => Err(failed(source)),
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(unix)]
fn warn_if_readable_by_others(path: &Path, metadata: &fs::Metadata) {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    if mode & 0o077 != 0 {
        tracing::warn!(
            target: "p2p",
            "The node key {} can be read by others (mode {:03o}): chmod 600 it",
            path.display(),
            mode & 0o777
        );
    }
}

#[cfg(not(unix))]
fn warn_if_readable_by_others(_: &Path, _: &fs::Metadata) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_is_made_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node_key");
        let identity = Identity::File(path.clone());
        let first = identity.load().unwrap().public();
        let second = identity.load().unwrap().public();
        assert_eq!(first, second);
        assert_eq!(fs::metadata(&path).unwrap().len(), 68);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777,
            0o600
        );
    }

    #[test]
    fn what_a_crash_left_of_a_key_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node_key");
        let left = folder.path().join(format!("node_key.new-{}", std::process::id()));
        fs::write(&left, b"half").unwrap();
        Identity::File(path.clone()).load().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 68);
        assert!(!left.exists());
    }

    #[test]
    fn a_broken_key_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node_key");
        let key = Keypair::generate_ed25519().to_protobuf_encoding().unwrap();
        let mut flipped = key.clone();
        flipped[40] ^= 1;
        for bytes in [
            Vec::new(),
            b"not a key".to_vec(),
            key[..67].to_vec(),
            flipped,
            vec![0; 9000],
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = Identity::File(path.clone()).load().unwrap_err();
            assert!(
                matches!(&error, IdentityError::Broken { length, .. } if *length == bytes.len() as u64),
                "{error}"
            );
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn an_unwritable_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("node_key");
        assert!(matches!(
            Identity::File(path).load(),
            Err(IdentityError::Create { .. })
        ));
    }
}
