//! `cairn bench`

mod state;
mod sync;
mod undo;
mod validation;

use crate::cli::BenchCommand;
use crate::exit::{CommandError, ExitCode};

/// Runs a benchmark.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &BenchCommand) -> Result<ExitCode, CommandError> {
    match command {
        BenchCommand::Sync(args) => sync::execute(args)?,
        BenchCommand::Undo(args) => undo::execute(args)?,
        BenchCommand::Validation(args) => validation::execute(args)?,
        BenchCommand::State(args) => state::execute(args)?,
    }
    Ok(ExitCode::Done)
}

/// The middle one of some figures.
fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
