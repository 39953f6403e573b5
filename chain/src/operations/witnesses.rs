//! Witnesses and votes for them.

use crate::asset::{Asset, FeeAsset};
use crate::extension::FutureExtension;
use crate::ids::BlockId;
use crate::key::PublicKey;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::{Bytes, Text};

packed_struct! {
    /// Properties of the chain as a witness wants them.
    #[derive(Copy)]
    pub struct ChainProperties {
        account_creation_fee: FeeAsset,
        /// In bytes.
        maximum_block_size: u32,
        /// In 0.01 % a year.
        hbd_interest_rate: u16,
    }
}

packed_struct! {
    /// Makes an account a witness, or changes its properties. A null signing key switches it off.
    pub struct WitnessUpdate<'a> {
        owner: AccountName,
        url: Text<'a>,
        block_signing_key: PublicKey,
        props: ChainProperties,
        fee: Asset,
    }
}

packed_struct! {
    /// Changes properties of a witness; signed with its signing key.
    pub struct WitnessSetProperties<'a> {
        owner: AccountName,
        /// Name and packed value of each property. What a value holds depends on its name: `account_creation_fee` an
        /// asset, `account_subsidy_budget` an i32, `account_subsidy_decay` and `maximum_block_size` a u32,
        /// `hbd_interest_rate` (or `sbd_`) a u16, `hbd_exchange_rate` (or `sbd_`) a price, `url` a text, `key` and
        /// `new_signing_key` a key.
        props: Vec<(Text<'a>, Bytes<'a>)>,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Votes for a witness, or takes a vote back.
    #[derive(Copy)]
    pub struct AccountWitnessVote {
        account: AccountName,
        witness: AccountName,
        approve: bool,
    }
}

packed_struct! {
    /// Lets another account vote; an empty proxy ends that.
    #[derive(Copy)]
    pub struct AccountWitnessProxy {
        account: AccountName,
        proxy: AccountName,
    }
}

packed_struct! {
    /// A witness confirms a block. Travels as a transaction and is never put into a block.
    #[derive(Copy)]
    pub struct WitnessBlockApprove {
        witness: AccountName,
        block_id: BlockId,
    }
}
