//! Proof of work: what can be checked without the chain. Whether the work is hard enough and for the present block needs
//! state.

use cairn_chain::operations::{EquihashPow, Pow, Pow2, Pow2Input, Pow2Work};
use sha2::{Digest, Sha256};

use super::{Rules, ValidityError, fields, witnesses};

/// The parameters of equihash.
const EQUIHASH_N: u32 = 140;
const EQUIHASH_K: u32 = 6;

/// Block size that a miner must want at least, in bytes.
const LEAST_BLOCK_SIZE: i64 = 131_072;

/// The input that the work must be done on: the hash of the block's id, its first eight bytes replaced by the nonce,
/// hashed again.
fn work_input(op: &Pow) -> [u8; 32] {
    let mut hash: [u8; 32] = Sha256::digest(op.block_id.as_bytes()).into();
    hash[..8].copy_from_slice(&op.nonce.to_le_bytes());
    Sha256::digest(hash).into()
}

/// hived demands no more of the work than this; that its signature is the worker's was checked when blocks with it were
/// made. On mirrornet it demands nothing, since the converter changes keys and ids.
pub(super) fn pow(op: &Pow, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.until(13)?;
    if !rules.spec.limits.check_proof_of_work {
        return Ok(());
    }
    witnesses::properties(&op.props, true, rules)?;
    fields::name("worker_account", op.worker_account)?;
    if work_input(op) != *op.work.input.as_bytes() {
        return Err(ValidityError::Work { field: "input" });
    }
    if *op.work.work.as_bytes() == [0; 32] {
        return Err(ValidityError::Work { field: "work" });
    }
    Ok(())
}

pub(super) fn pow2(op: &Pow2, rules: &Rules<'_>) -> Result<(), ValidityError> {
    rules.until(17)?;
    if rules.spec.limits.check_proof_of_work {
        witnesses::properties(&op.props, true, rules)?;
        match &op.work {
            Pow2Work::Hash(work) => fields::name("worker_account", work.input.worker_account)?,
            Pow2Work::Equihash(work) => equihash(work)?,
        }
    }
    let is_equihash = matches!(op.work, Pow2Work::Equihash(_));
    if is_equihash != (rules.hardfork >= 16) {
        return Err(ValidityError::Work { field: "work" });
    }
    fields::range(
        "maximum_block_size",
        op.props.maximum_block_size.into(),
        LEAST_BLOCK_SIZE,
        u32::MAX.into(),
    )
}

/// That the inputs solve the puzzle is not checked.
fn equihash(work: &EquihashPow) -> Result<(), ValidityError> {
    fields::name("worker_account", work.input.worker_account)?;
    fields::range("n", work.proof.n.into(), EQUIHASH_N.into(), EQUIHASH_N.into())?;
    fields::range("k", work.proof.k.into(), EQUIHASH_K.into(), EQUIHASH_K.into())?;
    if seed(&work.input) != *work.proof.seed.as_bytes() {
        return Err(ValidityError::Work { field: "seed" });
    }
    if summary(&work.proof.inputs) != work.pow_summary {
        return Err(ValidityError::Work { field: "pow_summary" });
    }
    Ok(())
}

/// Hash of the packed input.
fn seed(input: &Pow2Input) -> [u8; 32] {
    let name = input.worker_account.as_bytes();
    let mut hasher = Sha256::new();
    // A name has at most 16 bytes, so that its length is one byte.
    hasher.update([name.len() as u8]);
    hasher.update(name);
    hasher.update(input.prev_block.as_bytes());
    hasher.update(input.nonce.to_le_bytes());
    hasher.finalize().into()
}

/// Hash of the packed list of inputs, as a number in 32 bits: how many bits it has, less one, in the top byte; its 24
/// bits behind the first one below.
fn summary(inputs: &[u32]) -> u32 {
    let mut hasher = Sha256::new();
    let mut count = inputs.len();
    loop {
        let more = count > 0x7f;
        hasher.update([(count & 0x7f) as u8 | if more { 0x80 } else { 0 }]);
        count >>= 7;
        if !more {
            break;
        }
    }
    for input in inputs {
        hasher.update(input.to_le_bytes());
    }
    approximate_logarithm(hasher.finalize().into())
}

fn approximate_logarithm(number: [u8; 32]) -> u32 {
    let Some(first) = number.iter().position(|byte| *byte != 0) else {
        return 0;
    };
    let leading = 8 * first as u32 + number[first].leading_zeros();
    let bits = 255 - leading;
    let byte = |index: usize| u32::from(number.get(first + index).copied().unwrap_or(0));
    let window = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    // The first one comes to stand at bit 24, where the count of bits takes its place.
    ((window >> (bits & 7)) ^ 1 << 24) | bits << 24
}
