//! Applying a block, in hived's order:
//!
//! 1. block 1 only: the hardforks whose time has come;
//! 2. header: link, time, witness, its signature; size;
//! 3. header extensions: the witness's version and its vote for a hardfork; since hardfork 5 the version must not be
//!    older than the last hardfork;
//! 4. the transactions in order; each: duplicate, expiration, reference block, the operations' own rules, authorities,
//!    then the operations. "Now" is the time of the block before;
//! 5. the block becomes the head; its id goes into the ring of reference blocks; expired transactions are forgotten; the
//!    schedule moves on;
//! 6. what is due at the block's own time;
//! 7. hardforks that take effect with the block.

use cairn_chain::{
    AccountName, AssetPacking, DecodedBlock, HeaderExtension, MAX_BLOCK_SIZE, Pack, Packer, PublicKey,
    SignedHeader, Symbols, Transaction, TransactionId, merkle,
};

use crate::authority::{self, AuthorityFailure, CheckError, RuleSet};
use crate::checks::{Exemption, Undecided};
use crate::error::{BlockFault, RuleError, Stop, TransactionFault};
use crate::evaluate::later;
use crate::registers::{ReferenceBlock, TableError, Witness, WitnessActivity};
use crate::required;
use crate::schedule::{Missed, Schedule, Slot, SlotCheck};
use crate::signatures::RecoveredKeys;
use crate::state::{AppliedBlock, IdentityState, Validation};
use crate::validate;

/// How far ahead a transaction may expire, in seconds; before hardfork 28 and since.
const MAX_EXPIRATION: u32 = 3_600;
const MAX_EXPIRATION_SINCE_28: u32 = 86_400;

/// Blocks without which a witness that misses a slot is switched off, in hardforks 14 to 19: a day's.
const IDLE_BLOCKS: u32 = 28_800;

impl IdentityState {
    /// Applies a block to registers that have begun a block.
    pub(crate) fn apply_open_block(
        &mut self,
        decoded: &DecodedBlock,
        validation: Validation<'_>,
    ) -> Result<AppliedBlock, RuleError> {
        let block = decoded.block();
        let number = decoded.number();
        let keys = match validation {
            Validation::Reduced => None,
            Validation::Full(keys) => Some(keys),
        };
        let fault = |fault| RuleError::Block { block: number, fault };

        self.check_header(&block.header, decoded.bytes().len())
            .map_err(|stop| stop.at(number))?;
        if self.memory.globals.head_number == 0 {
            let mut evaluator = self.evaluator(keys.is_some());
            let result = evaluator.hardforks_of_first_block(block.header.timestamp);
            result.map_err(|stop| self.hardfork_failed(number, stop))?;
        }
        let (genesis, time) = (self.spec.genesis_time, block.header.timestamp);
        let slot = self
            .memory
            .schedule
            .slot(genesis, time)
            .map_err(|error| fault(error.into()))?;
        if let Some(keys) = keys {
            if keys.transactions.len() != block.transactions.len() {
                let (expected, found) = (block.transactions.len(), keys.transactions.len());
                return Err(fault(BlockFault::Keys { expected, found }));
            }
            self.check_signature(&block.header, keys)
                .map_err(|stop| stop.at(number))?;
            self.check_turn(slot, block.header.witness)
                .map_err(|stop| stop.at(number))?;
        }
        self.note_header(&block.header, number, keys.is_some())
            .map_err(|stop| stop.at(number))?;

        let mut operations = 0;
        for (index, transaction) in block.transactions.iter().enumerate() {
            let keys = keys.map(|keys| keys.transactions[index].as_slice());
            self.apply_transaction(number, index, transaction, keys)?;
            operations += transaction.operations.len();
        }

        let hardfork = self.memory.globals.hardfork;
        if (14..20).contains(&hardfork) {
            self.switch_off_idle(slot, block.header.witness)?;
        }
        let globals = &mut self.memory.globals;
        globals.head_number = number;
        globals.head_id = decoded.id();
        globals.head_time = block.header.timestamp;
        self.tables
            .write((number & 0xffff) as u16, &ReferenceBlock(decoded.id()))?;
        if self.duplicates.len() > 0 {
            let registers = self.tables.registers_mut();
            self.duplicates
                .drop_expired(registers, block.header.timestamp)
                .map_err(TableError::from)?;
        }
        self.memory
            .schedule
            .advance(number, block.header.timestamp, slot, block.header.witness);
        let mut evaluator = self.evaluator(keys.is_some());
        evaluator.end_round(hardfork)?;
        evaluator.do_what_is_due()?;
        evaluator
            .hardforks_of_block()
            .map_err(|stop| self.hardfork_failed(number, stop))?;
        Ok(AppliedBlock {
            number,
            id: decoded.id(),
            transactions: block.transactions.len(),
            operations,
            hardfork: self.memory.globals.hardfork,
        })
    }

