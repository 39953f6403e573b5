//! Reading a log: any block by number, or all of them in order.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use cairn_chain::{BlockId, ChainSpec};

use crate::layout::{self, Found};
use crate::part::{self, Opened, Part};
use crate::recovery::{CRASH_REACH, Cut, Recovered, Subject, recover};
use crate::{BlockFault, CutPolicy, Dictionaries, LogError, Place, Sequential, StoredBlock};

/// A block log, open for reading. Cheap to clone, to be used from any number of threads.
///
/// A log that was opened by path is what was in the files at that moment: blocks that another program appends later
/// are not seen. One that comes from a [`BlockLogWriter`](crate::BlockLogWriter) follows its writer.
#[derive(Clone, Debug)]
pub struct BlockLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    dictionaries: Arc<Dictionaries>,
    parts: RwLock<Vec<Arc<Part>>>,
}

/// One file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// The file.
    pub path: PathBuf,
    /// Number of its first block.
    pub first: u32,
    /// Number of its last block.
    pub last: u32,
    /// Length up to the end of the last block, in bytes.
    pub bytes: u64,
}

impl BlockLog {
    /// Opens a log for reading. Nothing is written, neither into the log nor beside it.
    ///
    /// `path` is a log file, or a folder that holds `block_log`, or parts from any part on without a gap.
    /// `blocks_per_part` is the chain's number; it only matters for parts.
    ///
    /// Opening decodes the last ten blocks of each file and checks that they follow one another. Where the other blocks
    /// are is found when one is first asked for, part by part; for that, a fitting artifacts file is used.
    ///
    /// # Errors
    /// [`LogError::TornTail`] if a file does not end with a whole block. Other errors if there is no log, a part is
    /// missing, or a dictionary is.
    pub fn open(
        path: &Path,
        blocks_per_part: u32,
        dictionaries: Arc<Dictionaries>,
    ) -> Result<Self, LogError> {
        let parts = match layout::find(path)? {
            Found::Nothing => {
                return Err(LogError::NotFound {
                    path: path.to_owned(),
                });
            }
            Found::Single(file) => vec![part::open(&file, None, None, &dictionaries)?.part],
            Found::Parts(files) => open_parts(&files, blocks_per_part, &dictionaries)?,
        };
        Ok(Self::from_parts(
            path,
            dictionaries,
            parts.into_iter().map(Arc::new).collect(),
        ))
    }

    /// Opens a log whose last file may be torn, up to its last whole block. Nothing is written.
    ///
    /// The end of the last file is checked block by block, with the transactions (see the crate's notes on recovery);
    /// what was left out is given back with the log. With [`CutPolicy::Anything`] that may also be a block that is
    /// whole for another chain specification, and all that follows it.
    ///
    /// # Errors
    /// As [`open`](Self::open), except for a torn tail; with [`CutPolicy::Torn`] also
    /// [`LogError::TooMuchDamage`] and [`LogError::DamagedInside`].
    pub fn open_whole_prefix(
        path: &Path,
        blocks_per_part: u32,
        dictionaries: Arc<Dictionaries>,
        chain: &ChainSpec,
        policy: CutPolicy,
    ) -> Result<(Self, Option<Cut>), LogError> {
        let mut parts = Vec::new();
        let mut previous = None;
        let (last, first) = match layout::find(path)? {
            Found::Nothing => {
                return Err(LogError::NotFound {
                    path: path.to_owned(),
                });
            }
            Found::Single(file) => (file, None),
            Found::Parts(mut files) => {
                let Some((number, last)) = files.pop() else {
                    return Err(LogError::NotFound {
                        path: path.to_owned(),
                    });
                };
                for (number, file) in files {
                    let Opened { part, head } =
                        open_part(&file, number, blocks_per_part, previous, false, &dictionaries)?;
                    parts.push(part);
                    previous = head;
                }
                (last, layout::first_of_part(number, blocks_per_part))
            }
        };
        let (part, cut) = open_prefix(&last, first, previous, &dictionaries, chain, policy)?;
        parts.push(part);
        Ok((
            Self::from_parts(path, dictionaries, parts.into_iter().map(Arc::new).collect()),
            cut,
        ))
    }

