//! Blocks that break one rule of full validation, and the like blocks that keep it.
//!
//! The blocks are the planned ones, with transactions added at their end or a header changed; everything that follows
//! from the change (Merkle root, signatures) is made right again, so that only the rule by whose name the block was
//! asked for is broken. Accounts that act in added transactions are created by them, with names that hold the block's
//! number; the chain does not go on well behind them.

mod evaluation;
mod recovery;
mod rule;
mod stage;
mod transactions;
mod validity;

pub use rule::{Rule, UnknownRule};

use cairn_chain::operations as op;
use cairn_chain::{AccountName, ChainId, CustomId, HeaderExtension, Operation, PublicKey, Text, Version};

use super::keys::KeySeed;
use super::names;
use super::seal::Header;
use super::sign;
use super::spec;
use super::write::{merkle_root, packed_list};
use stage::{Case, Stage, Tx};

/// A rule cannot be broken in this block, for a reason of the chain's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule} cannot be broken in block {block}: {reason}")]
pub struct CannotBreak {
    /// The rule.
    pub rule: Rule,
    /// Number of the block.
    pub block: u32,
    /// What is missing.
    pub reason: &'static str,
}

/// A planned block that is about to be closed.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) number: u32,
    pub(super) header: Header,
    pub(super) key: KeySeed,
    pub(super) transactions: Vec<Vec<u8>>,
}

impl Draft {
    /// The packed block.
    pub(super) fn sealed(&self) -> Vec<u8> {
        self.header.sealed(&self.key, &packed_list(&self.transactions))
    }

    /// Adds transactions.
    fn add<'t>(&mut self, added: impl Iterator<Item = &'t Tx>, stage: &Stage) {
        for (tx, position) in added.zip(0..) {
            self.transactions.push(tx.write(stage, position));
        }
        self.close();
    }

    /// Adds a transaction by which a witness removes its signing key. `keys` satisfy its active authority.
    pub(super) fn switch_off(
        &mut self,
        witness: AccountName,
        keys: Vec<KeySeed>,
        surroundings: &Surroundings<'_>,
    ) {
        let update = transactions::witness_update(witness, PublicKey::NULL);
        let tx = Tx::of(&Operation::WitnessUpdate(update));
        let tx = keys.into_iter().fold(tx, Tx::by);
        let stage = self.stage(surroundings);
        self.add([&tx].into_iter(), &stage);
    }

    fn stage(&self, surroundings: &Surroundings<'_>) -> Stage {
        Stage {
            number: self.number,
            now: surroundings.now,
            parent: self.header.previous,
            chain_id: surroundings.chain_id,
            hardfork: surroundings.hardfork,
        }
    }

    /// Makes the Merkle root right again.
    fn close(&mut self) {
        self.header.merkle_root = merkle_root(&self.transactions);
    }

    /// The packed block with something wrong in its header. `now`: time of the block before.
    fn spoiled(mut self, rule: Rule, now: u32, hardfork: u8) -> Vec<u8> {
        let header = &mut self.header;
        match rule {
            Rule::MerkleRoot => header.merkle_root.0[0] ^= 1,
            // The number stays: it is in the first four bytes.
            Rule::Link => header.previous.0[19] ^= 1,
            Rule::TimeAfterParent => header.time = now,
            Rule::SlotBegun => header.time = now + 1,
            Rule::WitnessExists => header.witness = AccountName::from("null"),
            Rule::WitnessKey => self.key = KeySeed::stranger(),
            Rule::WitnessVersion => header.extensions = version(hardfork - 1),
            _ => {}
        }
        let list = packed_list(&self.transactions);
        let sign = match rule {
            Rule::WitnessSignatureForm => sign::sign_other_of_pair,
            Rule::WitnessSignatureKey => stage::sign_with_no_key,
            _ => sign::sign,
        };
        let mut bytes = self.header.sealed_by(|digest| sign(&self.key, digest), &list);
        if rule == Rule::TrailingBytes {
            bytes.push(0);
        }
        bytes
    }
}

/// The report of a version that knows this hardfork.
fn version(hardfork: u8) -> Vec<HeaderExtension> {
    vec![HeaderExtension::Version(Version(spec::version(hardfork)))]
}

/// A transaction of nearly 58 KiB.
fn large() -> Tx {
    let json = vec![b'1'; 8_192];
    let initminer = Stage::initminer();
    let operation = Operation::CustomJson(op::CustomJson {
        required_auths: vec![initminer.name()],
        required_posting_auths: Vec::new(),
        id: CustomId::from("rule"),
        json: Text(&json),
    });
    let tx = (0..7).fold(Tx::default(), |tx, _| tx.and(&operation));
    tx.by(initminer.active())
}

/// What a maker of broken blocks knows of the chain.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) chain_id: ChainId,
    pub(super) hardfork: u8,
    /// Time of the block before.
    pub(super) now: u32,
    /// The first transaction of an earlier block that has not expired.
    pub(super) earlier: Option<&'a [u8]>,
    /// Another witness than the one whose turn it is, with its signing key.
    pub(super) other_witness: Option<(u32, KeySeed)>,
}

/// Closes a block so that it breaks the rule, or, without `broken`, keeps it in as near a way as there is.
pub(super) fn seal(
    rule: Rule,
    broken: bool,
    mut draft: Draft,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<u8>, CannotBreak> {
    let cannot = |reason| CannotBreak {
        rule,
        block: draft.number,
        reason,
    };
    if draft.number < 3 {
        return Err(cannot(
            "nothing is checked in the first blocks that could be broken there; take 3 or later",
        ));
    }
    let stage = draft.stage(surroundings);
    let case = transactions::case(rule, &stage)
        .or_else(|| validity::case(rule, &stage))
        .or_else(|| recovery::case(rule, &stage))
        .or_else(|| evaluation::case(rule, &stage));
    if let Some(Case { setup, good, bad }) = case {
        let added = setup.iter().chain(if broken { &bad } else { &good });
        draft.add(added, &stage);
        return Ok(draft.sealed());
    }
    match rule {
        Rule::NotInChain => {
            let earlier = surroundings
                .earlier
                .ok_or(cannot("no earlier block has a transaction that has not expired"))?;
            if broken {
                draft.transactions.push(earlier.to_owned());
                draft.close();
            }
        }
        Rule::BlockSize => {
            let large = large();
            // The witnesses want no more than 128 KiB.
            draft.add((0..if broken { 38 } else { 1 }).map(|_| &large), &stage);
        }
        Rule::VotedBlockSize if draft.number < 64 => {
            return Err(cannot(
                "the size that the witnesses vote for is known from block 64 on",
            ));
        }
        Rule::VotedBlockSize => {
            let large = large();
            draft.add((0..if broken { 3 } else { 1 }).map(|_| &large), &stage);
        }
        Rule::WitnessTurn if broken => {
            let (witness, key) = surroundings
                .other_witness
                .clone()
                .ok_or(cannot("the chain has no other witness"))?;
            draft.header.witness = names::account(witness);
            draft.header.extensions = version(stage.hardfork);
            draft.key = key;
        }
        Rule::ActiveIsNotPosting | Rule::ProposalExists => return Err(cannot("hardfork 28 is not in force")),
        Rule::NotMixed | Rule::NothingUnused => return Err(cannot("hardfork 28 is in force")),
        _ if broken => return Ok(draft.spoiled(rule, stage.now, stage.hardfork)),
        // A block need not lie on the grid of slots.
        Rule::SlotBegun => draft.header.time += 1,
        Rule::WitnessVersion => draft.header.extensions = version(stage.hardfork),
        _ => {}
    }
    Ok(draft.sealed())
}
