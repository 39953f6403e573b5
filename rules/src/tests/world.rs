//! A state to try operations on.

use std::sync::Arc;

use cairn_chain::operations::AccountCreate;
use cairn_chain::{AccountName, Asset, Authority, ChainSpec, Operation, PublicKey, Text, Time};
use cairn_state::{Registers, Store, StoreOptions};
use tempfile::TempDir;

use crate::IdentityState;
use crate::error::{OperationFault, Stop};
use crate::registers::{AccountCore, Record};

/// A time in 2020 to count from.
pub(super) const START: u32 = 1_600_000_000;

pub(super) struct World {
    pub(super) state: IdentityState,
    _folder: TempDir,
}

pub(super) fn name(text: &str) -> AccountName {
    AccountName::from(text)
}

/// A key that is as good as any where nothing is signed.
pub(super) fn key(number: u8) -> PublicKey {
    PublicKey([number; 33])
}

pub(super) fn creation<'a>(creator: &str, account: &str, json: &'a str) -> AccountCreate<'a> {
    let authority = Authority::of_key(key(2));
    AccountCreate {
        fee: Asset::hive(0),
        creator: name(creator),
        new_account_name: name(account),
        owner: authority.clone(),
        active: authority.clone(),
        posting: authority,
        memo_key: key(3),
        json_metadata: Text::from(json),
    }
}

impl World {
    /// A chain's genesis, then the given hardfork and the time [`START`].
    pub(super) fn new(spec: ChainSpec, hardfork: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &StoreOptions::new([1; 32])).unwrap();
        let registers = Registers::new(store).unwrap();
        let state = IdentityState::open(registers, Arc::new(spec)).unwrap();
        let mut world = Self {
            state,
            _folder: folder,
        };
        world.hardfork(hardfork);
        world.time(START);
        world.state.memory.globals.head_number = 100;
        world
    }

    /// A Hive testnet with the accounts alice, bob, carol and dan.
    pub(super) fn testnet(hardfork: u8) -> Self {
        Self::new(ChainSpec::hive_testnet(), hardfork).with(&["alice", "bob", "carol", "dan"])
    }

    /// Mainnet with the same accounts, far behind the start of its owner history.
    pub(super) fn mainnet(hardfork: u8) -> Self {
        let mut world = Self::new(ChainSpec::hive(), hardfork).with(&["alice", "bob", "carol", "dan"]);
        world.state.memory.globals.head_number = 60_000_000;
        world
    }

    /// Adds accounts, created by initminer a day before [`START`].
    pub(super) fn with(mut self, names: &[&str]) -> Self {
        self.time(START - 86_400);
        for name in names {
            self.does(&Operation::AccountCreate(creation("initminer", name, "")));
        }
        self.time(START);
        self
    }

    pub(super) fn hardfork(&mut self, hardfork: u8) {
        self.state.memory.globals.hardfork = hardfork;
    }

    /// Sets the time of the head, which is "now" for operations.
    pub(super) fn time(&mut self, time: u32) {
        self.state.memory.globals.head_time = Time(time);
    }

    pub(super) fn now(&self) -> u32 {
        self.state.memory.globals.head_time.0
    }

    /// Ends a block of this time: the time becomes now, and what is due is done.
    pub(super) fn end_block(&mut self, time: u32) {
        self.time(time);
        self.state.evaluator(true).do_what_is_due().unwrap();
    }

    fn evaluate(&mut self, operation: &Operation<'_>, full: bool) -> Result<(), OperationFault> {
        let before = self.state.memory.clone();
        self.state.registers_mut().begin_block().unwrap();
        match self.state.evaluator(full).operation(operation) {
            Ok(()) => {
                self.state.registers_mut().accept_block();
                Ok(())
            }
            Err(stop) => {
                self.state.registers_mut().undo_block();
                self.state.memory = before;
                self.state.queues.forget();
                self.state.roster.forget();
                match stop {
                    Stop::Fault(fault) => Err(*fault),
                    Stop::State(error) => panic!("{error}"),
                }
            }
        }
    }

    /// Evaluates an operation in full validation.
    pub(super) fn run(&mut self, operation: &Operation<'_>) -> Result<(), OperationFault> {
        self.evaluate(operation, true)
    }

    /// Evaluates an operation in reduced validation.
    pub(super) fn run_reduced(&mut self, operation: &Operation<'_>) -> Result<(), OperationFault> {
        self.evaluate(operation, false)
    }

    /// Evaluates an operation that is valid.
    pub(super) fn does(&mut self, operation: &Operation<'_>) {
        self.run(operation)
            .unwrap_or_else(|fault| panic!("{operation:?}: {fault}"));
    }

    /// Reads a register that exists.
    pub(super) fn read<R: Record>(&mut self, owner: R::Owner<'_>) -> R {
        self.find(owner)
            .unwrap_or_else(|| panic!("{} is missing", R::NAME))
    }

    /// Reads a register.
    pub(super) fn find<R: Record>(&mut self, owner: R::Owner<'_>) -> Option<R> {
        self.state.tables.read(owner).unwrap()
    }

    pub(super) fn account(&mut self, account: &str) -> AccountCore {
        self.read(&name(account))
    }
}
