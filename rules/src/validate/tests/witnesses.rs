//! Witnesses and their properties.

use cairn_chain::operations::*;
use cairn_chain::{
    Asset, AssetPacking, Bytes, ChainSpec, FeeAsset, FeeSymbol, HISTORICAL_FEE_SYMBOLS, Operation, Pack,
    Packer, Symbols, Text,
};

use super::*;
use crate::validate::witness_properties::{self, WitnessProperties};

pub(super) fn props() -> ChainProperties {
    ChainProperties {
        account_creation_fee: FeeAsset::hive(1),
        maximum_block_size: 131_072,
        hbd_interest_rate: 0,
    }
}

fn update(change: fn(&mut WitnessUpdate<'static>)) -> Operation<'static> {
    let mut op = WitnessUpdate {
        owner: name("alice"),
        url: Text::from("url"),
        block_signing_key: PublicKey::NULL,
        props: props(),
        fee: Asset::hive(0),
    };
    change(&mut op);
    Operation::WitnessUpdate(op)
}

#[test]
fn updates() {
    accepted(update(|_| {}));
    refused(update(|op| op.owner = name("No")), "owner");
    refused(update(|op| op.url = Text::from("")), "url is empty");
    accepted(update(|op| op.url = Text(letters(2_048))));
    refused(update(|op| op.url = Text(letters(2_049))), "url: at most 2048");
    refused(update(|op| op.url = Text(b"\xff")), "url: UTF-8");
    accepted(update(|op| op.fee = Asset::vests(0)));
    refused(update(|op| op.fee = Asset::hive(-1)), "fee: 0 to");
    refused(
        update(|op| op.props.account_creation_fee.amount = 0),
        "account_creation_fee: 1 to 1000000000",
    );
    accepted(update(|op| op.props.account_creation_fee.amount = 1_000_000_000));
    refused(
        update(|op| op.props.account_creation_fee.amount = 1_000_000_001),
        "account_creation_fee",
    );
    accepted(update(|op| op.props.maximum_block_size = 65_536));
    refused(
        update(|op| op.props.maximum_block_size = 65_535),
        "maximum_block_size: 65536 to 2097152",
    );
    accepted(update(|op| op.props.maximum_block_size = 2_097_152));
    refused(
        update(|op| op.props.maximum_block_size = 2_097_153),
        "maximum_block_size",
    );
    accepted(update(|op| op.props.hbd_interest_rate = 10_000));
    refused(
        update(|op| op.props.hbd_interest_rate = 10_001),
        "hbd_interest_rate: 0 to 10000",
    );
    // Testnets allow accounts for nothing.
    let free = update(|op| op.props.account_creation_fee.amount = 0);
    assert_eq!(verdict(&free, TODAY, &ChainSpec::hive_testnet()), Ok(()));
}

#[test]
fn malformed_fee_symbols_are_history() {
    let malformed = update(|op| {
        op.props.account_creation_fee.symbol = FeeSymbol::Historical(HISTORICAL_FEE_SYMBOLS[3]);
    });
    accepted_at(malformed.clone(), 13);
    refused_at(
        malformed,
        14,
        "account_creation_fee: the fee's symbol is malformed",
    );
}

#[test]
fn votes_and_proxies() {
    let vote = |account: &str, witness: &str| {
        Operation::AccountWitnessVote(AccountWitnessVote {
            account: name(account),
            witness: name(witness),
            approve: true,
        })
    };
    accepted(vote("alice", "alice"));
    refused(vote("No", "alice"), "account");
    refused(vote("alice", ""), "witness");

    let proxy = |account: &str, proxy: &str| {
        Operation::AccountWitnessProxy(AccountWitnessProxy {
            account: name(account),
            proxy: name(proxy),
        })
    };
    accepted(proxy("alice", "bob"));
    accepted(proxy("alice", ""));
    refused(proxy("No", "bob"), "account");
    refused(proxy("alice", "No"), "proxy");
    refused(proxy("alice", "alice"), "proxy: must differ");
}

/// A property's packed value, leaked: tests are short.
fn packed(value: &impl Pack) -> &'static [u8] {
    let mut packer = Packer::new(AssetPacking::Legacy, Symbols::Mainnet);
    value.pack(&mut packer);
    packer.into_bytes().leak()
}

fn set(properties: &[(&'static str, &'static [u8])]) -> WitnessSetProperties<'static> {
    WitnessSetProperties {
        owner: name("alice"),
        props: properties
            .iter()
            .map(|(name, value)| (Text::from(*name), Bytes(value)))
            .collect(),
        extensions: Vec::new(),
    }
}

