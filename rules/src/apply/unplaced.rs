//! Faults on their way to the place where it is known what they are about.

use crate::error::{BlockFault, RuleError, TransactionFault};
use crate::registers::TableError;

/// A fault that does not know its place yet, or a failure of the state.
pub(super) enum Unplaced<F> {
    Fault(F),
    State(TableError),
}

pub(super) type HeaderStop = Unplaced<BlockFault>;
pub(super) type TransactionStop = Unplaced<TransactionFault>;

impl HeaderStop {
    pub(super) fn at(self, block: u32) -> RuleError {
        match self {
            Self::Fault(fault) => RuleError::Block { block, fault },
            Self::State(error) => RuleError::State(error),
        }
    }
}

impl TransactionStop {
    pub(super) fn at(self, block: u32, transaction: usize) -> RuleError {
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
