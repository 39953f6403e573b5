//! `cairn log`.

use crate::cli::LogCommand;
use crate::exit::{CommandError, ExitCode};
use crate::log_commands::{checkpoints, decode, get, ids, info, verify};

/// Looks into a block log.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &LogCommand) -> Result<ExitCode, CommandError> {
    match command {
        LogCommand::Info(args) => info::execute(args),
        LogCommand::Verify(args) => verify::execute(args),
        LogCommand::Ids(args) => ids::execute(args),
        LogCommand::Checkpoints(args) => checkpoints::execute(args),
        LogCommand::Get(args) => get::execute(args),
        LogCommand::Decode(args) => decode::execute(args),
    }
}
