//! The mix of transactions once the start-up is over.
//!
//! Each transaction draws its kind and then a few candidates for its actors. If none of them may act now (an
//! author must wait five minutes between root posts, for example), a custom_json takes its place, which is
//! always possible.
//!
//! What depends on stake has no place here, so that a node without balances can decide every block: votes for
//! witnesses (they would make the schedule), `delete_comment` (net votes), `claim_account` without fee.

use super::super::accounts::Signers;
use super::super::names::{FIRST_USER, INITMINER};
use super::super::shape::Mix;
use super::posts::MAX_DEPTH;
use super::startup::TESTS_GRANT;
use super::{Drafts, Planned, Planner};

/// Candidates that are tried before a transaction becomes a custom_json.
const TRIES: u32 = 8;

/// hived refuses a second vote of an account within 3 s, a reply within 3 s of the author's last post, and an
/// edit within 3 s of either.
const MIN_PAUSE: u32 = 3;

/// A root post must come more than 300 s after the author's last one.
const ROOT_PAUSE: u32 = 300;

impl Planner {
    /// Fills a block.
    pub(super) fn plan_mixed(&mut self, drafts: &mut Drafts) {
        self.plan_recoveries(drafts);
        let (least, most) = self.shape.transactions;
        let Mix {
            custom_json,
            votes,
            comments,
            transfers,
        } = self.shape.mix;
        let count = self.rng.between(least, most);
        while drafts.count() < count {
            self.diverge(drafts.count());
            let kind = self.rng.below(100);
            let planned = if kind < custom_json {
                None
            } else if kind < custom_json + votes {
                self.plan_vote(drafts.now)
            } else if kind < custom_json + votes + comments {
                self.plan_comment(drafts.now)
            } else if kind < custom_json + votes + comments + transfers {
                self.plan_transfer()
            } else {
                self.plan_account_operation(drafts)
            };
            let (operations, signers) = planned.unwrap_or_else(|| self.plan_custom_json());
            drafts.push(operations, signers, &mut self.rng);
        }
    }

    /// Some user, the older ones more often.
    pub(super) fn user(&mut self) -> u32 {
        let users = self.accounts.count() - FIRST_USER;
        let among = if self.rng.percent(60) {
            self.shape.users.min(users)
        } else {
            users
        };
        FIRST_USER + self.rng.below(among)
    }

    /// The first of a few users that `accept`s.
    pub(super) fn user_who(&mut self, accept: impl Fn(&Self, u32) -> bool) -> Option<u32> {
        (0..TRIES).find_map(|_| {
            let user = self.user();
            accept(self, user).then_some(user)
        })
    }

    /// One operation that needs the posting authority of `account`.
    pub(super) fn posting(&mut self, account: u32, operations: Vec<Planned>) -> Draft {
        let by_other = self.rng.percent(70);
        let mut signers = Signers::default();
        self.accounts.sign_posting(account, by_other, &mut signers);
        (operations, signers)
    }

    /// One operation that needs the active authority of `account`.
    pub(super) fn active(&self, account: u32, operation: Planned) -> Draft {
        let mut signers = Signers::default();
        self.accounts.sign_active(account, &mut signers);
        (vec![operation], signers)
    }

    fn plan_custom_json(&mut self) -> Draft {
        let account = self.user();
        if self.rng.percent(8) {
            return self.active(
                account,
                Planned::CustomJson {
                    account,
                    active: true,
                },
            );
        }
        // Now and then several in one transaction.
        let count = if self.rng.percent(5) {
            self.rng.between(2, 4)
        } else {
            1
        };
        let operations = (0..count)
            .map(|_| Planned::CustomJson {
                account,
                active: false,
            })
            .collect();
        self.posting(account, operations)
    }

