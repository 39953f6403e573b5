//! Faults and warnings of a configuration.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::chain_choice::ChainError;
use crate::exit::full_text;
use crate::logging::FilterError;

use super::endpoint::EndpointError;
use super::located::Origin;

/// One fault; the run must not start.
#[derive(Debug, Error)]
pub enum ConfigProblem {
    /// The file that was asked for cannot be read.
    #[error("configuration file {path} cannot be read: {source}")]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than a configuration can sensibly be.
    #[error("configuration file {path} has {found} bytes, more than {limit}: is it another file?")]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A line without a usable key.
    #[error("{origin}: {what}; expected `option = value`")]
    BadLine {
        /// Where.
        origin: Origin,
        /// What is wrong with the line.
        what: &'static str,
    },
    /// A name that is almost that of an option.
    #[error("{origin}: unknown option `{found}`; did you mean `{suggestion}`?")]
    Misspelt {
        /// Where.
        origin: Origin,
        /// The name as written.
        found: String,
        /// The nearest known name.
        suggestion: &'static str,
    },
    /// A name that Steem used.
    #[error("{origin}: option `{found}` is called `{name}` in Hive")]
    Renamed {
        /// Where.
        origin: Origin,
        /// The name as written.
        found: String,
        /// Today's name.
        name: &'static str,
    },
    /// A scalar given twice.
    #[error(
        "{second}: option `{name}` may be given only once; it is given at {first} too. Remove one of the two"
    )]
    Repeated {
        /// The option.
        name: &'static str,
        /// Where it stands first.
        first: Origin,
        /// Where it stands again.
        second: Origin,
    },
    /// An option without a value.
    #[error("{origin}: option `{name}` needs a value: {name} = {value_name}")]
    NoValue {
        /// Where.
        origin: Origin,
        /// The option.
        name: &'static str,
        /// What the value is.
        value_name: &'static str,
    },
    /// A value of the wrong type or out of range.
    #[error("{origin}: option `{name}`: {found:?} is not {expected}")]
    BadValue {
        /// Where.
        origin: Origin,
        /// The option.
        name: &'static str,
        /// The value as written.
        found: String,
        /// What is expected there.
        expected: String,
    },
    /// A log filter that is none.
    #[error("{origin}: option `log-level`: {source}")]
    LogLevel {
        /// Where.
        origin: Origin,
        /// What is wrong with it.
        source: FilterError,
    },
    /// The address to listen on.
    #[error("{origin}: option `p2p-endpoint`: {found:?}: {source}")]
    Endpoint {
        /// Where.
        origin: Origin,
        /// The value as written.
        found: String,
        /// What is wrong with it.
        source: EndpointError,
    },
    /// hived's own sentence.
    #[error("{origin}: Not supported block log split value {value}; -1, 0 and 1 to 9999 are")]
    BlockLogSplit {
        /// Where.
        origin: Origin,
        /// The value.
        value: i64,
    },
    /// hived's own sentence.
    #[error(
        "--exit-at-block and --stop-at-block cannot be used together{}",
        standing(exit, stop)
    )]
    ExitAndStop {
        /// Where exit-at-block stands.
        exit: Origin,
        /// Where stop-at-block stands.
        stop: Origin,
    },
    /// Two options that say the same thing differently.
    #[error("options `{first}` ({first_origin}) and `{second}` ({second_origin}) cannot be used together")]
    Exclusive {
        /// One option.
        first: &'static str,
        /// Where it stands.
        first_origin: Origin,
        /// The other.
        second: &'static str,
        /// Where it stands.
        second_origin: Origin,
    },
    /// An option in a file that belongs on the command line.
    #[error("{origin}: option `{name}` is accepted on the command line only: {reason}")]
    CommandLineOnly {
        /// Where.
        origin: Origin,
        /// The option.
        name: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// p2p-parameters is not the object that it should be.
    #[error("{origin}: option `p2p-parameters`: {what}")]
    P2pParameters {
        /// Where.
        origin: Origin,
        /// What is wrong, with the name of the parameter.
        what: String,
    },
    /// A chain that is neither built in nor a readable specification.
    #[error("{origin}: option `chain`: {source}")]
    Chain {
        /// Where.
        origin: Origin,
        /// What is wrong.
        source: ChainError,
    },
    /// The file with checkpoints.
    #[error("{origin}: {source}")]
    CheckpointFile {
        /// Where the option stands.
        origin: Origin,
        /// What is wrong with the file.
        source: cairn_sync::checkpoint::file::CheckpointFileError,
    },
    /// A checkpoint that is not one, or that contradicts another.
    #[error(transparent)]
    Checkpoint(#[from] cairn_sync::checkpoint::CheckpointFault),
}

/// All faults of a configuration; never empty.
#[derive(Debug)]
pub struct ConfigProblems(pub Vec<ConfigProblem>);

impl fmt::Display for ConfigProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [only] => f.write_str(&full_text(only)),
            all => {
                write!(f, "{} faults in the configuration:", all.len())?;
                all.iter()
                    .try_for_each(|problem| write!(f, "\n  {}", full_text(problem)))
            }
        }
    }
}

impl std::error::Error for ConfigProblems {}

impl From<ConfigProblem> for ConfigProblems {
    fn from(problem: ConfigProblem) -> Self {
        Self(vec![problem])
    }
}

/// Something that an operator should know and that does not stop the run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigWarning {
    /// An option of hived that does nothing here.
    #[error(
        "{}: `{name}` is an option of hived without effect in Cairn: {reason}",
        places(origins)
    )]
    NoEffect {
        /// Where it stands, each place.
        origins: Vec<Origin>,
        /// The option.
        name: String,
        /// Why it does nothing.
        reason: &'static str,
    },
    /// A name that neither node knows.
    #[error("{}: unknown option `{name}` is ignored{}", places(origins), did_you_mean(*suggestion))]
    Unknown {
        /// Where it stands, each place.
        origins: Vec<Origin>,
        /// The name as written.
        name: String,
        /// An option of hived with almost the same name.
        suggestion: Option<&'static str>,
    },
    /// A section header.
    #[error("{origin}: section [{name}] is ignored; the options below it are read as if it were not there")]
    Section {
        /// Where.
        origin: Origin,
        /// Text between the brackets.
        name: String,
    },
    /// A seed node that cannot be used.
    #[error("{origin}: seed node {found:?} is not usable: {what}")]
    SeedNode {
        /// Where.
        origin: Origin,
        /// The value as written.
        found: String,
        /// What is wrong.
        what: EndpointError,
    },
    /// A seed node given twice.
    #[error("{origin}: seed node {found:?} is given more than once")]
    SeedNodeRepeated {
        /// Where it stands again.
        origin: Origin,
        /// The value.
        found: String,
    },
    /// A parameter of p2p-parameters that does nothing here.
    #[error("{origin}: `{name}` in p2p-parameters has no effect in Cairn")]
    P2pParameter {
        /// Where.
        origin: Origin,
        /// The parameter.
        name: String,
    },
    /// The same checkpoint twice.
    #[error(transparent)]
    Checkpoint(#[from] cairn_sync::checkpoint::CheckpointNotice),
}

/// Where two options stand, unless it is the command line that anybody can see.
fn standing(first: &Origin, second: &Origin) -> String {
    match (first, second) {
        (Origin::CommandLine, Origin::CommandLine) => String::new(),
        _ => format!(" (they stand at {first} and {second})"),
    }
}

fn places(origins: &[Origin]) -> String {
    origins
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn did_you_mean(suggestion: Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
