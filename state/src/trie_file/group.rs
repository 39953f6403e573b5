//! A group of leaves as bytes.
//!
//! Version 1: leaves of a fixed length, paths in full. The checksum is blake3's, 16 bytes, over everything from the
//! start of the file to itself without the checksums of the groups before, so that a group can only be checked after
//! all before it.
//!
//! | bytes | content |
//! |---|---|
//! | 68 a leaf | path (32), hash of the leaf (32), bytes of key and value (4) |
//! | 16 | checksum |
//!
//! Version 2: the bytes that all paths of the group begin with stand once, sizes are as short as they are. The
//! checksum is over the header's checksum, the number of the group (8 bytes, from 0) and the group's bytes before the
//! checksum, so that groups are checked in any order and by several threads, and one that is altered hides no other.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | bytes of the group without this field and the checksum |
//! | 1 | `s`: bytes that its first and last path have in common, 32 when it has one leaf |
//! | s | those bytes |
//! | 34 to 68 a leaf | rest of the path (32 - s), hash of the leaf (32), bytes of key and value (unsigned LEB128 in its shortest form, at most 4 bytes) |
//! | 16 | checksum |

use std::num::NonZeroU32;

use super::error::TrieFileError;
use super::header::{CHECKSUM, checksum};
use crate::path::Path;
use crate::record::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::trie::{Leaf, NodeHash};

/// A register's place and what the trie keeps of it.
pub(crate) type PlacedLeaf = (Path, Leaf);

/// The largest register, in bytes of key and value.
const LARGEST: u32 = (MAX_KEY_BYTES + MAX_VALUE_BYTES) as u32;
/// Bytes of a leaf in version 1.
pub(super) const PLAIN_LEAF: usize = 68;
/// The most bytes of a size in version 2.
const LONGEST_SIZE: usize = 4;

/// Appends a group of version 1; `so_far` has seen everything before it.
pub(super) fn encode_plain(leaves: &[PlacedLeaf], so_far: &mut blake3::Hasher, out: &mut Vec<u8>) {
    let start = out.len();
    for (path, leaf) in leaves {
        out.extend_from_slice(path.as_bytes());
        out.extend_from_slice(leaf.hash.as_bytes());
        out.extend_from_slice(&leaf.bytes.get().to_le_bytes());
    }
    so_far.update(&out[start..]);
    out.extend_from_slice(&checksum(so_far));
}

/// Appends a group of version 2, of at least one leaf.
pub(super) fn encode_cut(leaves: &[PlacedLeaf], header: &[u8; CHECKSUM], index: u64, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let shared = shared_bytes(leaves);
    out.push(shared as u8);
    if let Some((path, _)) = leaves.first() {
        out.extend_from_slice(&path.as_bytes()[..shared]);
    }
    for (path, leaf) in leaves {
        out.extend_from_slice(&path.as_bytes()[shared..]);
        out.extend_from_slice(leaf.hash.as_bytes());
        let mut size = leaf.bytes.get();
        while size >= 0x80 {
            out.push(size as u8 | 0x80);
            size >>= 7;
        }
        out.push(size as u8);
    }
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    let sum = cut_checksum(header, index, &out[start..]);
    out.extend_from_slice(&sum);
}

/// Checksum of a group of version 2; `bytes` begin with its length.
pub(super) fn cut_checksum(header: &[u8; CHECKSUM], index: u64, bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(header).update(&index.to_le_bytes()).update(bytes);
    checksum(&hasher)
}

/// The fewest and the most bytes that a group of version 2 with so many leaves can give itself.
pub(super) fn cut_length(leaves: usize) -> (usize, usize) {
    // Paths differ, so that of two leaves at least the last byte of the path is there.
    let least = if leaves == 1 { 0 } else { 1 };
    (
        1 + leaves * (least + 32 + 1),
        1 + 32 + leaves * (32 + 32 + LONGEST_SIZE),
    )
}

/// Reads the leaves of a group of version 1. Order is looked at by the caller.
pub(super) fn decode_plain(
    bytes: &[u8],
    offset: u64,
    out: &mut Vec<PlacedLeaf>,
) -> Result<(), TrieFileError> {
    for (at, leaf) in bytes.chunks_exact(PLAIN_LEAF).enumerate() {
        let mut size = [0; 4];
        size.copy_from_slice(&leaf[64..]);
        let read = Leaf {
            hash: NodeHash::from_bytes(array(&leaf[32..64])),
            bytes: in_range(u32::from_le_bytes(size), offset, at)?,
        };
        out.push((Path::from_bytes(array(&leaf[..32])), read));
    }
    Ok(())
}

/// Reads the leaves of a group of version 2, behind its length. Order is looked at by the caller.
pub(super) fn decode_cut(
    bytes: &[u8],
    leaves: usize,
    offset: u64,
    out: &mut Vec<PlacedLeaf>,
) -> Result<(), TrieFileError> {
    let malformed = |leaf, reason| TrieFileError::Leaf { offset, leaf, reason };
    let (&shared, mut rest) = bytes
        .split_first()
        .ok_or_else(|| malformed(0, "there is no length of what the paths share"))?;
    let shared = usize::from(shared);
    if shared > 32 || rest.len() < shared {
        return Err(malformed(0, "the paths share more bytes than there are"));
    }
    let mut path = [0; 32];
    path[..shared].copy_from_slice(&rest[..shared]);
    rest = &rest[shared..];
    let start = out.len();
    for at in 0..leaves {
        let (fixed, behind) = rest
            .split_at_checked(64 - shared)
            .ok_or_else(|| malformed(at, "its bytes end in it"))?;
        path[shared..].copy_from_slice(&fixed[..32 - shared]);
        let (size, length) = size(behind).map_err(|reason| malformed(at, reason))?;
        let read = Leaf {
            hash: NodeHash::from_bytes(array(&fixed[32 - shared..])),
            bytes: in_range(size, offset, at)?,
        };
        out.push((Path::from_bytes(path), read));
        rest = &behind[length..];
    }
    if !rest.is_empty() {
        return Err(malformed(leaves - 1, "bytes follow the last leaf"));
    }
    if shared_bytes(&out[start..]) != shared {
        return Err(malformed(
            0,
            "the paths share another number of bytes than is said",
        ));
    }
    Ok(())
}

/// Leading bytes that all of these sorted paths have in common.
fn shared_bytes(leaves: &[PlacedLeaf]) -> usize {
    match leaves {
        [(first, _), .., (last, _)] => {
            let pairs = first.as_bytes().iter().zip(last.as_bytes());
            pairs.take_while(|(left, right)| left == right).count()
        }
        _ => 32,
    }
}

/// A number in LEB128, and its bytes.
fn size(bytes: &[u8]) -> Result<(u32, usize), &'static str> {
    let mut size = 0_u32;
    for (at, &byte) in bytes.iter().take(LONGEST_SIZE).enumerate() {
        size |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return match at > 0 && byte == 0 {
                true => Err("its size is not in the shortest form"),
                false => Ok((size, at + 1)),
            };
        }
    }
    Err("its size does not end")
}

fn in_range(size: u32, offset: u64, leaf: usize) -> Result<NonZeroU32, TrieFileError> {
    NonZeroU32::new(size)
        .filter(|size| size.get() <= LARGEST)
        .ok_or(TrieFileError::Leaf {
            offset,
            leaf,
            reason: "no register has its size",
        })
}

fn array(bytes: &[u8]) -> [u8; 32] {
    let mut array = [0; 32];
    array.copy_from_slice(bytes);
    array
}