    pub(crate) fn from_parts(path: &Path, dictionaries: Arc<Dictionaries>, parts: Vec<Arc<Part>>) -> Self {
        let shared = Shared {
            path: path.to_owned(),
            dictionaries,
            parts: RwLock::new(parts),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// What was opened.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// The dictionaries that the log was opened with.
    pub fn dictionaries(&self) -> &Arc<Dictionaries> {
        &self.shared.dictionaries
    }

    /// Number of the lowest block, unless the log is empty.
    pub fn first_number(&self) -> Option<u32> {
        self.range().map(|(first, _)| first)
    }

    /// Number of the highest block, unless the log is empty.
    pub fn head_number(&self) -> Option<u32> {
        self.range().map(|(_, head)| head)
    }

    /// The log's files that hold blocks, in order.
    pub fn parts(&self) -> Vec<PartInfo> {
        self.with_parts(|parts| {
            parts
                .iter()
                .filter_map(|part| {
                    let (first, last) = part.range()?;
                    Some(PartInfo {
                        path: part.path().to_owned(),
                        first,
                        last,
                        bytes: part.end(),
                    })
                })
                .collect()
        })
    }

    /// A block as it is stored.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] for a block that is not there; other errors if the file is damaged or unreadable.
    pub fn read(&self, number: u32) -> Result<StoredBlock, LogError> {
        self.part_of(number)?.read(number, &self.shared.dictionaries)
    }

    /// The file that holds a block, and the offset of its first stored byte there.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn offset_of(&self, number: u32) -> Result<(PathBuf, u64), LogError> {
        let part = self.part_of(number)?;
        let span = part.locate(number, &self.shared.dictionaries)?;
        Ok((part.path().to_owned(), span.attributes.offset()))
    }

    /// All blocks from `from` on, in order, with large reads. Ends behind the head; for a log with a writer, behind
    /// the block that is the head when the iterator gets there.
    pub fn sequential(&self, from: u32) -> Sequential {
        Sequential::new(self.clone(), from)
    }

    /// The error for a fault of a block, with its place.
    pub(crate) fn fault_at(&self, number: u32, fault: BlockFault) -> LogError {
        match self.offset_of(number) {
            Ok((file, offset)) => LogError::Block {
                place: Place {
                    file,
                    offset,
                    block: Some(number),
                },
                fault,
            },
            Err(error) => error,
        }
    }

    pub(crate) fn range(&self) -> Option<(u32, u32)> {
        self.with_parts(|parts| {
            let first = parts.iter().find_map(|part| part.range())?.0;
            let last = parts.iter().rev().find_map(|part| part.range())?.1;
            Some((first, last))
        })
    }

    /// The part that holds a block.
    pub(crate) fn part_of(&self, number: u32) -> Result<Arc<Part>, LogError> {
        let found = self.with_parts(|parts| {
            let behind = parts.partition_point(|part| part.first() <= number);
            let part = parts.get(behind.checked_sub(1)?)?;
            let (_, last) = part.range()?;
            (number <= last).then(|| part.clone())
        });
        found.ok_or_else(|| LogError::OutOfRange {
            block: number,
            range: self.range(),
        })
    }

    pub(crate) fn push_part(&self, part: Arc<Part>) {
        self.shared
            .parts
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(part);
    }

    pub(crate) fn pop_part(&self) -> Option<Arc<Part>> {
        self.shared
            .parts
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    /// Takes the lowest part away. Whoever reads from it goes on to read: its file stays open as long as it is used.
    pub(crate) fn shift_part(&self) -> Option<Arc<Part>> {
        let mut parts = self.shared.parts.write().unwrap_or_else(PoisonError::into_inner);
        (!parts.is_empty()).then(|| parts.remove(0))
    }

    /// First block of the lowest part, also when that part is empty.
    pub(crate) fn start(&self) -> Option<u32> {
        self.with_parts(|parts| parts.first().map(|part| part.first()))
    }

    pub(crate) fn last_part(&self) -> Option<Arc<Part>> {
        self.with_parts(|parts| parts.last().cloned())
    }

    fn with_parts<T>(&self, look: impl FnOnce(&[Arc<Part>]) -> T) -> T {
        look(&self.shared.parts.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Opens parts that lie one behind the other.
fn open_parts(
    files: &[(u32, PathBuf)],
    blocks_per_part: u32,
    dictionaries: &Arc<Dictionaries>,
) -> Result<Vec<Part>, LogError> {
    let mut parts = Vec::with_capacity(files.len());
    let mut previous = None;
    for (position, (number, file)) in files.iter().enumerate() {
        let is_last = position + 1 == files.len();
        let Opened { part, head } =
            open_part(file, *number, blocks_per_part, previous, is_last, dictionaries)?;
        parts.push(part);
        previous = head;
    }
    Ok(parts)
}

/// Opens a file up to its last whole block.
fn open_prefix(
    path: &Path,
    first: Option<u32>,
    previous: Option<BlockId>,
    dictionaries: &Arc<Dictionaries>,
    chain: &ChainSpec,
    policy: CutPolicy,
) -> Result<(Part, Option<Cut>), LogError> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    let len = file.metadata().map_err(LogError::io("open", path))?.len();
    let reach = CRASH_REACH;
    let subject = Subject {
        path,
        file: &file,
        len,
        first,
        previous,
        chain,
        dictionaries,
        reach,
    };
    let Recovered {
        end,
        first,
        count,
        index,
        cut,
        ..
    } = recover(&subject, policy != CutPolicy::Torn)?;
    let part = Part::new(path.to_owned(), file, first.unwrap_or(1), previous);
    part.set_content(count, end, index);
    Ok((part, cut))
}

/// Opens a part, which must be full unless it is the last one.
pub(crate) fn open_part(
    file: &Path,
    number: u32,
    blocks_per_part: u32,
    previous: Option<BlockId>,
    is_last: bool,
    dictionaries: &Arc<Dictionaries>,
) -> Result<Opened, LogError> {
    let end_error = |expected, found| LogError::PartEnd {
        file: file.to_owned(),
        blocks_per_part,
        expected,
        found,
    };
    let first = layout::first_of_part(number, blocks_per_part).ok_or_else(|| end_error(u32::MAX, 0))?;
    let full = first.saturating_add(blocks_per_part.saturating_sub(1));
    let opened = part::open(file, Some(first), previous, dictionaries)?;
    let last = opened.part.range().map_or(0, |(_, last)| last);
    if last > full || (last < full && !is_last) {
        return Err(end_error(full, last));
    }
    Ok(opened)
}
