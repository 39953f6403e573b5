//! Exit codes and the errors that choose them.

use std::fmt;

use anyhow::Error;

use crate::chain_choice::ChainError;
use crate::config::ConfigProblems;

/// How the process ends; scripts and service managers rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The command did what it was asked to.
    Done = 0,
    /// It could not.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The data contradicts a checkpoint. Restarting does not help.
    Contradiction = 3,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// Why a command ended without having done its work.
#[derive(Debug)]
pub enum CommandError {
    /// Exit code 2.
    Usage(Error),
    /// Exit code 3.
    Contradiction(Error),
    /// Exit code 1.
    Failed(Error),
}

impl CommandError {
    /// The exit code.
    pub const fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::Usage,
            Self::Contradiction(_) => ExitCode::Contradiction,
            Self::Failed(_) => ExitCode::Failed,
        }
    }

    /// A usage error.
    pub fn usage(error: impl Into<Error>) -> Self {
        Self::Usage(error.into())
    }

    /// What a checkpoint forbids.
    pub fn contradiction(error: impl Into<Error>) -> Self {
        Self::Contradiction(error.into())
    }
}

/// The whole chain of causes on one line, outermost first.
impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(error) | Self::Contradiction(error) | Self::Failed(error)) = self;
        f.write_str(&full_text(error.as_ref()))
    }
}

/// An error with its causes, outermost first. A cause that the text before already ends with is not said again.
pub fn full_text(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// Exit code 1, unless an error somewhere in the chain of causes is known to mean another one.
impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let usage = error
            .chain()
            .any(|cause| cause.is::<ConfigProblems>() || cause.is::<ChainError>());
        if usage {
            Self::Usage(error)
        } else {
            Self::Failed(error)
        }
    }
}

impl From<ConfigProblems> for CommandError {
    fn from(problems: ConfigProblems) -> Self {
        Self::Usage(problems.into())
    }
}

impl From<ChainError> for CommandError {
    fn from(error: ChainError) -> Self {
        Self::Usage(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_typed_cause_chooses_the_code_through_any_context() {
        let problems = Err::<(), _>(ConfigProblems(vec![]))
            .context("while starting")
            .unwrap_err();
        assert_eq!(CommandError::from(problems).exit_code(), ExitCode::Usage);
        let other = anyhow::anyhow!("disk full").context("while starting");
        let other = CommandError::from(other);
        assert_eq!(
            (other.exit_code(), other.to_string().as_str()),
            (ExitCode::Failed, "while starting: disk full")
        );
        let missing = std::fs::File::open("/nonexistent").unwrap_err();
        let read = ChainError::Unreadable {
            path: "x".into(),
            source: missing,
        };
        let text = CommandError::from(read).to_string();
        assert_eq!(
            text,
            "chain specification x cannot be read: No such file or directory (os error 2)"
        );
        assert_eq!(
            CommandError::contradiction(anyhow::anyhow!("x")).exit_code() as u8,
            3
        );
    }
}
