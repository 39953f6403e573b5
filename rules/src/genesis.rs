//! The state before block 1: the accounts and witnesses that the chain specification lists, in its order.

use cairn_chain::{AccountName, ChainSpec};

use crate::error::Stop;
use crate::evaluate::Evaluator;
use crate::evaluate::create::Authorities;
use crate::registers::{AccountCore, Witness};
use crate::schedule::ScheduleState;

/// The witness that is scheduled alone at first.
const FIRST_WITNESS: AccountName = AccountName::new(b"initminer");

/// The schedule before block 1.
pub(crate) fn schedule(spec: &ChainSpec) -> ScheduleState {
    let first = spec
        .genesis_witnesses()
        .first()
        .map_or(FIRST_WITNESS, |witness| witness.name);
    ScheduleState::genesis(first)
}

/// Puts the accounts and witnesses of genesis into an empty state.
pub(crate) fn write(evaluator: &mut Evaluator<'_>) -> Result<(), Stop> {
    for account in evaluator.spec.genesis_accounts() {
        let core = AccountCore::new(account.created, true, account.memo_key, AccountName::EMPTY);
        let authorities = account
            .owner_and_active
            .as_ref()
            .zip(account.posting.as_ref())
            .map(|(owner, posting)| Authorities {
                owner,
                active: owner,
                posting,
            });
        evaluator.add_account(&account.name, core, authorities.as_ref())?;
    }
    for account in evaluator.spec.genesis_witnesses() {
        let mut witness = Witness::new(account.signing_key, cairn_chain::Time(0));
        witness.account_creation_fee = account.props.account_creation_fee.amount;
        witness.maximum_block_size = account.props.maximum_block_size;
        witness.interest_rate = account.props.hbd_interest_rate;
        witness.subsidy_budget = account.account_subsidy_budget;
        witness.subsidy_decay = account.account_subsidy_decay;
        evaluator.add_witness(&account.name, witness, &[])?;
    }
    Ok(())
}