    fn hardfork_failed(&self, block: u32, stop: Stop) -> RuleError {
        match stop {
            Stop::State(error) => RuleError::State(error),
            Stop::Fault(fault) => {
                let hardfork = self.memory.globals.hardfork;
                RuleError::Block {
                    block,
                    fault: BlockFault::Hardfork { hardfork, fault },
                }
            }
        }
    }

    /// What holds in both modes: link, time, size.
    fn check_header(&self, header: &SignedHeader<'_>, size: usize) -> Result<(), HeaderStop> {
        let head = self.head();
        if header.previous != head.id {
            return Err(BlockFault::Unlinked {
                expected: head.id,
                found: header.previous,
            }
            .into());
        }
        if header.timestamp <= head.time {
            return Err(BlockFault::Time {
                head: head.time,
                found: header.timestamp,
            }
            .into());
        }
        if size > MAX_BLOCK_SIZE {
            return Err(BlockFault::Size {
                limit: MAX_BLOCK_SIZE,
                found: size,
            }
            .into());
        }
        Ok(())
    }

    /// The block is signed with its witness's key.
    fn check_signature(&mut self, header: &SignedHeader<'_>, keys: &RecoveredKeys) -> Result<(), HeaderStop> {
        let witness: Witness = self
            .tables
            .read(&header.witness)?
            .ok_or(BlockFault::NoWitness(header.witness))?;
        if witness.signing_key != keys.witness || witness.signing_key.is_null() {
            return Err(BlockFault::WitnessSignature {
                witness: header.witness,
                expected: witness.signing_key,
                found: keys.witness,
            }
            .into());
        }
        self.checks.blocks_signed += 1;
        Ok(())
    }

    /// It is the witness's turn, as far as that is known.
    fn check_turn(&mut self, slot: Slot, witness: AccountName) -> Result<(), HeaderStop> {
        match self
            .memory
            .schedule
            .check(slot, witness)
            .map_err(BlockFault::from)?
        {
            SlotCheck::Scheduled => self.checks.slots += 1,
            SlotCheck::Consistent => self.checks.undecided(Undecided::Slot),
        }
        Ok(())
    }

    /// Hardforks 14 to 19: a witness that misses a slot loses its signing key if its last block is too long ago.
    fn switch_off_idle(&mut self, slot: Slot, producer: AccountName) -> Result<(), TableError> {
        if !self.spec.limits.idle_witnesses_switched_off {
            return Ok(());
        }
        let Missed::Known(missed) = self.memory.schedule.missed(slot) else {
            return Ok(());
        };
        let head = self.memory.globals.head_number;
        let mut evaluator = self.evaluator(false);
        for name in missed.into_iter().filter(|name| *name != producer) {
            let Some(activity) = evaluator.tables.read::<WitnessActivity>(&name)? else {
                continue;
            };
            if head.saturating_sub(activity.last_block) > IDLE_BLOCKS {
                let present = evaluator.tables.require::<Witness>(&name)?;
                let switched_off = Witness {
                    signing_key: PublicKey::NULL,
                    ..present
                };
                evaluator.store_witness(&name, Some(&present), &switched_off)?;
            }
        }
        Ok(())
    }

