//! Opening a file for reading: its end must be whole, and its head block says how many blocks there are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cairn_chain::{Block, BlockId, Symbols};

use super::{Index, Part, Place};
use crate::attributes::OFFSET_MASK;
use crate::facts::Facts;
use crate::trailers::{TrailerWalk, Trailers, WalkError, collect};
use crate::{Artifacts, BlockDecoder, BlockFault, Compression, Dictionaries, LogError, artifacts_path};

/// So many blocks at the end are decoded and must follow one another, as hived does it.
const TAIL_CHECK: usize = 10;

/// A file that was opened.
pub(crate) struct Opened {
    pub(crate) part: Part,
    /// Id of its last block, unless it is empty.
    pub(crate) head: Option<BlockId>,
}

/// Opens a file. `first` is the number that its first block must have; without it, the first block says.
pub(crate) fn open(
    path: &Path,
    first: Option<u32>,
    previous: Option<BlockId>,
    dictionaries: &Arc<Dictionaries>,
) -> Result<Opened, LogError> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    let end = file.metadata().map_err(LogError::io("open", path))?.len();
    if end == 0 {
        let part = Part::new(path.to_owned(), file, first.unwrap_or(1), previous);
        return Ok(Opened { part, head: None });
    }
    let mut decoder = BlockDecoder::new(dictionaries.clone());
    let head = check_tail(path, &file, end, &mut decoder)?;
    let damaged = |fault| LogError::Block {
        place: Place {
            file: path.to_owned(),
            offset: 0,
            block: first,
        },
        fault,
    };
    let (first, index) = match first {
        Some(first) => (first, None),
        None => find_first(path, &file, end, head.number, &mut decoder)?,
    };
    let Some(before) = head.number.checked_sub(first) else {
        return Err(damaged(BlockFault::Number {
            expected: first,
            found: head.number,
        }));
    };
    let part = Part::new(path.to_owned(), file, first, previous);
    // Block numbers start at 1, so the count fits whenever `first` is a number.
    part.set_content(before.saturating_add(1), end, index);
    Ok(Opened {
        part,
        head: Some(head.id),
    })
}

/// Decodes the last blocks; gives the head block's facts.
fn check_tail(path: &Path, file: &File, end: u64, decoder: &mut BlockDecoder) -> Result<Facts, LogError> {
    let mut walk = TrailerWalk::new(file, end);
    let mut head: Option<Facts> = None;
    let mut above: Option<Facts> = None;
    for _ in 0..TAIL_CHECK {
        let torn = |offset, block, fault: BlockFault| {
            let place = Place {
                file: path.to_owned(),
                offset,
                block,
            };
            if fault.is_damage() {
                LogError::TornTail { place, fault }
            } else {
                LogError::Block { place, fault }
            }
        };
        let below = above.map(|facts| facts.number.wrapping_sub(1));
        let step = match walk.step_back() {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(WalkError::Io(source)) => return Err(LogError::io("read", path)(source)),
            Err(WalkError::Fault(offset, fault)) => return Err(torn(offset, below, fault)),
        };
        let offset = step.attributes.offset();
        let facts = step
            .read(file)
            .map_err(LogError::io("read", path))
            .map(|stored| whole_facts(step.attributes.compression(), &stored, decoder))?
            .map_err(|fault| torn(offset, below, fault))?;
        if let Some(above) = above
            && above.previous != facts.id
        {
            let fault = BlockFault::Link {
                expected: facts.id,
                found: above.previous,
            };
            return Err(torn(step.end, Some(above.number), fault));
        }
        head.get_or_insert(facts);
        above = Some(facts);
    }
    head.ok_or_else(|| LogError::TornTail {
        place: Place {
            file: path.to_owned(),
            offset: 0,
            block: None,
        },
        fault: BlockFault::NoBlock,
    })
}

/// Header facts of stored bytes that are a block from the first to the last one.
///
/// A frame shows where it ends, packed bytes only when they are decoded. That matters here: eight zero bytes in the
/// middle of a block (in the Merkle root of an empty one, say) are a trailer that makes one block of all that is before
/// them, and block 1's header is at its start. Which symbols the chain has is not known, so either may fit.
fn whole_facts(
    compression: Compression,
    stored: &[u8],
    decoder: &mut BlockDecoder,
) -> Result<Facts, BlockFault> {
    let facts = facts_of(compression, stored, decoder)?;
    if compression == Compression::None && Block::unpack_exact(stored, Symbols::Mainnet).is_err() {
        Block::unpack_exact(stored, Symbols::Testnet)?;
    }
    Ok(facts)
}

/// Header facts of stored bytes.
pub(crate) fn facts_of(
    compression: Compression,
    stored: &[u8],
    decoder: &mut BlockDecoder,
) -> Result<Facts, BlockFault> {
    Ok(Facts::of(decoder.view(compression, stored)?)?)
}

/// Number of the first block of a file whose name does not tell it, and the index if that was built on the way.
fn find_first(
    path: &Path,
    file: &File,
    end: u64,
    head: u32,
    decoder: &mut BlockDecoder,
) -> Result<(u32, Option<Index>), LogError> {
    if let Some(first) = first_by_artifacts(path, file, end, head, decoder) {
        return Ok((first, None));
    }
    let trailers = match collect(file, end, head) {
        Ok(trailers) => trailers,
        Err(WalkError::Io(source)) => return Err(LogError::io("read", path)(source)),
        Err(WalkError::Fault(offset, fault)) => {
            let place = Place {
                file: path.to_owned(),
                offset,
                block: None,
            };
            return Err(LogError::Block { place, fault });
        }
    };
    // The walk went down to offset 0, so there is a first block.
    let behind = trailers.get(1).map_or(end, |trailer| trailer & OFFSET_MASK);
    let first = first_ending_at(file, behind, decoder).map_err(|fault| match fault {
        WalkError::Io(source) => LogError::io("read", path)(source),
        WalkError::Fault(offset, fault) => LogError::Block {
            place: Place {
                file: path.to_owned(),
                offset,
                block: None,
            },
            fault,
        },
    })?;
    // If the count does not fit the numbers, the index is built again when first used, and finds out where.
    let fits = head
        .checked_sub(first)
        .is_some_and(|before| before as usize + 1 == trailers.len());
    Ok((first, fits.then(|| Index::from_trailers(trailers))))
}

/// The number without a walk, if the artifacts know where the first block ends. The number itself is the block's own.
fn first_by_artifacts(
    path: &Path,
    file: &File,
    end: u64,
    head: u32,
    decoder: &mut BlockDecoder,
) -> Option<u32> {
    let artifacts = Artifacts::open(&artifacts_path(path)).ok()?;
    let header = artifacts.header();
    if !header.is_complete() || header.head_block != head {
        return None;
    }
    let records = artifacts.records(0..2).ok()?;
    let behind = records.get(1).map_or(end, |record| record.trailer & OFFSET_MASK);
    first_ending_at(file, behind, decoder)
        .ok()
        .filter(|first| *first == header.tail_block)
}

/// Number of the block from the start of the file up to `behind`, its trailer included.
fn first_ending_at(file: &File, behind: u64, decoder: &mut BlockDecoder) -> Result<u32, WalkError> {
    let step = Trailers::new(file).block_before(behind)?;
    if step.attributes.offset() != 0 {
        return Err(WalkError::Fault(0, BlockFault::NoBlock));
    }
    let stored = step.read(file).map_err(WalkError::Io)?;
    match facts_of(step.attributes.compression(), &stored, decoder) {
        Ok(facts) => Ok(facts.number),
        Err(fault) => Err(WalkError::Fault(0, fault)),
    }
}
