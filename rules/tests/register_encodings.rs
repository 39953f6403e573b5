//! Registers decode to what was encoded, have one encoding each, and no bytes at all make a decoder panic.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

use std::fmt::Debug;

use cairn_chain::{AccountName, Asset, AssetSymbol, Authority, BlockId, PublicKey, Time, Version};
use cairn_rules::registers::{
    AccountCore, ActiveAuthority, Comment, CommentFlags, DeclinedVotingRequest, Feed, Fields, Globals,
    HardforkState, JsonMetadata, MinedWork, Mining, OwnerAuthority, OwnerHistory, OwnerHistoryEntry, Parent,
    PostingAuthority, PostingJsonMetadata, PostingTimes, Proposal, ProposalVotes, Record,
    RecoveryAccountChange, RecoveryRequest, ReferenceBlock, StoredSchedule, VotedBlockSizes, Witness,
    WitnessActivity, WitnessByIndex, WitnessUrl, WitnessVotes, WitnessWork, canonical_authority,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn decode<R: Record>(bytes: &[u8]) -> Option<R> {
    let mut fields = Fields::new(bytes);
    let record = R::decode(&mut fields).ok()?;
    fields.end().ok()?;
    Some(record)
}

fn encode<R: Record>(record: &R) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    bytes
}

fn round_trip<R: Record + PartialEq + Debug>(record: &R) {
    let bytes = encode(record);
    assert_eq!(decode::<R>(&bytes).as_ref(), Some(record));
    // One byte less or more is no value, except where the value is a text or a list of fixed entries.
    if let Some(other) = decode::<R>(&[bytes.as_slice(), &[1]].concat()) {
        assert_ne!(&other, record);
    }
}

/// Whatever decodes has exactly the bytes that it was decoded from.
fn one_encoding<R: Record>(bytes: &[u8]) {
    if let Some(record) = decode::<R>(bytes) {
        assert_eq!(encode(&record), bytes, "{}", R::NAME);
    }
}

fn all_have_one_encoding(bytes: &[u8]) {
    one_encoding::<AccountCore>(bytes);
    one_encoding::<OwnerAuthority>(bytes);
    one_encoding::<ActiveAuthority>(bytes);
    one_encoding::<PostingAuthority>(bytes);
    one_encoding::<JsonMetadata>(bytes);
    one_encoding::<PostingJsonMetadata>(bytes);
    one_encoding::<PostingTimes>(bytes);
    one_encoding::<WitnessVotes>(bytes);
    one_encoding::<RecoveryRequest>(bytes);
    one_encoding::<RecoveryAccountChange>(bytes);
    one_encoding::<OwnerHistory>(bytes);
    one_encoding::<OwnerHistoryEntry>(bytes);
    one_encoding::<DeclinedVotingRequest>(bytes);
    one_encoding::<ProposalVotes>(bytes);
    one_encoding::<Proposal>(bytes);
    one_encoding::<Comment>(bytes);
    one_encoding::<ReferenceBlock>(bytes);
    one_encoding::<Witness>(bytes);
    one_encoding::<WitnessActivity>(bytes);
    one_encoding::<WitnessByIndex>(bytes);
    one_encoding::<WitnessUrl>(bytes);
    one_encoding::<WitnessWork>(bytes);
    one_encoding::<Globals>(bytes);
    one_encoding::<HardforkState>(bytes);
    one_encoding::<Mining>(bytes);
    one_encoding::<MinedWork>(bytes);
    one_encoding::<VotedBlockSizes>(bytes);
    let _ = decode::<StoredSchedule>(bytes);
}

fn name() -> impl Strategy<Value = AccountName> {
    vec(any::<u8>(), 0..=16).prop_map(|bytes| AccountName::new(&bytes))
}

fn key() -> impl Strategy<Value = PublicKey> {
    vec(any::<u8>(), 33).prop_map(|bytes| PublicKey(bytes.try_into().unwrap()))
}