    /// Stores what the header says about its witness, who must exist.
    fn note_header(&mut self, header: &SignedHeader<'_>, number: u32, full: bool) -> Result<(), HeaderStop> {
        let mut activity: WitnessActivity = self
            .tables
            .read(&header.witness)?
            .ok_or(BlockFault::NoWitness(header.witness))?;
        let hardfork = self.memory.globals.hardfork;
        if full
            && (14..20).contains(&hardfork)
            && self.spec.limits.idle_witnesses_switched_off
            && (number - 1).saturating_sub(activity.last_block) > IDLE_BLOCKS
            && !matches!(self.memory.schedule.current(), Schedule::Known(_))
        {
            self.checks.undecided(Undecided::IdleWitness);
        }
        for extension in &header.extensions {
            match extension {
                HeaderExtension::Void(_) => {}
                HeaderExtension::Version(version) => activity.running_version = *version,
                HeaderExtension::HardforkVote(vote) => {
                    activity.hardfork_vote = vote.hf_version;
                    activity.hardfork_time = vote.hf_time;
                }
            }
        }
        let expected = self.spec.hardfork_version(hardfork);
        if full && hardfork >= 5 && activity.running_version < expected {
            let (witness, found) = (header.witness, activity.running_version);
            return Err(BlockFault::Version {
                witness,
                hardfork,
                expected,
                found,
            }
            .into());
        }
        activity.last_block = number;
        Ok(self.tables.write(&header.witness, &activity)?)
    }

    /// Applies a transaction to registers that have begun a block. With `keys` it is checked in full.
    pub(crate) fn apply_transaction(
        &mut self,
        block: u32,
        index: usize,
        transaction: &Transaction<'_>,
        keys: Option<&[PublicKey]>,
    ) -> Result<(), RuleError> {
        self.check_expiration(transaction)
            .map_err(|stop| stop.at(block, index))?;
        let mut id = None;
        if let Some(keys) = keys {
            id = Some(self.check_transaction(block, index, transaction, keys)?);
        }
        let mut evaluator = self.evaluator(keys.is_some());
        for (position, operation) in transaction.operations.iter().enumerate() {
            evaluator.operation(operation).map_err(|stop| match stop {
                Stop::State(error) => RuleError::State(error),
                Stop::Fault(fault) => RuleError::Operation {
                    block,
                    transaction: index,
                    operation: position,
                    kind: operation.kind(),
                    fault,
                },
            })?;
        }
        if let Some(id) = id {
            let registers = self.tables.registers_mut();
            self.duplicates
                .add(registers, transaction.expiration, id)
                .map_err(TableError::from)?;
        }
        Ok(())
    }

    /// It has not expired, and will before long. Nothing is checked in block 1.
    fn check_expiration(&self, transaction: &Transaction<'_>) -> Result<(), TransactionStop> {
        let globals = &self.memory.globals;
        if globals.head_number == 0 {
            return Ok(());
        }
        let (now, expiration) = (globals.head_time, transaction.expiration);
        let ahead = if globals.hardfork >= 28 {
            MAX_EXPIRATION_SINCE_28
        } else {
            MAX_EXPIRATION
        };
        let latest = later(now, ahead);
        if expiration > latest {
            return Err(TransactionFault::ExpiresTooLate { expiration, latest }.into());
        }
        // Until hardfork 9 it still counted in the second of its expiration.
        let has_expired = if globals.hardfork >= 9 {
            expiration <= now
        } else {
            expiration < now
        };
        if has_expired {
            return Err(TransactionFault::Expired { expiration, now }.into());
        }
        Ok(())
    }

    /// What full validation checks before the operations are evaluated.
    fn check_transaction(
        &mut self,
        block: u32,
        index: usize,
        transaction: &Transaction<'_>,
        keys: &[PublicKey],
    ) -> Result<TransactionId, RuleError> {
        let id = transaction.id();
        if self.duplicates.contains(&id) {
            return Err(TransactionStop::from(TransactionFault::Duplicate(id)).at(block, index));
        }
        self.check_reference_block(transaction)
            .map_err(|stop| stop.at(block, index))?;
        if transaction.operations.is_empty() {
            return Err(TransactionStop::from(TransactionFault::Empty).at(block, index));
        }
        if self.spec.is_steem() && !packs_to_its_bytes(transaction, self.spec.symbols) {
            return Err(TransactionStop::from(TransactionFault::NotCanonical).at(block, index));
        }
        for (position, operation) in transaction.operations.iter().enumerate() {
            let hardfork = self.memory.globals.hardfork;
            validate::operation(operation, hardfork, &self.spec).map_err(|invalid| RuleError::Operation {
                block,
                transaction: index,
                operation: position,
                kind: operation.kind(),
                fault: Box::new(invalid.into()),
            })?;
        }
        self.check_authorities(block, transaction, keys)
            .map_err(|stop| stop.at(block, index))?;
        Ok(id)
    }

