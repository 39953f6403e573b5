//! The chain as the writer owns it: state, tail of the block log, checkpoints.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use cairn_block_log::{BlockLogWriter, SetAside};
use cairn_rules::{Head, IdentityState, RuleError, Validation};
use cairn_state::{CommitPolicy, RestorePoint, RestorePoints};

use super::error::{BlockFault, WriterError};
use super::fill::Filling;
use super::forks::Forks;
use super::log_tail::LogTail;
use super::reached::{IsLast, Milestones};
use super::restore_points::Keeper;
use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::pipeline::PreparedBlock;
use crate::room::{Needs, Room, Shortage};
use crate::stats::{Meter, Phase};
use crate::view::ChainView;

/// Undo sessions that are kept with `undo_sessions`: a round of witnesses, about as many as hived keeps.
const UNDO_DEPTH: u32 = 21;

/// How long the end of a run waits for a trie that is still being made. Lower, the next start has to make it again more
/// often; higher, less of the ten seconds that a service manager waits is left for writing its file.
const TRIE_PATIENCE: Duration = Duration::from_secs(3);

/// What a chain writer is made of.
#[derive(Debug)]
pub struct ChainWriterOptions {
    /// The block log to append to; `None` keeps no log.
    pub log: Option<BlockLogWriter>,
    /// Full parts of a split log that are kept; the older ones go once the state is durable beyond them. `None` keeps
    /// all.
    pub keep_parts: Option<u32>,
    /// Opens an undo session for every block, also for those that are irreversible at once: what that costs, for comparison.
    pub undo_sessions: bool,
    /// Tells whether the disks have room.
    pub room: Box<dyn Room>,
    /// Trusted ids.
    pub checkpoints: Checkpoints,
    /// When to commit.
    pub policy: CommitPolicy,
    /// Counters to keep.
    pub meter: Arc<Meter>,
    /// Heads to publish.
    pub view: Arc<ChainView>,
    /// Where the state is kept when a checkpoint is reached: always at the last one, and at the others as often as
    /// it costs little. `None`: nowhere.
    pub restore_points: Option<RestorePoints>,
}

/// Applies blocks in order.
#[derive(Debug)]
pub struct ChainWriter {
    pub(super) state: IdentityState,
    pub(super) log: LogTail,
    undo_sessions: bool,
    room: Box<dyn Room>,
    /// A write failed, or there was no room for one: nothing more is written, the last commit stands.
    pub(super) given_up: bool,
    pub(super) milestones: Milestones,
    policy: CommitPolicy,
    live: bool,
    pub(super) meter: Arc<Meter>,
    pub(super) view: Arc<ChainView>,
    /// Last block that a crash cannot lose.
    pub(super) durable: Head,
    /// Blocks that a commit would make durable.
    pub(super) blocks_since_commit: u32,
    last_commit: Instant,
    keeper: Option<Keeper>,
    /// What lies above the last irreversible block; `None`: blocks come in order and are irreversible at once.
    pub(super) forks: Option<Forks>,
    /// Blocks are only put into the log: the state has them.
    pub(super) filling: Option<Filling>,
}

impl ChainWriter {
    /// Takes over a state and a log. The log may be ahead of the state (its tail is then applied again by
    /// whoever feeds this writer) but not behind it.
    ///
    /// # Errors
    /// [`WriterError::LogBehindState`].
    pub fn new(state: IdentityState, options: ChainWriterOptions) -> Result<Self, WriterError> {
        let writer = Self::with_gap(state, options);
        match writer.log.head_number() {
            Some(log_head) if log_head < writer.head().number => Err(WriterError::LogBehindState {
                log_head,
                state_head: writer.head().number,
            }),
            _ => Ok(writer),
        }
    }

