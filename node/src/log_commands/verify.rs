//! `cairn log verify`: is this log whole, and is it the chain that the checkpoints name?
//!
//! Workers decompress, decode, compute ids and compare Merkle roots; the fold checks in order that each block names the
//! id of the block before, and that blocks at checkpoints have the trusted id. Everything below a matching
//! checkpoint is then proven: the ids form a chain of hashes, and the transactions hang on their header.

mod fault;
mod verdict;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use cairn_block_log::{BlockFault, Place, StoredBlock};
use cairn_chain::{BlockId, Time};
use cairn_sync::checkpoint::{self, Checkpoint, Checkpoints, ConfiguredCheckpoint};
use cairn_sync::{Break, HeaderChain, Link, block_error, walk};

use crate::cli::VerifyArgs;
use crate::config::{ConfigProblem, ConfigProblems, Origin};
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

use super::block;
use super::source::{LogSource, threads};
pub use fault::{Contradiction, Fault};
pub use verdict::Verified;

/// Verifies the log and prints the verdict.
///
/// # Errors
/// Exit code 1 at the first fault, 3 when a checkpoint is contradicted, 2 for faulty checkpoints.
pub fn execute(args: &VerifyArgs) -> Result<ExitCode, CommandError> {
    let checkpoints = checkpoints(&args.checkpoint, args.checkpoint_file.as_deref())?;
    let started = Instant::now();
    let outcome = LogSource::open(&args.log)
        .map_err(Fault::from)
        .and_then(|source| verify(&source, &checkpoints, threads()));
    let seconds = started.elapsed().as_secs_f64();
    match outcome {
        Ok(verified) => {
            if args.json {
                output::json_line(&verified.json(seconds))?;
            } else {
                output::text(&verified.text(seconds))?;
            }
            Ok(ExitCode::Done)
        }
        Err(fault) => {
            if args.json {
                output::json_line(&fault.json())?;
            }
            Err(fault.into())
        }
    }
}

fn checkpoints(values: &[String], file: Option<&Path>) -> Result<Checkpoints, ConfigProblems> {
    let mut values: Vec<_> = values
        .iter()
        .map(|text| ConfiguredCheckpoint::new(text.as_str(), "command line"))
        .collect();
    if let Some(file) = file {
        values.extend(checkpoint::file::read(file).map_err(|source| {
            ConfigProblems::from(ConfigProblem::CheckpointFile {
                origin: Origin::CommandLine,
                source,
            })
        })?);
    }
    let parsed = Checkpoints::parse(&values);
    for notice in &parsed.notices {
        tracing::warn!(target: "test_checkpoint", "{notice}");
    }
    if parsed.faults.is_empty() {
        Ok(parsed.checkpoints)
    } else {
        Err(ConfigProblems(
            parsed.faults.into_iter().map(ConfigProblem::from).collect(),
        ))
    }
}

/// What the fold needs of a block.
struct Checked {
    link: Link,
    time: Time,
    transactions: usize,
}

/// Walks the log.
///
/// # Errors
/// The first fault, in the order of the blocks.
pub fn verify(
    source: &LogSource,
    checkpoints: &Checkpoints,
    threads: NonZeroUsize,
) -> Result<Verified, Fault> {
    let (log, chain) = (&source.log, &source.chain);
    let (Some(first), Some(head)) = (log.first_number(), log.head_number()) else {
        return Err(Fault::Empty);
    };
    let mut progress = Progress::start("verifying", "blocks", u64::from(head - first) + 1);
    let checkpoints_outside = checkpoints
        .iter()
        .filter(|checkpoint| !(first..=head).contains(&checkpoint.number))
        .collect();
    // The block before the first of a pruned log is not at hand; block 1 names no block.
    let before = (first == 1).then_some(BlockId::ZERO);
    let mut chain_of_ids = HeaderChain::new(checkpoints, first, before);
    let mut verified = Verified {
        first,
        head: BlockId::ZERO,
        head_time: Time(0),
        transactions: 0,
        checkpoints_reached: Vec::new(),
        checkpoints_outside,
    };
    for outside in &verified.checkpoints_outside {
        tracing::warn!(
            target: "test_checkpoint",
            "Checkpoint [{},{}] is outside the log, which holds blocks {first} to {head}: it is not checked",
            outside.number, outside.id
        );
    }
    let check = |decoder: &mut _, stored: StoredBlock| {
        let number = stored.number;
        let decoded = block::decode(log, decoder, stored, chain.symbols)?;
        decoded
            .check_merkle_root(chain)
            .map_err(|mismatch| block_error(log, number, mismatch.into()))?;
        let header = &decoded.block().header;
        Ok(Checked {
            link: Link {
                id: decoded.id(),
                previous: header.previous,
            },
            time: header.timestamp,
            transactions: decoded.block().transactions.len(),
        })
    };
    let mut fault = None;
    walk::in_order(log, first, head, threads, check, |checked| {
        let good = (verified.head != BlockId::ZERO).then(|| verified.head.number());
        let broken = |error| Fault::Log {
            error: Box::new(error),
            good,
        };
        let outcome = checked
            .and_then(|checked| checked)
            .map_err(broken)
            .and_then(|checked| {
                match chain_of_ids.follow(checked.link) {
                    Ok(None) => {}
                    Ok(Some(checkpoint)) => {
                        tracing::info!(
                            target: "test_checkpoint",
                            "Checkpoint [{},{}] reached.", checkpoint.number, checkpoint.id
                        );
                        verified.checkpoints_reached.push(checkpoint);
                    }
                    Err(Break::Link { expected, found }) => {
                        let fault = BlockFault::Link { expected, found };
                        return Err(broken(block_error(log, checked.link.id.number(), fault)));
                    }
                    Err(Break::Checkpoint { checkpoint, found }) => {
                        return Err(contradiction(source, checkpoints, checkpoint, found));
                    }
                }
                Ok(checked)
            });
        match outcome {
            Ok(checked) => {
                verified.head = checked.link.id;
                verified.head_time = checked.time;
                verified.transactions += checked.transactions as u64;
                progress.set(u64::from(checked.link.id.number() - first) + 1);
                ControlFlow::Continue(())
            }
            Err(found) => {
                fault = Some(found);
                ControlFlow::Break(())
            }
        }
    });
    match fault {
        Some(fault) => Err(fault),
        None => Ok(verified),
    }
}

fn contradiction(
    source: &LogSource,
    checkpoints: &Checkpoints,
    checkpoint: Checkpoint,
    found: BlockId,
) -> Fault {
    let number = checkpoint.number;
    let (file, offset) = source
        .log
        .offset_of(number)
        .unwrap_or_else(|_| (source.log.path().to_owned(), 0));
    Fault::Checkpoint(Box::new(Contradiction {
        checkpoint,
        origin: checkpoints.origin(number).unwrap_or_default().to_owned(),
        found,
        place: Place {
            file,
            offset,
            block: Some(number),
        },
    }))
}
