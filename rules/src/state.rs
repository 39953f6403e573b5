//! [`IdentityState`]: the registers of one chain, to which blocks are applied.

use std::fmt;
use std::sync::Arc;

use cairn_chain::{BlockId, ChainSpec, DecodedBlock, PublicKey, Time, Transaction};
use cairn_state::{CommitStats, Head as StoreHead, Registers, RestorePoint};

use crate::checks::Checks;
use crate::duplicates::Duplicates;
use crate::error::{OpenError, RuleError, Stop};
use crate::evaluate::Evaluator;
use crate::genesis;
use crate::queues::Queues;
use crate::registers::{Globals, Mining, ReferenceBlock, StoredSchedule, TableError, Tables};
use crate::roster::Roster;
use crate::schedule::ScheduleState;
use crate::signatures::RecoveredKeys;

/// How much of a block is checked.
#[derive(Debug, Clone, Copy)]
pub enum Validation<'a> {
    /// For blocks whose id is trusted: below the last checkpoint. Checked are the link, the time, that the witness
    /// exists, the size, expirations, and what the operations' effects need. Not checked: the witness's signature and
    /// turn and version, transactions' signatures and authorities, reference blocks, duplicates, the operations' own
    /// rules and those that depend on state.
    Reduced,
    /// Everything that a node without balances can check, with the keys that were recovered from the block's
    /// signatures.
    Full(&'a RecoveredKeys),
}

/// The last applied block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its number; 0 before the first block.
    pub number: u32,
    /// Its id; zeros before the first block.
    pub id: BlockId,
    /// Its time; that of genesis before the first block.
    pub time: Time,
}

/// What a block that was applied held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedBlock {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: BlockId,
    /// Its transactions.
    pub transactions: usize,
    /// The operations of all of them.
    pub operations: usize,
    /// The last hardfork that has taken effect, with this block or before.
    pub hardfork: u8,
}

/// What is kept in memory of the registers that every block changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) globals: Globals,
    pub(crate) mining: Mining,
    pub(crate) schedule: ScheduleState,
}

/// The identity state of one chain.
pub struct IdentityState {
    pub(crate) tables: Tables,
    pub(crate) spec: Arc<ChainSpec>,
    pub(crate) memory: Memory,
    pub(crate) queues: Queues,
    pub(crate) roster: Roster,
    pub(crate) duplicates: Duplicates,
    pub(crate) checks: Checks,
    /// Whether the blocks to come can be taken back.
    pub(crate) undo_sessions: bool,
}

impl fmt::Debug for IdentityState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityState")
            .field("head", &self.head())
            .finish_non_exhaustive()
    }
}

impl IdentityState {
    /// Takes over the registers of a chain. Into an empty store it writes the state of genesis, which becomes durable
    /// with the first commit.
    ///
    /// That the store is this chain's is for the caller to see to: the store has a tag for it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the registers cannot be read, or belong to another block than the store's head.
    pub fn open(registers: Registers, spec: Arc<ChainSpec>) -> Result<Self, OpenError> {
        let duplicates = Duplicates::open(registers.store()).map_err(TableError::from)?;
        let head = registers.head();
        let mut state = Self {
            memory: Memory {
                globals: Globals::at_genesis(spec.genesis_time),
                mining: Mining::default(),
                schedule: genesis::schedule(&spec),
            },
            tables: Tables::new(registers),
            spec,
            queues: Queues::new(),
            roster: Roster::default(),
            duplicates,
            checks: Checks::default(),
            undo_sessions: false,
        };
        match head {
            None => state.write_genesis()?,
            Some(head) => {
                state.reload()?;
                let registers = state.memory.globals.head_number;
                if (registers, state.memory.globals.head_id.0) != (head.number, head.id) {
                    return Err(OpenError::Head {
                        store: head.number,
                        registers,
                    });
                }
            }
        }
        Ok(state)
    }

