//! The header file: found or begun, read, extended.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use cairn_chain::{BlockId, ChainId, SignedHeader};

use super::format::{
    FILE_HEAD, SEGMENT_BLOCKS, SEGMENT_HEAD, SEGMENT_LIMIT, SegmentHead, first_in_file_head, pack_file_head,
};
use super::{HeaderFileError, LogHeaders, segment};
use crate::pread::read_up_to;
use crate::{BlockLog, LogError};

/// Headers that were read from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// The signed headers, one behind the other.
    pub bytes: Vec<u8>,
    /// How many.
    pub count: u32,
}

/// Copies of a log's headers in a file of their own; see the module. Any number of threads may read while
/// one extends it.
#[derive(Debug)]
pub struct HeaderFile {
    path: PathBuf,
    file: File,
    first: u32,
    index: RwLock<Index>,
}

/// Where the whole segments are.
#[derive(Debug, Default)]
struct Index {
    offsets: Vec<u64>,
    /// Behind the last of them.
    end: u64,
}

impl HeaderFile {
    /// Opens the file beside a log, as far as it is an index of the log up to block `head`, or begins one.
    ///
    /// What is torn, or of other blocks than the log's, is cut. A file of another chain, one that begins behind the
    /// log's first block and one that ends before it are made anew.
    ///
    /// # Errors
    /// [`HeaderFileError`]; an empty log has no headers to keep.
    pub fn open(path: &Path, chain: &ChainId, log: &BlockLog, head: u32) -> Result<Self, HeaderFileError> {
        let first_of_log = log.first_number().ok_or(LogError::OutOfRange {
            block: 1,
            range: None,
        })?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(HeaderFileError::io("open", path))?;
        let mut start = [0; FILE_HEAD];
        let length = file.metadata().map_err(HeaderFileError::io("read", path))?.len();
        let read = read_up_to(&file, &mut start, 0).map_err(HeaderFileError::io("read", path))?;
        let found = (read == FILE_HEAD)
            .then(|| first_in_file_head(&start, chain))
            .flatten()
            .filter(|first| *first <= first_of_log);
        let mut this = Self {
            path: path.to_owned(),
            file,
            first: found.unwrap_or(first_of_log),
            index: RwLock::default(),
        };
        let mut index = match found {
            Some(first) => this.hop(first, length)?,
            None => Index::empty(),
        };
        this.anchor(&mut index, log, head)?;
        this.tell_of_cut(&index, length);
        if index.offsets.is_empty() {
            this.first = first_of_log;
            index = Index::empty();
            this.file
                .set_len(0)
                .and_then(|()| this.file.write_all_at(&pack_file_head(chain, first_of_log), 0))
                .map_err(HeaderFileError::io("begin", path))?;
        } else if index.end < length {
            this.file
                .set_len(index.end)
                .map_err(HeaderFileError::io("cut", path))?;
        }
        this.index = RwLock::new(index);
        Ok(this)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// First block whose header is not in the file.
    pub fn next_number(&self) -> u32 {
        let segments = self.read_index(|index| index.offsets.len());
        self.first_of(segments)
    }

    /// The headers of blocks from `first` on, at most `max_count` and in at most `max_bytes`, as far as the file has
    /// them: none if it does not have the first.
    ///
    /// # Errors
    /// When the file cannot be read. A segment that was altered is no error: it is cut off, and built again when the
    /// file is next extended.
    pub fn read(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Headers, HeaderFileError> {
        let mut headers = Headers::default();
        while headers.count < max_count {
            let Some(from) = first.checked_add(headers.count) else {
                break;
            };
            let Some((number, offset)) = self.segment_of(from) else {
                break;
            };
            let start = self.first_of(number);
            let Some(bytes) = self.load(offset, start)? else {
                self.drop_from(number, offset);
                break;
            };
            let to = from
                .saturating_add(max_count - headers.count - 1)
                .min(start + (SEGMENT_BLOCKS - 1));
            let Some(place) = segment::locate(&bytes, start, from, to) else {
                self.drop_from(number, offset);
                break;
            };
            if headers.bytes.len() + place.len() > max_bytes {
                headers.append_some(&bytes[place], max_bytes);
                break;
            }
            headers.bytes.extend_from_slice(&bytes[place]);
            headers.count += to - from + 1;
        }
        Ok(headers)
    }

    /// Adds the next segment if the log has all of its blocks up to block `head`. False if it has not, or if `stop`
    /// was set meanwhile. Segments of blocks above `head`, which a log that was cut no longer has, are forgotten.
    /// To be called by one thread only.
    ///
    /// # Errors
    /// When the log cannot be read, or the file cannot be written.
    pub fn extend(&self, log: &BlockLog, head: u32, stop: &AtomicBool) -> Result<bool, HeaderFileError> {
        self.forget_above(head);
        let (segments, end) = self.read_index(|index| (index.offsets.len(), index.end));
        let first = self.first_of(segments);
        let Some(last) = first.checked_add(SEGMENT_BLOCKS - 1).filter(|last| *last <= head) else {
            return Ok(false);
        };
        let mut bytes = Vec::new();
        let mut source = LogHeaders::new(log, first);
        loop {
            if stop.load(Relaxed) {
                return Ok(false);
            }
            let Some(taken) = source.take(&mut bytes) else {
                return Ok(false);
            };
            if bytes.len() > SEGMENT_LIMIT {
                return Err(HeaderFileError::TooLong {
                    first,
                    last,
                    found: bytes.len(),
                    limit: SEGMENT_LIMIT,
                });
            }
            if taken?.number == last {
                break;
            }
        }
        let mut segment = SegmentHead::of(first, &bytes).pack().to_vec();
        segment.append(&mut bytes);
        self.file
            .write_all_at(&segment, end)
            .map_err(HeaderFileError::io("write", &self.path))?;
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // A reader may have cut a segment meanwhile: then this one has its turn again later.
        if index.offsets.len() == segments && index.end == end {
            index.offsets.push(end);
            index.end = end + segment.len() as u64;
        }
        Ok(true)
    }

    fn read_index<T>(&self, look: impl FnOnce(&Index) -> T) -> T {
        look(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// First block of a segment; beyond the last number there is none.
    fn first_of(&self, segment: usize) -> u32 {
        let blocks = u32::try_from(segment)
            .ok()
            .and_then(|segment| segment.checked_mul(SEGMENT_BLOCKS));
        blocks
            .and_then(|blocks| self.first.checked_add(blocks))
            .unwrap_or(u32::MAX)
    }

    /// The segment that holds a block, and its place in the file.
    fn segment_of(&self, number: u32) -> Option<(usize, u64)> {
        let segment = (number.checked_sub(self.first)? / SEGMENT_BLOCKS) as usize;
        let offset = self.read_index(|index| index.offsets.get(segment).copied())?;
        Some((segment, offset))
    }

    fn head_at(&self, offset: u64) -> Result<Option<SegmentHead>, HeaderFileError> {
        let mut head = [0; SEGMENT_HEAD];
        let read =
            read_up_to(&self.file, &mut head, offset).map_err(HeaderFileError::io("read", &self.path))?;
        let head = (read == SEGMENT_HEAD).then(|| SegmentHead::unpack(&head));
        Ok(head.filter(|head| head.length as usize <= SEGMENT_LIMIT))
    }

    /// The headers of a segment; `None` if they are not what was written there.
    fn load(&self, offset: u64, first: u32) -> Result<Option<Vec<u8>>, HeaderFileError> {
        let Some(head) = self.head_at(offset)?.filter(|head| head.first == first) else {
            return Ok(None);
        };
        // Bounded by `head_at`.
        let mut bytes = vec![0; head.length as usize];
        let read = read_up_to(&self.file, &mut bytes, offset + SEGMENT_HEAD as u64)
            .map_err(HeaderFileError::io("read", &self.path))?;
        bytes.truncate(read);
        Ok(head.fits(&bytes).then_some(bytes))
    }

    /// Where the segments are, as far as their heads tell.
    fn hop(&self, first: u32, length: u64) -> Result<Index, HeaderFileError> {
        let mut index = Index::empty();
        let mut due = Some(first);
        while let Some(first) = due {
            let Some(head) = self.head_at(index.end)? else {
                break;
            };
            let end = index.end + SEGMENT_HEAD as u64 + u64::from(head.length);
            let smallest = u64::from(SEGMENT_BLOCKS) * SMALLEST_HEADER;
            if head.first != first || end > length || u64::from(head.length) < smallest {
                break;
            }
            index.offsets.push(index.end);
            index.end = end;
            due = first.checked_add(SEGMENT_BLOCKS);
        }
        Ok(index)
    }

    /// Cuts segments off the end until the last one ends with a block of the log. The ids before it follow from that
    /// one. Each step takes off twice as many as the one before, so that a file of other blocks costs little.
    fn anchor(&self, index: &mut Index, log: &BlockLog, head: u32) -> Result<(), HeaderFileError> {
        let mut step = 1;
        while let Some(offset) = index.offsets.last() {
            let first = self.first_of(index.offsets.len() - 1);
            let bytes = self.load(*offset, first)?;
            let last = first.saturating_add(SEGMENT_BLOCKS - 1);
            let kept = bytes.and_then(|bytes| segment::last_id(&bytes, first));
            if last <= head && kept.is_some() && kept == id_in_log(log, last) {
                return Ok(());
            }
            let left = index.offsets.len().saturating_sub(step);
            index.cut(left);
            step *= 2;
        }
        Ok(())
    }

    /// One line when the file had more than is taken over.
    fn tell_of_cut(&self, index: &Index, length: u64) {
        let kept = if index.offsets.is_empty() { 0 } else { index.end };
        if kept < length && (kept > 0 || length > FILE_HEAD as u64) {
            tracing::warn!(
                target: "block_log",
                "{}: the last {} of {length} bytes are torn, or of other blocks than the block log's, and are cut off; the \
                 headers from block {} on are taken from the block log again",
                self.path.display(),
                length - kept,
                self.first_of(index.offsets.len())
            );
        }
    }

    fn forget_above(&self, head: u32) {
        if self.next_number().saturating_sub(1) <= head {
            return;
        }
        let whole = (head.saturating_add(1).saturating_sub(self.first) / SEGMENT_BLOCKS) as usize;
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.cut(whole);
    }

    /// Forgets a segment that was altered, and all behind it.
    fn drop_from(&self, segment: usize, offset: u64) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if index.offsets.get(segment) == Some(&offset) {
            index.cut(segment);
            tracing::warn!(
                target: "block_log",
                "{}: the headers of blocks {} and on are damaged; they are taken from the block log again",
                self.path.display(),
                self.first_of(segment)
            );
        }
    }
}

/// Bytes of the shortest header: one with an empty name.
const SMALLEST_HEADER: u64 = 20 + 4 + 1 + 20 + 1 + 65;

impl Index {
    fn empty() -> Self {
        Self {
            offsets: Vec::new(),
            end: FILE_HEAD as u64,
        }
    }

    /// Keeps the first `segments`.
    fn cut(&mut self, segments: usize) {
        if let Some(offset) = self.offsets.get(segments) {
            self.end = *offset;
            self.offsets.truncate(segments);
        }
    }
}

impl Headers {
    /// Appends whole headers while there is room.
    fn append_some(&mut self, mut bytes: &[u8], max_bytes: usize) {
        while let Ok((_, length)) = SignedHeader::unpack_prefix(bytes) {
            if self.bytes.len() + length > max_bytes {
                return;
            }
            self.bytes.extend_from_slice(&bytes[..length]);
            self.count += 1;
            bytes = &bytes[length..];
        }
    }
}

/// The id of a block of the log, from its bytes.
fn id_in_log(log: &BlockLog, number: u32) -> Option<BlockId> {
    let mut bytes = Vec::new();
    LogHeaders::new(log, number).take(&mut bytes)?.ok()?;
    Some(SignedHeader::unpack_prefix(&bytes).ok()?.0.id())
}
