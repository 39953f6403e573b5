//! What is kept from block to block.

use cairn_chain::{AccountName, Time};

use super::draw::{
    Dequeued, Draw, DrawInput, MOST_SCHEDULED, ROUND, Schedule, WitnessCounts, WitnessFact, draw,
};
use super::slots::slot_at;

/// A block that its witness should not have made, or not then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// The block's time is before the first slot behind its parent.
    #[error("time {time} is before the next slot, which begins at {first}")]
    BeforeFirstSlot {
        /// Time of the block, in seconds since 1970.
        time: u32,
        /// Where the next slot begins.
        first: u64,
    },
    /// Somebody else is scheduled for this slot.
    #[error("slot {slot}: witness {expected} is scheduled, {found} made the block")]
    WrongWitness {
        /// Slots since the parent.
        slot: u32,
        /// Who is scheduled.
        expected: AccountName,
        /// Who made the block.
        found: AccountName,
    },
    /// The list is not known, but earlier blocks of this round show that it is somebody else's turn.
    #[error("slot {slot}: the turn is that of {expected} as earlier in this round, {found} made the block")]
    OthersTurn {
        /// Slots since the parent.
        slot: u32,
        /// Who had this turn earlier in the round.
        expected: AccountName,
        /// Who made the block.
        found: AccountName,
    },
    /// The list is not known, but earlier blocks of this round show that the witness has another turn.
    #[error(
        "slot {slot}: witness {found} has turn {own_turn} of this round, and made a block in turn {turn}"
    )]
    NotOwnTurn {
        /// Slots since the parent.
        slot: u32,
        /// Who made the block.
        found: AccountName,
        /// Its turn, from 0.
        own_turn: usize,
        /// The block's turn.
        turn: usize,
    },
}

/// How far a block's slot could be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotCheck {
    /// The list is known, and the witness's turn it was.
    Scheduled,
    /// The list is not known; the block agrees with the earlier ones of its round.
    Consistent,
}

/// A block's place in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Slots since the parent, from 1; one less were missed.
    pub number: u32,
    /// The absolute slot counter with this block. It decides about the turn.
    pub counter: u64,
}

/// Witnesses that missed slots before a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missed {
    /// These, each once, in the order of their turns.
    Known(Vec<AccountName>),
    /// Some, and only stake could tell which.
    Unknown,
}

/// What the end of a round brings besides the new schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundEnd {
    /// What is taken off the mining queue.
    pub dequeued: Dequeued,
    /// The list over which votes for hardforks are counted now (since hardfork 5), see
    /// [`majority`](super::majority::agreed).
    pub counted: Schedule,
}

/// The witness schedule of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleState {
    pub(super) counter: u64,
    /// Number and time of the last block.
    pub(super) head: Option<(u32, Time)>,
    pub(super) current: Schedule,
    /// The list of the next round, since hardfork 26.
    pub(super) future: Option<Schedule>,
    pub(super) virtual_times_differ: bool,
    /// Who made a block in which turn of this round; kept where the list is not known.
    pub(super) seen: [Option<AccountName>; MOST_SCHEDULED],
}

impl ScheduleState {
    /// At genesis, where one witness alone is scheduled.
    #[must_use]
    pub fn genesis(witness: AccountName) -> Self {
        Self {
            counter: 0,
            head: None,
            current: Schedule::Known(vec![witness]),
            future: None,
            virtual_times_differ: false,
            seen: [None; MOST_SCHEDULED],
        }
    }

    /// Number and time of the last block; `None` while the chain is empty.
    #[must_use]
    pub const fn head(&self) -> Option<(u32, Time)> {
        self.head
    }

    /// The absolute slot counter.
    #[must_use]
    pub const fn counter(&self) -> u64 {
        self.counter
    }

    /// Who is scheduled in this round.
    #[must_use]
    pub const fn current(&self) -> &Schedule {
        &self.current
    }

    /// Whose confirmations make blocks irreversible: since hardfork 26 the next round's list.
    #[must_use]
    pub fn for_irreversibility(&self) -> &Schedule {
        self.future.as_ref().unwrap_or(&self.current)
    }

    /// The slot that a child of the head block with this time has.
    ///
    /// # Errors
    /// [`SlotError::BeforeFirstSlot`].
    pub fn slot(&self, genesis: Time, time: Time) -> Result<Slot, SlotError> {
        let head = self.head.map(|(_, time)| time);
        match slot_at(head, genesis, time) {
            0 => Err(SlotError::BeforeFirstSlot {
                time: time.seconds(),
                first: super::slots::first_slot_time(head, genesis),
            }),
            number => Ok(Slot {
                number,
                counter: self.counter.wrapping_add(number.into()),
            }),
        }
    }