    /// The same with a log that may lack blocks which the state has: whoever feeds this writer has them
    /// [fetched](crate::download::fill_log) before anything is applied.
    pub fn with_gap(mut state: IdentityState, options: ChainWriterOptions) -> Self {
        let ChainWriterOptions {
            log,
            keep_parts,
            undo_sessions,
            room,
            checkpoints,
            policy,
            meter,
            view,
            restore_points,
        } = options;
        state.set_undo_sessions(undo_sessions);
        let head = state.head();
        let log = LogTail::new(log, keep_parts);
        meter.head.set(head.number, head.time.0);
        meter.durable.store(head.number, Relaxed);
        view.begin_at(head);
        Self {
            state,
            log,
            undo_sessions,
            room,
            given_up: false,
            milestones: Milestones::new(checkpoints, head.number),
            policy,
            live: false,
            meter,
            view,
            durable: head,
            blocks_since_commit: 0,
            last_commit: Instant::now(),
            keeper: restore_points.map(Keeper::new),
            forks: None,
            filling: None,
        }
    }

    /// From now on so many full parts of the block log are kept; `None`: all. Those that the durable state does not need
    /// go at once.
    ///
    /// # Errors
    /// [`WriterError::Log`].
    pub fn keep_parts(&mut self, keep: Option<u32>) -> Result<(), WriterError> {
        self.log.keep_parts(keep);
        Ok(self.log.prune(self.durable.number)?)
    }

    /// Cuts the blocks above `head` off the block log, and keeps their bytes beside it. `None`: there were none.
    ///
    /// # Errors
    /// [`WriterError::Log`]; [`WriterError::LogBehindState`] when the state has those blocks.
    pub fn set_log_aside_after(&mut self, head: u32) -> Result<Option<SetAside>, WriterError> {
        let state_head = self.state.head().number;
        if self.log.head_number().is_some() && head < state_head {
            return Err(WriterError::LogBehindState {
                log_head: head,
                state_head,
            });
        }
        Ok(self.log.set_aside_after(head)?)
    }

    /// The restore points of this state.
    pub fn restore_points(&self) -> Option<&RestorePoints> {
        self.keeper.as_ref().map(Keeper::points)
    }

    /// Blocks above this one are going to be applied before they are proven: the state is kept at it. At the head at
    /// once, unless it is kept there already; else when it is reached, if it is a checkpoint.
    ///
    /// # Errors
    /// When the head cannot be made durable.
    pub fn keep_vouched(&mut self, number: u32) -> Result<(), WriterError> {
        let (head, started) = (self.head().number, Instant::now());
        let Some(keeper) = &mut self.keeper else {
            return Ok(());
        };
        if number > head {
            keeper.want(number);
        } else if !keeper.has(number) {
            self.commit()?;
            if let Some(keeper) = &mut self.keeper {
                keeper.keep(self.state.registers().store(), started);
            }
        }
        Ok(())
    }

    /// From now on no restore points are made.
    pub fn make_no_restore_points(&mut self) {
        self.keeper = None;
    }

    /// Goes on with the state of a restore point. What was applied since is lost; the block log keeps it.
    ///
    /// # Errors
    /// [`WriterError::Restore`]; what is durable is whole, the old state or the new one.
    pub fn restore(self, point: &RestorePoint) -> Result<Self, WriterError> {
        let state = self.state.restore(point).map_err(|source| WriterError::Restore {
            number: point.number(),
            source,
        })?;
        let head = state.head();
        let mut milestones = self.milestones;
        milestones.went_back(head.number);
        self.meter.head.set(head.number, head.time.0);
        self.meter.durable.store(head.number, Relaxed);
        self.view.begin_at(head);
        Ok(Self {
            state,
            durable: head,
            milestones,
            blocks_since_commit: 0,
            last_commit: Instant::now(),
            forks: None,
            ..self
        })
    }

    /// The last applied block; while the log is [filled](crate::download::fill_log), the last one in the log.
    pub fn head(&self) -> Head {
        self.filling
            .as_ref()
            .map_or_else(|| self.state.head(), |filling| filling.head)
    }

    /// The last block that cannot be taken back: the head, unless there are [forks](Self::follow_forks).
    pub fn irreversible(&self) -> Head {
        match &self.forks {
            Some(forks) => forks.irreversible(),
            None => self.head(),
        }
    }

    /// The last block that the disk keeps: the last irreversible one, unless writing was [given up](Self::give_up).
    pub fn kept_head(&self) -> Head {
        if self.given_up {
            self.durable
        } else {
            self.irreversible()
        }
    }

