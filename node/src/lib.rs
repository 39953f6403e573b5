//! The cairn binary: command line, config.ini, logging, block log commands, devnet generator, wiring.
//!
//! `main` parses the command line ([`cli`]) and runs one of the [`commands`]. `run` and `replay` read their
//! [`config`]; all others take what they need as arguments. A command ends with an [`exit::ExitCode`].
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod chain_choice;
pub mod cli;
pub mod commands;
pub mod config;
pub mod data_dir;
pub mod devnet;
pub mod exit;
pub mod local_nodes;
pub mod log_commands;
pub mod logging;
pub mod output;
pub mod peering;
pub mod progress;
pub mod run;
pub mod state_commands;

use clap::Parser;

/// The whole program; the process ends with the code returned.
pub fn main() -> exit::ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no errors; a closed pipe there is none either.
            let _ = error.print();
            return if error.use_stderr() {
                exit::ExitCode::Usage
            } else {
                exit::ExitCode::Done
            };
        }
    };
    match commands::execute(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}
