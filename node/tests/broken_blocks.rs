//! Blocks that break one rule each: full validation refuses each of them with the error that names the rule, keeps the
//! like block that differs in that rule alone, and leaves no trace of the refused one.
//!
//! `docs/validation.md` has the table that this test makes.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use cairn_chain::{DecodedBlock, MerkleMismatch, SignatureError, UnpackError, UnpackErrorKind};
use cairn_node::devnet::{ChainShape, RawBlock, Rule, Step, Tip};
use cairn_rules::authority::AuthorityFailure;
use cairn_rules::schedule::SlotError;
use cairn_rules::signatures::{self, RecoverError};
use cairn_rules::validate::ValidityError;
use cairn_rules::{BlockFault, IdentityState, OperationFault, RuleError, TransactionFault, Validation};
use cairn_state::{Registers, Store, StoreOptions};

/// Blocks before the one that is tried: all witnesses are at work.
const BLOCKS: u32 = 47;

/// What full validation says, in the order of its steps.
#[derive(Debug)]
enum Refusal {
    Bytes(UnpackError),
    Merkle(MerkleMismatch),
    Signature(RecoverError),
    Rule(RuleError),
}

/// A state at block [`BLOCKS`], and the end of the chain that it follows.
struct Node {
    state: IdentityState,
    tip: Tip,
    /// Of the registers.
    digest: [u8; 32],
    _folder: tempfile::TempDir,
}

impl Node {
    fn new(hardfork: u8) -> Self {
        let shape = ChainShape {
            hardfork,
            ..ChainShape::small(5)
        };
        let folder = tempfile::tempdir().unwrap();
        let spec = Arc::new(shape.spec());
        let store = Store::open(folder.path(), &StoreOptions::new(spec.chain_id().0)).unwrap();
        let state = IdentityState::open(Registers::new(store).unwrap(), spec).unwrap();
        let mut node = Self {
            state,
            tip: Tip::genesis(shape),
            digest: [0; 32],
            _folder: folder,
        };
        for _ in 0..BLOCKS {
            let block = node.tip.grow(&Step::default());
            node.offer(&block).unwrap();
        }
        assert_eq!(node.state.globals().hardfork, hardfork);
        node.state.set_undo_sessions(true);
        node.digest = node.durable_digest();
        node
    }

    fn offer(&mut self, block: &RawBlock) -> Result<(), Refusal> {
        let spec = Arc::clone(self.state.spec());
        let decoded = DecodedBlock::decode(block.bytes.clone(), spec.symbols).map_err(Refusal::Bytes)?;
        decoded.check_merkle_root(&spec).map_err(Refusal::Merkle)?;
        let keys = signatures::recover(&decoded, &spec).map_err(Refusal::Signature)?;
        let applied = self.state.apply_block(&decoded, Validation::Full(&keys));
        applied.map(drop).map_err(Refusal::Rule)
    }

    fn durable_digest(&mut self) -> [u8; 32] {
        self.state.commit().unwrap();
        self.state.registers().store().digest().unwrap().digest
    }

    /// The state is that after block [`BLOCKS`].
    fn is_as_before(&mut self) -> bool {
        self.state.head().id == self.tip.id()
            && self.state.known_transactions() > 0
            && self.durable_digest() == self.digest
    }

    /// Offers a block that keeps the rule, then one that breaks it. `None` where the rule cannot be broken.
    fn try_rule(&mut self, rule: Rule) -> Option<Refusal> {
        let (mut keeping, mut breaking) = (self.tip.clone(), self.tip.clone());
        let kept = keeping.keep_rule(rule).ok()?;
        if let Err(refusal) = self.offer(&kept) {
            panic!("{rule}: the block that keeps it is refused: {refusal:?}");
        }
        assert!(self.state.undo_block().unwrap());
        assert!(
            self.is_as_before(),
            "{rule}: taking the kept block back leaves a trace"
        );
        let known = self.state.known_transactions();

        let prepared = rule == Rule::WitnessSwitchedOff;
        if prepared {
            let block = breaking.prepare(rule);
            self.offer(&block).unwrap();
        }
        let broken = breaking.break_rule(rule).unwrap();
        let refusal = match self.offer(&broken) {
            Ok(()) => panic!("{rule}: the block that breaks it is accepted"),
            Err(refusal) => refusal,
        };
        if prepared {
            assert_eq!(self.state.head().number, BLOCKS + 1);
            assert!(self.state.undo_block().unwrap());
        }
        assert!(self.is_as_before(), "{rule}: the refused block leaves a trace");
        assert_eq!(self.state.known_transactions(), known);
        refusal.is_placed(&broken);
        Some(refusal)
    }
}

