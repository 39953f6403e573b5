//! The writer's loop.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cairn_chain::BlockId;

use super::chain::ChainWriter;
use super::error::{BlockFault, WriterError};
use super::forks::{SetAside, Taken};
use super::pause::Pause;
use super::progress::{BlockFacts, Progress, ProgressStyle};
use crate::pipeline::{Next, Origin, Prepared, PreparedBatch};
use crate::stats::{Meter, Phase};

/// How long the writer sleeps at most when there is no work, before it looks at the stop flag and at a
/// commit that has become due.
const IDLE: Duration = Duration::from_millis(100);

/// How the loop ends when all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The source has no more blocks.
    SourceEnded,
    /// The block of `exit-at-block` or `stop-at-block` was applied.
    ReachedLastBlock,
    /// Somebody asked for it.
    Stopped,
}

/// A block that the writer refused, told to the source.
#[derive(Debug)]
pub struct Rejection<'a> {
    /// Block number.
    pub number: u32,
    /// Its id; `None` when it could not be decoded.
    pub id: Option<BlockId>,
    /// Who sent it.
    pub origin: &'a Origin,
    /// Why.
    pub fault: &'a BlockFault,
    /// It would have been the block after the head. If not, it was on a branch beside the main one, which is not followed.
    pub next_of_head: bool,
}

/// A block that the writer cannot use and in which it found no fault, told to the source.
#[derive(Debug)]
pub struct AsideBlock<'a> {
    /// Block number.
    pub number: u32,
    /// Its id.
    pub id: BlockId,
    /// Who sent it.
    pub origin: &'a Origin,
    /// Why it cannot be used.
    pub why: SetAside,
}

