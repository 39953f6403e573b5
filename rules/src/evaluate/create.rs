//! Making accounts and witnesses.

use cairn_chain::{AccountName, Authority, PublicKey};

use super::{Evaluated, Evaluator};
use crate::error::OperationFault;
use crate::registers::{
    AccountCore, ActiveAuthority, OwnerAuthority, PostingAuthority, Record, StoredAuthority, TableError,
    Witness, WitnessActivity, WitnessByIndex, WitnessUrl, canonical_authority,
};

/// The account that every account had as its recovery account before hardfork 11.
pub(crate) const FIRST_RECOVERY_ACCOUNT: AccountName = AccountName::new(b"steem");

/// The account that anybody may act for.
pub(crate) const TEMP_ACCOUNT: AccountName = AccountName::new(b"temp");

/// The three authorities of a new account.
pub(crate) struct Authorities<'a> {
    pub(crate) owner: &'a Authority,
    pub(crate) active: &'a Authority,
    pub(crate) posting: &'a Authority,
}

impl<'a> Authorities<'a> {
    /// The same authority at each level.
    pub(crate) fn all(authority: &'a Authority) -> Self {
        Self {
            owner: authority,
            active: authority,
            posting: authority,
        }
    }

    fn each(&self) -> [&'a Authority; 3] {
        [self.owner, self.active, self.posting]
    }
}

impl Evaluator<'_> {
    /// Adds an account. Its name must be free and not empty. Without authorities nobody can act for it.
    pub(crate) fn add_account(
        &mut self,
        name: &AccountName,
        mut core: AccountCore,
        authorities: Option<&Authorities<'_>>,
    ) -> Evaluated {
        if name.is_empty() {
            return Err(OperationFault::NoName.into());
        }
        if self.tables.has::<AccountCore>(name)? {
            return Err(OperationFault::AccountExists(*name).into());
        }
        core.index = self.globals.accounts;
        self.globals.accounts += 1;
        self.tables.write(name, &core)?;
        let Some(authorities) = authorities else {
            return Ok(());
        };
        self.set_authority::<OwnerAuthority>(name, authorities.owner)?;
        self.set_authority::<ActiveAuthority>(name, authorities.active)?;
        self.set_authority::<PostingAuthority>(name, authorities.posting)
    }

    /// Stores one authority of an account.
    pub(crate) fn set_authority<A>(&mut self, name: &AccountName, authority: &Authority) -> Evaluated
    where
        A: StoredAuthority + for<'a> Record<Owner<'a> = &'a AccountName>,
    {
        Ok(self
            .tables
            .write(name, &A::from_authority(canonical_authority(authority.clone())))?)
    }

    /// In full validation: every account that an authority names exists.
    pub(crate) fn members_exist(&mut self, authority: &Authority) -> Evaluated {
        if self.full {
            for (name, _) in &authority.account_auths {
                self.account_exists(name)?;
            }
        }
        Ok(())
    }

    /// In full validation: every account that one of the authorities names exists.
    pub(crate) fn all_members_exist(&mut self, authorities: &Authorities<'_>) -> Evaluated {
        for authority in authorities.each() {
            self.members_exist(authority)?;
        }
        Ok(())
    }

    /// Makes an account a witness.
    pub(crate) fn add_witness(&mut self, name: &AccountName, mut witness: Witness, url: &[u8]) -> Evaluated {
        witness.index = self.globals.witnesses;
        self.globals.witnesses += 1;
        self.tables.write(witness.index, &WitnessByIndex(*name))?;
        self.store_witness(name, None, &witness)?;
        self.tables.write(name, &WitnessActivity::default())?;
        Ok(self.tables.write_bytes::<WitnessUrl>(name, url)?)
    }

    /// Writes a witness; `before`: what it was, if it existed.
    pub(crate) fn store_witness(
        &mut self,
        name: &AccountName,
        before: Option<&Witness>,
        witness: &Witness,
    ) -> Result<(), TableError> {
        let was_enabled = before.is_some_and(|before| !before.signing_key.is_null());
        match (was_enabled, !witness.signing_key.is_null()) {
            (false, true) => self.globals.enabled_witnesses += 1,
            (true, false) => {
                self.globals.enabled_witnesses = self.globals.enabled_witnesses.saturating_sub(1);
            }
            _ => {}
        }
        self.roster.note(name, witness);
        self.tables.write(name, witness)
    }

    /// The recovery account of an account that was mined.
    pub(crate) fn recovery_of_mined(&self) -> AccountName {
        if self.hardfork() < 11 {
            FIRST_RECOVERY_ACCOUNT
        } else {
            AccountName::EMPTY
        }
    }

    /// The recovery account of an account that another one creates.
    pub(crate) fn recovery_of_created(&self, creator: &AccountName) -> AccountName {
        if self.hardfork() < 11 {
            FIRST_RECOVERY_ACCOUNT
        } else if *creator == TEMP_ACCOUNT {
            AccountName::EMPTY
        } else {
            *creator
        }
    }

    /// A new account's core, created now.
    pub(crate) fn new_core(&self, mined: bool, memo_key: PublicKey, recovery: AccountName) -> AccountCore {
        AccountCore::new(self.now(), mined, memo_key, recovery)
    }
}
