//! Applying a block. What changes the state comes in hived's order:
//!
//! 1. header: link, time, size;
//! 2. block 1 only: the hardforks whose time has come;
//! 3. the slot of its time; in full validation: the witness's signature, its turn, the size that witnesses have voted for;
//! 4. the witness exists; header extensions: its version and its vote for a hardfork; since hardfork 5 the version must
//!    not be older than the last hardfork (full validation);
//! 5. the transactions in order; each: expiration; in full validation: duplicate, reference block, the operations' own
//!    rules, authorities; then the operations. "Now" is the time of the block before;
//! 6. the block becomes the head; its id goes into the ring of reference blocks; expired transactions are forgotten; the
//!    schedule moves on;
//! 7. what is due at the block's own time;
//! 8. hardforks that take effect with the block.

mod header;
mod transaction;
mod unplaced;

use cairn_chain::DecodedBlock;

use crate::error::{BlockFault, RuleError, Stop};
use crate::registers::{ReferenceBlock, TableError};
use crate::state::{AppliedBlock, IdentityState, Validation};

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
            self.check_voted_size(decoded.bytes().len())
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
}
