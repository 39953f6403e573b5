//! `cairn state`.

use crate::cli::StateCommand;
use crate::exit::{CommandError, ExitCode};
use crate::state_commands::{get, identity, info};

/// Looks into a state.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &StateCommand) -> Result<ExitCode, CommandError> {
    match command {
        StateCommand::Info(args) => info::execute(args),
        StateCommand::Get(args) => get::execute(args),
        StateCommand::Identity(args) => identity::execute(args),
    }
}
