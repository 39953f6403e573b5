//! What can be wrong with a block.
//!
//! Every error says where (block, transaction, operation), what was expected and what was found. The state is then what
//! it was after the block before.

use cairn_chain::{AccountName, BlockId, OperationKind, PublicKey, Time, TransactionId, Version};

use crate::authority::AuthorityFailure;
use crate::registers::TableError;
use crate::required::RequiredError;
use crate::schedule::SlotError;
use crate::validate::ValidityError;

/// A block that was not applied.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The block's header, or the block as a whole.
    #[error("block {block}: {fault}")]
    Block {
        /// The block's number.
        block: u32,
        /// What is wrong.
        fault: BlockFault,
    },
    /// A transaction.
    #[error("block {block}, transaction {transaction}: {fault}")]
    Transaction {
        /// The block's number.
        block: u32,
        /// Position of the transaction in the block, from 0.
        transaction: usize,
        /// What is wrong.
        fault: TransactionFault,
    },
    /// An operation.
    #[error("block {block}, transaction {transaction}, operation {operation} ({kind}): {fault}")]
    Operation {
        /// The block's number.
        block: u32,
        /// Position of the transaction in the block, from 0.
        transaction: usize,
        /// Position of the operation in the transaction, from 0.
        operation: usize,
        /// What it is.
        kind: OperationKind,
        /// What is wrong.
        fault: Box<OperationFault>,
    },
    /// Not the block: the state could not be read or written.
    #[error(transparent)]
    State(#[from] TableError),
}

/// What is wrong with a block as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// It does not follow the head.
    #[error("it follows {found}, the head is {expected}")]
    Unlinked {
        /// The head.
        expected: BlockId,
        /// The block that it names as the one before.
        found: BlockId,
    },
    /// It is not later than the head.
    #[error("its time {found} is not later than that of the block before, {head}")]
    Time {
        /// Time of the head.
        head: Time,
        /// Time of the block.
        found: Time,
    },
    /// It is too large: for any block, or for the scheduled witnesses.
    #[error("it has {found} bytes, at most {limit} are allowed")]
    Size {
        /// Most bytes.
        limit: usize,
        /// Its bytes.
        found: usize,
    },
    /// Its witness does not exist.
    #[error("its witness {0} is no witness")]
    NoWitness(AccountName),
    /// It is signed by another key than its witness's.
    #[error("it must be signed by {expected}, the signing key of {witness}; it is signed by {found}")]
    WitnessSignature {
        /// The witness that it names.
        witness: AccountName,
        /// The witness's signing key in state; null: switched off.
        expected: PublicKey,
        /// The key that signed.
        found: PublicKey,
    },
    /// Its witness runs a version that is too old.
    #[error("its witness {witness} runs version {found}, hardfork {hardfork} needs {expected}")]
    Version {
        /// The witness.
        witness: AccountName,
        /// The last hardfork.
        hardfork: u8,
        /// Its version.
        expected: Version,
        /// The version that the witness runs.
        found: Version,
    },
    /// It is not its witness's turn, or no slot has begun since the block before.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// A hardfork that takes effect with it cannot be applied.
    #[error("hardfork {hardfork} cannot be applied: {fault}")]
    Hardfork {
        /// The hardfork.
        hardfork: u8,
        /// Why.
        fault: Box<OperationFault>,
    },
    /// The keys that were recovered from its signatures are not of this block.
    #[error("keys of {found} transactions were recovered for it, it has {expected}")]
    Keys {
        /// Its transactions.
        expected: usize,
        /// Transactions whose keys were given.
        found: usize,
    },
}

