//! Operations on accounts and witnesses.

use super::super::accounts::{Held, Proxy, Shape, Signers};
use super::super::keys::{KeyName, Role};
use super::super::names::FIRST_USER;
use super::mixed::Draft;
use super::recovery;
use super::{AuthorityChange, AuthorityChanges, Drafts, Planned, Planner};

/// Between two changes of an account's owner key. The rule is an hour on mainnet and 6 s on testnets.
const OWNER_PAUSE: u32 = 2 * 3600;

/// A proxy is cleared only while it surely stands: on testnets governance votes expire after five days, and
/// take the proxy with them.
const PROXY_LIFE: u32 = 4 * 24 * 3600;

/// The first users are applications: others let them post in their name. They never let others do it, so one
/// key always satisfies their posting authority.
pub(super) const APPLICATIONS: u32 = 8;

impl Planner {
    /// Plans an account operation. `None` if the candidates may not act now.
    pub(super) fn plan_account_operation(&mut self, drafts: &Drafts) -> Option<Draft> {
        match self.rng.below(100) {
            0..=17 => Some(self.plan_account_create()),
            18..=29 => Some(self.plan_profile_update()),
            30..=41 => Some(self.plan_posting_profile_update()),
            42..=49 => Some(self.plan_key_change()),
            50..=57 => self.plan_posting_grant(),
            58..=62 => self.plan_two_keys(),
            63..=66 => self.plan_owner_change(drafts),
            67..=74 => self.plan_recovery_account_change(),
            75..=84 => self.plan_proxy(drafts.now),
            85..=87 => {
                let account = self.user();
                Some(self.active(account, Planned::Custom { account }))
            }
            _ => Some(self.plan_witness_operation()),
        }
    }

    fn plan_account_create(&mut self) -> Draft {
        let creator = self.user();
        let generation = match self.branch {
            0 => 0,
            _ => self.renewed(0),
        };
        let account = self.accounts.create(generation);
        self.active(
            creator,
            Planned::AccountCreate {
                creator,
                account,
                generation,
            },
        )
    }

    /// New json_metadata, and sometimes a new memo key.
    fn plan_profile_update(&mut self) -> Draft {
        let account = self.user();
        let renew = self.rng.percent(30);
        let mut memo = self.accounts.get(account).memo_generation;
        if renew {
            memo = self.renewed(memo);
            self.accounts.get_mut(account).memo_generation = memo;
        }
        let changes = AuthorityChanges::NONE;
        if self.rng.percent(50) {
            let memo = renew.then_some(memo);
            let update = Planned::AccountUpdate2 {
                account,
                changes,
                memo,
                profile: true,
                posting_profile: self.rng.percent(50),
            };
            self.active(account, update)
        } else {
            self.active(
                account,
                Planned::AccountUpdate {
                    account,
                    changes,
                    memo,
                    profile: true,
                },
            )
        }
    }

    /// New posting_json_metadata, which the posting key may set.
    fn plan_posting_profile_update(&mut self) -> Draft {
        let account = self.user();
        let changes = AuthorityChanges::NONE;
        let update = Planned::AccountUpdate2 {
            account,
            changes,
            memo: None,
            profile: false,
            posting_profile: true,
        };
        self.posting(account, vec![update])
    }

    /// A new active or posting key, with the authority's shape kept.
    fn plan_key_change(&mut self) -> Draft {
        let account = self.user();
        let posting = self.rng.percent(60);
        let held = self.accounts.get(account);
        let old = if posting { held.posting } else { held.active };
        self.change_authority(
            account,
            posting,
            Held {
                generation: self.renewed(old.generation),
                ..old
            },
        )
    }

    /// Lets an application post, or takes the right back.
    fn plan_posting_grant(&mut self) -> Option<Draft> {
        let account = self.user_who(|_, user| user >= FIRST_USER + APPLICATIONS)?;
        let held = self.accounts.get(account).posting;
        let shape = match held.shape {
            Shape::OneKey => Shape::OneKeyOr(FIRST_USER + self.rng.below(APPLICATIONS)),
            Shape::OneKeyOr(_) | Shape::TwoKeys => Shape::OneKey,
        };
        Some(self.change_authority(account, true, Held { shape, ..held }))
    }