    fn write_genesis(&mut self) -> Result<(), OpenError> {
        self.tables
            .registers_mut()
            .begin_block()
            .map_err(TableError::from)?;
        match genesis::write(&mut self.evaluator(false)).and_then(|()| Ok(self.store_memory(None)?)) {
            Ok(()) => {
                self.tables.registers_mut().accept_block();
                Ok(())
            }
            Err(stop) => {
                self.tables.registers_mut().undo_block();
                Err(match stop {
                    Stop::State(error) => error.into(),
                    Stop::Fault(fault) => OpenError::Genesis(fault),
                })
            }
        }
    }

    /// Reads anew what is kept in memory, after the registers were changed by something else.
    ///
    /// # Errors
    ///
    /// [`TableError`].
    pub fn reload(&mut self) -> Result<(), TableError> {
        self.memory.globals = self.tables.require(())?;
        self.memory.mining = self.tables.read(())?.unwrap_or_default();
        let StoredSchedule(schedule) = self.tables.require(())?;
        self.memory.schedule = schedule;
        self.queues.forget();
        self.roster.forget();
        Ok(())
    }

    /// Writes what is kept in memory, as far as it differs from `before`.
    pub(crate) fn store_memory(&mut self, before: Option<&Memory>) -> Result<(), TableError> {
        if before.is_none_or(|before| before.globals != self.memory.globals) {
            self.tables.write((), &self.memory.globals)?;
        }
        // The counters of a chain without mining have no register.
        if before.map_or(Mining::default(), |before| before.mining) != self.memory.mining {
            self.tables.write((), &self.memory.mining)?;
        }
        if before.is_none_or(|before| before.schedule != self.memory.schedule) {
            let schedule = self.memory.schedule.to_bytes();
            self.tables.write_bytes::<StoredSchedule>((), &schedule)?;
        }
        Ok(())
    }