fn time() -> impl Strategy<Value = Time> {
    any::<u32>().prop_map(Time)
}

fn authority() -> impl Strategy<Value = Authority> {
    (
        any::<u32>(),
        vec((name(), any::<u16>()), 0..5),
        vec((key(), any::<u16>()), 0..5),
    )
        .prop_map(|(weight_threshold, account_auths, key_auths)| {
            canonical_authority(Authority {
                weight_threshold,
                account_auths,
                key_auths,
            })
        })
}

fn asset() -> impl Strategy<Value = Asset> {
    let symbol = prop_oneof![
        Just(AssetSymbol::Hbd),
        Just(AssetSymbol::Hive),
        Just(AssetSymbol::Vests)
    ];
    (any::<i64>(), symbol).prop_map(|(amount, symbol)| Asset { amount, symbol })
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..200)) {
        all_have_one_encoding(&bytes);
    }

    #[test]
    fn mutated_values(
        authority in authority(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encode(&OwnerAuthority(authority));
        let position = at.index(bytes.len());
        bytes[position] = byte;
        all_have_one_encoding(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        all_have_one_encoding(&bytes);
    }

    #[test]
    fn accounts(
        (created, memo_key, recovery, proxy) in (time(), key(), name(), name()),
        (mined, can_vote) in any::<(bool, bool)>(),
        times in vec(time(), 4),
        claimed_accounts in any::<u32>(),
        index in any::<u64>(),
    ) {
        let mut core = AccountCore::new(created, mined, memo_key, recovery);
        core.can_vote = can_vote;
        core.proxy = proxy;
        core.last_owner_update = times[0];
        core.previous_owner_update = times[1];
        core.last_account_recovery = times[2];
        core.governance_expiry = times[3];
        core.claimed_accounts = claimed_accounts;
        core.index = index;
        round_trip(&core);
        round_trip(&PostingTimes { last_root_post: times[0], last_post: times[1], last_edit: times[2] });
        round_trip(&RecoveryAccountChange { new_recovery_account: recovery, effective: created });
        round_trip(&DeclinedVotingRequest { effective: created });
    }

    #[test]
    fn authorities(authority in authority(), time in time(), sequence in any::<u64>()) {
        round_trip(&OwnerAuthority(authority.clone()));
        round_trip(&RecoveryRequest { expires: time, new_owner_authority: authority.clone() });
        round_trip(&OwnerHistoryEntry { sequence, replaced: time, authority });
    }

    #[test]
    fn comments(
        flags in any::<(bool, bool)>(),
        replies in any::<u32>(),
        depth in 0u16..4,
        (author, permlink) in (name(), vec(any::<u8>(), 0..40)),
    ) {
        round_trip(&Comment {
            flags: CommentFlags { deletion_undecided: flags.0, replies_undecided: flags.1 },
            replies,
            depth,
            parent: (depth > 0).then_some(Parent { author, permlink }),
        });
    }

    #[test]
    fn witnesses(
        (signing_key, created, feed_time) in (key(), time(), time()),
        numbers in any::<(i64, u32, u16, i32, u32, u64, u32)>(),
        feed in proptest::option::of((asset(), asset())),
        activity in any::<(u32, u32, u32, u32)>(),
    ) {
        round_trip(&Witness {
            signing_key,
            created,
            account_creation_fee: numbers.0,
            maximum_block_size: numbers.1,
            interest_rate: numbers.2,
            subsidy_budget: numbers.3,
            subsidy_decay: numbers.4,
            queue_number: numbers.5,
            index: numbers.6,
            feed_time,
            feed: feed.map(|(base, quote)| Feed { base, quote }),
        });
        round_trip(&WitnessActivity {
            last_block: activity.0,
            running_version: Version(activity.1),
            hardfork_vote: Version(activity.2),
            hardfork_time: Time(activity.3),
        });
    }

    #[test]
    fn votes(names in vec(name(), 1..40), ids in vec(any::<i64>(), 1..40)) {
        let mut votes = WitnessVotes::default();
        let mut twin = std::collections::BTreeSet::new();
        for name in names {
            prop_assert_eq!(votes.add(name), twin.insert(name));
        }
        prop_assert!(votes.witnesses().iter().eq(&twin));
        round_trip(&votes);
        let mut votes = ProposalVotes::default();
        ids.iter().for_each(|id| votes.add(*id));
        round_trip(&votes);
    }

    #[test]
    fn globals(numbers in any::<(u32, u32, u8, u32, u64, i64, u64, u64)>(), enabled in any::<u32>(), id in any::<[u8; 20]>()) {
        round_trip(&Globals {
            head_number: numbers.0,
            head_id: BlockId(id),
            head_time: Time(numbers.1),
            hardfork: numbers.2,
            witnesses: numbers.3,
            accounts: numbers.4,
            next_proposal: numbers.5,
            owner_changes: numbers.6,
            witness_votes: numbers.7,
            enabled_witnesses: enabled,
        });
        round_trip(&Mining { total: numbers.4, queued: numbers.0, waiting: numbers.1, queue_known: id[0] % 2 == 0 });
        round_trip(&ReferenceBlock(BlockId(id)));
    }
}

/// The layout of each kind, by bytes: a change of the format must be seen.
#[test]
fn layouts() {
    let core = encode(&AccountCore::new(
        Time(1),
        true,
        PublicKey([2; 33]),
        "steem".into(),
    ));
    assert_eq!(core.len(), 98);
    assert_eq!(hex::encode(&core[..5]), "0100000003");
    assert_eq!(&core[38..43], b"steem");
    let mut witness = Witness::new(PublicKey([2; 33]), Time(5));
    assert_eq!(encode(&witness).len(), 75);
    witness.feed = Some(Feed {
        base: Asset::hbd(5),
        quote: Asset::hive(7),
    });
    assert_eq!(
        hex::encode(&encode(&witness)[75..]),
        "05000000000000000320bcbe07000000000000002320bcbe"
    );
    let authority = Authority {
        weight_threshold: 3,
        account_auths: vec![("bob".into(), 2)],
        key_auths: vec![(PublicKey([2; 33]), 1)],
    };
    let expected = format!(
        "03000000{}{}{}{}{}{}",
        "01000000",
        "01000000",
        "626f62",
        "00".repeat(13),
        "0200",
        "02".repeat(33) + "0100"
    );
    assert_eq!(hex::encode(encode(&OwnerAuthority(authority))), expected);
    assert_eq!(hex::encode(encode(&Comment::root())), "00000000000000");
    assert_eq!(encode(&Globals::at_genesis(Time(7))).len(), 69);
    assert_eq!(encode(&WitnessActivity::default()).len(), 16);
    assert_eq!(encode(&Mining::default()).len(), 17);
    let mut key = Vec::new();
    AccountCore::key(&"bob".into(), &mut key);
    assert_eq!(hex::encode(&key), format!("01626f62{}00", "00".repeat(13)));
    key.clear();
    ReferenceBlock::key(0x1234, &mut key);
    assert_eq!(hex::encode(&key), "061234");
}

#[test]
fn equal_members_collapse_into_the_first() {
    let twice = Authority {
        weight_threshold: 1,
        account_auths: vec![("bob".into(), 2), ("abe".into(), 1), ("bob".into(), 9)],
        key_auths: vec![
            (PublicKey([3; 33]), 4),
            (PublicKey([2; 33]), 5),
            (PublicKey([3; 33]), 6),
        ],
    };
    let canonical = canonical_authority(twice);
    assert_eq!(canonical.account_auths, [("abe".into(), 1), ("bob".into(), 2)]);
    assert_eq!(
        canonical.key_auths,
        [(PublicKey([2; 33]), 5), (PublicKey([3; 33]), 4)]
    );
}
