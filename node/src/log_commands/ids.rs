//! `cairn log ids`: numbers and ids of a range of blocks, computed from the blocks' bytes.

use std::io;
use std::ops::ControlFlow;

use anyhow::anyhow;
use cairn_block_log::LogError;
use cairn_chain::BlockId;
use cairn_sync::{link_of, walk};
use serde_json::json;

use crate::cli::IdsArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;

use super::source::{LogSource, threads};

/// Prints the ids.
///
/// # Errors
/// A range outside the log (usage), a block that cannot be read.
pub fn execute(args: &IdsArgs) -> Result<ExitCode, CommandError> {
    let source = LogSource::open(&args.log)?;
    let (from, to) = range(&source, args.from, args.to)?;
    let mut fault = None;
    if args.json {
        let mut list = Vec::new();
        each(&source, from, to, |id| {
            list.push(json!([id.number(), id.to_string()]));
            Ok(())
        })
        .map_err(|error| fault = Some(error))
        .ok();
        if fault.is_none() {
            output::json_line(&json!({ "ids": list }))?;
        }
    } else {
        output::write(|out| {
            each(&source, from, to, |id| writeln!(out, "{} {id}", id.number())).or_else(|error| match error {
                EachError::Output(error) => Err(error),
                error @ EachError::Log(_) => {
                    fault = Some(error);
                    Ok(())
                }
            })
        })?;
    }
    match fault {
        Some(EachError::Log(error)) => Err(CommandError::Failed(super::block::with_advice(error))),
        Some(EachError::Output(error)) => Err(CommandError::Failed(error.into())),
        None => Ok(ExitCode::Done),
    }
}

/// The range asked for; both ends default to the log's.
fn range(source: &LogSource, from: Option<u32>, to: Option<u32>) -> Result<(u32, u32), CommandError> {
    let (Some(first), Some(head)) = (source.log.first_number(), source.log.head_number()) else {
        return Err(CommandError::Failed(anyhow!("the log is empty")));
    };
    let (from, to) = (from.unwrap_or(first), to.unwrap_or(head));
    if from > to || from < first || to > head {
        return Err(CommandError::usage(anyhow!(
            "--from {from} --to {to} is not a range of the log, which holds blocks {first} to {head}"
        )));
    }
    Ok((from, to))
}

enum EachError {
    Log(LogError),
    Output(io::Error),
}

fn each(
    source: &LogSource,
    from: u32,
    to: u32,
    mut write: impl FnMut(BlockId) -> io::Result<()>,
) -> Result<(), EachError> {
    let mut result = Ok(());
    let id_of = |decoder: &mut _, stored| link_of(&source.log, decoder, stored).map(|link| link.id);
    walk::in_order(&source.log, from, to, threads(), id_of, |id| {
        let written = match id.and_then(|id| id) {
            Ok(id) => write(id).map_err(EachError::Output),
            Err(error) => Err(EachError::Log(error)),
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                result = Err(error);
                ControlFlow::Break(())
            }
        }
    });
    result
}