/// What the source can do about a block that was not applied.
pub trait Rejected: Debug + Send {
    /// Told of a refused block. `true`: the source will send that block and all later ones again, from
    /// somebody else, in batches of the next epoch. `false`: nobody has a better one; the run ends, if the block would
    /// have been the next one.
    fn rejected(&mut self, rejection: &Rejection<'_>) -> bool;

    /// Told of a block that is too old, too young, or has no parent here: no reason to blame anybody.
    fn set_aside(&mut self, _block: &AsideBlock<'_>) {}

    /// Told of the head after a batch.
    fn applied(&mut self, _number: u32) {}
}

/// A source that cannot offer anything else: a file.
impl Rejected for () {
    fn rejected(&mut self, _: &Rejection<'_>) -> bool {
        false
    }
}

/// How to run.
#[derive(Debug)]
pub struct RunOptions {
    /// The last block to apply; `None`: as far as the source goes.
    pub last_block: Option<u32>,
    /// Set by whoever wants the loop to end; looked at between batches.
    pub stop: Arc<AtomicBool>,
    /// Which lines to print by block count.
    pub progress: ProgressStyle,
}

/// The loop and its parts.
#[derive(Debug)]
pub struct WriterLoop<R> {
    chain: ChainWriter,
    input: Prepared,
    source: R,
    meter: Arc<Meter>,
    options: RunOptions,
    epoch: u64,
}

impl<R: Rejected> WriterLoop<R> {
    /// Joins the parts.
    pub fn new(
        chain: ChainWriter,
        input: Prepared,
        source: R,
        meter: Arc<Meter>,
        options: RunOptions,
    ) -> Self {
        Self {
            chain,
            input,
            source,
            meter,
            options,
            epoch: 0,
        }
    }

    /// Runs until the source ends, the last block is applied, somebody asks for the end, or a block or a
    /// disk makes going on impossible. What cannot be taken back is committed in every case but a failing disk.
    pub fn run(mut self) -> (ChainWriter, Result<Ended, WriterError>) {
        let mut progress = Progress::new(self.options.progress);
        let ended = self.work(&mut progress);
        self.meter.clock.enter(Phase::ProcessingBlocks);
        let committed = match &ended {
            Err(WriterError::Log(_) | WriterError::State(_) | WriterError::Forks { .. }) => {
                self.chain.give_up();
                Ok(())
            }
            _ => self.last_commit(),
        };
        self.chain.publish_head();
        self.meter.clock.leave();
        // The first fault is the one to report.
        (self.chain, ended.and_then(|ended| committed.map(|()| ended)))
    }

    fn last_commit(&mut self) -> Result<(), WriterError> {
        if self.chain.has_uncommitted() && !self.wait_for_room() {
            tracing::warn!(
                target: "writer",
                "ending without room for a commit: blocks above {} are applied again after the next start",
                self.meter.durable.load(Ordering::Relaxed)
            );
            self.chain.give_up();
        }
        self.chain.commit()
    }

    /// Returns when the disks have room for what is written next; `false` when the end is asked for before.
    fn wait_for_room(&mut self) -> bool {
        let needs = self.chain.needs();
        let Some(shortage) = self.chain.shortage(needs) else {
            return true;
        };
        let pause = Pause::begin(&self.meter, &shortage);
        let room = loop {
            if self.options.stop.load(Ordering::Relaxed) {
                break false;
            }
            thread::sleep(IDLE);
            match self.chain.shortage(needs.with_margin()) {
                None => break true,
                Some(shortage) => pause.remind(&shortage),
            }
        };
        pause.end(room);
        room
    }

    fn work(&mut self, progress: &mut Progress) -> Result<Ended, WriterError> {
        if self.is_last(self.chain.head().number) {
            return Ok(Ended::ReachedLastBlock);
        }
        loop {
            if self.options.stop.load(Ordering::Relaxed) {
                return Ok(Ended::Stopped);
            }
            self.meter.clock.enter(Phase::WaitingForWork);
            let next = self.input.next(IDLE);
            self.meter.clock.enter(Phase::ProcessingBlocks);
            match next {
                Next::Batch(batch) => {
                    if let Some(ended) = self.apply_batch(batch, progress)? {
                        return Ok(ended);
                    }
                }
                Next::Nothing => {}
                Next::Ended => return Ok(Ended::SourceEnded),
            }
            if self.chain.is_room_due() && !self.wait_for_room() {
                return Ok(Ended::Stopped);
            }
            self.chain.commit_if_due()?;
        }
    }

    fn apply_batch(
        &mut self,
        batch: PreparedBatch,
        progress: &mut Progress,
    ) -> Result<Option<Ended>, WriterError> {
        if batch.epoch < self.epoch {
            return Ok(None); // Fed before the source began again at a refused block.
        }
        for prepared in batch.blocks {
            let (number, id, facts) = (
                prepared.block.number(),
                prepared.block.id(),
                BlockFacts::of(&prepared),
            );
            match self.chain.take(prepared, &batch.origin) {
                Ok(Taken::Applied) => progress.note(facts, self.chain.state().registers().dirty_bytes()),
                Ok(Taken::Held | Taken::Known) => {}
                Ok(Taken::SetAside(why)) => {
                    let origin = &batch.origin;
                    // The source looks at the head when it decides what to fetch.
                    self.chain.publish_head();
                    self.source.set_aside(&AsideBlock {
                        number,
                        id,
                        origin,
                        why,
                    });
                }
                Ok(Taken::Refused(refused)) => {
                    let (id, origin) = (Some(refused.id), &refused.origin);
                    let ended =
                        self.refuse(refused.number, id, origin, refused.fault, refused.next_of_head)?;
                    // The blocks before it may have been applied.
                    let is_last = self.is_last(self.chain.head().number);
                    return Ok(if is_last {
                        Some(Ended::ReachedLastBlock)
                    } else {
                        ended
                    });
                }
                Err(WriterError::Block { number, fault, .. }) => {
                    return self.refuse(number, Some(id), &batch.origin, fault, true);
                }
                Err(error) => return Err(error),
            }
            if self.is_last(self.chain.head().number) {
                return Ok(Some(Ended::ReachedLastBlock));
            }
            // Thirty-two large blocks in full validation take longer than somebody who asked for the end will wait.
            if self.options.stop.load(Ordering::Relaxed) {
                return Ok(Some(Ended::Stopped));
            }
        }
        self.chain.publish_head();
        self.source.applied(self.chain.head().number);
        self.chain.set_live(progress.is_live(self.chain.head().time.0));
        match batch.failure {
            Some((number, error)) => {
                let next_of_head = number <= self.chain.head().number + 1;
                self.refuse(number, None, &batch.origin, error.into(), next_of_head)
            }
            None => Ok(None),
        }
    }

    /// Tells the source of a block that breaks a rule. Where it would have been the next one, the source must have
    /// another one, or the run ends; a fork that cannot be followed costs nothing.
    fn refuse(
        &mut self,
        number: u32,
        id: Option<BlockId>,
        origin: &Origin,
        fault: BlockFault,
        next_of_head: bool,
    ) -> Result<Option<Ended>, WriterError> {
        self.chain.publish_head();
        let again = self.source.rejected(&Rejection {
            number,
            id,
            origin,
            fault: &fault,
            next_of_head,
        });
        if !next_of_head {
            return Ok(None);
        }
        if again {
            self.epoch += 1;
            return Ok(None);
        }
        Err(self.chain.block_error(number, fault))
    }

    fn is_last(&self, number: u32) -> bool {
        self.options.last_block.is_some_and(|last| number >= last)
    }
}
