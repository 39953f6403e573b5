//! Whether a block that is not whole is followed by one that names its id.
//!
//! If so, its header is genuine and what is wrong is its body, or the chain specification that it is read with: no
//! crash leaves that. The block's end is not known here, so every place is tried where its trailer could be.

use cairn_chain::BlockId;

use super::Subject;
use crate::attributes::TRAILER_LEN;
use crate::compression::frame_len;
use crate::facts::Facts;
use crate::part::facts_of;
use crate::pread::read_up_to;
use crate::trailers::{check_trailer, trailer_of};
use crate::{BlockDecoder, BlockFault, Compression, LogError, MAX_STORED_SIZE};

/// Most places that are tried. A real block has one, and some chance matches; the bound is against made-up files.
const MOST_TRIED: usize = 1000;

/// Looks for a trailer of the block at `start` and a block behind it that names the id of the first one.
pub(super) fn exists(
    subject: &Subject<'_>,
    start: u64,
    number: Option<u32>,
    decoder: &mut BlockDecoder,
) -> Result<bool, LogError> {
    // Room for the block, its trailer, and the next block: its frame is needed whole.
    let mut bytes = vec![0; 2 * MAX_STORED_SIZE + TRAILER_LEN];
    let filled = read_up_to(subject.file, &mut bytes, start).map_err(LogError::io("read", subject.path))?;
    bytes.truncate(filled);
    let last = filled.saturating_sub(TRAILER_LEN).min(MAX_STORED_SIZE);
    let mut tried = 0;
    for at in 0..=last {
        let trailer = trailer_of(&bytes[at..filled.min(at + TRAILER_LEN)]);
        let Ok(attributes) = check_trailer(trailer, start + at as u64) else {
            continue;
        };
        if attributes.offset() != start {
            continue;
        }
        let Ok(facts) = facts_of(attributes.compression(), &bytes[..at], decoder) else {
            continue;
        };
        let follows = names(&bytes[at + TRAILER_LEN..], facts.id, decoder);
        if follows && number.is_none_or(|number| number == facts.number) {
            return Ok(true);
        }
        tried += 1;
        if tried == MOST_TRIED {
            break;
        }
    }
    Ok(false)
}

/// Whether a block at the start of `bytes`, stored in whatever form, names this id as the one before.
fn names(bytes: &[u8], id: BlockId, decoder: &mut BlockDecoder) -> bool {
    if bytes.starts_with(id.as_bytes()) {
        return true;
    }
    let Some(len) = frame_len(bytes) else { return false };
    let Some(trailer) = bytes.get(len..len + TRAILER_LEN) else {
        return false;
    };
    let Ok(attributes) = crate::Attributes::unpack(trailer_of(trailer)) else {
        return false;
    };
    let raw = match attributes.compression() {
        Compression::None => return false,
        compression => decoder.view(compression, &bytes[..len]).map_err(BlockFault::from),
    };
    raw.is_ok_and(|raw| Facts::of(raw).is_ok_and(|facts| facts.previous == id))
}
