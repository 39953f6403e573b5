//! What each command does.

pub mod bench;
pub mod demo;
pub mod devnet;
mod fetch;
pub mod log;
pub mod replay;
pub mod run;
pub mod state;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::{Cli, Command};
use crate::config::{OptionValues, Settings};
use crate::exit::{CommandError, ExitCode};

/// Runs the command that was given.
///
/// # Errors
/// [`CommandError`] knows the exit code and what to tell the operator.
pub fn execute(cli: Cli) -> Result<ExitCode, CommandError> {
    let log_level = cli.log_level.as_deref();
    match cli.command {
        Command::Run(args) => run::execute(&args, log_level),
        Command::Replay(args) => replay::execute(&args, log_level),
        Command::Log(command) => {
            init_logging(log_level)?;
            log::execute(&command)
        }
        Command::State(command) => {
            init_logging(log_level)?;
            state::execute(&command)
        }
        Command::Devnet(command) => {
            init_logging(log_level)?;
            devnet::execute(&command)
        }
        Command::Demo(args) => {
            init_logging(log_level)?;
            demo::execute(&args)
        }
        Command::Bench(command) => {
            init_logging(log_level)?;
            bench::execute(&command)
        }
    }
}

/// Logging for a command that reads no configuration.
fn init_logging(level: Option<&str>) -> Result<(), CommandError> {
    crate::logging::init(level).map_err(CommandError::Usage)
}

/// The configuration of `run` and `replay`; logging is set up by it, and its warnings are logged. The default data
/// folder lies in `scratch`, if there is one, else in the home folder.
fn settings(
    options: &OptionValues,
    config: Option<&Path>,
    level: Option<&str>,
    scratch: Option<&TempDir>,
) -> Result<Settings, CommandError> {
    let home = match scratch {
        Some(scratch) => scratch.path().to_owned(),
        None => std::env::var_os("HOME").map_or_else(|| PathBuf::from("."), PathBuf::from),
    };
    let mut options = options.clone();
    if let Some(level) = level {
        options.add("log-level", level);
    }
    let settings = Settings::load(&options, config, &home)?;
    // RUST_LOG is set for one run on purpose, config.ini for all of them.
    let variable_given = level.is_none() && std::env::var_os("RUST_LOG").is_some_and(|text| !text.is_empty());
    init_logging(settings.log_level.as_deref().filter(|_| !variable_given))?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Ok(settings)
}
