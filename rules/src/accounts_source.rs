//! The state as the authority check looks it up.

use cairn_chain::{AccountName, PublicKey};

use crate::authority::{AuthorityRef, AuthoritySource, Level};
use crate::registers::{
    ActiveAuthority, CorruptValue, OwnerAuthority, PostingAuthority, Record, TableError, Tables, Witness,
};

impl AuthoritySource for Tables {
    type Error = TableError;

    fn authority(&mut self, name: AccountName, level: Level) -> Result<Option<AuthorityRef<'_>>, TableError> {
        match level {
            Level::Owner => packed::<OwnerAuthority>(self, &name),
            Level::Active => packed::<ActiveAuthority>(self, &name),
            Level::Posting => packed::<PostingAuthority>(self, &name),
        }
    }

    fn witness_key(&mut self, name: AccountName) -> Result<Option<PublicKey>, TableError> {
        Ok(self.read::<Witness>(&name)?.map(|witness| witness.signing_key))
    }
}

/// An authority, read where it lies.
fn packed<'t, A>(tables: &'t mut Tables, name: &AccountName) -> Result<Option<AuthorityRef<'t>>, TableError>
where
    A: for<'a> Record<Owner<'a> = &'a AccountName>,
{
    let Some(bytes) = tables.bytes::<A>(name)? else {
        return Ok(None);
    };
    match AuthorityRef::from_packed(bytes) {
        Some(authority) => Ok(Some(authority)),
        None => Err(TableError::Corrupt {
            kind: A::NAME,
            key: name.to_string(),
            fault: CorruptValue::Number {
                expected: "a packed authority",
                found: bytes.len() as u64,
                offset: 0,
            },
        }),
    }
}
