//! Votes for witnesses, and proxies that vote for others.

use cairn_chain::operations::{AccountWitnessProxy, AccountWitnessVote};
use cairn_chain::{AccountName, Time};

use super::{Evaluated, Evaluator, later};
use crate::error::{OperationFault, Stop};
use crate::registers::{AccountCore, TableError, Witness, WitnessVotes};

/// Witnesses that an account may vote for, since hardfork 2.
const MAX_VOTES: usize = 30;

/// Accounts in a chain of proxies, the account that sets one included.
const MAX_PROXY_CHAIN: usize = 4;

impl Evaluator<'_> {
    pub(super) fn account_witness_vote(&mut self, op: &AccountWitnessVote) -> Evaluated {
        let mut core = self.account(&op.account)?;
        let mut votes = self.tables.read::<WitnessVotes>(&op.account)?.unwrap_or_default();
        if self.full {
            if !core.proxy.is_empty() {
                return Err(OperationFault::HasProxy {
                    account: op.account,
                    proxy: core.proxy,
                }
                .into());
            }
            if !core.can_vote {
                return Err(OperationFault::Declined(op.account).into());
            }
            if !self.tables.has::<Witness>(&op.witness)? {
                return Err(OperationFault::NoWitness(op.witness).into());
            }
            let found = votes.witnesses().len();
            if op.approve && self.hardfork() >= 2 && found >= MAX_VOTES && !votes.contains(&op.witness) {
                let fault = OperationFault::TooManyVotes {
                    account: op.account,
                    limit: MAX_VOTES,
                    found,
                };
                return Err(fault.into());
            }
        }
        if op.approve {
            if !votes.add(op.witness) {
                let fault = OperationFault::VoteExists {
                    account: op.account,
                    witness: op.witness,
                };
                return Err(fault.into());
            }
            self.globals.witness_votes += 1;
        } else {
            if !votes.remove(&op.witness) {
                let fault = OperationFault::NoVote {
                    account: op.account,
                    witness: op.witness,
                };
                return Err(fault.into());
            }
            self.globals.witness_votes = self.globals.witness_votes.saturating_sub(1);
        }
        self.schedule.note_vote();
        self.tables.write(&op.account, &votes)?;
        self.renew_governance(&op.account, &mut core)?;
        Ok(self.tables.write(&op.account, &core)?)
    }

    pub(super) fn account_witness_proxy(&mut self, op: &AccountWitnessProxy) -> Evaluated {
        let mut core = self.account(&op.account)?;
        if self.full {
            if !core.can_vote {
                return Err(OperationFault::Declined(op.account).into());
            }
            self.proxy_allowed(op, &core)?;
        }
        if !op.proxy.is_empty() {
            self.clear_votes(&op.account)?;
        }
        core.proxy = op.proxy;
        self.renew_governance(&op.account, &mut core)?;
        Ok(self.tables.write(&op.account, &core)?)
    }

    /// The proxy changes, exists, and does not lead back or too far.
    fn proxy_allowed(&mut self, op: &AccountWitnessProxy, core: &AccountCore) -> Evaluated {
        if op.proxy.is_empty() {
            return match core.proxy.is_empty() {
                true => Err(OperationFault::NoProxy(op.account).into()),
                false => Ok(()),
            };
        }
        if op.proxy == core.proxy {
            return Err(OperationFault::SameProxy {
                account: op.account,
                proxy: op.proxy,
            }
            .into());
        }
        let mut chain = vec![op.account, op.proxy];
        let mut proxy = self.account(&op.proxy)?.proxy;
        while !proxy.is_empty() {
            if chain.contains(&proxy) {
                return Err(OperationFault::ProxyLoop(proxy).into());
            }
            chain.push(proxy);
            if chain.len() > MAX_PROXY_CHAIN {
                return Err(OperationFault::ProxyChain {
                    limit: MAX_PROXY_CHAIN,
                }
                .into());
            }
            proxy = self.account(&proxy)?.proxy;
        }
        Ok(())
    }

    /// Sets the time at which the account's governance votes expire. The caller writes the core.
    pub(super) fn renew_governance(
        &mut self,
        name: &AccountName,
        core: &mut AccountCore,
    ) -> Result<(), Stop> {
        let limits = &self.spec.limits;
        let mut expiry = later(self.now(), limits.governance_vote_time);
        let first = Time(limits.first_governance_expiration);
        if expiry < first {
            // Spread, so that they do not all expire at once.
            expiry = later(first, expiry.0 % limits.governance_expiration_spread.max(1));
        }
        core.governance_expiry = expiry;
        Ok(self.queues.governance.set(self.tables, name, expiry)?)
    }

    /// Removes an account's votes for witnesses.
    fn clear_votes(&mut self, name: &AccountName) -> Result<(), TableError> {
        if let Some(votes) = self.tables.read::<WitnessVotes>(name)? {
            let count = votes.witnesses().len() as u64;
            self.globals.witness_votes = self.globals.witness_votes.saturating_sub(count);
            self.schedule.note_vote();
            self.tables.remove::<WitnessVotes>(name)?;
        }
        Ok(())
    }

    /// Removes an account's votes for witnesses and its proxy. The caller writes the core.
    pub(crate) fn clear_proxy_and_votes(
        &mut self,
        name: &AccountName,
        core: &mut AccountCore,
    ) -> Result<(), TableError> {
        core.proxy = AccountName::EMPTY;
        self.clear_votes(name)
    }
}
