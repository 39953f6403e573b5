//! Generated blocks, decoded again and checked against what they say about themselves.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::collections::{HashMap, HashSet};

use cairn_chain::{
    AccountName, BlockId, DecodedBlock, HeaderExtension, Operation, OperationKind, PrivateKey, PublicKey,
    Symbols, Version,
};
use cairn_node::devnet::{self, BlocksOptions, ChainShape, Fault, FaultAt, Profile, RawBlock, blocks};
use sha2::{Digest, Sha256};

fn options(blocks: u32, threads: usize) -> BlocksOptions {
    BlocksOptions {
        blocks,
        shape: ChainShape::new(3),
        threads,
        faults: Vec::new(),
    }
}

fn decoded(options: &BlocksOptions) -> impl Iterator<Item = DecodedBlock> {
    blocks(options).map(|block| DecodedBlock::decode(block.bytes, Symbols::Testnet).unwrap())
}

fn log_hash(options: &BlocksOptions) -> String {
    let mut hash = Sha256::new();
    for block in blocks(options) {
        hash.update(block.bytes);
    }
    hex::encode(hash.finalize())
}

#[test]
fn blocks_link_and_their_headers_fit_their_transactions() {
    let spec = devnet::chain_spec(3);
    let mut previous = BlockId::ZERO;
    for (raw, number) in blocks(&options(400, 2)).zip(1..) {
        let RawBlock {
            id,
            transactions,
            operations,
            ..
        } = raw;
        let block = DecodedBlock::decode(raw.bytes, spec.symbols).unwrap();
        assert_eq!((block.number(), raw.number, block.id()), (number, number, id));
        assert_eq!(block.block().header.previous, previous);
        assert_eq!(
            block.block().header.timestamp.seconds(),
            spec.genesis_time.seconds() + 3 * number
        );
        block.check_merkle_root(&spec).unwrap();
        assert!(
            block.bytes().len() <= 131_072,
            "block {number} is larger than its witnesses allow"
        );
        assert_eq!(block.block().transactions.len() as u32, transactions);
        let counted: usize = block
            .block()
            .transactions
            .iter()
            .map(|t| t.operations.len())
            .sum();
        assert_eq!(counted as u32, operations);
        previous = id;
    }
    assert_eq!(previous.number(), 400);
}

/// Keeps witnesses' keys from the operations alone.
#[test]
fn witnesses_sign_with_the_keys_that_they_registered_before() {
    let initminer = AccountName::from("initminer");
    let mut keys: HashMap<AccountName, PublicKey> =
        HashMap::from([(initminer, PrivateKey::from_seed(b"init_key").public_key())]);
    let mut producers: HashSet<AccountName> = HashSet::new();
    let mut changed = 0;
    for block in decoded(&options(600, 2)) {
        let header = &block.block().header;
        let signer = header
            .witness_signature
            .recover(&header.witness_digest())
            .unwrap();
        assert_eq!(signer, keys[&header.witness], "block {}", block.number());
        let reported = header
            .extensions
            .iter()
            .any(|extension| matches!(extension, HeaderExtension::Version(_)));
        assert_eq!(
            reported,
            producers.insert(header.witness),
            "block {}",
            block.number()
        );
        for operation in block.block().transactions.iter().flat_map(|t| &t.operations) {
            let (owner, key) = match operation {
                Operation::WitnessUpdate(update) => (update.owner, update.block_signing_key),
                Operation::WitnessSetProperties(set) => {
                    let value = |name: &[u8]| {
                        let found = set.props.iter().find(|(property, _)| property.as_bytes() == name);
                        found.map(|(_, value)| PublicKey(value.as_bytes().try_into().unwrap()))
                    };
                    assert_eq!(value(b"key"), keys.get(&set.owner).copied());
                    let Some(key) = value(b"new_signing_key") else {
                        continue;
                    };
                    (set.owner, key)
                }
                _ => continue,
            };
            changed += u32::from(keys.insert(owner, key).is_some_and(|old| old != key));
        }
    }
    assert_eq!(producers.len(), 21);
    assert!(changed > 5, "{changed} changed keys");
}

