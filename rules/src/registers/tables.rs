//! Typed access to the registers.

use std::fmt;

use cairn_state::{Registers, StateError};

use super::{CorruptValue, Fields, Record};

/// Failure below the rules: the store, or a register whose bytes make no sense.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The state engine failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// A register's value is no value of its kind: the store is damaged, or was written by another version.
    #[error("register {key} ({kind}) is corrupt: {fault}; rebuild the state by a replay")]
    Corrupt {
        /// Kind of the register.
        kind: &'static str,
        /// Its key in hexadecimal digits.
        key: String,
        /// What is wrong.
        fault: CorruptValue,
    },
    /// A register that another one promises is missing.
    #[error("register {key} ({kind}) is missing; rebuild the state by a replay")]
    Missing {
        /// Kind of the register.
        kind: &'static str,
        /// Its key in hexadecimal digits.
        key: String,
    },
}

/// The registers, read and written as [`Record`]s. Keys and values are made in buffers that are used again.
pub struct Tables {
    registers: Registers,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

pub(crate) fn decode<R: Record>(key: &[u8], bytes: &[u8]) -> Result<R, TableError> {
    let mut fields = Fields::new(bytes);
    R::decode(&mut fields)
        .and_then(|record| fields.end().map(|()| record))
        .map_err(|fault| TableError::Corrupt {
            kind: R::NAME,
            key: hex::encode(key),
            fault,
        })
}

impl Tables {
    /// Takes over the registers.
    #[must_use]
    pub fn new(registers: Registers) -> Self {
        Self {
            registers,
            key: Vec::with_capacity(64),
            value: Vec::with_capacity(256),
        }
    }

    /// The registers below.
    #[must_use]
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The registers below, for what is not a matter of tables.
    pub fn registers_mut(&mut self) -> &mut Registers {
        &mut self.registers
    }

    /// Gives the registers back.
    #[must_use]
    pub fn into_registers(self) -> Registers {
        self.registers
    }

    fn set_key<R: Record>(&mut self, owner: R::Owner<'_>) {
        self.key.clear();
        R::key(owner, &mut self.key);
    }

    /// Reads a register, `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`TableError`], as for all methods here.
    pub fn read<R: Record>(&mut self, owner: R::Owner<'_>) -> Result<Option<R>, TableError> {
        self.set_key::<R>(owner);
        match self.registers.get(&self.key)? {
            Some(bytes) => decode(&self.key, bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Reads a register that must exist.
    ///
    /// # Errors
    ///
    /// [`TableError::Missing`] if it does not.
    pub fn require<R: Record>(&mut self, owner: R::Owner<'_>) -> Result<R, TableError> {
        match self.read(owner)? {
            Some(record) => Ok(record),
            None => Err(TableError::Missing {
                kind: R::NAME,
                key: hex::encode(&self.key),
            }),
        }
    }

    /// Whether a register exists.
    pub fn has<R: Record>(&mut self, owner: R::Owner<'_>) -> Result<bool, TableError> {
        self.set_key::<R>(owner);
        Ok(self.registers.get(&self.key)?.is_some())
    }

    /// The bytes of a register's value.
    pub fn bytes<R: Record>(&mut self, owner: R::Owner<'_>) -> Result<Option<&[u8]>, TableError> {
        self.set_key::<R>(owner);
        Ok(self.registers.get(&self.key)?)
    }

    /// Writes a register.
    pub fn write<R: Record>(&mut self, owner: R::Owner<'_>, record: &R) -> Result<(), TableError> {
        self.set_key::<R>(owner);
        self.value.clear();
        record.encode(&mut self.value);
        Ok(self.registers.set(&self.key, &self.value)?)
    }

    /// Writes a register whose value is plain bytes; none remove it.
    pub fn write_bytes<R: Record>(&mut self, owner: R::Owner<'_>, value: &[u8]) -> Result<(), TableError> {
        self.set_key::<R>(owner);
        Ok(self.registers.set(&self.key, value)?)
    }

    /// Removes a register; no error if it does not exist.
    pub fn remove<R: Record>(&mut self, owner: R::Owner<'_>) -> Result<(), TableError> {
        self.set_key::<R>(owner);
        Ok(self.registers.remove(&self.key)?)
    }
}
