//! Bytes that are no blocks, or no longer: nothing may panic, and what still decodes must hold together.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod common;

use std::sync::OnceLock;

use cairn_chain::{
    AccountName, Asset, AssetPacking, Block, BlockId, ChainSpec, CustomJson, DecodedBlock, HardforkVote,
    HeaderExtension, MAX_BLOCK_SIZE, Operation, PrivateKey, SignedHeader, Symbols, Time, Transaction,
    Transfer, UnpackErrorKind, UnsignedBlock, UnsignedTransaction, Version, block_json,
};
use common::{bytes, json, packed_again};
use proptest::prelude::*;

/// A block made here, so that there is something to damage where there are no fixtures.
fn made_block() -> Vec<u8> {
    let key = PrivateKey::from_seed(b"init_key");
    let spec = ChainSpec::hive_testnet();
    let transfer = Operation::Transfer(Transfer {
        from: "initminer".into(),
        to: "alice".into(),
        amount: Asset::hive(10_000),
        memo: "memo".into(),
    });
    let json = Operation::CustomJson(CustomJson {
        required_auths: vec![],
        required_posting_auths: vec!["alice".into()],
        id: "follow".into(),
        json: "{}".into(),
    });
    let previous: BlockId = "0000000109833ce528d5bbfb3f6225b39ee10086".parse().unwrap();
    let time = Time(spec.genesis_time.seconds() + 6);
    let transaction = |operations, packing| {
        UnsignedTransaction::new(&previous, Time(time.seconds() + 60), operations).sign(
            &spec.chain_id(),
            std::slice::from_ref(&key),
            packing,
            spec.symbols,
        )
    };
    let block = UnsignedBlock {
        previous,
        timestamp: time,
        witness: "initminer".into(),
        extensions: vec![
            HeaderExtension::Version(Version::new(1, 28, 0)),
            HeaderExtension::HardforkVote(HardforkVote {
                hf_version: Version::new(1, 28, 0),
                hf_time: Time(7),
            }),
        ],
        transactions: vec![
            transaction(vec![transfer.clone(), json.clone()], AssetPacking::Hf26),
            transaction(vec![transfer], AssetPacking::Legacy),
            transaction(vec![json], AssetPacking::Legacy),
        ],
    };
    block.sign(&key)
}

/// Real blocks of all kinds, and the made one.
fn originals() -> &'static [(Vec<u8>, Symbols)] {
    static ORIGINALS: OnceLock<Vec<(Vec<u8>, Symbols)>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let mut originals = vec![(made_block(), Symbols::Testnet)];
        for file in ["mainnet/blocks.json", "mirrornet/blocks.json"] {
            let Some(blocks) = json(file) else { break };
            let blocks = blocks
                .as_array()
                .unwrap()
                .iter()
                .map(|block| bytes(&block["hex"]));
            // Blocks with transactions; the others are headers only.
            originals.extend(
                blocks
                    .filter(|bytes| bytes.len() > 200)
                    .map(|bytes| (bytes, Symbols::Mainnet)),
            );
        }
        originals
    })
}

