//! Opening a file for reading: its end must be whole, and its head block says how many blocks there are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cairn_chain::BlockId;

use super::{Index, Part, Place};
use crate::facts::Facts;
use crate::trailers::{TrailerWalk, WalkError, collect};
use crate::{Artifacts, BlockDecoder, BlockFault, Dictionaries, LogError, artifacts_path};

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
            .map(|stored| facts_of(step.attributes.compression(), &stored, decoder))?
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

/// Header facts of stored bytes.
pub(crate) fn facts_of(
    compression: crate::Compression,
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
    // A fitting artifacts file tells it without a walk. What it says is checked when the index is first used.
    if let Ok(artifacts) = Artifacts::open(&artifacts_path(path)) {
        let header = artifacts.header();
        if header.is_complete() && header.head_block == head {
            return Ok((header.tail_block, None));
        }
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
    // The walk went down to offset 0, so that one step more decodes the first block.
    let behind = trailers
        .get(1)
        .map_or(end, |trailer| trailer & crate::attributes::OFFSET_MASK);
    let mut walk = TrailerWalk::new(file, behind);
    let first = match walk.step_back() {
        Ok(Some(step)) => {
            let stored = step.read(file).map_err(LogError::io("read", path))?;
            facts_of(step.attributes.compression(), &stored, decoder).map_err(|fault| LogError::Block {
                place: Place {
                    file: path.to_owned(),
                    offset: 0,
                    block: None,
                },
                fault,
            })?
        }
        _ => {
            let place = Place {
                file: path.to_owned(),
                offset: 0,
                block: None,
            };
            return Err(LogError::Block {
                place,
                fault: BlockFault::NoBlock,
            });
        }
    };
    // If the count does not fit the numbers, the index is built again when first used, and finds out where.
    let fits = head
        .checked_sub(first.number)
        .is_some_and(|before| before as usize + 1 == trailers.len());
    Ok((first.number, fits.then(|| Index::from_trailers(trailers))))
}
