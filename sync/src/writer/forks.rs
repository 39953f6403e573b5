//! Above the last checkpoint: blocks on several branches, of which the longest is the chain.
//!
//! A block goes into the [fork database](crate::fork) first. When that makes another block the highest, the state goes
//! there: back to where the branches part, by undo sessions, and up the other branch, every block validated in full. A
//! block that breaks a rule takes its branch with it, and the state returns to where it was. What becomes irreversible
//! leaves the fork database for the block log, and its undo session is dropped; only that is ever made durable.

use std::collections::HashSet;
use std::sync::Arc;

use cairn_chain::{AccountName, BlockId, ChainKind, Time, Transaction};
use cairn_rules::Head;

use super::chain::ChainWriter;
use super::clock::Clock;
use super::error::{BlockFault, WriterError};
use crate::fork::{ForkBlock, ForkDatabase, Push, Route};
use crate::pipeline::{Origin, PreparedBlock};
use crate::view::ReversibleBlocks;

/// Reversible blocks that are held, more than eight hours of them. A chain on which nothing became irreversible for so
/// long has no majority, or is not the one that has.
pub const MAX_REVERSIBLE_BLOCKS: usize = 10_000;
/// The memory that they and their undo sessions may take, in bytes.
pub const MAX_REVERSIBLE_BYTES: usize = 1 << 30;

/// How far a block's time may be ahead of this machine's clock, in seconds: hived's limit for blocks of peers.
const MAX_AHEAD_SECONDS: u32 = 5;

/// What became of a block that was given to the writer.
#[derive(Debug)]
pub enum Taken {
    /// The head moved, to this block or to one that waited for it.
    Applied,
    /// It is held on a branch that is not longer than the main one.
    Held,
    /// It is here already.
    Known,
    /// Nothing is wrong with it as far as can be told, and it cannot be used.
    SetAside(SetAside),
    /// A block breaks a rule: this one, or another one of its branch.
    Refused(Refused),
}

/// Why a block that breaks no rule is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAside {
    /// Its parent is not here. It is kept for a while.
    Unlinked {
        /// The parent.
        previous: BlockId,
    },
    /// It is not above the last irreversible block: an old block of this chain, or of a fork that is dead.
    DeadFork {
        /// The last irreversible block.
        irreversible: u32,
    },
    /// Its time has not come by this machine's clock.
    FromTheFuture {
        /// The block's time.
        time: Time,
        /// The clock's.
        now: Time,
    },
}

/// A block that breaks a rule. It and all that continue it are gone, and are not tried again.
#[derive(Debug)]
pub struct Refused {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: BlockId,
    /// Who sent it.
    pub origin: Origin,
    /// Which rule.
    pub fault: BlockFault,
    /// It was the next block of the main branch, not one of a branch beside it.
    pub next_of_head: bool,
}

/// A block in the fork database.
#[derive(Clone, Debug)]
struct Reversible {
    prepared: Arc<PreparedBlock>,
    origin: Origin,
    /// What it takes; see [`PreparedBlock::memory`].
    bytes: usize,
}

impl Reversible {
    fn new(prepared: PreparedBlock, origin: &Origin) -> Self {
        Self {
            bytes: prepared.memory(),
            prepared: Arc::new(prepared),
            origin: origin.clone(),
        }
    }
}

