//! What exists before block 1.

use super::built_in::key;
use super::{ChainKind, ChainSpec};
use crate::asset::FeeAsset;
use crate::authority::Authority;
use crate::key::PublicKey;
use crate::name::AccountName;
use crate::operations::ChainProperties;
use crate::time::Time;

/// An account that exists from the start. It counts as mined and has no recovery account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenesisAccount {
    /// Its name.
    pub name: AccountName,
    /// Owner and active authority, which are the same; none for Steem's `steem.dao`, which has no authorities at all
    /// before hardfork 21 locks it.
    pub owner_and_active: Option<Authority>,
    /// Posting authority.
    pub posting: Option<Authority>,
    /// Memo key.
    pub memo_key: PublicKey,
    /// When it was created.
    pub created: Time,
}

/// A witness that exists from the start: created at time 0, without url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenesisWitness {
    /// Its account.
    pub name: AccountName,
    /// Key that signs its blocks.
    pub signing_key: PublicKey,
    /// What it votes for.
    pub props: ChainProperties,
    /// Budget for accounts without a fee.
    pub account_subsidy_budget: i32,
    /// Decay of that budget.
    pub account_subsidy_decay: u32,
}

/// Name of the first witness.
const INITMINER: AccountName = AccountName::new(b"initminer");

/// `STM65wH1LZ7BfSHcK69SShnqCAH5xdoSZpGkUjmzHJ5GCuxEK9V5G`: key of the account `steem`, which hived makes at genesis on all
/// networks; on Steem it was mined.
const STEEM_ACCOUNT_KEY: PublicKey =
    key(b"029db013797711c88cccca3692407f9ff9b9ce7221aaa2d797f1692be2215d0a5f");

impl ChainSpec {
    /// The accounts that exist from the start, in the order of their creation.
    #[must_use]
    pub fn genesis_accounts(&self) -> Vec<GenesisAccount> {
        let closed = Authority::closed;
        let null = PublicKey::NULL;
        let mut accounts = vec![
            self.genesis_account("miners".into(), Some((closed(), self.built_in_posting())), null),
            self.genesis_account("null".into(), Some((closed(), self.built_in_posting())), null),
        ];
        match self.kind {
            ChainKind::Mainnet | ChainKind::Mirrornet => {}
            ChainKind::Testnet => {
                let fund = |name: &str| self.genesis_account(name.into(), Some((closed(), closed())), null);
                accounts.extend([fund("steem.dao"), fund("hive.fund")]);
            }
            ChainKind::SteemTestnet => accounts.push(self.genesis_account("steem.dao".into(), None, null)),
        }
        accounts.push(self.genesis_account(
            "temp".into(),
            Some((Authority::open(), Authority::open())),
            null,
        ));
        let first = Authority::of_key(self.first_key);
        accounts
            .extend(self.first_witness_names().map(|name| {
                self.genesis_account(name, Some((first.clone(), first.clone())), self.first_key)
            }));
        if !self.is_steem() {
            let mut authority = Authority::of_key(STEEM_ACCOUNT_KEY);
            if self.kind != ChainKind::Mainnet {
                authority.key_auths.push((self.first_key, 1));
                authority.key_auths.sort_unstable();
            }
            accounts.push(self.genesis_account(
                "steem".into(),
                Some((authority.clone(), authority)),
                STEEM_ACCOUNT_KEY,
            ));
        }
        accounts
    }

    /// The witnesses that exist from the start. The schedule holds the first of them, initminer, alone.
    #[must_use]
    pub fn genesis_witnesses(&self) -> Vec<GenesisWitness> {
        let witness = |name| GenesisWitness {
            name,
            signing_key: self.first_key,
            props: ChainProperties {
                account_creation_fee: FeeAsset::hive(self.limits.min_account_creation_fee),
                maximum_block_size: 131_072,
                hbd_interest_rate: 1_000,
            },
            account_subsidy_budget: 797,
            account_subsidy_decay: 347_321,
        };
        self.first_witness_names().map(witness).collect()
    }

    fn first_witness_names(&self) -> impl Iterator<Item = AccountName> {
        std::iter::once(INITMINER).chain(self.init_witnesses.iter().copied())
    }

    /// Posting authority of `miners` and `null`. Steem opened it at genesis and closed it at hardfork 12, `temp`'s too; hived
    /// starts closed and leaves `temp`'s open.
    const fn built_in_posting(&self) -> Authority {
        if self.is_steem() {
            Authority::open()
        } else {
            Authority::closed()
        }
    }

    fn genesis_account(
        &self,
        name: AccountName,
        authorities: Option<(Authority, Authority)>,
        memo_key: PublicKey,
    ) -> GenesisAccount {
        let (owner_and_active, posting) = authorities.unzip();
        let created = if self.is_steem() {
            Time(0)
        } else {
            self.genesis_time
        };
        GenesisAccount {
            name: AccountName::from(name),
            owner_and_active,
            posting,
            memo_key,
            created,
        }
    }
}
