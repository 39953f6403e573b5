//! The witness schedule.
//!
//! Key: `07`, `03`. Value: as [`ScheduleState::to_bytes`] lays it out.

use super::{CorruptValue, Fields, GlobalField, Record, TableId};
use crate::schedule::ScheduleState;

/// The schedule in state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSchedule(pub ScheduleState);

impl Record for StoredSchedule {
    type Owner<'a> = ();
    const NAME: &'static str = "witness schedule";

    fn key((): (), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::Global as u8, GlobalField::Schedule as u8]);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.0.to_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let bytes = fields.rest();
        let corrupt = fields.bad_number("a schedule", bytes.len() as u64);
        ScheduleState::from_bytes(bytes).map(Self).map_err(|_| corrupt)
    }
}
