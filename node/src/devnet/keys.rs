//! The devnet's keys. Nothing is stored: a key is named by account, role and generation, and its secret is
//! the SHA-256 of that name and the seed, so whoever plans a transaction can name a key without computing it,
//! and the thread that signs computes it. Whoever knows the seed has all keys; a devnet has no secrets.

use cairn_chain::{PrivateKey, PublicKey};

use super::names::{self, INITMINER};

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    Owner,
    Active,
    /// The second key of an active authority that asks for two.
    SecondActive,
    Posting,
    Memo,
    /// Signs the blocks of a witness.
    Block,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Active => "active",
            Self::SecondActive => "second active",
            Self::Posting => "posting",
            Self::Memo => "memo",
            Self::Block => "block",
        }
    }
}

/// The name of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KeyName {
    pub(super) account: u32,
    pub(super) role: Role,
    /// Counts the replacements of this key; 0 is the one that the account was created with.
    pub(super) generation: u32,
}

impl KeyName {
    /// initminer has one key for everything, and never changes it: equal names mean equal keys.
    pub(super) fn new(account: u32, role: Role, generation: u32) -> Self {
        if account == INITMINER {
            return Self {
                account,
                role: Role::Owner,
                generation: 0,
            };
        }
        Self {
            account,
            role,
            generation,
        }
    }
}

/// The text whose SHA-256 is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeySeed(String);

impl KeySeed {
    /// A key that nobody on any devnet has, for deliberate faults.
    pub(super) fn stranger() -> Self {
        Self("cairn devnet stranger".to_owned())
    }

    /// The test key that a testnet's genesis gives to initminer.
    pub(super) fn initminer() -> Self {
        Self("init_key".to_owned())
    }

    /// The key of an account that plays a part in a broken block.
    pub(super) fn actor(name: &str, level: u8) -> Self {
        Self(format!("cairn devnet actor {name} {level}"))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(super) fn private(&self) -> PrivateKey {
        PrivateKey::from_seed(self.as_bytes())
    }
}

/// Derives the keys of the devnet with one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    seed: u64,
}

impl Keys {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed }
    }

    pub(super) fn seed_of(self, key: KeyName) -> KeySeed {
        let KeyName {
            account,
            role,
            generation,
        } = key;
        if account == INITMINER {
            return KeySeed::initminer();
        }
        let account = names::account_text(account);
        KeySeed(format!(
            "cairn devnet {} {account} {} {generation}",
            self.seed,
            role.name()
        ))
    }

    pub(super) fn public(self, key: KeyName) -> PublicKey {
        self.seed_of(key).private().public_key()
    }
}