fn with_key(properties: &[(&'static str, &'static [u8])]) -> Operation<'static> {
    let mut op = set(properties);
    op.props.push((Text::from("key"), Bytes(packed(&key(1)))));
    Operation::WitnessSetProperties(op)
}

#[test]
fn properties_are_in_range() {
    exists_since(with_key(&[]), 20);
    refused(Operation::WitnessSetProperties(set(&[])), "key is empty");
    let Operation::WitnessSetProperties(mut op) = with_key(&[]) else {
        panic!()
    };
    op.owner = name("No");
    refused(Operation::WitnessSetProperties(op), "owner");
    refused(
        Operation::WitnessSetProperties(set(&[("key", &[2; 32])])),
        "property key: 32 bytes",
    );
    refused(
        with_key(&[("new_signing_key", &[2; 32])]),
        "property new_signing_key: 32 bytes",
    );
    accepted(with_key(&[("new_signing_key", packed(&PublicKey::NULL))]));
    accepted(with_key(&[("whatever", b"?")]));

    let fee = |asset: Asset| with_key(&[("account_creation_fee", packed(&asset))]);
    accepted(fee(Asset::hive(1)));
    refused(fee(Asset::hive(0)), "account_creation_fee: 1 to");
    refused(fee(Asset::hive(1_000_000_001)), "account_creation_fee: 1 to");
    refused(fee(Asset::hbd(1)), "account_creation_fee: HIVE");
    refused(
        with_key(&[("account_creation_fee", &[0; 11])]),
        "property account_creation_fee",
    );
    let size = |size: u32| with_key(&[("maximum_block_size", packed(&size))]);
    accepted(size(65_536));
    refused(size(65_535), "maximum_block_size");
    refused(size(2_097_153), "maximum_block_size");
    refused(
        with_key(&[("maximum_block_size", &[0, 0, 1])]),
        "property maximum_block_size: 3 bytes",
    );
    for name in ["hbd_interest_rate", "sbd_interest_rate"] {
        let interest = |rate: u16| with_key(&[(name, packed(&rate))]);
        accepted(interest(10_000));
        refused(interest(10_001), "hbd_interest_rate: 0 to 10000");
    }
    let budget = |budget: u32| with_key(&[("account_subsidy_budget", packed(&budget))]);
    accepted(budget(1));
    accepted(budget(268_435_455));
    refused(budget(0), "account_subsidy_budget");
    refused(budget(268_435_456), "account_subsidy_budget");
    refused(
        budget(u32::MAX),
        "account_subsidy_budget: 1 to 268435455 expected, -1 found",
    );
    let decay = |decay: u32| with_key(&[("account_subsidy_decay", packed(&decay))]);
    accepted(decay(64));
    accepted(decay(u32::MAX));
    refused(decay(63), "account_subsidy_decay");
    let url = |url: &'static str| with_key(&[("url", packed(&Text::from(url)))]);
    accepted(url("u"));
    refused(url(""), "url is empty");
    refused(
        with_key(&[("url", packed(&Text(letters(2_049))))]),
        "url: at most 2048",
    );
    refused(with_key(&[("url", packed(&Text(b"\xff")))]), "url: UTF-8");
    refused(with_key(&[("url", &[5, b'a'])]), "property url: 2 bytes");
    for name in ["hbd_exchange_rate", "sbd_exchange_rate"] {
        let rate = |base: Asset, quote: Asset| with_key(&[(name, packed(&Price { base, quote }))]);
        accepted(rate(Asset::hbd(1), Asset::hive(1)));
        refused(rate(Asset::hive(1), Asset::hbd(1)), "hbd_exchange_rate: HBD");
        refused(rate(Asset::hbd(1), Asset::hbd(1)), "hbd_exchange_rate: HIVE");
        refused(rate(Asset::hbd(0), Asset::hive(1)), "hbd_exchange_rate: 1 to");
    }
}