/// Uses everything that a block offers, and compares what can be compared.
fn examine(bytes: &[u8], symbols: Symbols) {
    let prefix = SignedHeader::unpack_prefix(bytes);
    let Ok(block) = DecodedBlock::decode(bytes.to_vec(), symbols) else {
        return;
    };
    let (header, size) = prefix.unwrap();
    assert_eq!(header, block.block().header);
    assert_eq!(block.id(), header.id());
    let transactions = &block.block().transactions;
    let inner: usize = transactions
        .iter()
        .map(|transaction| transaction.bytes().len())
        .sum();
    assert!(size + inner < bytes.len());
    let exact = transactions.iter().all(Transaction::packs_to_same_bytes);
    for transaction in transactions {
        assert!(
            bytes
                .windows(transaction.bytes().len())
                .any(|window| window == transaction.bytes())
        );
        assert_eq!(
            &Transaction::unpack_exact(transaction.bytes(), symbols).unwrap(),
            transaction
        );
        let Some(packing) = transaction.packing().for_packing() else {
            continue;
        };
        let again = cairn_chain::Packer::pack_one(transaction, packing, symbols);
        assert_eq!(again == transaction.bytes(), transaction.packs_to_same_bytes());
    }
    // What decodes to something with one form only decodes to the same again from its packed form.
    if exact {
        for transaction in transactions {
            let again = packed_again(transaction, transaction.packing(), symbols);
            assert_eq!(
                &Transaction::unpack_exact(&again, symbols).unwrap().operations,
                &transaction.operations
            );
        }
    }
    let _ = block.check_merkle_root(&ChainSpec::hive());
    if let Ok(json) = block_json(&block) {
        serde_json::to_string(&json).unwrap();
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Flip {
        at: prop::sample::Index,
        bit: u8,
    },
    Set {
        at: prop::sample::Index,
        bytes: Vec<u8>,
    },
    Insert {
        at: prop::sample::Index,
        bytes: Vec<u8>,
    },
    Remove {
        at: prop::sample::Index,
        count: usize,
    },
    Cut {
        at: prop::sample::Index,
    },
    Repeat {
        from: prop::sample::Index,
        at: prop::sample::Index,
        count: usize,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    // Bytes that mean something to a reader of counts, lengths and indices, beside any others.
    let telling = prop_oneof![
        Just(vec![0xff, 0xff, 0xff, 0xff, 0x0f]),
        Just(vec![0x80, 0x00]),
        Just(vec![0x80, 0x80, 0x80, 0x80, 0x80]),
        Just(vec![0x00]),
        Just(vec![0x7f]),
        prop::collection::vec(any::<u8>(), 1..9),
    ];
    prop_oneof![
        4 => (at(), 0..8u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        4 => (at(), telling.clone()).prop_map(|(at, bytes)| Damage::Set { at, bytes }),
        2 => (at(), telling).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        2 => (at(), 1..40usize).prop_map(|(at, count)| Damage::Remove { at, count }),
        1 => at().prop_map(|at| Damage::Cut { at }),
        1 => (at(), at(), 1..80usize).prop_map(|(from, at, count)| Damage::Repeat { from, at, count }),
    ]
}

impl Damage {
    fn apply(&self, block: &mut Vec<u8>) {
        if block.is_empty() {
            return;
        }
        let length = block.len();
        match self {
            Self::Flip { at, bit } => block[at.index(length)] ^= 1 << bit,
            Self::Set { at, bytes } => {
                let start = at.index(length);
                let end = length.min(start + bytes.len());
                block[start..end].copy_from_slice(&bytes[..end - start]);
            }
            Self::Insert { at, bytes } => {
                let start = at.index(length);
                block.splice(start..start, bytes.iter().copied());
            }
            Self::Remove { at, count } => {
                let start = at.index(length);
                block.drain(start..length.min(start + count));
            }
            Self::Cut { at } => block.truncate(at.index(length)),
            Self::Repeat { from, at, count } => {
                let start = from.index(length);
                let piece = block[start..length.min(start + count)].to_vec();
                let at = at.index(length);
                block.splice(at..at, piece);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_blocks(original: prop::sample::Index, damages in prop::collection::vec(damage(), 1..4)) {
        let (block, symbols) = original.get(originals());
        let mut block = block.clone();
        for damage in &damages {
            damage.apply(&mut block);
        }
        examine(&block, *symbols);
    }

    /// Damage behind the header, where the Merkle root and not the id must tell.
    #[test]
    fn damaged_transactions(original: prop::sample::Index, damage in damage()) {
        let (block, symbols) = original.get(originals());
        let (_, size) = SignedHeader::unpack_prefix(block).unwrap();
        let mut body = block[size..].to_vec();
        damage.apply(&mut body);
        let altered = [&block[..size], &body].concat();
        examine(&altered, *symbols);
        let Ok(decoded) = DecodedBlock::decode(altered, *symbols) else { return Ok(()) };
        prop_assert_eq!(decoded.id(), SignedHeader::unpack_prefix(block).unwrap().0.id());
        // Only the count of transactions is not hashed itself, and it has longer forms.
        if decoded.bytes() != block && decoded.check_merkle_root(&ChainSpec::hive()).is_ok() {
            let leaves = |block: &Block<'_>| -> Vec<Vec<u8>> {
                block.transactions.iter().map(|transaction| transaction.bytes().to_vec()).collect()
            };
            let before = Block::unpack_exact(block, *symbols).unwrap();
            prop_assert_eq!(leaves(decoded.block()), leaves(&before));
        }
    }

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600), testnet: bool) {
        let symbols = common::symbols(testnet);
        examine(&bytes, symbols);
        let _ = Transaction::unpack_exact(&bytes, symbols);
    }

    /// Behind a real header, so that arbitrary bytes get further.
    #[test]
    fn arbitrary_transactions(bytes in prop::collection::vec(0..60u8, 0..400), testnet: bool) {
        let made = made_block();
        let (_, size) = SignedHeader::unpack_prefix(&made).unwrap();
        examine(&[&made[..size], &bytes].concat(), common::symbols(testnet));
    }
}

#[test]
fn a_made_block_is_valid() {
    let raw = made_block();
    let spec = ChainSpec::hive_testnet();
    let key = PrivateKey::from_seed(b"init_key").public_key();
    let block = DecodedBlock::decode(raw.clone(), spec.symbols).unwrap();
    block.check_merkle_root(&spec).unwrap();
    assert_eq!(block.number(), 2);
    let header = &block.block().header;
    assert_eq!(
        header.witness_signature.recover(&header.witness_digest()),
        Ok(key)
    );
    assert_eq!(header.witness, AccountName::from("initminer"));
    assert_eq!(header.extensions.len(), 2);
    for transaction in &block.block().transactions {
        let digest = transaction.signature_digest(&spec.chain_id());
        assert_eq!(transaction.signatures[0].recover(&digest), Ok(key));
        assert_eq!(transaction.ref_block_num, 1);
        assert_eq!(transaction.ref_block_prefix, header.previous.reference_prefix());
    }
    assert_eq!(block.into_bytes(), raw);
    examine(&raw, spec.symbols);
}

#[test]
fn more_than_the_largest_block_is_refused_unread() {
    let error = Block::unpack_exact(&vec![0; MAX_BLOCK_SIZE + 1], Symbols::Mainnet).unwrap_err();
    assert_eq!(
        error.kind,
        UnpackErrorKind::TooLarge {
            size: MAX_BLOCK_SIZE + 1,
            limit: MAX_BLOCK_SIZE
        }
    );
}

/// The largest block that is full of the smallest operations takes memory in proportion to what is really there.
#[test]
fn a_block_full_of_small_operations_is_read() {
    let made = made_block();
    let (_, size) = SignedHeader::unpack_prefix(&made).unwrap();
    // account_witness_proxy with two empty names: three bytes.
    let count = (MAX_BLOCK_SIZE - size - 30) / 3;
    let mut body = vec![1];
    body.extend([0; 10]);
    let mut rest = count;
    while rest > 0x7f {
        body.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    body.push(rest as u8);
    body.extend([13, 0, 0].repeat(count));
    body.extend([0, 0]);
    let block = DecodedBlock::decode([&made[..size], &body].concat(), Symbols::Mainnet).unwrap();
    assert_eq!(block.block().transactions[0].operations.len(), count);
}

/// Decoded blocks go from thread to thread.
#[test]
fn a_decoded_block_can_be_sent() {
    let block = DecodedBlock::decode(made_block(), Symbols::Testnet).unwrap();
    let id = block.id();
    let there = std::thread::spawn(move || block.block().header.id())
        .join()
        .unwrap();
    assert_eq!(there, id);
}
