//! `cairn state`.

use crate::cli::StateCommand;
use crate::exit::{CommandError, ExitCode};
use crate::state_commands::{get, identity, info, restore};

/// Looks into a state, or restores one.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &StateCommand) -> Result<ExitCode, CommandError> {
    match command {
        StateCommand::Info(args) => info::execute(args),
        StateCommand::Restore(args) => restore::execute(args),
        StateCommand::Get(args) => get::execute(args),
        StateCommand::Identity(args) => identity::execute(args),
    }
}
