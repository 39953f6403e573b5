//! The file that blocks are appended to, with its artifacts.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use cairn_chain::BlockId;

use super::early_sync::EarlySync;
use super::records;
use crate::artifacts::ArtifactsWriter;
use crate::attributes::{Attributes, TRAILER_LEN};
use crate::part::{Part, Span};
use crate::{Artifacts, ArtifactsVersion, Compression, Dictionaries, LogError, Record, artifacts_path};

/// Appended bytes are handed to the system when there are so many. Lower costs calls; higher, and the bytes leave the
/// processor's cache before the system copies them.
const BUFFER: usize = 128 << 10;

/// The last file of a log, open for writing.
#[derive(Debug)]
pub(super) struct Current {
    part: Arc<Part>,
    file: File,
    artifacts: ArtifactsWriter,
    /// Bytes behind what was written.
    buffer: Vec<u8>,
    /// Trailers of the blocks in `buffer`.
    trailers: Vec<u64>,
    /// Where `buffer` belongs.
    written: u64,
    /// End of what is durable.
    synced: u64,
    /// Records of the blocks that are not durable.
    records: Vec<Record>,
    early: EarlySync,
}

impl Current {
    /// Starts a file, which must not be there.
    pub(super) fn create(path: &Path, first: u32, previous: Option<BlockId>) -> Result<Self, LogError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(LogError::io("create", path))?;
        let readable = file.try_clone().map_err(LogError::io("open", path))?;
        let part = Arc::new(Part::new(path.to_owned(), readable, first, previous));
        let artifacts_path = artifacts_path(path);
        let mut artifacts = ArtifactsWriter::create(&artifacts_path, first)?;
        artifacts.publish(&artifacts_path)?;
        Ok(Self::new(part, file, artifacts))
    }

    /// Goes on with a file that ends with a whole block. Its artifacts are made if they do not fit; says so.
    pub(super) fn resume(
        part: Arc<Part>,
        dictionaries: &Arc<Dictionaries>,
    ) -> Result<(Self, bool), LogError> {
        let path = part.path().to_owned();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(LogError::io("open for writing", &path))?;
        let (artifacts, made) = resume_artifacts(&part, dictionaries)?;
        Ok((Self::new(part, file, artifacts), made))
    }

    fn new(part: Arc<Part>, file: File, artifacts: ArtifactsWriter) -> Self {
        let end = part.end();
        let early = EarlySync::new(part.path());
        Self {
            part,
            file,
            artifacts,
            buffer: Vec::new(),
            trailers: Vec::new(),
            written: end,
            synced: end,
            records: Vec::new(),
            early,
        }
    }

    pub(super) fn part(&self) -> &Arc<Part> {
        &self.part
    }

    pub(super) fn first(&self) -> u32 {
        self.part.first()
    }

    pub(super) fn unsynced_bytes(&self) -> u64 {
        self.written - self.synced + self.buffer.len() as u64
    }

    pub(super) fn append(
        &mut self,
        compression: Compression,
        bytes: &[u8],
        id: &BlockId,
    ) -> Result<(), LogError> {
        let offset = self.written + self.buffer.len() as u64;
        let trailer = Attributes::new(offset, compression)
            .map_err(|source| LogError::Full {
                path: self.part.path().to_owned(),
                source,
            })?
            .pack();
        self.buffer.reserve(bytes.len() + TRAILER_LEN);
        self.buffer.extend_from_slice(bytes);
        self.buffer.extend_from_slice(&trailer.to_le_bytes());
        self.trailers.push(trailer);
        self.records.push(Record::new(trailer, id));
        if self.buffer.len() >= BUFFER {
            self.flush()
        } else {
            Ok(())
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), LogError> {
        if let Err(error) = self.file.write_all_at(&self.buffer, self.written) {
            // A disk that fills up takes a piece of a block. It is cut off at once, so that the file ends with a whole
            // block also for those who only read it. Where even that fails, opening the log for writing does it.
            let _ = self.file.set_len(self.written);
            return Err(LogError::io("write", self.part.path())(error));
        }
        let bytes = self.buffer.len() as u64;
        self.written += bytes;
        self.early.wrote(bytes);
        self.part.publish(&self.trailers, self.written);
        self.buffer.clear();
        self.trailers.clear();
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<(), LogError> {
        self.flush()?;
        if self.synced != self.written {
            self.file
                .sync_data()
                .map_err(LogError::io("sync", self.part.path()))?;
            self.synced = self.written;
        }
        self.artifacts.append(&self.records)?;
        self.records.clear();
        Ok(())
    }

    /// Cuts everything behind block `head`, which is at `span`. Everything must be synced.
    pub(super) fn truncate(&mut self, head: u32, span: Span) -> Result<(), LogError> {
        let end = span.end + TRAILER_LEN as u64;
        // First the artifacts: they must not name blocks that are gone.
        self.artifacts.truncate(head)?;
        self.part.truncate(&self.file, head - self.first() + 1, end)?;
        self.written = end;
        self.synced = end;
        Ok(())
    }

    /// Everything must be synced.
    pub(super) fn close(self) -> Result<(), LogError> {
        self.file
            .sync_all()
            .map_err(LogError::io("sync", self.part.path()))?;
        self.artifacts.close()
    }
}

/// Artifacts that cover the part, to go on with: those that are there, as far as they fit, or new ones.
fn resume_artifacts(
    part: &Part,
    dictionaries: &Arc<Dictionaries>,
) -> Result<(ArtifactsWriter, bool), LogError> {
    let path = artifacts_path(part.path());
    let range = part.range();
    if let Some((first, last)) = range
        && let Ok(artifacts) = Artifacts::open(&path)
    {
        let header = artifacts.header();
        let usable =
            header.version == ArtifactsVersion::V1_1 && header.is_complete() && header.tail_block == first;
        let head = header.head_block.min(last);
        // Without records nothing can be wrong with them.
        if usable && (head == 0 || records::fit(part, &artifacts, head, dictionaries)?) {
            let mut writer = ArtifactsWriter::resume(&artifacts, head)?;
            records::write_missing(part, &mut writer, dictionaries)?;
            return Ok((writer, false));
        }
    }
    let mut writer = ArtifactsWriter::create(&path, part.first())?;
    records::write_missing(part, &mut writer, dictionaries)?;
    writer.publish(&path)?;
    Ok((writer, range.is_some()))
}