#[test]
fn transactions_refer_to_blocks_of_this_chain_expire_in_time_and_never_repeat() {
    let mut ids: Vec<BlockId> = vec![BlockId::ZERO];
    let mut seen = HashSet::new();
    let mut now = 0;
    for block in decoded(&options(400, 2)) {
        for transaction in &block.block().transactions {
            let reference = ids[usize::from(transaction.ref_block_num)];
            assert_eq!(transaction.ref_block_prefix, reference.reference_prefix());
            let expiration = transaction.expiration.seconds();
            assert!(expiration > now && expiration <= now + 3600);
            assert!(seen.insert(transaction.id()));
            assert!(!transaction.signatures.is_empty());
        }
        ids.push(block.id());
        now = block.block().header.timestamp.seconds();
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let one = log_hash(&options(300, 1));
    assert_eq!(log_hash(&options(300, 2)), one);
    assert_eq!(log_hash(&options(300, 7)), one);
    let other_seed = BlocksOptions {
        shape: ChainShape::new(4),
        ..options(300, 2)
    };
    assert_ne!(log_hash(&other_seed), one);
    assert_ne!(devnet::chain_id(3), devnet::chain_id(4));
}

#[test]
fn a_longer_chain_begins_with_the_shorter_one() {
    let short: Vec<BlockId> = blocks(&options(100, 2)).map(|block| block.id).collect();
    let long: Vec<BlockId> = blocks(&options(250, 2)).map(|block| block.id).take(100).collect();
    assert_eq!(short, long);
}

/// The bytes of a devnet are the same for ever: tests and reports elsewhere name its ids.
#[test]
fn known_heads() {
    let head = |options: &BlocksOptions| blocks(options).last().unwrap().id.to_string();
    assert_eq!(head(&options(200, 2)), "000000c8406b236b4e091ad2538035e144d7c993");
    let empty = BlocksOptions {
        shape: ChainShape {
            profile: Profile::Empty,
            ..ChainShape::new(3)
        },
        ..options(200, 2)
    };
    assert_eq!(head(&empty), "000000c80947624eb1b3449a698f727c7fdb6634");
}

#[test]
fn large_blocks_are_nearly_as_large_as_they_may_be() {
    let large = BlocksOptions {
        shape: ChainShape {
            profile: Profile::Large,
            ..ChainShape::new(3)
        },
        ..options(4, 2)
    };
    let sizes: Vec<usize> = blocks(&large).map(|block| block.bytes.len()).collect();
    assert!(sizes[0] < 1_000, "block 1 has nothing to refer to");
    for size in &sizes[1..] {
        assert!(
            (2_060_000..=cairn_chain::MAX_BLOCK_SIZE).contains(size),
            "{sizes:?}"
        );
    }
}

#[test]
fn the_mix_is_what_the_profile_promises() {
    let mut kinds: HashMap<OperationKind, u32> = HashMap::new();
    let mut transactions = 0;
    for block in decoded(&options(500, 2)).skip(10) {
        let count = block.block().transactions.len();
        assert!(
            (30..=60).contains(&count),
            "block {} has {count} transactions",
            block.number()
        );
        transactions += count as u32;
        for transaction in &block.block().transactions {
            // A transaction is named for its first operation.
            *kinds.entry(transaction.operations[0].kind()).or_default() += 1;
        }
    }
    let share = |named: &[OperationKind]| {
        let count: u32 = named.iter().filter_map(|kind| kinds.get(kind)).sum();
        f64::from(count) * 100.0 / f64::from(transactions)
    };
    use OperationKind as K;
    let custom_json = share(&[K::CustomJson]);
    let votes = share(&[K::Vote]);
    let comments = share(&[K::Comment]);
    let transfers = share(&[K::Transfer, K::TransferToVesting]);
    let accounts = share(&[
        K::AccountCreate,
        K::AccountUpdate,
        K::AccountUpdate2,
        K::AccountWitnessProxy,
        K::ChangeRecoveryAccount,
        K::Custom,
        K::FeedPublish,
        K::RecoverAccount,
        K::RequestAccountRecovery,
        K::WitnessSetProperties,
        K::WitnessUpdate,
    ]);
    println!("{custom_json:.1} {votes:.1} {comments:.1} {transfers:.1} {accounts:.1} {kinds:?}");
    assert!(
        (48.0..=53.0).contains(&custom_json),
        "custom_json {custom_json:.1} %"
    );
    assert!((20.0..=24.0).contains(&votes), "votes {votes:.1} %");
    assert!((10.5..=13.5).contains(&comments), "comments {comments:.1} %");
    assert!((8.5..=11.5).contains(&transfers), "transfers {transfers:.1} %");
    assert!(
        (4.5..=7.5).contains(&accounts),
        "account operations {accounts:.1} %"
    );
    assert!(
        (custom_json + votes + comments + transfers + accounts - 100.0).abs() < 1e-6,
        "other kinds: {kinds:?}"
    );
    assert_eq!(kinds.len(), 16, "every kind occurs: {kinds:?}");
}

#[test]
fn an_empty_chain_is_initminers_alone() {
    let empty = BlocksOptions {
        shape: ChainShape {
            profile: Profile::Empty,
            ..ChainShape::new(3)
        },
        ..options(100, 2)
    };
    for block in decoded(&empty) {
        assert_eq!(block.block().header.witness, AccountName::from("initminer"));
        assert!(block.block().transactions.is_empty());
    }
}

fn with_fault(block: u32, fault: Fault) -> (Vec<DecodedBlock>, Vec<DecodedBlock>) {
    let honest = options(80, 2);
    let faulty = BlocksOptions {
        faults: vec![FaultAt { block, fault }],
        ..honest
    };
    (decoded(&honest).collect(), decoded(&faulty).collect())
}

/// Position of the first block whose link to the block before is broken.
fn broken_link(chain: &[DecodedBlock]) -> Option<u32> {
    let broken = chain
        .windows(2)
        .find(|pair| pair[1].block().header.previous != pair[0].id());
    broken.map(|pair| pair[1].number())
}

#[test]
fn an_altered_body_leaves_every_id_and_breaks_one_merkle_root() {
    let spec = devnet::chain_spec(3);
    let (honest, faulty) = with_fault(50, Fault::AlteredBody);
    assert!(
        honest
            .iter()
            .zip(&faulty)
            .all(|(honest, faulty)| honest.id() == faulty.id())
    );
    let bad: Vec<u32> = faulty
        .iter()
        .filter(|b| b.check_merkle_root(&spec).is_err())
        .map(DecodedBlock::number)
        .collect();
    assert_eq!(bad, [50]);
}

#[test]
fn a_wrong_witness_signature_is_the_only_fault_of_its_chain() {
    let (honest, faulty) = with_fault(50, Fault::WitnessSignature);
    assert_eq!(honest[48].id(), faulty[48].id());
    assert_ne!(honest[49].id(), faulty[49].id());
    assert_eq!(broken_link(&faulty), None);
    let signer = |block: &DecodedBlock| {
        let header = &block.block().header;
        header
            .witness_signature
            .recover(&header.witness_digest())
            .unwrap()
    };
    assert_ne!(signer(&honest[49]), signer(&faulty[49]));
    assert_eq!(signer(&honest[50]), signer(&faulty[50]));
}

#[test]
fn a_foreign_transaction_signature_hides_under_a_fitting_merkle_root() {
    let spec = devnet::chain_spec(3);
    let (honest, faulty) = with_fault(50, Fault::ForeignTransactionSignature);
    assert_eq!(broken_link(&faulty), None);
    assert!(faulty.iter().all(|block| block.check_merkle_root(&spec).is_ok()));
    let signer = |block: &DecodedBlock| {
        let transaction = &block.block().transactions[0];
        transaction.signatures[0]
            .recover(&transaction.signature_digest(&spec.chain_id()))
            .unwrap()
    };
    assert_ne!(signer(&honest[49]), signer(&faulty[49]));
    assert_eq!(
        honest[49].block().transactions[0].id(),
        faulty[49].block().transactions[0].id()
    );
}

#[test]
fn a_replaced_block_breaks_the_link_behind_it() {
    let spec = devnet::chain_spec(3);
    let (honest, faulty) = with_fault(50, Fault::Replaced);
    assert_eq!(broken_link(&faulty), Some(51));
    assert_eq!(faulty[49].block().header.previous, honest[48].id());
    assert!(faulty[49].check_merkle_root(&spec).is_ok());
    let version = HeaderExtension::Version(Version::new(1, 28, 1));
    assert_eq!(faulty[49].block().header.extensions, [version]);
    assert_eq!(honest.last().unwrap().id(), faulty.last().unwrap().id());
}

#[test]
fn a_fork_is_another_chain_from_its_block_on() {
    let spec = devnet::chain_spec(3);
    let (honest, fork) = with_fault(50, Fault::Fork);
    assert_eq!(broken_link(&fork), None);
    assert!(fork.iter().all(|block| block.check_merkle_root(&spec).is_ok()));
    let equal = honest
        .iter()
        .zip(&fork)
        .take_while(|(honest, fork)| honest.id() == fork.id())
        .count();
    assert_eq!(equal, 49);
    assert!(
        honest[49..]
            .iter()
            .zip(&fork[49..])
            .all(|(honest, fork)| honest.id() != fork.id())
    );
    assert_eq!(
        honest[49].block().transactions.len() + 1,
        fork[49].block().transactions.len()
    );
}
