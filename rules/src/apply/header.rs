//! What the header says, and whether it may.

use cairn_chain::{AccountName, HeaderExtension, MAX_BLOCK_SIZE, PublicKey, SignedHeader};

use super::unplaced::HeaderStop;
use crate::checks::Undecided;
use crate::error::BlockFault;
use crate::registers::{TableError, VotedBlockSizes, Witness, WitnessActivity};
use crate::schedule::{Missed, Schedule, Slot, SlotCheck};
use crate::signatures::RecoveredKeys;
use crate::state::IdentityState;

/// Blocks without which a witness that misses a slot is switched off, in hardforks 14 to 19: a day's.
const IDLE_BLOCKS: u32 = 28_800;

/// No witness can vote for smaller blocks.
const LEAST_VOTED_SIZE: usize = 65_536;

impl IdentityState {
    /// What holds in both modes: link, time, size.
    pub(super) fn check_header(&self, header: &SignedHeader<'_>, size: usize) -> Result<(), HeaderStop> {
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

    /// Since hardfork 12 it is no larger than the scheduled witnesses want, as far as that is known.
    pub(super) fn check_voted_size(&mut self, size: usize) -> Result<(), HeaderStop> {
        if size <= LEAST_VOTED_SIZE || self.memory.globals.hardfork < 12 {
            return Ok(());
        }
        let Some(voted) = self.tables.read::<VotedBlockSizes>(())? else {
            self.checks.undecided(Undecided::BlockSize);
            return Ok(());
        };
        let limit = voted.limit();
        if size > limit {
            return Err(BlockFault::Size { limit, found: size }.into());
        }
        Ok(())
    }

    /// The block is signed with its witness's key.
    pub(super) fn check_signature(
        &mut self,
        header: &SignedHeader<'_>,
        keys: &RecoveredKeys,
    ) -> Result<(), HeaderStop> {
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
    pub(super) fn check_turn(&mut self, slot: Slot, witness: AccountName) -> Result<(), HeaderStop> {
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
    pub(super) fn switch_off_idle(&mut self, slot: Slot, producer: AccountName) -> Result<(), TableError> {
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
    pub(super) fn note_header(
        &mut self,
        header: &SignedHeader<'_>,
        number: u32,
        full: bool,
    ) -> Result<(), HeaderStop> {
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
}
