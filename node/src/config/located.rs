//! A value together with the place where the operator wrote it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An argument of the command.
    CommandLine,
    /// A line of a configuration file.
    File {
        /// The file.
        path: Arc<Path>,
        /// Line number, from 1.
        line: u32,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
        }
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub origin: Origin,
}

impl<T> Located<T> {
    /// A value from the command line.
    pub fn from_command_line(value: T) -> Self {
        Self {
            value,
            origin: Origin::CommandLine,
        }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located {
            value: change(self.value),
            origin: self.origin,
        }
    }
}
