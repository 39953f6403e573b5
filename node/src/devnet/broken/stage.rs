//! What the makers of broken blocks have at hand: where the block stands, accounts to act with, transactions.

use cairn_chain::operations as op;
use cairn_chain::{
    AccountName, Asset, AssetPacking, Authority, BlockId, ChainId, Operation, Pack, Packer, PublicKey,
    Sha256Digest, Signature, Symbols, Text, Time,
};
use sha2::{Digest, Sha256};

use super::super::keys::KeySeed;
use super::super::sign;

/// Where the block stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub(super) number: u32,
    /// Time of the block before.
    pub(super) now: u32,
    pub(super) parent: BlockId,
    pub(super) chain_id: ChainId,
    pub(super) hardfork: u8,
}

/// The levels of an account's authorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Owner,
    Active,
    Posting,
}

/// An account that plays a part in a broken block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Actor {
    text: String,
}

impl Actor {
    pub(super) fn name(&self) -> AccountName {
        AccountName::new(self.text.as_bytes())
    }

    /// Its key at this level; initminer has one for everything.
    pub(super) fn key(&self, level: Level) -> KeySeed {
        match self.text.as_str() {
            "initminer" => KeySeed::initminer(),
            text => KeySeed::actor(text, level as u8),
        }
    }

    pub(super) fn active(&self) -> KeySeed {
        self.key(Level::Active)
    }

    pub(super) fn posting(&self) -> KeySeed {
        self.key(Level::Posting)
    }

    pub(super) fn owner(&self) -> KeySeed {
        self.key(Level::Owner)
    }

    /// The authority of its key at this level.
    pub(super) fn authority(&self, level: Level) -> Authority {
        Authority::of_key(public(&self.key(level)))
    }
}

/// The public key.
pub(super) fn public(key: &KeySeed) -> PublicKey {
    key.private().public_key()
}

impl Stage {
    /// An account that this block creates; the name is its own.
    pub(super) fn actor(&self, part: &str) -> Actor {
        Actor {
            text: format!("{part}{}", self.number),
        }
    }

    pub(super) fn actors<const N: usize>(&self, parts: [&str; N]) -> [Actor; N] {
        parts.map(|part| self.actor(part))
    }

    /// The account that exists from genesis.
    pub(super) fn initminer() -> Actor {
        Actor {
            text: "initminer".to_owned(),
        }
    }

    /// A transaction in which initminer creates these accounts.
    pub(super) fn create(actors: &[&Actor]) -> Tx {
        let mut tx = Tx::default();
        for actor in actors {
            tx = tx.and(&Operation::AccountCreate(creation(actor)));
        }
        tx.by(Self::initminer().active())
    }
}

/// The creation of an account by initminer, with one key at each level.
pub(super) fn creation(actor: &Actor) -> op::AccountCreate<'static> {
    op::AccountCreate {
        fee: Asset::hive(0),
        creator: Stage::initminer().name(),
        new_account_name: actor.name(),
        owner: actor.authority(Level::Owner),
        active: actor.authority(Level::Active),
        posting: actor.authority(Level::Posting),
        memo_key: public(&actor.posting()),
        json_metadata: Text::default(),
    }
}

/// A transaction that is not written yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Tx {
    /// Packed operations.
    pub(super) operations: Vec<Vec<u8>>,
    pub(super) signers: Vec<KeySeed>,
    /// Instead of one that no other transaction of the block has.
    pub(super) expiration: Option<u32>,
    /// Number and prefix, instead of the block before.
    pub(super) reference: Option<(u16, u32)>,
    /// Instead of this chain.
    pub(super) chain_id: Option<ChainId>,
    /// Instead of the ordinary signature.
    pub(super) sign: Option<fn(&KeySeed, &Sha256Digest) -> Signature>,
}

impl Tx {
    /// A transaction with one operation.
    pub(super) fn of(operation: &Operation<'_>) -> Self {
        Self::default().and(operation)
    }

    /// With one more operation.
    pub(super) fn and(mut self, operation: &Operation<'_>) -> Self {
        let packed = Packer::pack_one(operation, AssetPacking::Legacy, Symbols::Testnet);
        self.operations.push(packed);
        self
    }

    /// With one more signature.
    pub(super) fn by(mut self, key: KeySeed) -> Self {
        self.signers.push(key);
        self
    }

    /// The transaction as bytes. `position` makes it differ from others of the block.
    pub(super) fn write(&self, stage: &Stage, position: u32) -> Vec<u8> {
        let mut packer = Packer::new(AssetPacking::Legacy, Symbols::Testnet);
        let own = (stage.parent.number() as u16, stage.parent.reference_prefix());
        let (number, prefix) = self.reference.unwrap_or(own);
        number.pack(&mut packer);
        prefix.pack(&mut packer);
        // Planned transactions of the block expire earlier.
        let expiration = self.expiration.unwrap_or(stage.now + 1_800 + position);
        Time(expiration).pack(&mut packer);
        packer.varint(self.operations.len() as u32);
        for operation in &self.operations {
            packer.raw(operation);
        }
        // No extensions.
        packer.varint(0);
        let digest = Sha256::new()
            .chain_update(self.chain_id.unwrap_or(stage.chain_id).0)
            .chain_update(packer.bytes())
            .finalize();
        let digest = Sha256Digest(digest.into());
        packer.varint(self.signers.len() as u32);
        for key in &self.signers {
            let sign = self.sign.unwrap_or(sign::sign);
            sign(key, &digest).pack(&mut packer);
        }
        packer.into_bytes()
    }
}

/// What is added to a block: first what both blocks have, then what keeps the rule or what breaks it.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) setup: Vec<Tx>,
    pub(super) good: Vec<Tx>,
    pub(super) bad: Vec<Tx>,
}

impl Case {
    /// Both transactions are alone.
    pub(super) fn new(good: Tx, bad: Tx) -> Self {
        Self {
            setup: Vec::new(),
            good: vec![good],
            bad: vec![bad],
        }
    }

    /// Both blocks begin with these.
    pub(super) fn after(mut self, setup: impl IntoIterator<Item = Tx>) -> Self {
        self.setup.extend(setup);
        self
    }
}

/// A signature that no key can have made: R is 0.
pub(super) fn sign_with_no_key(key: &KeySeed, digest: &Sha256Digest) -> Signature {
    let mut signature = sign::sign(key, digest);
    signature.0[1..33].fill(0);
    signature
}
