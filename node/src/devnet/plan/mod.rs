//! Plans blocks: which transactions they hold, who signs them, who produces them.
//!
//! Planning is the sequential part of the generator, so it decides only what depends on the state of the
//! chain (who exists, who may act now, with which keys) and leaves everything else (texts, keys' bytes,
//! packing, signatures) to the threads that write the transactions. A plan is a pure function of the seed and
//! of the blocks planned before it.
//!
//! # References
//!
//! A transaction names a recent block ([`reference`]) and an expiration ([`expiration`]). Chosen as they are,
//! no two transactions of a chain share both, so no transaction is the duplicate of another, whatever else is
//! in it.

mod account_operations;
mod large;
mod mixed;
mod operation;
mod posts;
mod recovery;
mod startup;

use cairn_chain::spec::BLOCK_INTERVAL;

use super::accounts::{Accounts, Signers};
use super::keys::{KeyName, Role};
use super::names::{self, INITMINER};
use super::profile::Profile;
use super::rng::{Rng, mix};
use super::schedule::Schedule;
use super::shape::ChainShape;
use super::spec;

pub(super) use operation::{AuthorityChange, AuthorityChanges, Planned, Post};

/// How far behind a block its transactions' reference block lies, in blocks, once the chain is long enough.
/// It bounds how many blocks can be in the works at once.
pub(super) const LAG: u32 = 128;

/// The block to which the transactions of block `number` (2 or later) refer: `lag` behind, or half-way to
/// the start of the chain.
pub(super) fn reference(number: u32, lag: u32) -> u32 {
    number.saturating_sub(lag).max(number / 2)
}

/// When transaction `position` of block `number` expires: 10 to 15 minutes after the block before, which has the time
/// `now`.
///
/// A block's transactions differ in it. Neighboring blocks may share a reference (in the first [`LAG`] blocks
/// two and two do), so blocks with odd numbers add more than the number of transactions in a block.
fn expiration(number: u32, now: u32, position: u32) -> u32 {
    let odd = (number % 2) * 2 * MAX_TRANSACTIONS;
    now + 600 + odd + position
}

/// Transactions in a block, at most.
pub(super) const MAX_TRANSACTIONS: u32 = 60;

/// Slots that are missed in a row, at most, unless the caller wants more.
const MOST_MISSED: u32 = 8;

/// Sets the random numbers of the slots apart.
const SLOTS: u64 = 0x736c_6f74;

/// One block, decided but not written.
#[derive(Debug, Clone)]
pub(super) struct BlockPlan {
    pub(super) number: u32,
    /// The block's time, in seconds since 1970.
    pub(super) time: u32,
    /// Account that produces the block.
    pub(super) producer: u32,
    pub(super) producer_key: KeyName,
    /// The producer's first block, in which it reports its version.
    pub(super) first_of_producer: bool,
    /// The last hardfork in force.
    pub(super) hardfork: u8,
    pub(super) transactions: Vec<TransactionPlan>,
}

impl BlockPlan {
    /// Adds a transaction that is valid by itself, and that the honest chain does not have.
    pub(super) fn add_smuggled_transaction(&mut self) {
        let mut signers = Signers::default();
        signers.add(KeyName::new(INITMINER, Role::Active, 0));
        self.transactions.push(TransactionPlan {
            expiration: self.time + 60,
            operations: vec![Planned::Custom { account: INITMINER }],
            signers,
            content: u64::from(self.number),
        });
    }
}

/// One transaction, decided but not written.
#[derive(Debug, Clone)]
pub(super) struct TransactionPlan {
    pub(super) expiration: u32,
    pub(super) operations: Vec<Planned>,
    pub(super) signers: Signers,
    /// Where the transaction's texts come from.
    pub(super) content: u64,
}

/// A witness, as far as block production needs it.
#[derive(Debug, Clone)]
struct Witness {
    account: u32,
    key_generation: u32,
    has_produced: bool,
}

/// Plans one block after the other, from block 1 on.
#[derive(Debug, Clone)]
pub(super) struct Planner {
    shape: ChainShape,
    rng: Rng,
    /// Slots are drawn apart, so that the blocks' content does not depend on them more than it must.
    slots: Rng,
    /// Number of the branch, 0 for the first one: it is part of the generation of new keys.
    branch: u32,
    accounts: Accounts,
    /// Sorted by name.
    witnesses: Vec<Witness>,
    schedule: Schedule,
    posts: posts::Posts,
    recoveries: recovery::Recoveries,
    startup: startup::Startup,
    next: u32,
    /// Time of the last block.
    now: u32,
    /// When to leave the random numbers of the sibling.
    divergence: Option<Divergence>,
}

/// Where a block's transactions begin to differ from those of the sibling that was planned with the same random
/// numbers.
#[derive(Debug, Clone, Copy)]
struct Divergence {
    /// Transactions that both have.
    shared: u32,
    branch: u32,
    seed: u64,
}

impl Planner {
    pub(super) fn new(shape: ChainShape) -> Self {
        Self {
            shape,
            rng: Rng::new(shape.seed),
            slots: Rng::new(mix(shape.seed ^ SLOTS)),
            branch: 0,
            accounts: Accounts::genesis(),
            witnesses: vec![Witness {
                account: INITMINER,
                key_generation: 0,
                has_produced: false,
            }],
            schedule: Schedule::alone(INITMINER),
            posts: posts::Posts::default(),
            recoveries: recovery::Recoveries::default(),
            startup: startup::Startup::default(),
            next: 1,
            now: spec::block_time(0),
            divergence: None,
        }
    }

