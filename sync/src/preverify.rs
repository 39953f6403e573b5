//! A pass over a log's headers before anything of it is applied.
//!
//! Up to a checkpoint, all that is not in the blocks themselves is taken on trust, so a log that turns out to be of
//! another chain when its checkpoint comes has been applied in vain. A file can be read twice: first only the ids,
//! which are computed from the bytes, and the links between them. When the ids lead from the state's head to the
//! checkpoint, every block up to there is the one that the checkpoint vouches for; whether its transactions are the
//! right ones is checked when it is applied, by the Merkle root in the header that is proven here.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use cairn_block_log::{BlockFault, BlockLog, LogError, Place};
use cairn_chain::BlockId;
use thiserror::Error;

use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::header_chain::{Break, HeaderChain, Link};
use crate::log_ids::{block_error, link_of, place_of};
use crate::walk;

/// Told of every block of the pass; the numbers are blocks done and blocks in all.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// What is to be proven.
#[derive(Debug)]
pub struct Preverification<'a> {
    /// The log.
    pub log: &'a BlockLog,
    /// The trusted ids.
    pub checkpoints: &'a Checkpoints,
    /// The state's head, to which the log must link: its number is that of the last applied block.
    pub head: BlockId,
    /// Threads that compute ids.
    pub threads: NonZeroUsize,
}

/// How a pass without a fault ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preverified {
    /// All blocks from the first to the second one are on the chain of a checkpoint.
    Proven(u32, u32),
    /// Somebody asked for the end.
    Stopped,
}

/// Why a log is not the one that the checkpoints name. Nothing was applied.
#[derive(Debug, Error)]
pub enum PreverifyError {
    /// A block is not the one that a checkpoint names.
    #[error(transparent)]
    Checkpoint(Box<Mismatch>),
    /// The chain of blocks breaks below a checkpoint.
    #[error(
        "log breaks at {number}: {fault}. Blocks {first}..{last} of {path} do not lead to the checkpoint at {last}, so \
         they are not to be trusted; nothing was applied, the state is at block {head}. Get these blocks from another \
         copy of the log, or from peers with `cairn run`. `cairn log verify` looks at the whole log; --no-preverify \
         applies what comes before the break"
    )]
    Broken {
        /// The first block that does not follow.
        number: u32,
        /// First block that is not proven.
        first: u32,
        /// The checkpoint above the break.
        last: u32,
        /// The log.
        path: PathBuf,
        /// Last applied block.
        head: u32,
        /// What and where.
        fault: Box<LogError>,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Log(Box<LogError>),
}

impl PreverifyError {
    /// Whether the data is not what a checkpoint says (exit code 3).
    pub fn contradicts_checkpoint(&self) -> bool {
        !matches!(self, PreverifyError::Log(_))
    }
}

/// A block that is not the one that a checkpoint names, and what the other checkpoints say about it.
#[derive(Debug, Error)]
pub struct Mismatch {
    /// The lowest checkpoint that the log does not go through.
    pub checkpoint: Checkpoint,
    /// Where it was written.
    pub origin: String,
    /// The id computed from the log's bytes.
    pub found: BlockId,
    /// Where the block is.
    pub place: Place,
    /// First block of the log that is not to be trusted.
    pub first: u32,
    /// The log.
    pub path: PathBuf,
    /// Last applied block.
    pub head: u32,
    /// The lowest one above that the log does go through: it contradicts the first one.
    pub contradicted_by: Option<(Checkpoint, String)>,
    /// How many more the log does not go through, and the last of them.
    pub more: Option<(usize, Checkpoint)>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            checkpoint: Checkpoint { number, id },
            origin,
            found,
            place,
            first,
            path,
            head,
            ..
        } = self;
        write!(
            f,
            "Block did not match checkpoint: checkpoint [{number},{id}] ({origin}), found block {found} (offset {} of {}). \
             Blocks {first}..{number} of {} are not on the chain of this checkpoint; nothing was applied, the state is at \
             block {head}. ",
            place.offset,
            place.file.display(),
            path.display()
        )?;
        match (&self.contradicted_by, &self.more) {
            (Some((other, where_from)), _) => write!(
                f,
                "The checkpoints contradict each other: the log goes through [{},{}] ({where_from}), whose chain has \
                 {found} as block {number}. Compare the ids of both blocks with a node of your own",
                other.number, other.id
            ),
            (None, Some((more, last))) => write!(
                f,
                "It does not go through {more} later one{} either (the last one: [{},{}]), so the log is of another \
                 chain, or the checkpoints are: compare the id of block {number} with a node of your own",
                if *more == 1 { "" } else { "s" },
                last.number,
                last.id
            ),
            (None, None) => write!(
                f,
                "Either the checkpoint was copied wrongly or the log is of another chain: compare the id of block \
                 {number} with a node of your own"
            ),
        }
    }
}

