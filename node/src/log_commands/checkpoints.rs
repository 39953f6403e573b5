//! `cairn log checkpoints`: a file for checkpoint-file from a log that the operator trusts.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use anyhow::anyhow;
use cairn_block_log::{BlockFault, LogError};
use cairn_chain::BlockId;
use cairn_sync::checkpoint::Checkpoints;
use cairn_sync::{Break, HeaderChain, block_error, link_of, walk};
use serde_json::{Value, json};

use crate::cli::CheckpointsArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

use super::source::{LogSource, threads};

/// Most lines that are made: so many fit into the largest file that checkpoint-file reads.
const MOST: u64 = 1_000_000;

/// Prints the file, once all of the log was walked.
///
/// # Errors
/// A log that is empty, not whole, or does not link; a distance that gives too many lines (usage).
pub fn execute(args: &CheckpointsArgs) -> Result<ExitCode, CommandError> {
    let source = LogSource::open(&args.log)?;
    let found = gather(&source, args.every, threads())?;
    if args.json {
        output::json_line(&found.json(&source))?;
    } else {
        output::text(&found.text(&source))?;
    }
    Ok(ExitCode::Done)
}

/// What was found in a log.
#[derive(Debug)]
pub struct Found {
    every: u32,
    first: u32,
    ids: Vec<BlockId>,
}

/// Walks the log and gathers every Nth id and the last one.
///
/// # Errors
/// As [`execute`].
pub fn gather(source: &LogSource, every: u32, threads: NonZeroUsize) -> Result<Found, CommandError> {
    let log = &source.log;
    let (Some(first), Some(head)) = (log.first_number(), log.head_number()) else {
        return Err(CommandError::Failed(anyhow!("the log is empty")));
    };
    let count = u64::from(head / every) - u64::from((first - 1) / every) + 1;
    if count > MOST {
        return Err(CommandError::usage(anyhow!(
            "--every {every} gives {count} checkpoints for blocks {first} to {head}; a checkpoint-file holds {MOST} at most"
        )));
    }
    let mut progress = Progress::start("walking", "blocks", u64::from(head - first) + 1);
    let none = Checkpoints::default();
    let mut chain = HeaderChain::new(&none, first, (first == 1).then_some(BlockId::ZERO));
    let mut ids = Vec::new();
    let mut fault: Option<LogError> = None;
    let link = |decoder: &mut _, stored| link_of(log, decoder, stored);
    walk::in_order(log, first, head, threads, link, |link| {
        let followed = link.and_then(|link| link).and_then(|link| {
            let number = link.id.number();
            match chain.follow(link) {
                Err(Break::Link { expected, found }) => {
                    return Err(block_error(log, number, BlockFault::Link { expected, found }));
                }
                // There are no checkpoints here to contradict.
                Ok(_) | Err(Break::Checkpoint { .. }) => {}
            }
            if number % every == 0 || number == head {
                ids.push(link.id);
            }
            progress.set(u64::from(number - first) + 1);
            Ok(())
        });
        match followed {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    match fault {
        Some(error) => Err(CommandError::Failed(super::block::with_advice(error))),
        None => Ok(Found { every, first, ids }),
    }
}

impl Found {
    fn head(&self) -> BlockId {
        self.ids.last().copied().unwrap_or(BlockId::ZERO)
    }

    fn json(&self, source: &LogSource) -> Value {
        let head = self.head();
        json!({
            "chain": source.chain.name,
            "log": source.log.path().display().to_string(),
            "every": self.every,
            "first_block": self.first,
            "head": { "number": head.number(), "id": head.to_string() },
            "checkpoints": self.ids.iter().map(|id| json!([id.number(), id.to_string()])).collect::<Vec<_>>(),
        })
    }

    fn text(&self, source: &LogSource) -> String {
        // A path may hold a line feed, and what follows it must not become a checkpoint.
        let path = source
            .log
            .path()
            .display()
            .to_string()
            .replace(char::is_control, "?");
        let mut text = format!(
            "# Checkpoints of chain {}: every {} blocks, and the last block of the log.\n\
             # Made by `cairn log checkpoints` from {path}, blocks {} to {}; their ids were computed\n\
             # from the bytes, and each block names the id of the one before. Trust them as far as you trust that log.\n",
            source.chain.name.replace(char::is_control, "?"),
            self.every,
            self.first,
            self.head().number(),
        );
        for id in &self.ids {
            text.push_str(&format!("[{},{id}]\n", id.number()));
        }
        text
    }
}
