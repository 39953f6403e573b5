//! Proof of work: its counters, and who did which work. A miner's place in the queue is in its [`super::Witness`].
//!
//! * counters, key `07`, `02`; 17 bytes: proofs of work so far (8), hived's count of queued miners (4), miners that are
//!   queued (4), flags (1): 1 the queue is known. No register before the first proof of work;
//! * work, key `08`, work (32): the witness that has it as its last work, 16 bytes.

use cairn_chain::AccountName;

use super::{CorruptValue, Fields, GlobalField, Record, TableId};

/// Counters of mining.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mining {
    /// Proofs of work so far, modulo 2^64, counted from 2^64 - 1: the first one gets queue number 0, which means not
    /// queued.
    pub total: u64,
    /// hived's count of queued miners, on which targets depend. Each proof of work adds one, even the first, whose miner
    /// is not queued.
    pub queued: u32,
    /// Witnesses with a queue number.
    pub waiting: u32,
    /// Whether the above and the queue are right. Since hardfork 4 one miner leaves the queue each round, and those who
    /// are voted into the schedule leave it too, so that stake decides.
    pub queue_known: bool,
}

impl Default for Mining {
    fn default() -> Self {
        Self {
            total: u64::MAX,
            queued: 0,
            waiting: 0,
            queue_known: true,
        }
    }
}

impl Record for Mining {
    type Owner<'a> = ();
    const NAME: &'static str = "mining";

    fn key((): (), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::Global as u8, GlobalField::Mining as u8]);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.total.to_le_bytes());
        value.extend_from_slice(&self.queued.to_le_bytes());
        value.extend_from_slice(&self.waiting.to_le_bytes());
        value.push(u8::from(self.queue_known));
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let (total, queued, waiting, known) = (fields.u64()?, fields.u32()?, fields.u32()?, fields.u8()?);
        match known {
            0 | 1 => Ok(Self {
                total,
                queued,
                waiting,
                queue_known: known == 1,
            }),
            _ => Err(fields.bad_number("flags 0 or 1", known.into())),
        }
    }
}

/// The witness that has this work as its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinedWork(pub AccountName);

impl Record for MinedWork {
    type Owner<'a> = &'a [u8; 32];
    const NAME: &'static str = "mined work";

    fn key(work: &[u8; 32], key: &mut Vec<u8>) {
        key.push(TableId::MinedWork as u8);
        key.extend_from_slice(work);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.0.padded());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        fields.name().map(Self)
    }
}
