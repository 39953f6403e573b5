//! The headers of one segment, once they are in memory.

use cairn_chain::{BlockId, SignedHeader};

use super::format::SEGMENT_BLOCKS;

/// Where the headers of blocks `from` to `to` (included) lie in the bytes of a segment whose first block is `first`.
/// `None` if the bytes are not the headers of a whole segment.
pub(super) fn locate(bytes: &[u8], first: u32, from: u32, to: u32) -> Option<std::ops::Range<usize>> {
    let (mut offset, mut start, mut end) = (0, 0, 0);
    for number in first..first.checked_add(SEGMENT_BLOCKS)? {
        let (header, length) = SignedHeader::unpack_prefix(bytes.get(offset..)?).ok()?;
        if header.number() != number {
            return None;
        }
        if number == from {
            start = offset;
        }
        offset += length;
        if number == to {
            end = offset;
        }
    }
    (offset == bytes.len() && start < end).then_some(start..end)
}

/// The id of the last block of a segment.
pub(super) fn last_id(bytes: &[u8], first: u32) -> Option<BlockId> {
    let last = first.checked_add(SEGMENT_BLOCKS - 1)?;
    let place = locate(bytes, first, last, last)?;
    let (header, _) = SignedHeader::unpack_prefix(&bytes[place]).ok()?;
    Some(header.id())
}
