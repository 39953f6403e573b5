//! Account recovery, which takes several steps: the owner key changes (as if stolen), the recovery account
//! asks for another one, and the account proves that it holds both the new key and the one from before the
//! theft.
//!
//! On a testnet a request lives 12 s and an old owner key counts for 60 s, so the three steps stand in blocks
//! that follow each other. The recovery account is the creator; accounts that go through this never change
//! theirs.

use std::collections::VecDeque;

use super::super::accounts::Signers;
use super::super::keys::{KeyName, Role};
use super::super::names::{FIRST_USER, INITMINER};
use super::startup::FIRST_USERS;
use super::{Drafts, Planned, Planner};

/// Recoveries under way: the block in which each takes its next step, and the step.
#[derive(Debug, Default)]
pub(super) struct Recoveries(VecDeque<(u32, Step)>);

#[derive(Debug, Clone, Copy)]
enum Step {
    Request { account: u32, recent: u32 },
    Recover { account: u32, recent: u32 },
}

/// Whether this account may lose and recover its owner key: one in 16 of the first users, whose recovery
/// account is initminer.
pub(super) fn is_recoverable(account: u32) -> bool {
    account % 16 == 5 && (FIRST_USER..FIRST_USER + FIRST_USERS).contains(&account)
}

impl Planner {
    /// Starts the recovery of `account`, whose owner key was changed in block `number` from generation
    /// `recent`.
    pub(super) fn start_recovery(&mut self, account: u32, recent: u32, number: u32) {
        self.recoveries
            .0
            .push_back((number + 1, Step::Request { account, recent }));
    }

    /// Takes the steps that are due in this block.
    pub(super) fn plan_recoveries(&mut self, drafts: &mut Drafts) {
        while let Some(&(due, step)) = self.recoveries.0.front()
            && due <= drafts.number
            && !drafts.is_full()
        {
            self.recoveries.0.pop_front();
            match step {
                Step::Request { account, recent } => {
                    let mut signers = Signers::default();
                    self.accounts.sign_active(INITMINER, &mut signers);
                    let request = Planned::RequestRecovery {
                        by: INITMINER,
                        account,
                        new: recent + 2,
                    };
                    drafts.push(vec![request], signers, &mut self.rng);
                    self.recoveries
                        .0
                        .push_back((drafts.number + 1, Step::Recover { account, recent }));
                }
                Step::Recover { account, recent } => {
                    let new = recent + 2;
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
