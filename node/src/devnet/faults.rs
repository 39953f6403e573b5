//! Chains with something wrong in them, for tests of what must refuse them.

/// What is wrong with one block. The chain goes on behind it as a careless node would have built it, so that
/// only a check of that very rule finds it; [`Fault::Replaced`] alone breaks the chain of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A valid transaction of initminer was added under the unchanged header: the id is that of the honest
    /// chain, and the Merkle root does not match.
    AlteredBody,
    /// The header is signed with a stranger's key. The block and everything behind it have other ids than in
    /// the honest chain.
    WitnessSignature,
    /// A stranger's key signed the block's first transaction in place of its author. Header and Merkle root
    /// are in order. Nothing is wrong with a block without transactions.
    ForeignTransactionSignature,
    /// The block is another one of the same witness, without transactions, that links to the block before.
    /// The next block links to the honest block.
    Replaced,
    /// Nothing is wrong with it, but it holds one more transaction of initminer: the block and everything behind it
    /// are a fork of the honest chain, valid in itself.
    Fork,
}

/// A fault and the block that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultAt {
    /// Block number, from 1.
    pub block: u32,
    /// What is wrong with it.
    pub fault: Fault,
}
