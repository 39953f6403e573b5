//! What the generator remembers of the accounts, so that each transaction it plans is valid when its turn
//! comes.

use super::keys::{KeyName, Role};

/// The generator forgets accounts created beyond this number: they exist on the chain, and never act. About
/// 100 bytes are kept for each of the others.
pub(super) const REMEMBERED: u32 = 1 << 16;

/// Who may act for an account at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The account's own key alone.
    OneKey,
    /// The account's own key, or another account.
    OneKeyOr(u32),
    /// Two keys together (active only).
    TwoKeys,
}

/// An authority: its shape, and the generation of its own keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) shape: Shape,
    pub(super) generation: u32,
}

impl Held {
    /// The account's own key alone, of this generation.
    pub(super) fn one_key(generation: u32) -> Self {
        Self {
            shape: Shape::OneKey,
            generation,
        }
    }
}

/// A proxy in force, and when it was set (governance votes expire, and a proxy with them).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) to: u32,
    pub(super) since: u32,
}

/// One account. Times are those that the operation saw, that is the time of the block before; 0 is never.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) owner_generation: u32,
    pub(super) active: Held,
    pub(super) posting: Held,
    pub(super) memo_generation: u32,
    pub(super) owner_changed: u32,
    pub(super) last_root_post: u32,
    /// Of any post, reply or edit.
    pub(super) last_post: u32,
    pub(super) last_vote: u32,
    pub(super) proxy: Option<Proxy>,
    /// Thousandths of TESTS and TBD.
    pub(super) tests: i64,
    pub(super) tbd: i64,
}

impl Account {
    /// An account whose keys are all of this generation.
    pub(super) fn new(generation: u32) -> Self {
        Self {
            owner_generation: generation,
            active: Held::one_key(generation),
            posting: Held::one_key(generation),
            memo_generation: generation,
            owner_changed: 0,
            last_root_post: 0,
            last_post: 0,
            last_vote: 0,
            proxy: None,
            tests: 0,
            tbd: 0,
        }
    }
}

/// All remembered accounts, by index.
#[derive(Debug, Clone)]
pub(super) struct Accounts {
    list: Vec<Account>,
    /// How many were created, forgotten ones included.
    created: u32,
}

impl Accounts {
    /// initminer alone, with what a testnet's genesis gives to it.
    pub(super) fn genesis() -> Self {
        let initminer = Account {
            tests: 250_000_000_000,
            tbd: 7_000_000_000,
            ..Account::new(0)
        };
        Self {
            list: vec![initminer],
            created: 1,
        }
    }

    pub(super) fn get(&self, index: u32) -> &Account {
        &self.list[index as usize]
    }

    pub(super) fn get_mut(&mut self, index: u32) -> &mut Account {
        &mut self.list[index as usize]
    }

    /// Number of remembered accounts.
    pub(super) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// Takes the next index for a new account with keys of this generation.
    pub(super) fn create(&mut self, generation: u32) -> u32 {
        let index = self.created;
        self.created += 1;
        if index < REMEMBERED {
            self.list.push(Account::new(generation));
        }
        index
    }

    /// Adds to `signers` the keys that satisfy the active authority of `account`.
    pub(super) fn sign_active(&self, account: u32, signers: &mut Signers) {
        let Held { shape, generation } = self.get(account).active;
        signers.add(KeyName::new(account, Role::Active, generation));
        if shape == Shape::TwoKeys {
            signers.add(KeyName::new(account, Role::SecondActive, generation));
        }
    }

    /// Adds to `signers` the key that satisfies the owner authority of `account`.
    pub(super) fn sign_owner(&self, account: u32, signers: &mut Signers) {
        signers.add(KeyName::new(
            account,
            Role::Owner,
            self.get(account).owner_generation,
        ));
    }

    /// Adds to `signers` a key that satisfies the posting authority of `account`; with `by_other`, that of
    /// the account which may post for it, if there is one.
    pub(super) fn sign_posting(&self, account: u32, by_other: bool, signers: &mut Signers) {
        let held = self.get(account).posting;
        match held.shape {
            Shape::OneKeyOr(other) if by_other => {
                signers.add(KeyName::new(
                    other,
                    Role::Posting,
                    self.get(other).posting.generation,
                ));
            }
            _ => signers.add(KeyName::new(account, Role::Posting, held.generation)),
        }
    }
}

/// The keys that sign one transaction, none twice: two equal keys make a transaction invalid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signers(Vec<KeyName>);

impl Signers {
    pub(super) fn add(&mut self, key: KeyName) {
        if !self.0.contains(&key) {
            self.0.push(key);
        }
    }

    pub(super) fn keys(&self) -> &[KeyName] {
        &self.0
    }
}
