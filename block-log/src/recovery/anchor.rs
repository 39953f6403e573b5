//! The block from which on a file is checked (see the module above).

use cairn_chain::BlockId;

use super::{Scanner, Subject, offset_of};
use crate::artifacts::ArtifactsWriter;
use crate::check::Expected;
use crate::facts::Facts;
use crate::part::{Index, facts_of};
use crate::trailers::{Step, Trailers, WalkError, collect};
use crate::{Artifacts, ArtifactsVersion, BlockDecoder, BlockFault, LogError, Place, artifacts_path};

/// A block up to which the file is taken to be whole; or the start of the file.
#[derive(Default)]
pub(super) struct Anchor {
    /// Behind that block.
    pub(super) behind: u64,
    /// Number of the file's first block.
    pub(super) first: Option<u32>,
    /// Blocks up to that block.
    pub(super) count: u32,
    pub(super) head: Option<BlockId>,
    pub(super) index: Index,
    /// Whether it is known that what is behind was never synced.
    pub(super) torn_behind: bool,
}

pub(super) fn find(subject: &Subject<'_>, decoder: &mut BlockDecoder) -> Result<Anchor, LogError> {
    if let Some(anchor) = by_artifacts(subject, decoder)? {
        return Ok(anchor);
    }
    if subject.len <= subject.reach {
        return Ok(Anchor::default());
    }
    by_trailers(subject, decoder)
}

/// Case 1: an artifacts file whose last record fits the log.
fn by_artifacts(subject: &Subject<'_>, decoder: &mut BlockDecoder) -> Result<Option<Anchor>, LogError> {
    let Ok(artifacts) = Artifacts::open(&artifacts_path(subject.path)) else {
        return Ok(None);
    };
    let header = artifacts.header();
    let ours = ArtifactsWriter::wrote(&artifacts);
    let usable = header.version == ArtifactsVersion::V1_1
        && header.is_complete()
        && (header.head_block != 0 || ours)
        && subject.first.is_none_or(|first| first == header.tail_block)
        && (ours || !header.dirty);
    if !usable {
        return Ok(None);
    }
    let (first, head, count) = (header.tail_block, header.head_block, header.record_count());
    let torn_behind = ours && header.dirty;
    if head == 0 {
        // A file that was started and never synced.
        return Ok(Some(Anchor {
            torn_behind,
            ..Anchor::default()
        }));
    }
    let Ok(records) = artifacts.records(count - 1..count) else {
        return Ok(None);
    };
    let Some(record) = records.first() else {
        return Ok(None);
    };
    let expected = Expected {
        number: Some(head),
        previous: None,
    };
    let mut scanner = Scanner::new(subject, decoder);
    let Ok(whole) = scanner.block_at(offset_of(record.trailer), expected)? else {
        return Ok(None);
    };
    if whole.attributes.pack() != record.trailer {
        return Ok(None);
    }
    Ok(Some(Anchor {
        behind: whole.behind,
        first: Some(first),
        count,
        head: Some(whole.id),
        index: Index::from_artifacts(artifacts, count),
        torn_behind,
    }))
}

