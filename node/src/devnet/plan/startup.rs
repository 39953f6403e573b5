//! The first blocks of a mixed chain: initminer creates the witnesses and the first users, the witnesses
//! register, and everybody gets something to spend.

use super::super::accounts::Signers;
use super::super::names::{FIRST_USER, INITMINER};
use super::{Drafts, Planned, Planner};

/// What each user gets: 10,000 TESTS and 1,000 TBD, of 250 and 7 millions.
pub(super) const TESTS_GRANT: i64 = 10_000_000;
const TBD_GRANT: i64 = 1_000_000;

/// Accounts that one transaction of the start-up creates or pays. With 40 such transactions a block holds at
/// most 75 KB of the 128 KiB that its witnesses allow.
const PER_TRANSACTION: u32 = 5;
const TRANSACTIONS: u32 = 40;

/// How far the start-up has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Startup {
    /// The next account to pay; 0 before the first payment.
    next_to_pay: u32,
    registered: bool,
}

impl Planner {
    /// Goes on with the start-up, and says whether it is over.
    pub(super) fn plan_startup(&mut self, drafts: &mut Drafts) -> bool {
        let accounts = FIRST_USER + self.shape.users;
        self.create_accounts(drafts, accounts);
        if self.accounts.count() < accounts {
            return false;
        }
        if !self.startup.registered && drafts.count() + self.shape.witnesses <= TRANSACTIONS + 1 {
            self.register_witnesses(drafts);
            self.startup = Startup {
                registered: true,
                next_to_pay: FIRST_USER,
            };
        }
        if self.startup.registered {
            self.pay_accounts(drafts, accounts);
        }
        self.startup.next_to_pay == accounts
    }

    fn create_accounts(&mut self, drafts: &mut Drafts, until: u32) {
        while drafts.count() < TRANSACTIONS && self.accounts.count() < until {
            let count = PER_TRANSACTION.min(until - self.accounts.count());
            let created = (0..count)
                .map(|_| Planned::AccountCreate {
                    creator: INITMINER,
                    account: self.accounts.create(0),
                    generation: 0,
                })
                .collect();
            self.push_for_initminer(drafts, created);
        }
    }

    fn register_witnesses(&mut self, drafts: &mut Drafts) {
        for witness in INITMINER + 1..self.shape.witnesses {
            self.add_witness(witness);
            let mut signers = Signers::default();
            self.accounts.sign_active(witness, &mut signers);
            drafts.push(
                vec![Planned::WitnessUpdate { witness, key: 0 }],
                signers,
                &mut self.rng,
            );
        }
    }

    fn pay_accounts(&mut self, drafts: &mut Drafts, until: u32) {
        while drafts.count() < TRANSACTIONS && self.startup.next_to_pay < until {
            let last = until.min(self.startup.next_to_pay + PER_TRANSACTION);
            let mut transfers = Vec::with_capacity(2 * PER_TRANSACTION as usize);
            for to in self.startup.next_to_pay..last {
                transfers.push(self.transfer_tests(INITMINER, to, TESTS_GRANT));
                transfers.push(self.transfer_tbd(INITMINER, to, TBD_GRANT));
            }
            self.startup.next_to_pay = last;
            self.push_for_initminer(drafts, transfers);
        }
    }

    fn push_for_initminer(&mut self, drafts: &mut Drafts, operations: Vec<Planned>) {
        let mut signers = Signers::default();
        self.accounts.sign_active(INITMINER, &mut signers);
        drafts.push(operations, signers, &mut self.rng);
    }

    pub(super) fn transfer_tests(&mut self, from: u32, to: u32, amount: i64) -> Planned {
        self.accounts.get_mut(from).tests -= amount;
        self.accounts.get_mut(to).tests += amount;
        Planned::TransferTests { from, to, amount }
    }

    pub(super) fn transfer_tbd(&mut self, from: u32, to: u32, amount: i64) -> Planned {
        self.accounts.get_mut(from).tbd -= amount;
        self.accounts.get_mut(to).tbd += amount;
        Planned::TransferTbd { from, to, amount }
    }
}
