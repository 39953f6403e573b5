//! Which refusal names which rule.

use cairn_chain::{SignatureError, UnpackErrorKind};
use cairn_node::devnet::Rule;
use cairn_rules::authority::AuthorityFailure;
use cairn_rules::schedule::SlotError;
use cairn_rules::signatures::RecoverError;
use cairn_rules::validate::ValidityError;
use cairn_rules::{BlockFault, OperationFault, TransactionFault};

use crate::refusal::Refusal;

/// Whether a refusal is the one that names the rule.
pub(crate) fn names(refusal: &Refusal, rule: Rule) -> bool {
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
        Rule::VotedBlockSize => matches!(block, Some(BlockFault::Size { limit: 131_072, .. })),
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
