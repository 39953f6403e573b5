//! The schedule as bytes, for one register.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of the layout: 1 |
//! | 1 | flags: 1 virtual times differ, 2 there is a next list, 4 there is a head block |
//! | 8 | absolute slot counter |
//! | 8 | with flag 4: number and time of the head block, 4 bytes each |
//! | list | the list in force |
//! | list | with flag 2: the next one |
//! | 1 | number of turns seen |
//! | 17 each | turn, name (16), turns ascending |
//!
//! A list is one byte 0, one byte with the number of entries (1 to 21), the names (16 bytes each); or one byte 1, the
//! size (1 to 21), whether entries differ (0, 1), the reason why it is not known (0 to 3). Numbers are little-endian. At
//! most 1051 bytes; a state has one encoding.

use cairn_chain::{AccountName, Time};

use super::draw::{MOST_SCHEDULED, Schedule, Undecidable};
use super::state::ScheduleState;

/// The layout that [`ScheduleState::to_bytes`] writes.
const LAYOUT: u8 = 1;

const DIFFER: u8 = 1;
const FUTURE: u8 = 2;
const HEAD: u8 = 4;

/// Bytes that are no schedule: a damaged store, or another version's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("schedule: {expected} expected at byte {offset}")]
pub struct CorruptSchedule {
    /// Where.
    pub offset: usize,
    /// What should stand there.
    pub expected: &'static str,
}

const REASONS: [Undecidable; 4] = [
    Undecidable::Votes,
    Undecidable::VirtualTimes,
    Undecidable::MiningQueue,
    Undecidable::ManyEarlyWitnesses,
];

fn write_list(schedule: &Schedule, bytes: &mut Vec<u8>) {
    match schedule {
        Schedule::Known(list) => {
            // A list has at most 21 entries.
            bytes.extend_from_slice(&[0, list.len() as u8]);
            list.iter()
                .for_each(|name| bytes.extend_from_slice(name.padded()));
        }
        Schedule::Unknown {
            size,
            distinct,
            reason,
        } => {
            let reason = REASONS
                .iter()
                .position(|known| known == reason)
                .unwrap_or_default();
            bytes.extend_from_slice(&[1, *size, u8::from(*distinct), reason as u8]);
        }
    }
}

impl ScheduleState {
    /// The state as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut flags = 0;
        if self.virtual_times_differ {
            flags |= DIFFER;
        }
        if self.future.is_some() {
            flags |= FUTURE;
        }
        if self.head.is_some() {
            flags |= HEAD;
        }
        let mut bytes = vec![LAYOUT, flags];
        bytes.extend_from_slice(&self.counter.to_le_bytes());
        if let Some((number, time)) = self.head {
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&time.seconds().to_le_bytes());
        }
        write_list(&self.current, &mut bytes);
        if let Some(future) = &self.future {
            write_list(future, &mut bytes);
        }
        let seen = || {
            self.seen
                .iter()
                .enumerate()
                .filter_map(|(turn, name)| Some((turn, (*name)?)))
        };
        bytes.push(seen().count() as u8);
        for (turn, name) in seen() {
            bytes.push(turn as u8);
            bytes.extend_from_slice(name.padded());
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`CorruptSchedule`] on any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CorruptSchedule> {
        let mut reader = Reader { bytes, offset: 0 };
        if reader.byte()? != LAYOUT {
            return Err(CorruptSchedule {
                offset: 0,
                expected: "layout 1",
            });
        }
        let flags = reader.at_most(DIFFER | FUTURE | HEAD, "flags 0 to 7")?;
        let counter = u64::from_le_bytes(reader.array()?);
        let head = if flags & HEAD == 0 {
            None
        } else {
            Some((
                u32::from_le_bytes(reader.array()?),
                Time(u32::from_le_bytes(reader.array()?)),
            ))
        };
        let current = reader.list()?;
        let future = if flags & FUTURE == 0 {
            None
        } else {
            Some(reader.list()?)
        };
        let mut seen = [None; MOST_SCHEDULED];
        let mut least = 0;
        for _ in 0..reader.at_most(MOST_SCHEDULED as u8, "at most 21 turns")? {
            let turn = usize::from(reader.at_most(MOST_SCHEDULED as u8 - 1, "a turn below 21")?);
            if turn < least {
                return Err(CorruptSchedule {
                    offset: reader.offset - 1,
                    expected: "turns in ascending order",
                });
            }
            least = turn + 1;
            seen[turn] = Some(reader.name()?);
        }
        if reader.offset != bytes.len() {
            return Err(CorruptSchedule {
                offset: reader.offset,
                expected: "the end",
            });
        }
        Ok(Self {
            counter,
            head,
            current,
            future,
            virtual_times_differ: flags & DIFFER != 0,
            seen,
        })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], CorruptSchedule> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let Some(array) = rest.first_chunk::<N>() else {
            return Err(CorruptSchedule {
                offset: self.offset,
                expected: "more bytes",
            });
        };
        self.offset += N;
        Ok(*array)
    }

    fn byte(&mut self) -> Result<u8, CorruptSchedule> {
        self.array().map(|[byte]| byte)
    }

    fn at_most(&mut self, most: u8, expected: &'static str) -> Result<u8, CorruptSchedule> {
        let byte = self.byte()?;
        if byte > most {
            return Err(CorruptSchedule {
                offset: self.offset - 1,
                expected,
            });
        }
        Ok(byte)
    }

    fn entries(&mut self) -> Result<u8, CorruptSchedule> {
        let entries = self.at_most(MOST_SCHEDULED as u8, "1 to 21 entries")?;
        if entries == 0 {
            return Err(CorruptSchedule {
                offset: self.offset - 1,
                expected: "1 to 21 entries",
            });
        }
        Ok(entries)
    }

    fn name(&mut self) -> Result<AccountName, CorruptSchedule> {
        let padded: [u8; 16] = self.array()?;
        let name = AccountName::new(&padded);
        if *name.padded() != padded {
            return Err(CorruptSchedule {
                offset: self.offset - 16,
                expected: "a name padded with zeros",
            });
        }
        Ok(name)
    }

    fn list(&mut self) -> Result<Schedule, CorruptSchedule> {
        if self.at_most(1, "a list: 0 or 1")? == 0 {
            let entries = self.entries()?;
            return (0..entries)
                .map(|_| self.name())
                .collect::<Result<_, _>>()
                .map(Schedule::Known);
        }
        let size = self.entries()?;
        let distinct = self.at_most(1, "0 or 1")? == 1;
        let reason = REASONS[usize::from(self.at_most(3, "a reason 0 to 3")?)];
        Ok(Schedule::Unknown {
            size,
            distinct,
            reason,
        })
    }
}