    /// The checkpoints reached by this run, ascending; the newest ones if there are very many.
    pub fn reached(&self) -> impl Iterator<Item = Checkpoint> + '_ {
        self.milestones.reached()
    }

    /// Where this writer publishes its heads.
    pub fn view(&self) -> &Arc<ChainView> {
        &self.view
    }

    /// The checkpoints of this run.
    pub fn checkpoints(&self) -> &Checkpoints {
        self.milestones.all()
    }

    /// The state, for reading between two blocks.
    pub fn state(&self) -> &IdentityState {
        &self.state
    }

    /// Applies the block after the head.
    ///
    /// # Errors
    /// The block is not applied and the state is at the block before, except after [`WriterError::Log`] and
    /// [`WriterError::State`], which end the writer: what is durable stays whole.
    pub fn apply(&mut self, prepared: &PreparedBlock) -> Result<(), WriterError> {
        if self.filling.is_some() {
            return self.put_into_log(prepared);
        }
        let number = prepared.block.number();
        self.apply_to_state(prepared)?;
        if self.undo_sessions {
            self.meter.note_session();
            self.state.irreversible(number.saturating_sub(UNDO_DEPTH));
        }
        self.append(prepared)?;
        self.rest_at_head();
        match self.milestones.note(number) {
            Some(is_last) => self.keep_restore_point(is_last),
            None => Ok(()),
        }
    }

    /// Applies the block after the head to the state, and counts it.
    pub(super) fn apply_to_state(&mut self, prepared: &PreparedBlock) -> Result<(), WriterError> {
        let PreparedBlock {
            block,
            keys,
            stored_len,
            ..
        } = prepared;
        let (number, head) = (block.number(), self.state.head());
        let previous = block.block().header.previous;
        if previous != head.id {
            let fault = BlockFault::Link {
                expected: head.id,
                found: previous,
            };
            return Err(self.block_error(number, fault));
        }
        self.milestones
            .compare(number, block.id())
            .map_err(WriterError::Checkpoint)?;
        // The prevalidation recovers the keys of exactly those blocks that are to be validated in full.
        let validation = keys.as_ref().map_or(Validation::Reduced, Validation::Full);
        let applied = self
            .state
            .apply_block(block, validation)
            .map_err(|error| match error {
                RuleError::State(error) => WriterError::State(error),
                rule => self.block_error(number, BlockFault::Rule(rule)),
            })?;
        let meter = &self.meter;
        meter.head.set(number, block.block().header.timestamp.0);
        meter.blocks.fetch_add(1, Relaxed);
        meter.transactions.fetch_add(applied.transactions as u64, Relaxed);
        meter.operations.fetch_add(applied.operations as u64, Relaxed);
        meter.stored_bytes.fetch_add(*stored_len as u64, Relaxed);
        Ok(())
    }

    /// Appends an irreversible block to the log.
    pub(super) fn append(&mut self, prepared: &PreparedBlock) -> Result<(), WriterError> {
        if let Err(error) = self.log.append(prepared) {
            self.given_up = true;
            return Err(error.into());
        }
        self.blocks_since_commit += 1;
        Ok(())
    }

    /// Commits when the policy says so. Called between batches, not between blocks.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn commit_if_due(&mut self) -> Result<(), WriterError> {
        if self.is_due() {
            self.commit()?;
        }
        Ok(())
    }

    /// Whether the head is that of the network: then every block is made durable at once, so that a crash costs none.
    pub fn set_live(&mut self, live: bool) {
        self.live = live;
    }

    pub(super) fn flush_log(&mut self) -> Result<(), WriterError> {
        let flushed = self.log.flush();
        self.given_up |= flushed.is_err();
        Ok(flushed?)
    }

    fn is_due(&self) -> bool {
        if self.live && self.blocks_since_commit > 0 {
            return true;
        }
        let dirty = self.state.registers().dirty_bytes();
        self.policy
            .is_due(self.blocks_since_commit, dirty, self.last_commit.elapsed())
    }

    /// Whether the disks are to be looked at before the writer goes on: a commit is due, or the log has grown.
    pub fn is_room_due(&self) -> bool {
        self.log.is_room_due() || self.is_due()
    }

    /// What the next writes may take: the next commit, and what goes into the log until the disks are looked at again.
    pub fn needs(&self) -> Needs {
        let registers = self.state.registers();
        Needs {
            state: registers.store().commit_room(registers.dirty_bytes() as u64),
            log: self.log.need() + self.reversible_bytes() as u64,
        }
    }

    /// The disk that has too little room for these needs, if one has.
    pub fn shortage(&mut self, needs: Needs) -> Option<Shortage> {
        self.log.watched();
        self.room.shortage(needs)
    }

    /// Whether blocks were applied that a commit would make durable.
    pub fn has_uncommitted(&self) -> bool {
        self.blocks_since_commit > 0
    }

    /// Writes nothing more: what was applied since the last commit is not kept.
    pub fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Makes everything durable that cannot be taken back: first the log, then registers and head in one write, so
    /// that the state never knows a block that the log may still lose.
    ///
    /// # Errors
    /// [`WriterError::Log`] or [`WriterError::State`]; then the commit did not happen.
    pub fn commit(&mut self) -> Result<(), WriterError> {
        self.last_commit = Instant::now();
        if self.blocks_since_commit == 0 || self.given_up {
            return Ok(());
        }
        let written = self.write_commit();
        self.given_up = written.is_err();
        written
    }

    fn write_commit(&mut self) -> Result<(), WriterError> {
        let started = Instant::now();
        self.log.sync()?;
        let synced = started.elapsed();
        let head = self.irreversible();
        let mut waited = synced;
        if self.filling.is_none() {
            // Blocks that came in order are not taken back; whoever opens sessions only wants to know what they cost.
            self.state.irreversible(head.number);
            waited += self.state.commit()?.write;
        }
        self.meter.clock.reassign(Phase::WaitingForLocks, waited);
        self.blocks_since_commit = 0;
        self.durable = head;
        self.meter.durable.store(head.number, Relaxed);
        self.view.publish(|heads| heads.durable = Some(head));
        Ok(self.log.prune(head.number)?)
    }

    /// Publishes the head; once a batch is often enough.
    pub fn publish_head(&mut self) {
        let (head, irreversible) = (self.head(), self.irreversible());
        let reversible = self.forks.as_mut().and_then(Forks::changed_blocks);
        self.view.publish(|heads| {
            (heads.head, heads.irreversible) = (Some(head), Some(irreversible));
            if let Some(blocks) = reversible {
                heads.reversible = blocks;
            }
        });
    }

    /// Commits and closes the log, unless the writer has [given up](Self::give_up); gives the state back.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn finish(mut self) -> Result<IdentityState, WriterError> {
        self.commit()?;
        let Self {
            state, log, given_up, ..
        } = self;
        if !given_up {
            log.close()?;
            write_trie_file(&state);
        }
        Ok(state)
    }

    /// An error about a block, with what it means to the operator.
    pub fn block_error(&self, number: u32, fault: BlockFault) -> WriterError {
        WriterError::Block {
            number,
            below_checkpoint: number <= self.milestones.all().last_number(),
            fault,
        }
    }

    /// Commits and keeps the state of the checkpoint that was just reached, if it is time.
    fn keep_restore_point(&mut self, IsLast(is_last): IsLast) -> Result<(), WriterError> {
        let started = Instant::now();
        let number = self.head().number;
        let due = |keeper: &Keeper| keeper.is_due(number, is_last, started);
        if self.keeper.as_ref().is_some_and(due) {
            self.commit()?;
            if let Some(keeper) = &mut self.keeper {
                keeper.keep(self.state.registers().store(), started);
            }
        }
        Ok(())
    }
}

/// Writes the trie file for the next start, which does without if it must.
fn write_trie_file(state: &IdentityState) {
    let end = Instant::now() + TRIE_PATIENCE;
    if let Err(error) = state.registers().write_trie_file(Some(end)) {
        tracing::warn!(
            target: "trie",
            "the trie file is not written: {error}. The next start makes the trie from the registers"
        );
    }
}
