//! The header of an artifacts file.

/// Length of a version 1.0 header.
pub const HEADER_LEN_1_0: usize = 48;
/// Length of a version 1.1 header.
pub const HEADER_LEN_1_1: usize = 56;
/// Bytes for the writer's revision, a zero at the end included.
const REVISION_LEN: usize = 41;

const REVISION_AT: usize = 4;
const VERSION_AT: usize = REVISION_AT + REVISION_LEN;
const DIRTY_AT: usize = VERSION_AT + 2;
const TAIL_AT: usize = HEADER_LEN_1_0;
const INTERRUPTED_AT: usize = TAIL_AT + 4;

/// Versions that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactsVersion {
    /// 1.0: read only; hived itself refuses it today.
    V1_0,
    /// 1.1: the one that is written.
    V1_1,
}

impl ArtifactsVersion {
    /// Length of the header; the records start there.
    pub fn header_len(self) -> usize {
        match self {
            Self::V1_0 => HEADER_LEN_1_0,
            Self::V1_1 => HEADER_LEN_1_1,
        }
    }
}

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactsHeader {
    /// Format version.
    pub version: ArtifactsVersion,
    /// Last block that has a record; 0 in a file without records.
    pub head_block: u32,
    /// First block that has a record.
    pub tail_block: u32,
    /// Who wrote it: hived puts a git revision here. At most 40 bytes of ASCII.
    pub revision: String,
    /// Not closed cleanly, or still open.
    pub dirty: bool,
    /// Records of lower blocks are missing (zero); 0 when all are there.
    pub interrupted_at: u32,
}

/// Bytes that are no header of a known version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Not enough bytes.
    #[error("{found} bytes are too few for a header of {needed}")]
    TooShort {
        /// Bytes at hand.
        found: usize,
        /// Bytes that the version needs.
        needed: usize,
    },
    /// Neither 1.0 nor 1.1.
    #[error("version {major}.{minor} is not known (1.0 and 1.1 are)")]
    Version {
        /// Major part.
        major: u8,
        /// Minor part.
        minor: u8,
    },
    /// The flag is neither 0 nor 1.
    #[error("the flag of an open file is {0}, not 0 or 1")]
    DirtyFlag(u8),
    /// The range of blocks is impossible.
    #[error("records of blocks {tail} to {head} are announced, interrupted at {interrupted_at}")]
    Range {
        /// First block.
        tail: u32,
        /// Last block.
        head: u32,
        /// Where generating stopped.
        interrupted_at: u32,
    },
}

impl ArtifactsHeader {
    /// Number of records that the header announces.
    pub fn record_count(&self) -> u32 {
        if self.head_block == 0 {
            0
        } else {
            self.head_block - self.tail_block + 1
        }
    }

    /// Whether every announced record was written.
    pub fn is_complete(&self) -> bool {
        self.interrupted_at == 0
    }

    /// Reads a header at the start of `bytes`.
    ///
    /// # Errors
    /// If the version is unknown, bytes are missing, or the block range is impossible.
    pub fn unpack(bytes: &[u8]) -> Result<Self, HeaderError> {
        let short = |needed| HeaderError::TooShort {
            found: bytes.len(),
            needed,
        };
        let (fixed, rest) = bytes
            .split_at_checked(HEADER_LEN_1_0)
            .ok_or(short(HEADER_LEN_1_0))?;
        let number = |bytes: &[u8], at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let (version, tail_block, interrupted_at) = match (fixed[VERSION_AT], fixed[VERSION_AT + 1]) {
            (1, 0) => (ArtifactsVersion::V1_0, 1, 0),
            (1, 1) if rest.len() >= HEADER_LEN_1_1 - HEADER_LEN_1_0 => (
                ArtifactsVersion::V1_1,
                number(bytes, TAIL_AT),
                number(bytes, INTERRUPTED_AT),
            ),
            (1, 1) => return Err(short(HEADER_LEN_1_1)),
            (major, minor) => return Err(HeaderError::Version { major, minor }),
        };
        let dirty = match fixed[DIRTY_AT] {
            0 => false,
            1 => true,
            other => return Err(HeaderError::DirtyFlag(other)),
        };
        let head_block = number(fixed, 0);
        let empty = head_block == 0;
        if !empty && (tail_block == 0 || tail_block > head_block || interrupted_at > head_block) {
            return Err(HeaderError::Range {
                tail: tail_block,
                head: head_block,
                interrupted_at,
            });
        }
        let revision = &fixed[REVISION_AT..VERSION_AT];
        let end = revision.iter().position(|b| *b == 0).unwrap_or(REVISION_LEN);
        Ok(Self {
            version,
            head_block,
            tail_block,
            revision: String::from_utf8_lossy(&revision[..end]).into_owned(),
            dirty,
            interrupted_at,
        })
    }