    /// The number of the block that [`Self::next_block`] plans.
    pub(super) fn next_number(&self) -> u32 {
        self.next
    }

    /// Time of the last planned block; that of genesis before the first.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    pub(super) fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Some witness that is not this one, with the name of its signing key.
    pub(super) fn other_witness(&self, than: u32) -> Option<(u32, KeyName)> {
        let other = self.witnesses.iter().find(|witness| witness.account != than)?;
        let key = KeyName::new(other.account, Role::Block, other.key_generation);
        Some((other.account, key))
    }

    /// Goes another way from here than the planner that this one is a copy of. The next block begins with the first
    /// `shared` transactions of the other's; everything after them differs, new keys too. With `u32::MAX` it has the same
    /// transactions.
    pub(super) fn branch_off(&mut self, branch: u32, shared: u32) {
        let seed = mix(self.shape.seed ^ mix(u64::from(branch)));
        self.slots = Rng::new(mix(seed ^ SLOTS));
        self.divergence = Some(Divergence { shared, branch, seed });
    }

    /// Leaves the sibling's random numbers when it is time.
    fn diverge(&mut self, planned: u32) {
        if let Some(Divergence { shared, branch, seed }) = self.divergence
            && shared <= planned
        {
            self.branch = branch;
            self.rng = Rng::new(seed);
            self.divergence = None;
        }
    }

    /// The generation of the key that replaces one of this generation.
    fn renewed(&self, generation: u32) -> u32 {
        match self.branch {
            0 => generation + 1,
            branch => branch << 16 | (generation + 1) & 0xffff,
        }
    }

    /// Slots that are missed before the next block.
    fn draw_missed(&mut self) -> u32 {
        let percent = self.shape.missed_slots;
        if percent == 0 || self.next == 1 {
            return 0;
        }
        (0..MOST_MISSED)
            .take_while(|_| self.slots.percent(percent))
            .count() as u32
    }

    /// Plans the next block, in a slot that follows from the seed.
    pub(super) fn next_block(&mut self) -> BlockPlan {
        let missed = self.draw_missed();
        self.next_block_after(missed)
    }

    /// Plans the next block, after so many missed slots.
    pub(super) fn next_block_after(&mut self, missed: u32) -> BlockPlan {
        let number = self.next;
        self.next += 1;
        let time = self.now + (missed + 1) * BLOCK_INTERVAL;
        let (producer, producer_key, first_of_producer) = self.produce(missed);
        self.diverge(0);
        // While the chain is empty nothing can be referred to, so block 1 has no transactions.
        let transactions = match self.shape.profile {
            Profile::Mixed if number > 1 => {
                let mut drafts = Drafts::new(number, self.now);
                if self.plan_startup(&mut drafts) {
                    self.plan_mixed(&mut drafts);
                }
                drafts.list
            }
            Profile::Large if number > 1 => self.plan_large(number),
            Profile::Mixed | Profile::Empty | Profile::Large => Vec::new(),
        };
        // A block that shares all of the sibling's transactions differs from here on.
        self.diverge(u32::MAX);
        let witnesses = &self.witnesses;
        self.schedule.end_block(number, time, missed, || {
            witnesses.iter().map(|w| w.account).collect()
        });
        self.now = time;
        BlockPlan {
            number,
            time,
            producer,
            producer_key,
            first_of_producer,
            hardfork: self.shape.hardfork,
            transactions,
        }
    }

    /// Who produces the next block after so many missed slots, with which key, and whether for the first time. The key
    /// is the one registered before this block's transactions.
    fn produce(&mut self, missed: u32) -> (u32, KeyName, bool) {
        let producer = self.schedule.producer(missed);
        let (key, first) = match self
            .witnesses
            .iter_mut()
            .find(|witness| witness.account == producer)
        {
            Some(witness) => (
                witness.key_generation,
                !std::mem::replace(&mut witness.has_produced, true),
            ),
            None => unreachable!("the schedule is drawn from the witnesses, and none is ever removed"),
        };
        (producer, KeyName::new(producer, Role::Block, key), first)
    }

    /// Adds a witness with the first generation of its block key.
    fn add_witness(&mut self, account: u32) {
        let name = names::account(account);
        let place = self
            .witnesses
            .partition_point(|other| names::account(other.account) < name);
        self.witnesses.insert(
            place,
            Witness {
                account,
                key_generation: 0,
                has_produced: false,
            },
        );
    }
}

/// The transactions of one block while it is planned.
struct Drafts {
    number: u32,
    /// What operations of this block see as the present: the time of the block before.
    now: u32,
    list: Vec<TransactionPlan>,
}

impl Drafts {
    fn new(number: u32, now: u32) -> Self {
        Self {
            number,
            now,
            list: Vec::with_capacity(MAX_TRANSACTIONS as usize),
        }
    }

    fn count(&self) -> u32 {
        self.list.len() as u32
    }

    fn is_full(&self) -> bool {
        self.count() >= MAX_TRANSACTIONS
    }

    fn push(&mut self, operations: Vec<Planned>, signers: Signers, rng: &mut Rng) {
        debug_assert!(!self.is_full());
        let expiration = expiration(self.number, self.now, self.count());
        self.list.push(TransactionPlan {
            expiration,
            operations,
            signers,
            content: rng.next(),
        });
    }
}

#[cfg(test)]
mod tests;
