//! Proof of work: makes accounts and witnesses, and queues miners.

use cairn_chain::operations::{ChainProperties, Pow, Pow2, Pow2Work};
use cairn_chain::{AccountName, Authority, BlockId, PublicKey};

use super::create::Authorities;
use super::{Evaluated, Evaluator};
use crate::checks::Undecided;
use crate::error::OperationFault;
use crate::registers::{AccountCore, ActiveAuthority, MinedWork, Witness, WitnessWork};

impl Evaluator<'_> {
    pub(super) fn pow(&mut self, op: &Pow) -> Evaluated {
        let name = &op.worker_account;
        let work = op.work.work.as_bytes();
        let is_new = !self.tables.has::<AccountCore>(name)?;
        if self.full {
            self.work_is_for_head(op.block_id)?;
            if self.hardfork() >= 5
                && let Some(MinedWork(other)) = self.tables.read(work)?
            {
                return Err(OperationFault::SameWork(other).into());
            }
            if self.spec.limits.check_proof_of_work {
                self.worker_key_is_sole(name, op.work.worker, is_new)?;
                if self.queue_is_known() && !is_below_target(work, self.mining.queued) {
                    return Err(OperationFault::WorkTarget {
                        queued: self.mining.queued,
                    }
                    .into());
                }
            }
        }
        if is_new {
            self.add_miner(name, op.work.worker)?;
        }
        self.enqueue(name, &op.props, op.work.worker)?;
        if let Some(WitnessWork(last)) = self.tables.read(name)? {
            self.tables.remove::<MinedWork>(&last)?;
        }
        self.tables.write(name, &WitnessWork(*work))?;
        Ok(self.tables.write(work, &MinedWork(*name))?)
    }

    pub(super) fn pow2(&mut self, op: &Pow2) -> Evaluated {
        let (name, previous, summary) = match &op.work {
            Pow2Work::Hash(work) => (
                &work.input.worker_account,
                work.input.prev_block,
                work.pow_summary,
            ),
            Pow2Work::Equihash(work) => (&work.input.worker_account, work.prev_block, work.pow_summary),
        };
        let is_new = !self.tables.has::<AccountCore>(name)?;
        if self.full {
            self.work_is_for_head(previous)?;
            if self.spec.limits.check_proof_of_work
                && self.queue_is_known()
                && summary >= summary_target(self.hardfork(), self.mining.queued)
            {
                return Err(OperationFault::WorkTarget {
                    queued: self.mining.queued,
                }
                .into());
            }
        }
        match op.new_owner_key {
            Some(key) if is_new => {
                self.add_miner(name, key)?;
                self.enqueue(name, &op.props, key)
            }
            None if !is_new => {
                // The miner must be a witness already, so that the key does not matter.
                self.witness(name)?;
                self.enqueue(name, &op.props, PublicKey::NULL)
            }
            _ => Err(OperationFault::NewOwnerKey(*name).into()),
        }
    }

    /// A miner's account: its key alone for everything.
    fn add_miner(&mut self, name: &AccountName, key: PublicKey) -> Evaluated {
        let core = self.new_core(true, key, self.recovery_of_mined());
        self.add_account(name, core, Some(&Authorities::all(&Authority::of_key(key))))
    }

    /// Counts the work, and puts the miner at the end of the queue; it becomes a witness if it is none.
    fn enqueue(&mut self, name: &AccountName, props: &ChainProperties, key: PublicKey) -> Evaluated {
        let present = self.tables.read::<Witness>(name)?;
        if self.full
            && self.mining.queue_known
            && let Some(witness) = present
            && witness.queue_number != 0
        {
            return Err(OperationFault::Queued {
                witness: *name,
                number: witness.queue_number,
            }
            .into());
        }
        self.mining.total = self.mining.total.wrapping_add(1);
        self.mining.queued = self.mining.queued.saturating_add(1);
        let number = self.mining.total;
        let mut witness = present.unwrap_or_else(|| Witness::new(key, self.now()));
        let was_waiting = u32::from(witness.queue_number != 0);
        self.mining.waiting = self.mining.waiting.saturating_sub(was_waiting) + u32::from(number != 0);
        witness.account_creation_fee = props.account_creation_fee.amount;
        witness.maximum_block_size = props.maximum_block_size;
        witness.interest_rate = props.hbd_interest_rate;
        witness.queue_number = number;
        match &present {
            Some(present) => Ok(self.store_witness(name, Some(present), &witness)?),
            None => self.add_witness(name, witness, &[]),
        }
    }

    fn work_is_for_head(&self, found: BlockId) -> Evaluated {
        let expected = self.globals.head_id;
        if expected == found {
            Ok(())
        } else {
            Err(OperationFault::WorkBlock { expected, found }.into())
        }
    }

    /// The miner's active authority is exactly the worker's key. A new account's will be.
    fn worker_key_is_sole(&mut self, name: &AccountName, worker: PublicKey, is_new: bool) -> Evaluated {
        if is_new {
            return Ok(());
        }
        match self.tables.read::<ActiveAuthority>(name)? {
            Some(ActiveAuthority(Authority {
                account_auths,
                key_auths,
                ..
            })) if account_auths.is_empty() && key_auths.len() == 1 && key_auths[0].0 == worker => Ok(()),
            _ => Err(OperationFault::WorkerKey(*name).into()),
        }
    }

    /// Whether the number of queued miners is right; if not, that is counted.
    fn queue_is_known(&mut self) -> bool {
        if !self.mining.queue_known {
            self.checks.undecided(Undecided::MiningQueue);
        }
        self.mining.queue_known
    }
}