    fn check_reference_block(&mut self, transaction: &Transaction<'_>) -> Result<(), TransactionStop> {
        if self.memory.globals.head_number == 0 {
            self.checks.reference_blocks_of_first += 1;
            return Ok(());
        }
        let slot = transaction.ref_block_num;
        let id = self.tables.read(slot)?;
        let expected = id.map_or(0, |ReferenceBlock(id)| id.reference_prefix());
        let found = transaction.ref_block_prefix;
        if expected != found {
            return Err(TransactionFault::ReferenceBlock {
                slot,
                expected,
                found,
            }
            .into());
        }
        self.checks.reference_blocks += 1;
        Ok(())
    }

    /// The signatures satisfy what the operations require, by the state before the first of them.
    fn check_authorities(
        &mut self,
        block: u32,
        transaction: &Transaction<'_>,
        keys: &[PublicKey],
    ) -> Result<(), TransactionStop> {
        let required = required::of_transaction(transaction).map_err(TransactionFault::from)?;
        let rules = RuleSet::at(self.memory.globals.hardfork, self.spec.kind);
        self.checks.signatures += keys.len() as u64;
        match authority::check(&rules, &required, keys, &mut self.tables) {
            Ok(satisfied) => {
                if required.is_empty() {
                    self.checks.exempt(Exemption::NothingRequired);
                    return Ok(());
                }
                self.checks.transactions += 1;
                self.checks.satisfied.add(&satisfied);
                if satisfied.without_signature {
                    self.checks.exempt(Exemption::OpenAuthority);
                }
                Ok(())
            }
            Err(CheckError::Refused(AuthorityFailure::MissingActive(_)))
                if merkle::historical_root(self.spec.kind, block).is_some() =>
            {
                self.checks.exempt(Exemption::ForgivenMissingActive);
                Ok(())
            }
            Err(CheckError::Refused(failure)) => Err(TransactionFault::from(failure).into()),
            Err(CheckError::Source(error)) => Err(error.into()),
            Err(CheckError::TooMuchWork { .. }) => Err(TransactionFault::TooMuchWork.into()),
        }
    }
}

/// Whether the fields pack to the bytes that they were read from.
fn packs_to_its_bytes(transaction: &Transaction<'_>, symbols: Symbols) -> bool {
    let mut packer = Packer::new(AssetPacking::Legacy, symbols);
    transaction.pack(&mut packer);
    packer.into_bytes() == transaction.bytes()
}

/// A fault that does not know its place yet, or a failure of the state.
enum Unplaced<F> {
    Fault(F),
    State(TableError),
}

type HeaderStop = Unplaced<BlockFault>;
type TransactionStop = Unplaced<TransactionFault>;

impl HeaderStop {
    fn at(self, block: u32) -> RuleError {
        match self {
            Self::Fault(fault) => RuleError::Block { block, fault },
            Self::State(error) => RuleError::State(error),
        }
    }
}

impl TransactionStop {
    fn at(self, block: u32, transaction: usize) -> RuleError {
        match self {
            Self::Fault(fault) => RuleError::Transaction {
                block,
                transaction,
                fault,
            },
            Self::State(error) => RuleError::State(error),
        }
    }
}

impl From<BlockFault> for HeaderStop {
    fn from(fault: BlockFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<TransactionFault> for TransactionStop {
    fn from(fault: TransactionFault) -> Self {
        Self::Fault(fault)
    }
}

impl<F> From<TableError> for Unplaced<F> {
    fn from(error: TableError) -> Self {
        Self::State(error)
    }
}
