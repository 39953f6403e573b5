//! Operations whose content means something to applications only.

use crate::authority::Authority;
use crate::name::{AccountName, CustomId};
use crate::structure::packed_struct;
use crate::text::{Bytes, Text};

packed_struct! {
    /// Binary data under active authority.
    pub struct Custom<'a> {
        required_auths: Vec<AccountName>,
        id: u16,
        data: Bytes<'a>,
    }
}

packed_struct! {
    /// JSON under active or posting authority.
    pub struct CustomJson<'a> {
        required_auths: Vec<AccountName>,
        required_posting_auths: Vec<AccountName>,
        id: CustomId,
        json: Text<'a>,
    }
}

packed_struct! {
    /// Binary data under any authority. Never valid today.
    pub struct CustomBinary<'a> {
        required_owner_auths: Vec<AccountName>,
        required_active_auths: Vec<AccountName>,
        required_posting_auths: Vec<AccountName>,
        required_auths: Vec<Authority>,
        id: CustomId,
        data: Bytes<'a>,
    }
}