fn operations(transactions: &[Transaction<'_>]) -> u64 {
    let each = transactions
        .iter()
        .map(|transaction| transaction.operations.len() as u64);
    each.sum()
}

impl ForkBlock for Reversible {
    fn id(&self) -> BlockId {
        self.prepared.block.id()
    }

    fn previous(&self) -> BlockId {
        self.prepared.block.block().header.previous
    }

    fn witness(&self) -> AccountName {
        self.prepared.block.block().header.witness
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The part of the writer above the last irreversible block.
#[derive(Debug)]
pub(super) struct Forks {
    database: ForkDatabase<Reversible>,
    irreversible: Head,
    clock: Box<dyn Clock>,
    /// The main branch is not the published one.
    changed: bool,
    /// The schedule is unknown, which was told.
    told_of_schedule: bool,
    /// Witnesses that were seen at work below the reversible blocks.
    veterans: HashSet<AccountName>,
}

impl Forks {
    pub(super) fn irreversible(&self) -> Head {
        self.irreversible
    }

    /// The main branch, if it has changed since it was asked for.
    pub(super) fn changed_blocks(&mut self) -> Option<ReversibleBlocks> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let blocks = self.database.main_branch().map(|held| Arc::clone(&held.prepared));
        Some(ReversibleBlocks::new(blocks.collect()))
    }
}

impl ChainWriter {
    /// From now on blocks above the last checkpoint may come in any order and on any branch. The state must not have
    /// blocks that can be taken back.
    pub fn follow_forks(&mut self, clock: Box<dyn Clock>) {
        let irreversible = self.state.head();
        self.forks = Some(Forks {
            database: ForkDatabase::new(irreversible.id),
            irreversible,
            clock,
            changed: true,
            told_of_schedule: false,
            veterans: HashSet::new(),
        });
    }

    /// How many blocks of the main branch can be taken back.
    pub fn reversible_len(&self) -> usize {
        self.forks.as_ref().map_or(0, |forks| forks.database.main_len())
    }

    /// Takes a block that the pipeline has prepared. Up to the last checkpoint, and where no forks are followed, it must be
    /// the next one and is irreversible at once.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); [`WriterError::TooManyReversible`].
    pub fn take(&mut self, prepared: PreparedBlock, origin: &Origin) -> Result<Taken, WriterError> {
        let last_checkpoint = self.checkpoints().last_number();
        let Some(forks) = &mut self.forks else {
            return self.apply(&prepared).map(|()| Taken::Applied);
        };
        let (number, head) = (prepared.block.number(), self.state.head());
        if number <= last_checkpoint && head.number < last_checkpoint {
            return self.apply(&prepared).map(|()| Taken::Applied);
        }
        let previous = prepared.block.block().header.previous;
        if head.number < last_checkpoint {
            // Nothing can be said of it before the checkpoint is reached.
            return Ok(Taken::SetAside(SetAside::Unlinked { previous }));
        }
        let (time, now) = (prepared.block.block().header.timestamp, forks.clock.now());
        if time.0 > now.0.saturating_add(MAX_AHEAD_SECONDS) {
            return Ok(Taken::SetAside(SetAside::FromTheFuture { time, now }));
        }
        let id = prepared.block.id();
        match forks.database.push(Reversible::new(prepared, origin)) {
            Push::Linked => self.follow_longest(),
            Push::Known => Ok(Taken::Known),
            Push::Unlinked => Ok(Taken::SetAside(SetAside::Unlinked { previous })),
            Push::TooOld => {
                let irreversible = forks.irreversible.number;
                Ok(Taken::SetAside(SetAside::DeadFork { irreversible }))
            }
            Push::Refused(reason) => Ok(Taken::Refused(Refused {
                number,
                id,
                origin: origin.clone(),
                fault: BlockFault::Remembered(reason),
                next_of_head: previous == head.id,
            })),
        }
    }

    /// The head is irreversible: it was applied in order.
    pub(super) fn rest_at_head(&mut self) {
        let head = self.state.head();
        if let Some(forks) = &mut self.forks {
            forks.irreversible = head;
            // Nothing is held below the last checkpoint.
            if head.number == self.milestones.all().last_number() {
                forks.database = ForkDatabase::new(head.id);
            }
        }
    }

    /// Goes to the highest block.
    fn follow_longest(&mut self) -> Result<Taken, WriterError> {
        let before = self.state.head();
        let mut refused = None;
        while let Some(target) = self.target(&before) {
            if let Some(next) = self.go_to(&target, &before)? {
                // The first one is to blame; what else is found on the way is remembered as well.
                refused.get_or_insert(next);
            }
        }
        let moved = self.state.head().id != before.id;
        if moved {
            self.settle()?;
        }
        Ok(match refused {
            Some(refused) => Taken::Refused(refused),
            None if moved => Taken::Applied,
            None => Taken::Held,
        })
    }

    /// Where to go: to a block that is higher than the head and than the head before, or back to that one.
    fn target(&self, before: &Head) -> Option<BlockId> {
        let forks = self.forks.as_ref()?;
        let head = forks.database.head();
        match forks.database.longer() {
            Some(longer) if longer.number() > before.number => Some(longer),
            _ => (head != before.id && head.number() <= before.number).then_some(before.id),
        }
    }

    /// Goes to a held block. `Some`: a block on the way there breaks a rule, and was refused.
    fn go_to(&mut self, target: &BlockId, before: &Head) -> Result<Option<Refused>, WriterError> {
        let route = self.forks.as_ref().and_then(|forks| forks.database.route(target));
        let Some(Route { fork_point, branch }) = route else {
            return Err(WriterError::Forks {
                number: target.number(),
            });
        };
        let head = self.state.head();
        if fork_point < head.number {
            self.take_back_to(fork_point, target, *target == before.id)?;
        }
        let next_of_head = fork_point == head.number;
        for id in &branch {
            let held = self
                .forks
                .as_ref()
                .and_then(|forks| forks.database.get(id))
                .cloned();
            let Some(held) = held else {
                return Err(WriterError::Forks { number: id.number() });
            };
            self.state.set_undo_sessions(true);
            let votes = self.has_vote(&held.witness())?;
            match self.apply_to_state(&held.prepared) {
                Ok(()) => self.note_applied(id, votes),
                Err(WriterError::Block { number, fault, .. }) => {
                    return Ok(Some(self.refuse(number, id, held.origin, fault, next_of_head)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether a witness has a say in what is irreversible. On a public chain, whether its schedule is known or not, only one
    /// that made a block below the reversible ones: to become a witness costs an account, to be scheduled costs stake.
    fn has_vote(&mut self, witness: &AccountName) -> Result<bool, WriterError> {
        let Some(forks) = &mut self.forks else {
            return Ok(false);
        };
        let is_public = matches!(self.state.spec().kind, ChainKind::Mainnet | ChainKind::Mirrornet);
        if !is_public || forks.veterans.contains(witness) {
            return Ok(true);
        }
        let last = self.state.last_block_of(witness)?;
        let is_veteran = (1..=forks.irreversible.number).contains(&last);
        if is_veteran {
            forks.veterans.insert(*witness);
        }
        Ok(is_veteran)
    }

    fn note_applied(&mut self, id: &BlockId, votes: bool) {
        self.meter.note_session();
        if let Some(forks) = &mut self.forks {
            forks.database.applied(id, votes);
            forks.changed = true;
        }
    }

    fn refuse(
        &mut self,
        number: u32,
        id: &BlockId,
        origin: Origin,
        fault: BlockFault,
        next_of_head: bool,
    ) -> Refused {
        if let Some(forks) = &mut self.forks {
            forks.database.refuse(id, &fault.to_string());
        }
        if !next_of_head {
            tracing::warn!(
                target: "fork",
                "block {number} {id} of the fork breaks a rule: {fault}. The fork is not followed"
            );
        }
        Refused {
            number,
            id: *id,
            origin,
            fault,
            next_of_head,
        }
    }

    fn take_back_to(
        &mut self,
        fork_point: u32,
        target: &BlockId,
        is_return: bool,
    ) -> Result<(), WriterError> {
        let head = self.state.head();
        let what = if is_return {
            "Returning to"
        } else {
            self.meter.note_switch();
            "Switching to fork:"
        };
        tracing::info!(
            target: "fork",
            "{what} {target} (block {}); {} blocks above {fork_point} are taken back, the head was {}",
            target.number(),
            head.number - fork_point,
            head.id
        );
        while self.state.head().number > fork_point {
            if !self.state.undo_block()? {
                return Err(WriterError::Forks {
                    number: self.state.head().number,
                });
            }
            if let Some(forks) = &mut self.forks {
                if let Some(held) = forks.database.get(&forks.database.head()) {
                    let transactions = &held.prepared.block.block().transactions;
                    let stored = held.prepared.stored_len as u64;
                    self.meter
                        .uncount(transactions.len() as u64, operations(transactions), stored);
                }
                forks.database.taken_back();
                forks.changed = true;
            }
        }
        let head = self.state.head();
        self.meter.head.set(head.number, head.time.0);
        Ok(())
    }

    /// What has become irreversible with the new head goes into the log.
    fn settle(&mut self) -> Result<(), WriterError> {
        let finality = self.state.finality();
        let Some(forks) = &mut self.forks else {
            return Ok(());
        };
        if matches!(finality, cairn_rules::Finality::Producers { .. }) && !forks.told_of_schedule {
            forks.told_of_schedule = true;
            tracing::warn!(
                target: "fork",
                "who is scheduled depends on stake, which this node does not know: above the last checkpoint a block counts as \
                 irreversible when enough different witnesses have built on it. That is no protection against peers that \
                 conspire: add newer checkpoints from time to time"
            );
        }
        let number = forks.database.irreversible(&finality);
        let irreversible = forks.database.advance(number);
        let Some(last) = irreversible.last() else {
            return self.check_room_for_forks();
        };
        let block = &last.prepared.block;
        forks.irreversible = Head {
            number: block.number(),
            id: block.id(),
            time: block.block().header.timestamp,
        };
        forks.changed = true;
        self.state.irreversible(number);
        for held in &irreversible {
            self.append(&held.prepared)?;
        }
        // A peer that asks for them finds them in the log, since they are not among the reversible ones any more.
        self.flush_log()?;
        self.check_room_for_forks()
    }

    /// The memory of the blocks of the main branch: they may all become irreversible at once, and go into the log.
    pub(super) fn reversible_bytes(&self) -> usize {
        self.forks.as_ref().map_or(0, |forks| forks.database.main_bytes())
    }

    fn check_room_for_forks(&self) -> Result<(), WriterError> {
        let Some(forks) = &self.forks else { return Ok(()) };
        let blocks = forks.database.main_len();
        let bytes = forks.database.main_bytes() + self.state.registers().session_bytes();
        if blocks <= MAX_REVERSIBLE_BLOCKS && bytes <= MAX_REVERSIBLE_BYTES {
            return Ok(());
        }
        Err(WriterError::TooManyReversible {
            blocks,
            mebibytes: bytes >> 20,
            irreversible: forks.irreversible.number,
            since: forks.irreversible.time,
        })
    }
}
