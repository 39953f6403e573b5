//! Work that becomes due at a time, over registers.
//!
//! A [`TimeQueue`] holds at most one entry an account: the time at which something is to happen to it. Registers have
//! no order, so the order is made of them:
//!
//! * **entry**, key `0b`, queue, `01`, name: time (4), the account before it at that time (16), the one after it (16);
//!   zeros: none;
//! * **bucket**, key `0b`, queue, `02`, time (4, big-endian): first (16) and last (16) account of that time. Accounts of
//!   one time are a linked list in the order in which they were added;
//! * **map**, key `0b`, queue, `03`, the first 0 to 3 bytes of a time, big-endian: 256 bits, one for each value of the
//!   next byte, lowest bit of the first byte first. A bit is set if and only if there is a bucket below it; a map
//!   without set bits has no register.
//!
//! The earliest time is four maps away, and kept in memory until it goes. Adding and removing cost a fixed number of
//! registers: entry, neighbour, bucket, and one map in most cases. A gap of years is one step, since the maps lead from
//! one time in use to the next; nothing runs over seconds or slots. When nothing is due a block costs one comparison.

use cairn_chain::{AccountName, Time};

use crate::registers::{CorruptValue, Fields, Record, TableError, TableId, Tables};

const ENTRY: u8 = 1;
const BUCKET: u8 = 2;
const MAP: u8 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    time: Time,
    before: AccountName,
    after: AccountName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    first: AccountName,
    last: AccountName,
}

/// One level of the way to the times in use: which bytes may follow the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ByteMap([u8; 32]);

impl Record for Entry {
    type Owner<'a> = (u8, &'a AccountName);
    const NAME: &'static str = "time queue entry";

    fn key((queue, account): (u8, &AccountName), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::TimeQueue as u8, queue, ENTRY]);
        key.extend_from_slice(account.padded());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.time.0.to_le_bytes());
        value.extend_from_slice(self.before.padded());
        value.extend_from_slice(self.after.padded());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            time: fields.time()?,
            before: fields.name()?,
            after: fields.name()?,
        })
    }
}

impl Record for Bucket {
    type Owner<'a> = (u8, Time);
    const NAME: &'static str = "time queue bucket";

    fn key((queue, time): (u8, Time), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::TimeQueue as u8, queue, BUCKET]);
        key.extend_from_slice(&time.0.to_be_bytes());
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(self.first.padded());
        value.extend_from_slice(self.last.padded());
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        Ok(Self {
            first: fields.name()?,
            last: fields.name()?,
        })
    }
}

impl Record for ByteMap {
    /// The queue and the bytes before.
    type Owner<'a> = (u8, &'a [u8]);
    const NAME: &'static str = "time queue map";

    fn key((queue, prefix): (u8, &[u8]), key: &mut Vec<u8>) {
        key.extend_from_slice(&[TableId::TimeQueue as u8, queue, MAP]);
        key.extend_from_slice(prefix);
    }

    fn encode(&self, value: &mut Vec<u8>) {
        value.extend_from_slice(&self.0);
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, CorruptValue> {
        let map = Self(fields.array()?);
        match map.first() {
            Some(_) => Ok(map),
            None => Err(fields.bad_number("a set bit", 0)),
        }
    }
}

impl ByteMap {
    const EMPTY: Self = Self([0; 32]);

    fn set(&mut self, byte: u8) {
        self.0[usize::from(byte / 8)] |= 1 << (byte % 8);
    }

    fn clear(&mut self, byte: u8) {
        self.0[usize::from(byte / 8)] &= !(1 << (byte % 8));
    }

    fn first(&self) -> Option<u8> {
        let (index, bits) = (0u8..32).zip(self.0).find(|(_, bits)| *bits != 0)?;
        // At most 31 * 8 + 7.
        Some(index * 8 + bits.trailing_zeros() as u8)
    }
}

/// What is known of the earliest time without reading a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Earliest {
    Unknown,
    Nothing,
    At(Time),
}

/// A queue of accounts by time. The registers hold everything; the structure only remembers the earliest time.
#[derive(Debug, Clone)]
pub struct TimeQueue {
    queue: u8,
    earliest: Earliest,
}

impl TimeQueue {
    /// The queue with this number. Two queues must not have the same.
    #[must_use]
    pub const fn new(queue: u8) -> Self {
        Self {
            queue,
            earliest: Earliest::Unknown,
        }
    }

    /// Forgets what is remembered. To be called when registers were put back to earlier values.
    pub fn forget(&mut self) {
        self.earliest = Earliest::Unknown;
    }

    /// The earliest time, `None` if the queue is empty.
    ///
    /// # Errors
    ///
    /// [`TableError`], as for all methods here.
    pub fn earliest(&mut self, tables: &mut Tables) -> Result<Option<Time>, TableError> {
        if self.earliest == Earliest::Unknown {
            self.earliest = self
                .find_earliest(tables)?
                .map_or(Earliest::Nothing, Earliest::At);
        }
        Ok(match self.earliest {
            Earliest::At(time) => Some(time),
            Earliest::Unknown | Earliest::Nothing => None,
        })
    }

