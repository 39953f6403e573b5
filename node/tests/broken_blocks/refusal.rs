//! What full validation says of a block.

use std::fmt::Debug;

use cairn_chain::{MerkleMismatch, UnpackError};
use cairn_node::devnet::RawBlock;
use cairn_rules::authority::AuthorityFailure;
use cairn_rules::signatures::RecoverError;
use cairn_rules::validate::ValidityError;
use cairn_rules::{BlockFault, OperationFault, RuleError, TransactionFault};

/// What full validation says, in the order of its steps.
#[derive(Debug)]
pub(crate) enum Refusal {
    Bytes(UnpackError),
    Merkle(MerkleMismatch),
    Signature(RecoverError),
    Rule(RuleError),
}

impl Refusal {
    pub(crate) fn block(&self) -> Option<&BlockFault> {
        match self {
            Self::Rule(RuleError::Block { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    pub(crate) fn transaction(&self) -> Option<&TransactionFault> {
        match self {
            Self::Rule(RuleError::Transaction { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    pub(crate) fn authority(&self) -> Option<&AuthorityFailure> {
        match self.transaction() {
            Some(TransactionFault::Authority(failure)) => Some(failure),
            _ => None,
        }
    }

    pub(crate) fn operation(&self) -> Option<&OperationFault> {
        match self {
            Self::Rule(RuleError::Operation { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    pub(crate) fn validity(&self) -> Option<&ValidityError> {
        match self.operation() {
            Some(OperationFault::Invalid(error)) => Some(error),
            _ => None,
        }
    }

    /// It is the last transaction that is refused, in this block: everything that was made ready for it is valid.
    pub(crate) fn is_placed(&self, block: &RawBlock) {
        if let Self::Rule(
            RuleError::Transaction {
                block: number,
                transaction,
                ..
            }
            | RuleError::Operation {
                block: number,
                transaction,
                ..
            },
        ) = self
        {
            assert_eq!(
                (*number, *transaction as u32 + 1),
                (block.number, block.transactions),
                "{self:?}"
            );
        }
    }

    /// The path of enum variants that names the fault.
    pub(crate) fn name(&self) -> String {
        let variant = |value: &dyn Debug| {
            let text = format!("{value:?}");
            let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
            text[..end].to_owned()
        };
        let (kind, fault) = match self {
            Self::Bytes(error) => ("UnpackErrorKind", variant(&error.kind)),
            Self::Merkle(_) => return "MerkleMismatch".to_owned(),
            Self::Signature(
                RecoverError::Witness { source, .. } | RecoverError::Transaction { source, .. },
            ) => ("SignatureError", variant(source)),
            Self::Rule(RuleError::Block {
                fault: BlockFault::Slot(error),
                ..
            }) => ("SlotError", variant(error)),
            Self::Rule(RuleError::Block { fault, .. }) => ("BlockFault", variant(fault)),
            Self::Rule(RuleError::Transaction {
                fault: TransactionFault::Authority(failure),
                ..
            }) => ("AuthorityFailure", variant(failure)),
            Self::Rule(RuleError::Transaction { fault, .. }) => ("TransactionFault", variant(fault)),
            Self::Rule(RuleError::Operation { fault, .. }) => match &**fault {
                OperationFault::Invalid(error) => ("ValidityError", variant(error)),
                fault => ("OperationFault", variant(fault)),
            },
            Self::Rule(RuleError::State(error)) => panic!("{error}"),
        };
        format!("{kind}::{fault}")
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Bytes(error) => error.to_string(),
            Self::Merkle(error) => error.to_string(),
            Self::Signature(error) => error.to_string(),
            Self::Rule(error) => error.to_string(),
        }
    }
}
