//! Escrow.

use cairn_chain::operations::{EscrowApprove, EscrowDispute, EscrowRelease, EscrowTransfer};
use cairn_chain::{Asset, AssetSymbol};

use super::{ValidityError, fields};

fn amounts(hbd: Asset, hive: Asset) -> Result<(), ValidityError> {
    fields::not_negative("hbd_amount", hbd)?;
    fields::not_negative("hive_amount", hive)?;
    if hbd.amount == 0 && hive.amount == 0 {
        return Err(ValidityError::NothingMoved {
            fields: "hbd_amount and hive_amount",
        });
    }
    fields::symbol("hbd_amount", hbd, AssetSymbol::Hbd)?;
    fields::symbol("hive_amount", hive, AssetSymbol::Hive)
}

pub(super) fn transfer(op: &EscrowTransfer<'_>) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::name("agent", op.agent)?;
    fields::not_negative("fee", op.fee)?;
    fields::liquid("fee", op.fee)?;
    amounts(op.hbd_amount, op.hive_amount)?;
    if op.from == op.agent || op.to == op.agent {
        return Err(ValidityError::Relation {
            field: "agent",
            rule: "must be neither `from` nor `to`",
        });
    }
    if op.ratification_deadline >= op.escrow_expiration {
        return Err(ValidityError::Relation {
            field: "ratification_deadline",
            rule: "must be before `escrow_expiration`",
        });
    }
    fields::metadata("json_meta", op.json_meta)
}

pub(super) fn approve(op: &EscrowApprove) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::name("agent", op.agent)?;
    fields::name("who", op.who)?;
    if op.who != op.to && op.who != op.agent {
        return Err(ValidityError::Relation {
            field: "who",
            rule: "must be `to` or `agent`",
        });
    }
    Ok(())
}

pub(super) fn dispute(op: &EscrowDispute) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::name("agent", op.agent)?;
    fields::name("who", op.who)?;
    if op.who != op.from && op.who != op.to {
        return Err(ValidityError::Relation {
            field: "who",
            rule: "must be `from` or `to`",
        });
    }
    Ok(())
}

pub(super) fn release(op: &EscrowRelease) -> Result<(), ValidityError> {
    fields::name("from", op.from)?;
    fields::name("to", op.to)?;
    fields::name("agent", op.agent)?;
    fields::name("who", op.who)?;
    fields::name("receiver", op.receiver)?;
    if ![op.from, op.to, op.agent].contains(&op.who) {
        return Err(ValidityError::Relation {
            field: "who",
            rule: "must be `from`, `to` or `agent`",
        });
    }
    if ![op.from, op.to].contains(&op.receiver) {
        return Err(ValidityError::Relation {
            field: "receiver",
            rule: "must be `from` or `to`",
        });
    }
    amounts(op.hbd_amount, op.hive_amount)
}
