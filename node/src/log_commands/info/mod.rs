//! `cairn log info`: what a log holds, as counts and digests.
//!
//! Workers gather the facts of single blocks (`facts`), one fold in the order of the blocks adds them up
//! (`summary`), and `report` prints them under the keys that scripts know.

mod digests;
mod facts;
mod recent;
mod report;
mod summary;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use anyhow::anyhow;
use cairn_sync::{block_error, walk};
use serde_json::Value;

use crate::cli::InfoArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

use super::source::{LogSource, threads};
use facts::BlockFacts;
use summary::Summary;

/// Prints the summary.
///
/// # Errors
/// A log that cannot be read or whose blocks do not follow each other.
pub fn execute(args: &InfoArgs) -> Result<ExitCode, CommandError> {
    let source = LogSource::open(&args.log)?;
    let report = info(&source, threads())?;
    if args.json {
        output::json_line(&report)?;
    } else {
        output::text(&report::for_people(&report))?;
    }
    Ok(ExitCode::Done)
}

/// Reads the whole log and sums it up.
///
/// # Errors
/// A log that is empty, cannot be read, or whose blocks do not follow each other.
pub fn info(source: &LogSource, threads: NonZeroUsize) -> anyhow::Result<Value> {
    let (log, chain) = (&source.log, &source.chain);
    let (Some(first), Some(head)) = (log.first_number(), log.head_number()) else {
        return Err(anyhow!("the log is empty"));
    };
    let files: Vec<_> = log.parts().into_iter().map(|part| part.path).collect();
    std::thread::scope(|scope| {
        let files = scope.spawn(|| digests::files(&files));
        let mut progress = Progress::start("reading", "blocks", u64::from(head - first) + 1);
        let mut summary = Summary::new(chain, first, head);
        let mut fault = None;
        let facts = |decoder: &mut _, stored| BlockFacts::gather(log, decoder, stored, chain);
        walk::in_order(log, first, head, threads, facts, |facts| {
            let added = facts.and_then(|facts| facts).and_then(|facts| {
                let number = facts.id.number();
                summary
                    .add(&facts)
                    .map_err(|error| block_error(log, number, error))
            });
            progress.set(summary.blocks());
            match added {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    fault = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        drop(progress);
        if let Some(error) = fault {
            return Err(super::block::with_advice(error));
        }
        let files = files
            .join()
            .map_err(|_| anyhow!("the thread that hashes the files panicked"))??;
        Ok(report::report(&summary, &files))
    })
}
