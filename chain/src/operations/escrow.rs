//! Escrow. Fields are packed in another order than hived declares them.

use crate::asset::Asset;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::Text;
use crate::time::Time;

packed_struct! {
    /// Puts assets into the hands of an agent.
    pub struct EscrowTransfer<'a> {
        from: AccountName,
        to: AccountName,
        hbd_amount: Asset,
        hive_amount: Asset,
        /// Number of the escrow among those of `from`.
        escrow_id: u32,
        agent: AccountName,
        fee: Asset,
        json_meta: Text<'a>,
        ratification_deadline: Time,
        escrow_expiration: Time,
    }
}

packed_struct! {
    /// Receiver or agent agree, or do not.
    pub struct EscrowApprove {
        from: AccountName,
        to: AccountName,
        agent: AccountName,
        who: AccountName,
        escrow_id: u32,
        approve: bool,
    }
}

packed_struct! {
    /// Leaves the decision to the agent.
    pub struct EscrowDispute {
        from: AccountName,
        to: AccountName,
        agent: AccountName,
        who: AccountName,
        escrow_id: u32,
    }
}

packed_struct! {
    /// Pays out of the escrow.
    pub struct EscrowRelease {
        from: AccountName,
        to: AccountName,
        agent: AccountName,
        who: AccountName,
        receiver: AccountName,
        escrow_id: u32,
        hbd_amount: Asset,
        hive_amount: Asset,
    }
}