/// What is wrong with a transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionFault {
    /// It is in the chain already.
    #[error("transaction {0} is in the chain already")]
    Duplicate(TransactionId),
    /// It has expired.
    #[error("it expired at {expiration}, the time is {now}")]
    Expired {
        /// When it expired.
        expiration: Time,
        /// Time of the block before.
        now: Time,
    },
    /// It expires too late.
    #[error("it expires at {expiration}, later than {latest}")]
    ExpiresTooLate {
        /// When it expires.
        expiration: Time,
        /// The latest that is allowed.
        latest: Time,
    },
    /// It does not refer to a block of this chain.
    #[error("it refers to a block {slot:#06x} with prefix {found:#010x}, that block has {expected:#010x}")]
    ReferenceBlock {
        /// Low 16 bits of the block's number.
        slot: u16,
        /// Prefix of the block in state.
        expected: u32,
        /// Prefix that it gives.
        found: u32,
    },
    /// It does nothing.
    #[error("it has no operation")]
    Empty,
    /// On Steem: it is not packed as its fields are packed again, a name is longer than its field for instance. Steem
    /// hashes and verifies the latter, so that the signatures are about something else.
    #[error(
        "its bytes are not those that its fields pack to, which are what a node of this chain signs and hashes"
    )]
    NotCanonical,
    /// What its operations require cannot be read.
    #[error(transparent)]
    Required(#[from] RequiredError),
    /// Its signatures do not do.
    #[error(transparent)]
    Authority(#[from] AuthorityFailure),
    /// Its authorities could not be checked with the work that is allowed.
    #[error("its authorities cannot be checked within the limit of work")]
    TooMuchWork,
}

/// What is wrong with an operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationFault {
    /// It is not well-formed.
    #[error(transparent)]
    Invalid(#[from] ValidityError),
    /// An account does not exist.
    #[error("account {0} does not exist")]
    NoAccount(AccountName),
    /// The new account exists.
    #[error("account {0} exists already")]
    AccountExists(AccountName),
    /// The new account has no name.
    #[error("a new account must have a name")]
    NoName,
    /// The account temp cannot be changed.
    #[error("account {0} cannot be changed")]
    FixedAccount(AccountName),
    /// Something was done too short a time before.
    #[error("more than {seconds} s must pass since the last {what} at {last}, the time is {now}")]
    TooSoon {
        /// What was done.
        what: &'static str,
        /// Seconds that must pass.
        seconds: u32,
        /// When it was done.
        last: Time,
        /// Time of the block before.
        now: Time,
    },
    /// The creator has not claimed an account.
    #[error("{0} has no claimed accounts left")]
    NoClaimedAccount(AccountName),
    /// The signer may not recover the account.
    #[error("{account} is recovered by {expected}, not by {found}")]
    NotRecoveryAccount {
        /// The account to recover.
        account: AccountName,
        /// Its recovery account.
        expected: AccountName,
        /// Who asked.
        found: AccountName,
    },
    /// A new recovery request with an open authority.
    #[error("a new recovery request needs an authority with a threshold above 0")]
    OpenAuthority,
    /// A new recovery request with an authority that is too large.
    #[error("the authority has {found} members, at most {limit} are allowed")]
    TooManyMembers {
        /// Most members.
        limit: usize,
        /// Its members.
        found: usize,
    },
    /// There is no recovery request.
    #[error("no recovery of {0} was requested")]
    NoRecoveryRequest(AccountName),
    /// The recovery request wants another authority.
    #[error("the new owner authority is not the one that was requested")]
    OtherThanRequested,
    /// The recent authority was not the account's owner authority.
    #[error("the recent owner authority is not in the owner history of {0}")]
    NotInHistory(AccountName),
    /// The account has declined its voting rights, or asked to, before.
    #[error("{0} has declined its voting rights already")]
    Declined(AccountName),
    /// There is nothing to cancel.
    #[error("{0} has not asked to decline its voting rights")]
    NotDeclining(AccountName),
    /// The witness does not exist.
    #[error("{0} is no witness")]
    NoWitness(AccountName),
    /// The given key is not the signing key.
    #[error("the key {found} is given, the signing key is {expected}")]
    SigningKey {
        /// The signing key in state.
        expected: PublicKey,
        /// The key that is given.
        found: PublicKey,
    },
    /// The account has a proxy that votes for it.
    #[error("{account} has the proxy {proxy}, which votes for it")]
    HasProxy {
        /// The account.
        account: AccountName,
        /// Its proxy.
        proxy: AccountName,
    },
    /// The vote exists.
    #[error("{account} votes for {witness} already")]
    VoteExists {
        /// The account.
        account: AccountName,
        /// The witness.
        witness: AccountName,
    },
    /// The vote does not exist.
    #[error("{account} does not vote for {witness}")]
    NoVote {
        /// The account.
        account: AccountName,
        /// The witness.
        witness: AccountName,
    },
    /// Too many votes.
    #[error("{account} votes for {found} witnesses, at most {limit} are allowed")]
    TooManyVotes {
        /// The account.
        account: AccountName,
        /// Most votes.
        limit: usize,
        /// Its votes.
        found: usize,
    },
    /// The proxy would not change.
    #[error("the proxy of {account} is {proxy} already")]
    SameProxy {
        /// The account.
        account: AccountName,
        /// Its proxy.
        proxy: AccountName,
    },
    /// There is no proxy to clear.
    #[error("{0} has no proxy")]
    NoProxy(AccountName),
    /// The proxies would form a loop.
    #[error("the proxies lead back to {0}")]
    ProxyLoop(AccountName),
    /// The chain of proxies would be too long.
    #[error("the chain of proxies has more than {limit} accounts")]
    ProxyChain {
        /// Most accounts.
        limit: usize,
    },
    /// The comment does not exist.
    #[error("comment @{author}/{permlink} does not exist")]
    NoComment {
        /// Its author.
        author: AccountName,
        /// Its permlink.
        permlink: String,
    },
    /// The permlink is malformed.
    #[error("permlink {0:?} is malformed: 1 to 255 of a-z, 0-9 and - are needed")]
    Permlink(String),
    /// The permlink is too long to be kept.
    #[error("a permlink has {0} bytes, at most 255 are allowed")]
    PermlinkLength(usize),
    /// The parent is too deep.
    #[error("the parent is at depth {found}, replies are allowed below {limit}")]
    Depth {
        /// Depth at which there are no replies.
        limit: u16,
        /// Depth of the parent.
        found: u16,
    },
    /// An edit names another parent.
    #[error("the parent of a comment cannot change")]
    ParentChanged,
    /// The comment has replies.
    #[error("the comment has {0} replies")]
    HasReplies(u32),
    /// The proposal does not exist.
    #[error("proposal {0} does not exist")]
    NoProposal(i64),
    /// The proposal belongs to another account.
    #[error("proposal {id} was made by {expected}, not by {found}")]
    OtherCreator {
        /// The proposal.
        id: i64,
        /// Its creator.
        expected: AccountName,
        /// Who wants to change it.
        found: AccountName,
    },
    /// The proof of work is for another block.
    #[error("the work is for block {found}, the head is {expected}")]
    WorkBlock {
        /// The head.
        expected: BlockId,
        /// The block that it names.
        found: BlockId,
    },
    /// The miner's active authority is not the worker's key alone.
    #[error("the active authority of {0} must be one key, the worker's")]
    WorkerKey(AccountName),
    /// The work was done before.
    #[error("the work is the last work of {0} already")]
    SameWork(AccountName),
    /// The work is not hard enough.
    #[error("the work is not below the target with {queued} miners in the queue")]
    WorkTarget {
        /// Miners in the queue.
        queued: u32,
    },
    /// The miner is in the queue.
    #[error("{witness} is in the mining queue with number {number}")]
    Queued {
        /// The miner.
        witness: AccountName,
        /// Its queue number.
        number: u64,
    },
    /// A new miner must give its key, and only a new one.
    #[error("{0} must give a key if and only if it is new")]
    NewOwnerKey(AccountName),
}

/// Why the evaluation of an operation stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    Fault(Box<OperationFault>),
    State(TableError),
}

impl From<OperationFault> for Stop {
    fn from(fault: OperationFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<TableError> for Stop {
    fn from(error: TableError) -> Self {
        Self::State(error)
    }
}

/// A store that cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] TableError),
    /// The accounts and witnesses of genesis contradict each other.
    #[error("the chain specification's genesis cannot be made: {0}; correct its witnesses")]
    Genesis(Box<OperationFault>),
    /// The registers belong to another block than the store says.
    #[error(
        "the store's head is block {store}, its registers are those after block {registers}; rebuild the state by a replay"
    )]
    Head {
        /// Number of the store's head.
        store: u32,
        /// Number in the registers.
        registers: u32,
    },
}