    /// Whether `witness` may have made the block in this slot.
    ///
    /// # Errors
    /// [`SlotError`], if it certainly may not.
    pub fn check(&self, slot: Slot, witness: AccountName) -> Result<SlotCheck, SlotError> {
        let turn = self.turn(slot);
        match &self.current {
            Schedule::Known(list) => match list.get(turn) {
                Some(expected) if *expected == witness => Ok(SlotCheck::Scheduled),
                expected => Err(SlotError::WrongWitness {
                    slot: slot.number,
                    expected: expected.copied().unwrap_or_default(),
                    found: witness,
                }),
            },
            Schedule::Unknown { distinct, .. } => {
                if let Some(expected) = self.seen[turn] {
                    if expected == witness {
                        return Ok(SlotCheck::Consistent);
                    }
                    return Err(SlotError::OthersTurn {
                        slot: slot.number,
                        expected,
                        found: witness,
                    });
                }
                match self.seen.iter().position(|seen| *seen == Some(witness)) {
                    Some(own_turn) if *distinct => Err(SlotError::NotOwnTurn {
                        slot: slot.number,
                        found: witness,
                        own_turn,
                        turn,
                    }),
                    _ => Ok(SlotCheck::Consistent),
                }
            }
        }
    }

    /// Who missed the slots between the head block and this slot. Of a gap of any length each entry of the list is
    /// named once.
    #[must_use]
    pub fn missed(&self, slot: Slot) -> Missed {
        let missed = slot.number.saturating_sub(1);
        if missed == 0 {
            return Missed::Known(Vec::new());
        }
        let Schedule::Known(list) = &self.current else {
            return Missed::Unknown;
        };
        let turns = u64::from(missed).min(list.len() as u64);
        let mut names: Vec<AccountName> = Vec::new();
        for slot in 1..=turns {
            let turn = (self.counter.wrapping_add(slot) % list.len() as u64) as usize;
            if !names.contains(&list[turn]) {
                names.push(list[turn]);
            }
        }
        Missed::Known(names)
    }

    /// Takes a block that has been accepted into account. Call it after the block's transactions.
    pub fn advance(&mut self, number: u32, time: Time, slot: Slot, witness: AccountName) {
        if matches!(self.current, Schedule::Unknown { .. }) {
            self.seen[self.turn(slot)] = Some(witness);
        }
        self.counter = slot.counter;
        self.head = Some((number, time));
    }

    /// Notes that an account's vote for a witness was added or removed, in whatever way: virtual times differ from now
    /// on, even if nobody votes by the end of the round.
    pub const fn note_vote(&mut self) {
        self.virtual_times_differ = true;
    }

    /// Notes that a hardfork took effect.
    pub fn note_hardfork(&mut self, hardfork: u8) {
        if hardfork == 26 {
            self.future = Some(self.current.clone());
        }
    }

    /// Ends the round if the head block ends one: a new list is drawn. Call it after [`Self::advance`], before the
    /// block's other time-driven effects. `hardfork` is the one in force during the block; `facts` is asked only if it
    /// is needed.
    ///
    /// # Errors
    /// What `facts` fails with; the schedule is then as before.
    pub fn end_of_block<E>(
        &mut self,
        round: &RoundInput,
        facts: impl FnOnce() -> Result<Vec<WitnessFact>, E>,
    ) -> Result<Option<RoundEnd>, E> {
        let Some((block, time)) = self.head.filter(|(block, _)| block.is_multiple_of(ROUND)) else {
            return Ok(None);
        };
        let input = DrawInput {
            block,
            time,
            hardfork: round.hardfork,
            miner_voting_block: round.miner_voting_block,
            votes_exist: round.votes_exist,
            virtual_times_differ: self.virtual_times_differ,
            counts: round.counts,
        };
        let Draw { schedule, dequeued } = draw(&input, facts)?;
        let counted = match &mut self.future {
            Some(future) => {
                self.current = std::mem::replace(future, schedule);
                self.current.clone()
            }
            None => std::mem::replace(&mut self.current, schedule),
        };
        self.seen = [None; MOST_SCHEDULED];
        if round.hardfork >= 4 {
            self.virtual_times_differ = round.votes_exist;
        }
        Ok(Some(RoundEnd { dequeued, counted }))
    }

    /// Which entry of the list a slot belongs to. Below the list's length, which is at most 21.
    fn turn(&self, slot: Slot) -> usize {
        let size = match &self.current {
            Schedule::Known(list) => list.len().max(1),
            Schedule::Unknown { size, .. } => usize::from(*size).clamp(1, MOST_SCHEDULED),
        };
        (slot.counter % size as u64) as usize
    }
}

/// What the end of a round depends on besides the schedule itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundInput {
    /// Number of the last hardfork in force during the block.
    pub hardfork: u8,
    /// The last block at which miners have precedence (864000; testnet 30).
    pub miner_voting_block: u32,
    /// Whether any account's vote for a witness exists, after the block's transactions.
    pub votes_exist: bool,
    /// The witnesses in numbers, after the block's transactions.
    pub counts: WitnessCounts,
}
