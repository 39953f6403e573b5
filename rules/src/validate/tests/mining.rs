//! Proof of work.

use cairn_chain::operations::*;
use cairn_chain::{
    BlockId, ChainSpec, FeeSymbol, HISTORICAL_FEE_SYMBOLS, Operation, Sha256Digest, Signature,
};
use sha2::{Digest, Sha256};

use super::witnesses::props;
use super::*;

fn pow(change: fn(&mut Pow)) -> Operation<'static> {
    let block_id = BlockId([7; 20]);
    let mut hash: [u8; 32] = Sha256::digest(block_id.as_bytes()).into();
    hash[..8].copy_from_slice(&5u64.to_le_bytes());
    let mut op = Pow {
        worker_account: name("alice"),
        block_id,
        nonce: 5,
        work: PowWork {
            worker: key(1),
            input: Sha256Digest(Sha256::digest(hash).into()),
            signature: Signature([0; 65]),
            work: Sha256Digest([1; 32]),
        },
        props: props(),
    };
    change(&mut op);
    Operation::Pow(op)
}

#[test]
fn proof_of_work() {
    exists_until(pow(|_| {}), 13);
    refused_at(pow(|op| op.nonce = 6), 0, "input: the work does not belong");
    refused_at(
        pow(|op| op.work.work = Sha256Digest::ZERO),
        0,
        "work: the work does not belong",
    );
    refused_at(pow(|op| op.worker_account = name("No")), 0, "worker_account");
    refused_at(pow(|op| op.props.maximum_block_size = 1), 0, "maximum_block_size");
    let malformed = pow(|op| {
        op.props.account_creation_fee.symbol = FeeSymbol::Historical(HISTORICAL_FEE_SYMBOLS[0]);
    });
    refused_at(malformed, 0, "account_creation_fee: the fee's symbol");
    // On mirrornet keys and ids are not those of the work.
    assert_eq!(
        verdict(&pow(|op| op.nonce = 6), 0, &ChainSpec::hive_mirrornet()),
        Ok(())
    );
}

fn input() -> Pow2Input {
    Pow2Input {
        worker_account: name("alice"),
        prev_block: BlockId([7; 20]),
        nonce: 5,
    }
}

fn pow2(work: Pow2Work, change: fn(&mut Pow2)) -> Operation<'static> {
    let mut op = Pow2 {
        work,
        new_owner_key: None,
        props: props(),
    };
    change(&mut op);
    Operation::Pow2(op)
}

fn equihash(change: fn(&mut EquihashPow)) -> Pow2Work {
    // Length and bytes of the name, id, nonce.
    let mut packed = vec![5];
    packed.extend_from_slice(b"alice");
    packed.extend_from_slice(&[7; 20]);
    packed.extend_from_slice(&5u64.to_le_bytes());
    let inputs = vec![1, 2, 3];
    // Hash of 03 010000 00 ..., of which the first byte that is not zero starts the number.
    let mut list = vec![3];
    inputs
        .iter()
        .for_each(|input: &u32| list.extend_from_slice(&input.to_le_bytes()));
    let hash: [u8; 32] = Sha256::digest(list).into();
    let mut work = EquihashPow {
        input: input(),
        proof: EquihashProof {
            n: 140,
            k: 6,
            seed: Sha256Digest(Sha256::digest(packed).into()),
            inputs,
        },
        prev_block: BlockId([7; 20]),
        pow_summary: slow_logarithm(&hash),
    };
    change(&mut work);
    Pow2Work::Equihash(work)
}

/// The position of the first one, and the 24 bits behind it, bit by bit.
fn slow_logarithm(number: &[u8; 32]) -> u32 {
    let bits: Vec<u32> = (0..256)
        .map(|bit| u32::from(number[bit / 8] >> (7 - bit % 8) & 1))
        .collect();
    let first = bits.iter().position(|bit| *bit == 1).unwrap();
    let behind =
        (first + 1..first + 25).fold(0, |value, bit| value << 1 | bits.get(bit).copied().unwrap_or(0));
    (255 - first as u32) << 24 | behind
}

#[test]
fn second_proof_of_work() {
    let hash = || {
        Pow2Work::Hash(HashPow {
            input: input(),
            pow_summary: 0,
        })
    };
    accepted_at(pow2(hash(), |_| {}), 15);
    refused_at(pow2(hash(), |_| {}), 16, "work: the work does not belong");
    refused_at(
        pow2(equihash(|_| {}), |_| {}),
        15,
        "work: the work does not belong",
    );
    exists_until(pow2(equihash(|_| {}), |_| {}), 17);
    refused_at(
        pow2(hash(), |op| op.props.maximum_block_size = 131_071),
        13,
        "maximum_block_size: 131072",
    );
    refused_at(
        pow2(hash(), |op| op.props.hbd_interest_rate = 10_001),
        13,
        "hbd_interest_rate",
    );
    refused_at(pow2(equihash(|work| work.proof.n = 141), |_| {}), 16, "n: 140");
    refused_at(pow2(equihash(|work| work.proof.k = 5), |_| {}), 16, "k: 6");
    refused_at(
        pow2(equihash(|work| work.proof.seed = Sha256Digest::ZERO), |_| {}),
        16,
        "seed",
    );
    refused_at(
        pow2(equihash(|work| work.pow_summary ^= 1), |_| {}),
        16,
        "pow_summary",
    );
    refused_at(
        pow2(equihash(|work| work.input.worker_account = name("No")), |_| {}),
        16,
        "worker_account",
    );
}