    /// Switches the active authority between one key and two keys together.
    fn plan_two_keys(&mut self) -> Option<Draft> {
        let account = self.user_who(|_, user| user >= FIRST_USER + APPLICATIONS)?;
        let Held { shape, generation } = self.accounts.get(account).active;
        let shape = if shape == Shape::TwoKeys {
            Shape::OneKey
        } else {
            Shape::TwoKeys
        };
        Some(self.change_authority(
            account,
            false,
            Held {
                shape,
                generation: self.renewed(generation),
            },
        ))
    }

    /// Replaces one authority, signed by the active authority as it was before.
    fn change_authority(&mut self, account: u32, posting: bool, new: Held) -> Draft {
        let mut signers = Signers::default();
        self.accounts.sign_active(account, &mut signers);
        let held = self.accounts.get_mut(account);
        let mut changes = AuthorityChanges::NONE;
        if posting {
            held.posting = new;
            changes.posting = AuthorityChange::Set(new);
        } else {
            held.active = new;
            changes.active = AuthorityChange::Set(new);
        }
        let memo = held.memo_generation;
        let update = if self.rng.percent(50) {
            Planned::AccountUpdate {
                account,
                changes,
                memo,
                profile: false,
            }
        } else {
            Planned::AccountUpdate2 {
                account,
                changes,
                memo: None,
                profile: false,
                posting_profile: false,
            }
        };
        (vec![update], signers)
    }

    fn plan_owner_change(&mut self, drafts: &Drafts) -> Option<Draft> {
        let now = drafts.now;
        let account =
            self.user_who(|plan, user| plan.accounts.get(user).owner_changed + OWNER_PAUSE < now)?;
        let mut signers = Signers::default();
        self.accounts.sign_owner(account, &mut signers);
        let recent = self.accounts.get(account).owner_generation;
        let new = Held::one_key(self.renewed(recent));
        let held = self.accounts.get_mut(account);
        held.owner_generation = new.generation;
        held.owner_changed = now;
        let changes = AuthorityChanges {
            owner: AuthorityChange::Set(new),
            ..AuthorityChanges::NONE
        };
        let update = Planned::AccountUpdate {
            account,
            changes,
            memo: held.memo_generation,
            profile: false,
        };
        if recovery::is_recoverable(account, self.shape.users) {
            self.start_recovery(account, recent, drafts);
        }
        Some((vec![update], signers))
    }

    fn plan_recovery_account_change(&mut self) -> Option<Draft> {
        let account = self.user_who(|plan, user| !recovery::is_recoverable(user, plan.shape.users))?;
        let to = self.user_who(|_, user| user != account)?;
        let mut signers = Signers::default();
        self.accounts.sign_owner(account, &mut signers);
        Some((vec![Planned::ChangeRecoveryAccount { account, to }], signers))
    }

    /// Sets or clears a proxy. A proxy is only given to accounts that have none themselves, so the way up is
    /// one step long and never leads back.
    fn plan_proxy(&mut self, now: u32) -> Option<Draft> {
        let account = self.user();
        let present = self.accounts.get(account).proxy;
        if present.is_some_and(|proxy| now < proxy.since + PROXY_LIFE) && self.rng.percent(40) {
            self.accounts.get_mut(account).proxy = None;
            return Some(self.active(account, Planned::Proxy { account, to: None }));
        }
        let to = self.user_who(|plan, user| {
            user != account
                && plan.accounts.get(user).proxy.is_none()
                && present.is_none_or(|proxy| proxy.to != user)
        })?;
        self.accounts.get_mut(account).proxy = Some(Proxy { to, since: now });
        Some(self.active(
            account,
            Planned::Proxy {
                account,
                to: Some(to),
            },
        ))
    }

    fn plan_witness_operation(&mut self) -> Draft {
        let place = self.rng.below(self.witnesses.len() as u32) as usize;
        let renew = self.rng.percent(25);
        let known = &self.witnesses[place];
        let (witness, key) = (known.account, known.key_generation);
        if self.rng.percent(40) {
            return self.active(witness, Planned::FeedPublish { witness });
        }
        let new_key = if renew { self.renewed(key) } else { key };
        self.witnesses[place].key_generation = new_key;
        if self.rng.percent(50) {
            return self.active(
                witness,
                Planned::WitnessUpdate {
                    witness,
                    key: new_key,
                },
            );
        }
        let mut signers = Signers::default();
        signers.add(KeyName::new(witness, Role::Block, key));
        (
            vec![Planned::WitnessSetProperties {
                witness,
                key,
                new_key,
            }],
            signers,
        )
    }
}