/// Case 3: looks for the end of a block near the end of the file from which trailers lead to its start, then goes
/// back out of the reach of a crash.
fn by_trailers(subject: &Subject<'_>, decoder: &mut BlockDecoder) -> Result<Anchor, LogError> {
    let safe = subject.len - subject.reach;
    let place = |offset, block| Place {
        file: subject.path.to_owned(),
        offset,
        block,
    };
    let io = |source| LogError::io("read", subject.path)(source);
    let mut behind = subject.len;
    let mut first_fault = None;
    let mut trailers = Trailers::new(subject.file);
    while behind > safe {
        let end = behind;
        behind -= 1;
        let step = match trailers.block_before(end) {
            Ok(step) => step,
            Err(WalkError::Io(source)) => return Err(io(source)),
            Err(WalkError::Fault(..)) => continue,
        };
        let Some(facts) = facts_at(subject, step, decoder)? else {
            continue;
        };
        match collect(subject.file, end, facts.number) {
            Ok(trailers) => return anchor_below(subject, &trailers, facts.number, safe, decoder),
            Err(WalkError::Io(source)) => return Err(io(source)),
            // Deep in the file, where no crash reaches: the log itself is broken there.
            Err(WalkError::Fault(offset, fault)) if offset < safe => {
                return Err(LogError::Block {
                    place: place(offset, None),
                    fault,
                });
            }
            // Blocks up to here are not connected with the start of the file; go on below the break.
            Err(WalkError::Fault(offset, fault)) => {
                behind = behind.min(offset);
                first_fault.get_or_insert((offset, fault));
            }
        }
    }
    let (offset, fault) = first_fault.unwrap_or((subject.len, BlockFault::NoBlock));
    Err(LogError::TooMuchDamage {
        last_whole: None,
        bytes: subject.len - safe,
        limit: subject.reach,
        place: place(offset, None),
        fault,
    })
}

/// The last block that ends at or below `safe`, given all trailers up to a block `head` above it.
fn anchor_below(
    subject: &Subject<'_>,
    trailers: &[u64],
    head: u32,
    safe: u64,
    decoder: &mut BlockDecoder,
) -> Result<Anchor, LogError> {
    let fault = |offset, fault| {
        let place = Place {
            file: subject.path.to_owned(),
            offset,
            block: None,
        };
        Err(LogError::Block { place, fault })
    };
    // A block ends where the next one starts, so the anchor is the block before the last start at or below `safe`.
    let next = trailers
        .partition_point(|trailer| offset_of(*trailer) <= safe)
        .saturating_sub(1);
    let Some(first) = (head as usize + 1)
        .checked_sub(trailers.len())
        .and_then(|n| u32::try_from(n).ok())
    else {
        return fault(0, BlockFault::NoBlock);
    };
    if let Some(expected) = subject.first.filter(|expected| *expected != first) {
        return fault(
            0,
            BlockFault::Number {
                expected,
                found: first,
            },
        );
    }
    let behind = trailers.get(next).map_or(0, |trailer| offset_of(*trailer));
    if behind == 0 {
        return Ok(Anchor::default());
    }
    let step = match Trailers::new(subject.file).block_before(behind) {
        Ok(step) => step,
        Err(WalkError::Io(source)) => return Err(LogError::io("read", subject.path)(source)),
        Err(WalkError::Fault(offset, found)) => return fault(offset, found),
    };
    let Some(facts) = facts_at(subject, step, decoder)? else {
        return fault(step.attributes.offset(), BlockFault::NoBlock);
    };
    let expected = first + next as u32 - 1;
    if facts.number != expected {
        return fault(
            step.attributes.offset(),
            BlockFault::Number {
                expected,
                found: facts.number,
            },
        );
    }
    Ok(Anchor {
        behind,
        first: Some(first),
        count: next as u32,
        head: Some(facts.id),
        index: Index::from_trailers(trailers[..next].to_vec()),
        torn_behind: false,
    })
}

/// Header of the block at a step, unless it is damaged.
fn facts_at(
    subject: &Subject<'_>,
    step: Step,
    decoder: &mut BlockDecoder,
) -> Result<Option<Facts>, LogError> {
    let stored = step
        .read(subject.file)
        .map_err(LogError::io("read", subject.path))?;
    match facts_of(step.attributes.compression(), &stored, decoder) {
        Ok(facts) => Ok(Some(facts)),
        Err(fault) if fault.is_damage() => Ok(None),
        Err(fault) => {
            let offset = step.attributes.offset();
            let place = Place {
                file: subject.path.to_owned(),
                offset,
                block: None,
            };
            Err(LogError::Block { place, fault })
        }
    }
}
