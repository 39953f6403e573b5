//! `cairn state`.

use crate::cli::StateCommand;
use crate::exit::{CommandError, ExitCode};
use crate::state_commands::{check, get, identity, info, proof, restore, root};

/// Looks into a state, or restores one.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &StateCommand) -> Result<ExitCode, CommandError> {
    match command {
        StateCommand::Info(args) => info::execute(args),
        StateCommand::Restore(args) => restore::execute(args),
        StateCommand::Get(args) => get::execute(args),
        StateCommand::Root(args) => root::execute(args),
        StateCommand::VerifyProof(args) => proof::verify(args),
        StateCommand::Check(args) => check::execute(args),
        StateCommand::Identity(args) => identity::execute(args),
    }
}