impl Preverification<'_> {
    /// First and last block of the pass: from the state's head to the last checkpoint in the log, or to the first
    /// one that proves the last block that is wanted. `None`: no checkpoint lies ahead in the log.
    pub fn range(&self, last_wanted: Option<u32>) -> Option<(u32, u32)> {
        let first = self.head.number().checked_add(1)?;
        let log_head = self.log.head_number()?;
        let in_log = |checkpoint: &Checkpoint| (first..=log_head).contains(&checkpoint.number);
        let proving = |checkpoint: &Checkpoint| last_wanted.is_some_and(|last| checkpoint.number >= last);
        let mut ahead = self.checkpoints.iter().filter(in_log);
        let mut last = ahead.next()?;
        if !proving(&last) {
            for checkpoint in ahead {
                last = checkpoint;
                if proving(&last) {
                    break;
                }
            }
        }
        Some((first, last.number))
    }

    /// Walks the range. The log must hold it, and the state's head must be its block before.
    ///
    /// # Errors
    /// [`PreverifyError`] for the lowest fault.
    pub fn run(
        &self,
        (first, last): (u32, u32),
        stop: &AtomicBool,
        progress: OnProgress<'_>,
    ) -> Result<Preverified, PreverifyError> {
        let total = u64::from(last - first) + 1;
        let mut pass = Pass {
            chain: HeaderChain::new(self.checkpoints, first, Some(self.head)),
            first,
            proven: self.head.number(),
            missed: Vec::new(),
            contradicted_by: None,
        };
        let mut outcome = Ok(Preverified::Proven(first, last));
        let link = |decoder: &mut _, stored| link_of(self.log, decoder, stored);
        let mut next = first;
        walk::in_order(self.log, first, last, self.threads, link, |link| {
            if stop.load(Relaxed) {
                outcome = Ok(Preverified::Stopped);
                return ControlFlow::Break(());
            }
            let followed = link
                .and_then(|link| link)
                .and_then(|link| pass.follow(self.log, link));
            if let Err(error) = followed {
                outcome = Err(self.broken(next, &pass, error));
                return ControlFlow::Break(());
            }
            progress(u64::from(next - first) + 1, total);
            next = next.wrapping_add(1);
            ControlFlow::Continue(())
        });
        match (outcome, pass.mismatch(self)) {
            (Ok(Preverified::Stopped), _) => Ok(Preverified::Stopped),
            (_, Some(mismatch)) => Err(PreverifyError::Checkpoint(Box::new(mismatch))),
            (outcome, None) => outcome,
        }
    }

    fn broken(&self, number: u32, pass: &Pass<'_>, error: LogError) -> PreverifyError {
        let damaged = matches!(&error, LogError::Block { fault, .. } if fault.is_damage());
        let fault = Box::new(error);
        let above = self.checkpoints.next_after(number.saturating_sub(1));
        match above.filter(|_| damaged) {
            Some(checkpoint) => PreverifyError::Broken {
                number,
                first: pass.proven.saturating_add(1),
                last: checkpoint.number,
                path: self.log.path().to_owned(),
                head: self.head.number(),
                fault,
            },
            None => PreverifyError::Log(fault),
        }
    }
}

/// What is known on the way.
struct Pass<'a> {
    chain: HeaderChain<'a>,
    first: u32,
    /// The last block that a checkpoint vouches for.
    proven: u32,
    /// Checkpoints that the log does not go through, each with the block that it has instead.
    missed: Vec<(Checkpoint, BlockId)>,
    contradicted_by: Option<Checkpoint>,
}

impl Pass<'_> {
    fn follow(&mut self, log: &BlockLog, link: Link) -> Result<(), LogError> {
        match self.chain.follow(link) {
            Ok(None) => Ok(()),
            Ok(Some(reached)) if self.missed.is_empty() => {
                self.proven = reached.number;
                Ok(())
            }
            Ok(Some(reached)) => {
                self.contradicted_by.get_or_insert(reached);
                Ok(())
            }
            Err(Break::Checkpoint { checkpoint, found }) => {
                self.missed.push((checkpoint, found));
                Ok(())
            }
            Err(Break::Link { expected, found }) => Err(block_error(
                log,
                link.id.number(),
                BlockFault::Link { expected, found },
            )),
        }
    }

    /// The lowest checkpoint that the log does not go through.
    fn mismatch(self, what: &Preverification<'_>) -> Option<Mismatch> {
        let origin = |number| {
            what.checkpoints
                .origin(number)
                .unwrap_or("configuration")
                .to_owned()
        };
        let (checkpoint, found) = *self.missed.first()?;
        let later = &self.missed[1..];
        Some(Mismatch {
            checkpoint,
            origin: origin(checkpoint.number),
            found,
            place: place_of(what.log, checkpoint.number),
            first: self.proven.max(self.first - 1).saturating_add(1),
            path: what.log.path().to_owned(),
            head: what.head.number(),
            contradicted_by: self.contradicted_by.map(|other| (other, origin(other.number))),
            more: later.last().map(|(last, _)| (later.len(), *last)),
        })
    }
}