    pub(crate) fn evaluator(&mut self, full: bool) -> Evaluator<'_> {
        Evaluator {
            tables: &mut self.tables,
            globals: &mut self.memory.globals,
            mining: &mut self.memory.mining,
            schedule: &mut self.memory.schedule,
            roster: &mut self.roster,
            queues: &mut self.queues,
            checks: &mut self.checks,
            spec: &self.spec,
            full,
        }
    }

    /// The last applied block.
    #[must_use]
    pub fn head(&self) -> Head {
        let Globals {
            head_number,
            head_id,
            head_time,
            ..
        } = self.memory.globals;
        Head {
            number: head_number,
            id: head_id,
            time: head_time,
        }
    }

    /// The global properties after the last applied block.
    #[must_use]
    pub fn globals(&self) -> &Globals {
        &self.memory.globals
    }

    /// The chain.
    #[must_use]
    pub fn spec(&self) -> &Arc<ChainSpec> {
        &self.spec
    }

    /// The witness schedule after the last applied block.
    #[must_use]
    pub fn schedule(&self) -> &ScheduleState {
        &self.memory.schedule
    }

    /// What was checked since the state was opened.
    #[must_use]
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// How many unexpired transactions are known; 0 in reduced validation.
    #[must_use]
    pub fn known_transactions(&self) -> usize {
        self.duplicates.len()
    }

    /// The typed registers.
    pub fn tables_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// The registers.
    #[must_use]
    pub fn registers(&self) -> &Registers {
        self.tables.registers()
    }

    /// The registers, for what is not a matter of the rules.
    pub fn registers_mut(&mut self) -> &mut Registers {
        self.tables.registers_mut()
    }

    /// Gives the registers back; changes since the last commit stay in them.
    #[must_use]
    pub fn into_registers(self) -> Registers {
        self.tables.into_registers()
    }

    /// Goes on with the state of a restore point, as if it had just been opened; everything since is lost.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; a restore that had been decided is finished when the state is opened again.
    pub fn restore(self, point: &RestorePoint) -> Result<Self, OpenError> {
        let spec = Arc::clone(&self.spec);
        let registers = self.into_registers().restore(point).map_err(TableError::from)?;
        Self::open(registers, spec)
    }

    /// Whether each block to come gets an undo session, so that it can be taken back. A block above one that can be taken
    /// back always gets one.
    pub fn set_undo_sessions(&mut self, on: bool) {
        self.undo_sessions = on;
    }

    /// How many blocks can be taken back.
    #[must_use]
    pub fn undo_sessions(&self) -> usize {
        self.registers().sessions()
    }

    /// Takes the last block back: the state is that after the block before. False when it cannot be taken back.
    ///
    /// # Errors
    ///
    /// [`TableError`] if the state cannot be read.
    pub fn undo_block(&mut self) -> Result<bool, TableError> {
        if !self.tables.registers_mut().undo_session()? {
            return Ok(false);
        }
        self.duplicates.undo_session();
        self.reload()?;
        Ok(true)
    }

    /// Blocks up to this number cannot be taken back any more.
    pub fn irreversible(&mut self, number: u32) {
        let head = self.memory.globals.head_number;
        while head - (self.undo_sessions() as u32) < number
            && self.tables.registers_mut().drop_oldest_session()
        {
            self.duplicates.drop_oldest_session();
        }
    }

    /// The last block that cannot be taken back.
    ///
    /// # Errors
    ///
    /// [`TableError`] if the state cannot be read.
    fn base(&mut self) -> Result<StoreHead, TableError> {
        let head = self.head();
        let number = head.number - self.undo_sessions() as u32;
        let id = if number == head.number {
            head.id
        } else {
            // The ring of reference blocks reaches further back than blocks can be taken back.
            let id = self.tables.read((number & 0xffff) as u16)?;
            id.map_or(BlockId::ZERO, |ReferenceBlock(id)| id)
        };
        Ok(StoreHead { number, id: id.0 })
    }

    /// Makes the state durable, with its head, in one atomic write. What can be taken back is not written.
    ///
    /// # Errors
    ///
    /// [`TableError`]; a failed commit ends the use of the registers.
    pub fn commit(&mut self) -> Result<CommitStats, TableError> {
        let base = self.base()?;
        Ok(self.tables.registers_mut().commit(base)?)
    }

    /// Applies a block. Its Merkle root is not looked at: [`DecodedBlock::check_merkle_root`] needs no state and runs ahead
    /// of the writer.
    ///
    /// # Errors
    ///
    /// [`RuleError`] if the block breaks a rule or the state cannot be read or written; the state is then that after the
    /// block before.
    pub fn apply_block(
        &mut self,
        block: &DecodedBlock,
        validation: Validation<'_>,
    ) -> Result<AppliedBlock, RuleError> {
        self.atomically(|state| state.apply_open_block(block, validation))
    }

    /// Says whether a transaction would be valid in a block on top of the head, by the rules of full validation, and
    /// changes nothing. `keys` are those recovered from its signatures.
    ///
    /// # Errors
    ///
    /// [`RuleError`] with the number of the block that would come next.
    pub fn try_transaction(
        &mut self,
        transaction: &Transaction<'_>,
        keys: &[PublicKey],
    ) -> Result<(), RuleError> {
        let before = self.memory.clone();
        let checks = self.checks.clone();
        self.tables
            .registers_mut()
            .begin_block()
            .map_err(TableError::from)?;
        let number = before.globals.head_number.saturating_add(1);
        let result = self.apply_transaction(number, 0, transaction, Some(keys));
        self.undo(before);
        self.checks = checks;
        result
    }

    /// Keeps what `apply` does if it succeeds, and otherwise leaves everything as it was.
    fn atomically<T>(
        &mut self,
        apply: impl FnOnce(&mut Self) -> Result<T, RuleError>,
    ) -> Result<T, RuleError> {
        let before = self.memory.clone();
        self.tables
            .registers_mut()
            .begin_block()
            .map_err(TableError::from)?;
        match apply(self).and_then(|result| Ok(self.store_memory(Some(&before)).map(|()| result)?)) {
            Ok(result) => {
                let registers = self.tables.registers_mut();
                let with_session = self.undo_sessions || registers.sessions() > 0;
                if with_session {
                    registers.accept_block_with_session();
                } else {
                    registers.accept_block();
                }
                self.duplicates.accept(with_session);
                Ok(result)
            }
            Err(error) => {
                self.undo(before);
                Err(error)
            }
        }
    }

    fn undo(&mut self, before: Memory) {
        self.tables.registers_mut().undo_block();
        self.memory = before;
        self.duplicates.undo();
        self.queues.forget();
        self.roster.forget();
    }
}