    /// The bytes of the header. A revision is cut to 40 bytes.
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.version.header_len()];
        bytes[..4].copy_from_slice(&self.head_block.to_le_bytes());
        let revision = self.revision.as_bytes();
        let len = revision.len().min(REVISION_LEN - 1);
        bytes[REVISION_AT..REVISION_AT + len].copy_from_slice(&revision[..len]);
        bytes[VERSION_AT] = 1;
        bytes[DIRTY_AT] = u8::from(self.dirty);
        if self.version == ArtifactsVersion::V1_1 {
            bytes[VERSION_AT + 1] = 1;
            bytes[TAIL_AT..INTERRUPTED_AT].copy_from_slice(&self.tail_block.to_le_bytes());
            bytes[INTERRUPTED_AT..].copy_from_slice(&self.interrupted_at.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> ArtifactsHeader {
        ArtifactsHeader {
            version: ArtifactsVersion::V1_1,
            head_block: 100,
            tail_block: 7,
            revision: "abc".to_owned(),
            dirty: true,
            interrupted_at: 9,
        }
    }

    #[test]
    fn layout_is_pinned() {
        let mut expected = vec![100, 0, 0, 0];
        expected.extend_from_slice(b"abc");
        expected.resize(45, 0);
        expected.extend_from_slice(&[1, 1, 1, 7, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(header().pack(), expected);
        assert_eq!(ArtifactsHeader::unpack(&expected), Ok(header()));
    }

    #[test]
    fn impossible_headers_are_refused() {
        let unpack = |change: fn(&mut ArtifactsHeader)| {
            let mut header = header();
            change(&mut header);
            ArtifactsHeader::unpack(&header.pack())
        };
        for change in [
            (|h| h.tail_block = 0) as fn(&mut ArtifactsHeader),
            |h| h.tail_block = 101,
            |h| h.interrupted_at = 101,
        ] {
            assert!(matches!(unpack(change), Err(HeaderError::Range { .. })));
        }
        let mut bytes = header().pack();
        assert!(matches!(
            ArtifactsHeader::unpack(&bytes[..55]),
            Err(HeaderError::TooShort {
                found: 55,
                needed: 56
            })
        ));
        bytes[DIRTY_AT] = 2;
        assert_eq!(ArtifactsHeader::unpack(&bytes), Err(HeaderError::DirtyFlag(2)));
        bytes[VERSION_AT + 1] = 2;
        assert_eq!(
            ArtifactsHeader::unpack(&bytes),
            Err(HeaderError::Version { major: 1, minor: 2 })
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..80), minor in 0..3_u8) {
            if bytes.len() > VERSION_AT + 1 {
                bytes[VERSION_AT] = 1;
                bytes[VERSION_AT + 1] = minor;
            }
            if let Ok(header) = ArtifactsHeader::unpack(&bytes) {
                prop_assert!(u64::from(header.record_count()) <= u64::from(u32::MAX));
            }
        }
    }
}
