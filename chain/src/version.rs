//! Versions of the protocol, as blocks name them.

use std::fmt;
use std::str::FromStr;

use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// A version: major in the top byte, hardfork in the next, release in the low 16 bits. Packed as a little-endian
/// number, so that 1.28.0 is the bytes `00 00 1c 01`. Ordered as a number, which is the order of versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(pub u32);

impl Version {
    /// Puts a version together.
    #[must_use]
    pub const fn new(major: u8, hardfork: u8, release: u16) -> Self {
        Self((major as u32) << 24 | (hardfork as u32) << 16 | release as u32)
    }

    /// 0 for Steem and for Hive up to hardfork 23, else 1.
    #[must_use]
    pub const fn major(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// Number of the hardfork.
    #[must_use]
    pub const fn hardfork(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Release within the hardfork.
    #[must_use]
    pub const fn release(self) -> u16 {
        self.0 as u16
    }

    /// The version with release 0: how hardforks are compared with what witnesses run.
    #[must_use]
    pub const fn without_release(self) -> Self {
        Self(self.0 & 0xffff_0000)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major(), self.hardfork(), self.release())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

/// Text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a version like 1.28.0 expected, {found:?} found")]
pub struct ParseVersionError {
    /// The text.
    pub found: String,
}

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('.');
        let version = (|| {
            let major = parts.next()?.parse().ok()?;
            let hardfork = parts.next()?.parse().ok()?;
            let release = parts.next()?.parse().ok()?;
            parts
                .next()
                .is_none()
                .then(|| Self::new(major, hardfork, release))
        })();
        version.ok_or_else(|| ParseVersionError {
            found: text.to_owned(),
        })
    }
}

impl<'a> Unpack<'a> for Version {
    const MIN_SIZE: usize = 4;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        u32::unpack(reader).map(Self)
    }
}

impl Pack for Version {
    fn pack(&self, packer: &mut Packer) {
        self.0.pack(packer);
    }
}
