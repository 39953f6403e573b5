//! Account recovery, which takes several steps: the owner key changes (as if stolen), the recovery account
//! asks for another one, and the account proves that it holds both the new key and the one from before the
//! theft.
//!
//! On a testnet a request lives 12 s and an old owner key counts for 60 s, so the three steps stand in blocks
//! that follow each other; where too many slots are missed between them, the recovery is left undone. The recovery
//! account is the creator; accounts that go through this never change theirs.

use std::collections::VecDeque;

use super::super::accounts::Signers;
use super::super::keys::{KeyName, Role};
use super::super::names::{FIRST_USER, INITMINER};
use super::{Drafts, Planned, Planner};

/// Recoveries under way: the block in which each takes its next step, and the step.
#[derive(Debug, Clone, Default)]
pub(super) struct Recoveries(VecDeque<(u32, Step)>);

#[derive(Debug, Clone, Copy)]
enum Step {
    Request(Lost),
    /// With the time that the request saw, and the generation of the key that it wants.
    Recover(Lost, u32, u32),
}

/// A lost owner key.
#[derive(Debug, Clone, Copy)]
struct Lost {
    account: u32,
    /// Generation of the key before it.
    recent: u32,
    /// When it was changed.
    since: u32,
}

/// How long a request lives on a testnet, and an old owner key counts, in seconds.
const REQUEST_LIFE: u32 = 12;
const OLD_KEY_LIFE: u32 = 60;

/// Whether this account may lose and recover its owner key: one in 16 of the first users, whose recovery
/// account is initminer.
pub(super) fn is_recoverable(account: u32, users: u32) -> bool {
    account % 16 == 5 && (FIRST_USER..FIRST_USER + users).contains(&account)
}

impl Planner {
    /// Starts the recovery of `account`, whose owner key was changed in this block from generation `recent`.
    pub(super) fn start_recovery(&mut self, account: u32, recent: u32, drafts: &Drafts) {
        let lost = Lost {
            account,
            recent,
            since: drafts.now,
        };
        self.recoveries
            .0
            .push_back((drafts.number + 1, Step::Request(lost)));
    }

    /// Takes the steps that are due in this block.
    pub(super) fn plan_recoveries(&mut self, drafts: &mut Drafts) {
        while let Some(&(due, step)) = self.recoveries.0.front()
            && due <= drafts.number
            && !drafts.is_full()
        {
            self.recoveries.0.pop_front();
            match step {
                Step::Request(lost) => {
                    let new = self.renewed(self.renewed(lost.recent));
                    let mut signers = Signers::default();
                    self.accounts.sign_active(INITMINER, &mut signers);
                    let request = Planned::RequestRecovery {
                        by: INITMINER,
                        account: lost.account,
                        new,
                    };
                    drafts.push(vec![request], signers, &mut self.rng);
                    self.recoveries
                        .0
                        .push_back((drafts.number + 1, Step::Recover(lost, drafts.now, new)));
                }
                Step::Recover(lost, requested, new) => {
                    if drafts.now >= requested + REQUEST_LIFE || drafts.now > lost.since + OLD_KEY_LIFE {
                        continue;
                    }
                    let Lost { account, recent, .. } = lost;
                    let mut signers = Signers::default();
                    signers.add(KeyName::new(account, Role::Owner, new));
                    signers.add(KeyName::new(account, Role::Owner, recent));
                    drafts.push(
                        vec![Planned::RecoverAccount { account, new, recent }],
                        signers,
                        &mut self.rng,
                    );
                    let account = self.accounts.get_mut(account);
                    account.owner_generation = new;
                    account.owner_changed = drafts.now;
                }
            }
        }
    }
}