impl Refusal {
    fn block(&self) -> Option<&BlockFault> {
        match self {
            Self::Rule(RuleError::Block { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    fn transaction(&self) -> Option<&TransactionFault> {
        match self {
            Self::Rule(RuleError::Transaction { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    fn authority(&self) -> Option<&AuthorityFailure> {
        match self.transaction() {
            Some(TransactionFault::Authority(failure)) => Some(failure),
            _ => None,
        }
    }

    fn operation(&self) -> Option<&OperationFault> {
        match self {
            Self::Rule(RuleError::Operation { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    fn validity(&self) -> Option<&ValidityError> {
        match self.operation() {
            Some(OperationFault::Invalid(error)) => Some(error),
            _ => None,
        }
    }

    /// It is the last transaction that is refused, in this block: everything that was made ready for it is valid.
    fn is_placed(&self, block: &RawBlock) {
        if let Self::Rule(
            RuleError::Transaction {
                block: number,
                transaction,
                ..
            }
            | RuleError::Operation {
                block: number,
                transaction,
                ..
            },
        ) = self
        {
            assert_eq!(
                (*number, *transaction as u32 + 1),
                (block.number, block.transactions),
                "{self:?}"
            );
        }
    }

    /// The path of enum variants that names the fault.
    fn name(&self) -> String {
        let variant = |value: &dyn Debug| {
            let text = format!("{value:?}");
            let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
            text[..end].to_owned()
        };
        let (kind, fault) = match self {
            Self::Bytes(error) => ("UnpackErrorKind", variant(&error.kind)),
            Self::Merkle(_) => return "MerkleMismatch".to_owned(),
            Self::Signature(
                RecoverError::Witness { source, .. } | RecoverError::Transaction { source, .. },
            ) => ("SignatureError", variant(source)),
            Self::Rule(RuleError::Block {
                fault: BlockFault::Slot(error),
                ..
            }) => ("SlotError", variant(error)),
            Self::Rule(RuleError::Block { fault, .. }) => ("BlockFault", variant(fault)),
            Self::Rule(RuleError::Transaction {
                fault: TransactionFault::Authority(failure),
                ..
            }) => ("AuthorityFailure", variant(failure)),
            Self::Rule(RuleError::Transaction { fault, .. }) => ("TransactionFault", variant(fault)),
            Self::Rule(RuleError::Operation { fault, .. }) => match &**fault {
                OperationFault::Invalid(error) => ("ValidityError", variant(error)),
                fault => ("OperationFault", variant(fault)),
            },
            Self::Rule(RuleError::State(error)) => panic!("{error}"),
        };
        format!("{kind}::{fault}")
    }

    fn text(&self) -> String {
        match self {
            Self::Bytes(error) => error.to_string(),
            Self::Merkle(error) => error.to_string(),
            Self::Signature(error) => error.to_string(),
            Self::Rule(error) => error.to_string(),
        }
    }
}

/// Whether a refusal is the one that names the rule.
fn names(refusal: &Refusal, rule: Rule) -> bool {
    use AuthorityFailure as Authority;
    use OperationFault as Op;
    use TransactionFault as Tx;
    use ValidityError as Valid;
    let (block, transaction) = (refusal.block(), refusal.transaction());
    let (authority, operation, valid) = (refusal.authority(), refusal.operation(), refusal.validity());
    let signature = match refusal {
        Refusal::Signature(RecoverError::Witness { source, .. }) => Some((true, source)),
        Refusal::Signature(RecoverError::Transaction { source, .. }) => Some((false, source)),
        _ => None,
    };
    let bytes = match refusal {
        Refusal::Bytes(error) => Some(&error.kind),
        _ => None,
    };
    let too_soon = |action| matches!(operation, Some(Op::TooSoon { what, .. }) if *what == action);
    let in_field = |name| {
        matches!(
            valid,
            Some(
                Valid::Range { field, .. } | Valid::TooLong { field, .. } | Valid::Relation { field, .. }
            ) if *field == name
        )
    };
    match rule {
        Rule::TrailingBytes => matches!(bytes, Some(UnpackErrorKind::TrailingBytes { count: 1 })),
        Rule::MerkleRoot => matches!(refusal, Refusal::Merkle(_)),
        Rule::WitnessSignatureForm => matches!(signature, Some((true, SignatureError::NotCanonical { .. }))),
        Rule::WitnessSignatureKey => matches!(signature, Some((true, SignatureError::NoKey { .. }))),
        Rule::TransactionSignatureForm => {
            matches!(signature, Some((false, SignatureError::NotCanonical { .. })))
        }
        Rule::TransactionSignatureKey => matches!(signature, Some((false, SignatureError::NoKey { .. }))),
        Rule::Link => matches!(block, Some(BlockFault::Unlinked { .. })),
        Rule::TimeAfterParent => matches!(block, Some(BlockFault::Time { .. })),
        Rule::BlockSize => matches!(bytes, Some(UnpackErrorKind::TooLarge { .. })),
        Rule::SlotBegun => matches!(block, Some(BlockFault::Slot(SlotError::BeforeFirstSlot { .. }))),
        Rule::WitnessExists => matches!(block, Some(BlockFault::NoWitness(_))),
        Rule::WitnessKey => {
            matches!(block, Some(BlockFault::WitnessSignature { expected, .. }) if !expected.is_null())
        }
        Rule::WitnessSwitchedOff => {
            matches!(block, Some(BlockFault::WitnessSignature { expected, .. }) if expected.is_null())
        }
        Rule::WitnessTurn => matches!(block, Some(BlockFault::Slot(SlotError::WrongWitness { .. }))),
        Rule::WitnessVersion => matches!(block, Some(BlockFault::Version { .. })),

        Rule::NotExpired => matches!(transaction, Some(Tx::Expired { .. })),
        Rule::ExpiresInTime => matches!(transaction, Some(Tx::ExpiresTooLate { .. })),
        Rule::NotRepeated | Rule::NotInChain => matches!(transaction, Some(Tx::Duplicate(_))),
        Rule::ReferenceBlock | Rule::ReferenceNumber => {
            matches!(transaction, Some(Tx::ReferenceBlock { .. }))
        }
        Rule::HasOperations => matches!(transaction, Some(Tx::Empty)),

        Rule::SignedOnce => matches!(
            authority,
            Some(Authority::DuplicateSignature {
                first: 0,
                second: 1,
                ..
            })
        ),
        Rule::PostingAuthority | Rule::ActiveIsNotPosting => {
            matches!(authority, Some(Authority::MissingPosting(_)))
        }
        Rule::ActiveAuthority
        | Rule::PostingIsNotActive
        | Rule::EnoughWeight
        | Rule::Signed
        | Rule::SignedForThisChain
        | Rule::Depth => matches!(authority, Some(Authority::MissingActive(_))),
        Rule::OwnerAuthority | Rule::ActiveIsNotOwner => {
            matches!(authority, Some(Authority::MissingOwner(_)))
        }
        Rule::ExplicitAuthority => matches!(authority, Some(Authority::MissingOther { index: 0 })),
        Rule::BothOwnerKeys => matches!(authority, Some(Authority::MissingOther { index: 1 })),
        Rule::SignerExists => matches!(authority, Some(Authority::UnknownAccount(_))),
        Rule::NotMixed => matches!(authority, Some(Authority::MixedWithPosting)),
        Rule::NothingUnused => matches!(authority, Some(Authority::UnusedSignature(_))),

        Rule::InUse => matches!(valid, Some(Valid::NoLonger { until: 20, .. })),
        Rule::ValidInBlocks => matches!(valid, Some(Valid::NeverValid)),
        Rule::Name => matches!(
            valid,
            Some(Valid::Name {
                field: "new_account_name",
                ..
            })
        ),
        Rule::NotEmpty => matches!(valid, Some(Valid::Empty { field: "body" })),
        Rule::TextLength => in_field("memo"),
        Rule::ContentLength => in_field("json"),
        Rule::Utf8 => matches!(
            valid,
            Some(Valid::NotUtf8 {
                field: "permlink",
                offset: 4
            })
        ),
        Rule::Json => matches!(valid, Some(Valid::NotJson { field: "json" })),
        Rule::Symbol => matches!(valid, Some(Valid::Symbol { field: "amount", .. })),
        Rule::FeeSymbol => matches!(valid, Some(Valid::FeeSymbol { .. })),
        Rule::AmountPositive => in_field("amount"),
        Rule::WeightRange => in_field("weight"),
        Rule::BlockSizeRange => in_field("maximum_block_size"),
        Rule::SomethingMoved => matches!(valid, Some(Valid::NothingMoved { .. })),
        Rule::Price => matches!(
            valid,
            Some(Valid::Price {
                field: "exchange_rate"
            })
        ),
        Rule::Relation => in_field("proxy"),
        Rule::Sorted | Rule::SharesSum => in_field("beneficiaries"),
        Rule::MemberCount => in_field("posting"),
        Rule::SignerCount => in_field("required_auths"),
        Rule::MemberName => matches!(valid, Some(Valid::MemberName { field: "posting", .. })),
        Rule::Possible => matches!(
            valid,
            Some(Valid::Impossible {
                weights: 1,
                threshold: 2,
                ..
            })
        ),
        Rule::NotOpen => matches!(valid, Some(Valid::Open { .. })),
        Rule::Property => matches!(
            valid,
            Some(Valid::Property {
                property: "maximum_block_size",
                size: 3
            })
        ),
        Rule::NoExtensions => in_field("extensions"),

        Rule::AccountExists | Rule::MemberExists => matches!(operation, Some(Op::NoAccount(_))),
        Rule::AccountIsNew => matches!(operation, Some(Op::AccountExists(_))),
        Rule::TempIsFixed => matches!(operation, Some(Op::FixedAccount(_))),
        Rule::OwnerChangeRate => too_soon("change of the owner authority"),
        Rule::RootPostRate => too_soon("root post"),
        Rule::ReplyRate => too_soon("post"),
        Rule::EditRate => too_soon("post or edit"),
        Rule::RecoveryRate => too_soon("recovery"),
        Rule::ClaimedAccount => matches!(operation, Some(Op::NoClaimedAccount(_))),
        Rule::RecoveryAccount => matches!(operation, Some(Op::NotRecoveryAccount { .. })),
        Rule::RecoveryIsNotOpen => matches!(operation, Some(Op::OpenAuthority)),
        Rule::RecoverySize => matches!(operation, Some(Op::TooManyMembers { limit: 40, found: 41 })),
        Rule::RecoveryRequested => matches!(operation, Some(Op::NoRecoveryRequest(_))),
        Rule::RecoveryAsRequested => matches!(operation, Some(Op::OtherThanRequested)),
        Rule::RecentOwner => matches!(operation, Some(Op::NotInHistory(_))),
        Rule::DeclinesOnce => matches!(operation, Some(Op::Declined(_))),
        Rule::Declining => matches!(operation, Some(Op::NotDeclining(_))),
        Rule::IsWitness | Rule::PublisherIsWitness => matches!(operation, Some(Op::NoWitness(_))),
        Rule::PresentSigningKey => matches!(operation, Some(Op::SigningKey { .. })),
        Rule::NoProxySet => matches!(operation, Some(Op::HasProxy { .. })),
        Rule::VotesOnce => matches!(operation, Some(Op::VoteExists { .. })),
        Rule::HasVoted => matches!(operation, Some(Op::NoVote { .. })),
        Rule::VoteCount => matches!(
            operation,
            Some(Op::TooManyVotes {
                limit: 30,
                found: 30,
                ..
            })
        ),
        Rule::ProxyChanges => matches!(operation, Some(Op::SameProxy { .. })),
        Rule::HasProxy => matches!(operation, Some(Op::NoProxy(_))),
        Rule::ProxyLoop => matches!(operation, Some(Op::ProxyLoop(_))),
        Rule::ProxyChain => matches!(operation, Some(Op::ProxyChain { limit: 4 })),
        Rule::PostExists | Rule::ParentExists | Rule::OptionsPostExists | Rule::ProposalPost => {
            matches!(operation, Some(Op::NoComment { .. }))
        }
        Rule::Permlink => matches!(operation, Some(Op::Permlink(_))),
        Rule::ParentKept => matches!(operation, Some(Op::ParentChanged)),
        Rule::NoReplies => matches!(operation, Some(Op::HasReplies(1))),
        Rule::ProposalExists => matches!(operation, Some(Op::NoProposal(1))),
        Rule::ProposalCreator => matches!(operation, Some(Op::OtherCreator { id: 0, .. })),
    }
}

/// What each rule of the table is refused with, by the rules of this hardfork.
fn refusals(hardfork: u8) -> Vec<(Rule, Option<Refusal>)> {
    let mut node = Node::new(hardfork);
    let rules = Rule::ALL.iter();
    rules.map(|rule| (*rule, node.try_rule(*rule))).collect()
}

/// Rules that do not exist under a hardfork.
fn missing(refusals: &[(Rule, Option<Refusal>)]) -> Vec<Rule> {
    let missing = refusals.iter().filter(|(_, refusal)| refusal.is_none());
    missing.map(|(rule, _)| *rule).collect()
}

#[test]
fn each_rule_is_refused_by_its_own_name() {
    for (hardfork, without) in [
        (28, vec![Rule::NotMixed, Rule::NothingUnused]),
        (27, vec![Rule::ActiveIsNotPosting, Rule::ProposalExists]),
    ] {
        let refusals = refusals(hardfork);
        assert_eq!(missing(&refusals), without);
        let mut wrong = Vec::new();
        for (rule, refusal) in &refusals {
            let Some(refusal) = refusal else { continue };
            println!("{rule}: {}: {}", refusal.name(), refusal.text());
            if !names(refusal, *rule) {
                wrong.push(format!("{rule}: {refusal:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn the_documentation_has_every_rule_with_its_error() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/validation.md");
    let documented: Vec<String> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(str::to_owned)
        .collect();
    let mut found = refusals(28);
    for (rule, refusal) in refusals(27) {
        let entry = found.iter_mut().find(|(known, _)| *known == rule).unwrap();
        if entry.1.is_none() {
            entry.1 = refusal;
        }
    }
    let rows: Vec<String> = found
        .iter()
        .map(|(rule, refusal)| {
            let name = refusal.as_ref().unwrap().name();
            format!("| `{rule}` | {} | `{name}` |", rule.breach())
        })
        .collect();
    assert_eq!(documented, rows, "the table should be:\n{}", rows.join("\n"));
}

#[test]
fn first_blocks_break_nothing() {
    let mut tip = Tip::genesis(ChainShape::small(5));
    for _ in 0..2 {
        for rule in Rule::ALL {
            let before = tip.id();
            assert!(tip.break_rule(*rule).is_err() && tip.keep_rule(*rule).is_err());
            assert_eq!(tip.id(), before);
        }
        tip.grow(&Step::default());
    }
    assert!(tip.break_rule(Rule::Name).is_ok());
}
