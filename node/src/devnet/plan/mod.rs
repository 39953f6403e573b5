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

use super::accounts::{Accounts, Signers};
use super::keys::{KeyName, Role};
use super::names::{self, INITMINER};
use super::profile::Profile;
use super::rng::Rng;
use super::schedule::Schedule;
use super::spec;

pub(super) use operation::{AuthorityChange, AuthorityChanges, Planned, Post};

/// How far behind a block its transactions' reference block lies, in blocks, once the chain is long enough.
/// It bounds how many blocks can be in the works at once.
pub(super) const LAG: u32 = 128;

/// The block to which the transactions of block `number` (2 or later) refer: [`LAG`] behind, or half-way to
/// the start of the chain.
pub(super) fn reference(number: u32) -> u32 {
    number.saturating_sub(LAG).max(number / 2)
}

/// When transaction `position` of block `number` expires: 10 to 15 minutes after the block before.
///
/// A block's transactions differ in it. Neighboring blocks may share a reference (in the first [`LAG`] blocks
/// two and two do), so blocks with odd numbers add more than the number of transactions in a block.
fn expiration(number: u32, position: u32) -> u32 {
    let odd = (number % 2) * 2 * MAX_TRANSACTIONS;
    spec::block_time(number - 1) + 600 + odd + position
}

/// Transactions in a block, at most.
const MAX_TRANSACTIONS: u32 = 60;

/// One block, decided but not written.
#[derive(Debug, Clone)]
pub(super) struct BlockPlan {
    pub(super) number: u32,
    /// Account that produces the block.
    pub(super) producer: u32,
    pub(super) producer_key: KeyName,
    /// The producer's first block, in which it reports its version.
    pub(super) first_of_producer: bool,
    pub(super) transactions: Vec<TransactionPlan>,
}

impl BlockPlan {
    /// Adds a transaction that is valid by itself, and that the honest chain does not have.
    pub(super) fn add_smuggled_transaction(&mut self) {
        let mut signers = Signers::default();
        signers.add(KeyName::new(INITMINER, Role::Active, 0));
        self.transactions.push(TransactionPlan {
            expiration: spec::block_time(self.number) + 60,
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
#[derive(Debug)]
struct Witness {
    account: u32,
    key_generation: u32,
    has_produced: bool,
}

/// Plans one block after the other, from block 1 on.
#[derive(Debug)]
pub(super) struct Planner {
    profile: Profile,
    rng: Rng,
    accounts: Accounts,
    /// Sorted by name.
    witnesses: Vec<Witness>,
    schedule: Schedule,
    posts: posts::Posts,
    recoveries: recovery::Recoveries,
    startup: startup::Startup,
    next: u32,
}

impl Planner {
    pub(super) fn new(profile: Profile, seed: u64) -> Self {
        Self {
            profile,
            rng: Rng::new(seed),
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
        }
    }

    /// The number of the block that [`Self::next_block`] plans.
    pub(super) fn next_number(&self) -> u32 {
        self.next
    }

    /// Plans the next block.
    pub(super) fn next_block(&mut self) -> BlockPlan {
        let number = self.next;
        self.next += 1;
        let (producer, producer_key, first_of_producer) = self.produce(number);
        // While the chain is empty nothing can be referred to, so block 1 has no transactions.
        let transactions = match self.profile {
            Profile::Mixed if number > 1 => {
                let mut drafts = Drafts::new(number);
                if self.plan_startup(&mut drafts) {
                    self.plan_mixed(&mut drafts);
                }
                drafts.list
            }
            Profile::Large if number > 1 => self.plan_large(number),
            Profile::Mixed | Profile::Empty | Profile::Large => Vec::new(),
        };
        let witnesses = &self.witnesses;
        self.schedule.end_block(number, spec::block_time(number), || {
            witnesses.iter().map(|w| w.account).collect()
        });
        BlockPlan {
            number,
            producer,
            producer_key,
            first_of_producer,
            transactions,
        }
    }

    /// Who produces block `number`, with which key, and whether for the first time. The key is the one
    /// registered before this block's transactions.
    fn produce(&mut self, number: u32) -> (u32, KeyName, bool) {
        let producer = self.schedule.producer(number);
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
    fn new(number: u32) -> Self {
        Self {
            number,
            now: spec::block_time(number - 1),
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
        let expiration = expiration(self.number, self.count());
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