#[test]
fn properties_are_read_as_hived_reads_them() {
    let read = |op: &WitnessSetProperties<'static>, hardfork: u8| {
        witness_properties::read(op, hardfork, Symbols::Mainnet).unwrap()
    };
    let nothing = WitnessProperties {
        key: key(1),
        new_signing_key: None,
        account_creation_fee: None,
        maximum_block_size: None,
        hbd_interest_rate: None,
        account_subsidy_budget: None,
        account_subsidy_decay: None,
        hbd_exchange_rate: None,
        url: None,
    };
    let of_key = ("key", packed(&key(1)));
    assert_eq!(read(&set(&[of_key]), 24), nothing);

    let rate = Price {
        base: Asset::hbd(2),
        quote: Asset::hive(3),
    };
    let all = set(&[
        of_key,
        ("new_signing_key", packed(&key(2))),
        ("account_creation_fee", packed(&Asset::hive(7))),
        ("maximum_block_size", packed(&70_000u32)),
        ("hbd_interest_rate", packed(&12u16)),
        ("account_subsidy_budget", packed(&800u32)),
        ("account_subsidy_decay", packed(&64u32)),
        ("hbd_exchange_rate", packed(&rate)),
        ("url", packed(&Text::from("here"))),
    ]);
    let expected = WitnessProperties {
        new_signing_key: Some(key(2)),
        account_creation_fee: Some(7),
        maximum_block_size: Some(70_000),
        hbd_interest_rate: Some(12),
        account_subsidy_budget: Some(800),
        account_subsidy_decay: Some(64),
        hbd_exchange_rate: Some(rate),
        url: Some(b"here"),
        ..nothing
    };
    assert_eq!(read(&all, 24), expected);
    // The new spellings count since hardfork 24 only; the old ones win.
    assert_eq!(
        read(&all, 23),
        WitnessProperties {
            hbd_interest_rate: None,
            hbd_exchange_rate: None,
            ..expected
        }
    );
    let both = set(&[
        of_key,
        ("hbd_interest_rate", packed(&1u16)),
        ("sbd_interest_rate", packed(&2u16)),
    ]);
    assert_eq!(read(&both, 24).hbd_interest_rate, Some(2));
    assert_eq!(read(&both, 20).hbd_interest_rate, Some(2));
    // Trailing bytes, empty values, repeated names.
    let odd = set(&[
        of_key,
        ("maximum_block_size", &[0, 0, 1, 0, 99]),
        ("maximum_block_size", &[0, 0, 2, 0]),
        ("hbd_interest_rate", &[]),
        ("new_signing_key", &[]),
    ]);
    let expected = WitnessProperties {
        new_signing_key: Some(key(1)),
        maximum_block_size: Some(65_536),
        hbd_interest_rate: Some(1_000),
        ..nothing
    };
    assert_eq!(read(&odd, 24), expected);
    // The other encoding of assets.
    let mut packer = Packer::new(AssetPacking::Hf26, Symbols::Mainnet);
    Asset::hive(9).pack(&mut packer);
    let hf26 = set(&[of_key, ("account_creation_fee", packer.into_bytes().leak())]);
    assert_eq!(read(&hf26, 26).account_creation_fee, Some(9));
}