/// Whether a work, as a big-endian number, is below (2^256 - 1) shifted right by a quarter of the miners in the queue,
/// and four.
fn is_below_target(work: &[u8; 32], queued: u32) -> bool {
    let shift = u64::from(queued / 4) + 4;
    // Bits of the target: so many zeros, then ones. Below it: as many leading zeros, and not all ones behind.
    let leading = match work.iter().position(|byte| *byte != 0) {
        Some(index) => 8 * index as u64 + u64::from(work[index].leading_zeros()),
        None => 256,
    };
    if shift >= 256 {
        // The target is 0.
        return false;
    }
    leading > shift || (leading == shift && !is_all_ones_behind(work, shift as usize))
}

fn is_all_ones_behind(work: &[u8; 32], bit: usize) -> bool {
    (bit..256).all(|index| work[index / 8] & (0x80 >> (index % 8)) != 0)
}

/// What the summary of a proof of work since hardfork 13 must be below. With 1004 miners or more in the queue nothing is.
fn summary_target(hardfork: u8, queued: u32) -> u32 {
    let start: u32 = if hardfork >= 16 { 0xfe00 } else { 0xfc00 };
    start.saturating_sub(queued.saturating_mul(0x40)) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target as bytes, by shifting all ones bit by bit.
    fn slow_target(queued: u32) -> [u8; 32] {
        let mut target = [0xff; 32];
        for _ in 0..u64::from(queued / 4) + 4 {
            let mut carry = 0;
            for byte in &mut target {
                let out = *byte & 1;
                *byte = *byte >> 1 | carry << 7;
                carry = out;
            }
        }
        target
    }

    #[test]
    fn target_is_all_ones_shifted() {
        for queued in [0, 1, 3, 4, 7, 8, 31, 100, 500, 1007, 1008, 2000] {
            let target = slow_target(queued);
            assert!(!is_below_target(&target, queued), "{queued}");
            let mut below = target;
            if let Some(last) = below.iter_mut().rev().find(|byte| **byte != 0) {
                *last -= 1;
                assert!(is_below_target(&below, queued), "{queued}");
            }
            let mut above = target;
            let first_zero_bit = (0..256)
                .take_while(|bit| target[bit / 8] & (0x80 >> (bit % 8)) == 0)
                .last();
            if let Some(bit) = first_zero_bit {
                above[bit / 8] |= 0x80 >> (bit % 8);
                assert!(!is_below_target(&above, queued), "{queued}");
            }
        }
    }

    #[test]
    fn target_of_summaries() {
        assert_eq!(summary_target(13, 0), 0xfc00_0000);
        assert_eq!(summary_target(15, 1), 0xfbc0_0000);
        assert_eq!(summary_target(16, 0), 0xfe00_0000);
        assert_eq!(summary_target(16, 2000), 0);
    }
}