    fn find_earliest(&self, tables: &mut Tables) -> Result<Option<Time>, TableError> {
        let mut time = [0; 4];
        for level in 0..4 {
            let map = match level {
                0 => match tables.read::<ByteMap>((self.queue, &[]))? {
                    Some(map) => map,
                    None => return Ok(None),
                },
                _ => tables.require::<ByteMap>((self.queue, &time[..level]))?,
            };
            // A map in a register has a set bit, or it would not decode.
            time[level] = map.first().unwrap_or_default();
        }
        Ok(Some(Time(u32::from_be_bytes(time))))
    }

    /// When the account's entry becomes due, `None` if it has none.
    ///
    /// # Errors
    ///
    /// [`TableError`].
    pub fn time_of(&self, tables: &mut Tables, account: &AccountName) -> Result<Option<Time>, TableError> {
        Ok(tables
            .read::<Entry>((self.queue, account))?
            .map(|entry| entry.time))
    }

    /// The first account whose time is not later than `now`, with its time. It stays in the queue.
    ///
    /// # Errors
    ///
    /// [`TableError`].
    pub fn first_due(
        &mut self,
        tables: &mut Tables,
        now: Time,
    ) -> Result<Option<(Time, AccountName)>, TableError> {
        match self.earliest(tables)? {
            Some(time) if time <= now => {
                let bucket = tables.require::<Bucket>((self.queue, time))?;
                Ok(Some((time, bucket.first)))
            }
            _ => Ok(None),
        }
    }

    /// Sets the account's time, whether or not it had one. It comes behind those that have the same time already.
    ///
    /// # Errors
    ///
    /// [`TableError`].
    pub fn set(&mut self, tables: &mut Tables, account: &AccountName, time: Time) -> Result<(), TableError> {
        match self.time_of(tables, account)? {
            Some(present) if present == time => return Ok(()),
            Some(_) => self.remove(tables, account)?,
            None => {}
        }
        let mut entry = Entry {
            time,
            before: AccountName::EMPTY,
            after: AccountName::EMPTY,
        };
        if let Some(mut bucket) = tables.read::<Bucket>((self.queue, time))? {
            let mut last = tables.require::<Entry>((self.queue, &bucket.last))?;
            last.after = *account;
            tables.write((self.queue, &bucket.last), &last)?;
            entry.before = bucket.last;
            bucket.last = *account;
            tables.write((self.queue, time), &bucket)?;
        } else {
            tables.write(
                (self.queue, time),
                &Bucket {
                    first: *account,
                    last: *account,
                },
            )?;
            self.mark(tables, time)?;
        }
        tables.write((self.queue, account), &entry)?;
        let is_earliest = match self.earliest {
            Earliest::Unknown => false,
            Earliest::Nothing => true,
            Earliest::At(earliest) => time < earliest,
        };
        if is_earliest {
            self.earliest = Earliest::At(time);
        }
        Ok(())
    }

    /// Removes the account's entry; nothing happens if it has none.
    ///
    /// # Errors
    ///
    /// [`TableError`].
    pub fn remove(&mut self, tables: &mut Tables, account: &AccountName) -> Result<(), TableError> {
        let Some(entry) = tables.read::<Entry>((self.queue, account))? else {
            return Ok(());
        };
        tables.remove::<Entry>((self.queue, account))?;
        if entry.before.is_empty() && entry.after.is_empty() {
            tables.remove::<Bucket>((self.queue, entry.time))?;
            self.unmark(tables, entry.time)?;
            if self.earliest == Earliest::At(entry.time) {
                self.earliest = Earliest::Unknown;
            }
            return Ok(());
        }
        if !entry.before.is_empty() {
            let mut before = tables.require::<Entry>((self.queue, &entry.before))?;
            before.after = entry.after;
            tables.write((self.queue, &entry.before), &before)?;
        }
        if !entry.after.is_empty() {
            let mut after = tables.require::<Entry>((self.queue, &entry.after))?;
            after.before = entry.before;
            tables.write((self.queue, &entry.after), &after)?;
        }
        if entry.before.is_empty() || entry.after.is_empty() {
            let mut bucket = tables.require::<Bucket>((self.queue, entry.time))?;
            if entry.before.is_empty() {
                bucket.first = entry.after;
            } else {
                bucket.last = entry.before;
            }
            tables.write((self.queue, entry.time), &bucket)?;
        }
        Ok(())
    }

    /// Sets the bits that lead to a time, from the lowest map up; above a map that exists they are set already.
    fn mark(&self, tables: &mut Tables, time: Time) -> Result<(), TableError> {
        let bytes = time.0.to_be_bytes();
        for level in (0..4).rev() {
            let owner = (self.queue, &bytes[..level]);
            let present = tables.read::<ByteMap>(owner)?;
            let mut map = present.unwrap_or(ByteMap::EMPTY);
            map.set(bytes[level]);
            tables.write(owner, &map)?;
            if present.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Clears the bits that lead to a time and nowhere else.
    fn unmark(&self, tables: &mut Tables, time: Time) -> Result<(), TableError> {
        let bytes = time.0.to_be_bytes();
        for level in (0..4).rev() {
            let owner = (self.queue, &bytes[..level]);
            let mut map = tables.require::<ByteMap>(owner)?;
            map.clear(bytes[level]);
            if map.first().is_some() {
                return tables.write(owner, &map);
            }
            tables.remove::<ByteMap>(owner)?;
        }
        Ok(())
    }
}
