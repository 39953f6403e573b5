//! Accounts: creation, authorities and metadata, voting rights.

use crate::asset::Asset;
use crate::authority::Authority;
use crate::extension::FutureExtension;
use crate::key::PublicKey;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::text::Text;

packed_struct! {
    /// Creates an account for a fee.
    pub struct AccountCreate<'a> {
        fee: Asset,
        creator: AccountName,
        new_account_name: AccountName,
        owner: Authority,
        active: Authority,
        posting: Authority,
        memo_key: PublicKey,
        json_metadata: Text<'a>,
    }
}

packed_struct! {
    /// Creates an account for a fee and delegated vesting shares; until hardfork 20.
    pub struct AccountCreateWithDelegation<'a> {
        fee: Asset,
        /// In VESTS.
        delegation: Asset,
        creator: AccountName,
        new_account_name: AccountName,
        owner: Authority,
        active: Authority,
        posting: Authority,
        memo_key: PublicKey,
        json_metadata: Text<'a>,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Buys the right to create an account later, for a fee or out of a witness-run subsidy (fee 0).
    pub struct ClaimAccount {
        creator: AccountName,
        fee: Asset,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Creates an account on a right that was claimed before.
    pub struct CreateClaimedAccount<'a> {
        creator: AccountName,
        new_account_name: AccountName,
        owner: Authority,
        active: Authority,
        posting: Authority,
        memo_key: PublicKey,
        json_metadata: Text<'a>,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Changes an account. A null memo key and an empty `json_metadata` leave the present ones.
    pub struct AccountUpdate<'a> {
        account: AccountName,
        owner: Option<Authority>,
        active: Option<Authority>,
        posting: Option<Authority>,
        memo_key: PublicKey,
        json_metadata: Text<'a>,
    }
}

packed_struct! {
    /// Changes an account; since hardfork 21. Everything not given stays.
    pub struct AccountUpdate2<'a> {
        account: AccountName,
        owner: Option<Authority>,
        active: Option<Authority>,
        posting: Option<Authority>,
        memo_key: Option<PublicKey>,
        json_metadata: Text<'a>,
        posting_json_metadata: Text<'a>,
        extensions: Vec<FutureExtension>,
    }
}

packed_struct! {
    /// Gives up the right to vote, for good, after a delay; or takes that back within the delay.
    pub struct DeclineVotingRights {
        account: AccountName,
        decline: bool,
    }
}
