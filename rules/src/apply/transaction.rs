//! One transaction: may it be in this block, who signed, and what it does.

use cairn_chain::{AssetPacking, Pack, Packer, PublicKey, Symbols, Transaction, TransactionId, merkle};

use super::unplaced::TransactionStop;
use crate::authority::{self, AuthorityFailure, CheckError, RuleSet};
use crate::checks::Exemption;
use crate::error::{RuleError, Stop, TransactionFault};
use crate::evaluate::later;
use crate::registers::{ReferenceBlock, TableError};
use crate::required;
use crate::state::IdentityState;
use crate::validate;

/// How far ahead a transaction may expire, in seconds; before hardfork 28 and since.
const MAX_EXPIRATION: u32 = 3_600;
const MAX_EXPIRATION_SINCE_28: u32 = 86_400;

impl IdentityState {
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
