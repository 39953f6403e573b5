//! Proof of work; until hardfork 17.

use super::ChainProperties;
use crate::ids::{BlockId, Sha256Digest};
use crate::key::{PublicKey, Signature};
use crate::name::AccountName;
use crate::structure::{packed_struct, packed_variant};

packed_struct! {
    /// The work of a [`Pow`].
    #[derive(Copy)]
    pub struct PowWork {
        worker: PublicKey,
        input: Sha256Digest,
        signature: Signature,
        work: Sha256Digest,
    }
}

packed_struct! {
    /// Proof of work until hardfork 13. Needs no signature.
    pub struct Pow {
        worker_account: AccountName,
        block_id: BlockId,
        nonce: u64,
        work: PowWork,
        props: ChainProperties,
    }
}

packed_struct! {
    /// What a [`Pow2Work`] is made over.
    #[derive(Copy)]
    pub struct Pow2Input {
        worker_account: AccountName,
        prev_block: BlockId,
        nonce: u64,
    }
}

packed_struct! {
    /// Hashed work, before hardfork 16.
    #[derive(Copy)]
    pub struct HashPow {
        input: Pow2Input,
        pow_summary: u32,
    }
}

packed_struct! {
    /// A solution of the Equihash problem.
    pub struct EquihashProof {
        n: u32,
        k: u32,
        seed: Sha256Digest,
        inputs: Vec<u32>,
    }
}

packed_struct! {
    /// Equihash work, from hardfork 16 on.
    pub struct EquihashPow {
        input: Pow2Input,
        proof: EquihashProof,
        prev_block: BlockId,
        pow_summary: u32,
    }
}

packed_variant! {
    /// The work of a [`Pow2`].
    pub enum Pow2Work {
        /// Hashed work.
        0 Hash(HashPow) = "pow2",
        /// Equihash work.
        1 Equihash(EquihashPow) = "equihash_pow",
    }
}

packed_struct! {
    /// Proof of work from hardfork 13 to 17.
    pub struct Pow2 {
        work: Pow2Work,
        /// Only given by miners whose account does not exist yet.
        new_owner_key: Option<PublicKey>,
        props: ChainProperties,
    }
}