    fn plan_vote(&mut self, now: u32) -> Option<Draft> {
        let voter = self.user_who(|plan, user| plan.accounts.get(user).last_vote + MIN_PAUSE <= now)?;
        let post = self.posts.any(&mut self.rng)?;
        self.accounts.get_mut(voter).last_vote = now;
        let weight = match self.rng.below(10) {
            0 => -(self.rng.between(1, 10_000) as i16),
            1..=4 => 10_000,
            _ => self.rng.between(1, 10_000) as i16,
        };
        Some(self.posting(voter, vec![Planned::Vote { voter, post, weight }]))
    }

    fn plan_comment(&mut self, now: u32) -> Option<Draft> {
        let draft = match self.rng.below(10) {
            0..=2 => self.plan_root_post(now),
            3 => self.plan_edit(now),
            _ => None,
        };
        draft.or_else(|| self.plan_reply(now))
    }

    fn plan_root_post(&mut self, now: u32) -> Option<Draft> {
        let author = self.user_who(|plan, user| {
            let account = plan.accounts.get(user);
            account.last_root_post + ROOT_PAUSE < now && account.last_post + MIN_PAUSE <= now
        })?;
        let post = self.posts.create(author, 0);
        let account = self.accounts.get_mut(author);
        account.last_root_post = now;
        account.last_post = now;
        self.posts.publish(post);
        let mut operations = vec![Planned::Comment {
            post,
            parent: None,
            edit: false,
        }];
        if self.rng.percent(30) {
            let beneficiary = self.rng.percent(50).then(|| self.user());
            operations.push(Planned::CommentOptions { post, beneficiary });
        }
        Some(self.posting(author, operations))
    }

    fn plan_reply(&mut self, now: u32) -> Option<Draft> {
        let parent = self
            .posts
            .any(&mut self.rng)
            .filter(|parent| parent.depth < MAX_DEPTH)?;
        let author = self.user_who(|plan, user| plan.accounts.get(user).last_post + MIN_PAUSE <= now)?;
        let post = self.posts.create(author, parent.depth + 1);
        self.accounts.get_mut(author).last_post = now;
        self.posts.publish(post);
        Some(self.posting(
            author,
            vec![Planned::Comment {
                post,
                parent: Some(parent),
                edit: false,
            }],
        ))
    }

    fn plan_edit(&mut self, now: u32) -> Option<Draft> {
        // Only root posts are edited: an edit must name the parent again, and a post does not remember its
        // own.
        let post = self.posts.any(&mut self.rng)?;
        let account = self.accounts.get_mut(post.author);
        if post.depth > 0 || account.last_post + MIN_PAUSE > now {
            return None;
        }
        account.last_post = now;
        Some(self.posting(
            post.author,
            vec![Planned::Comment {
                post,
                parent: None,
                edit: true,
            }],
        ))
    }

    fn plan_transfer(&mut self) -> Option<Draft> {
        let (from, to) = (self.user(), self.user());
        let amount = i64::from(self.rng.between(1, 5_000));
        let Funds { tests, tbd } = self.funds(from);
        let operation = if self.rng.percent(10) && tests >= amount {
            self.accounts.get_mut(from).tests -= amount;
            Planned::TransferToVesting { from, to, amount }
        } else if self.rng.percent(30) && tbd >= amount && from != to {
            self.transfer_tbd(from, to, amount)
        } else if tests >= amount && from != to {
            self.transfer_tests(from, to, amount)
        } else if self.funds(INITMINER).tests >= TESTS_GRANT {
            let operation = self.transfer_tests(INITMINER, to, TESTS_GRANT);
            return Some(self.active(INITMINER, operation));
        } else {
            return None;
        };
        Some(self.active(from, operation))
    }

    fn funds(&self, account: u32) -> Funds {
        let account = self.accounts.get(account);
        Funds {
            tests: account.tests,
            tbd: account.tbd,
        }
    }
}

/// A transaction's operations and who signs them.
pub(super) type Draft = (Vec<Planned>, Signers);

/// What an account can spend, in thousandths.
struct Funds {
    tests: i64,
    tbd: i64,
}
