//! An account's two texts of metadata. The value is the text itself; an empty text has no register.
//!
//! Key: `01`, name, `04` for `json_metadata`, `05` for `posting_json_metadata`.

use cairn_chain::AccountName;

use super::{AccountField, CorruptValue, Fields, Record, TableId, named_key};

macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident($field:ident) = $label:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Vec<u8>);

        impl Record for $name {
            type Owner<'a> = &'a AccountName;
            const NAME: &'static str = $label;

            fn key(owner: &AccountName, key: &mut Vec<u8>) {
                named_key(TableId::Account, owner, AccountField::$field as u8, key);
            }

            fn encode(&self, value: &mut Vec<u8>) {
                value.extend_from_slice(&self.0);
            }

            fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
                Ok(Self(fields.rest().to_vec()))
            }
        }
    )*};
}

texts! {
    /// Text set with the active or owner authority.
    JsonMetadata(JsonMetadata) = "json_metadata";
    /// Text set with the posting authority.
    PostingJsonMetadata(PostingJsonMetadata) = "posting_json_metadata";
}
