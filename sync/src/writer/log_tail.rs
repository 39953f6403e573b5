//! The end of the block log, to which the writer appends.

use cairn_block_log::{BlockLogWriter, LogError, SetAside};
use cairn_chain::BlockId;
use cairn_rules::Head;

use super::fill::LogGap;
use crate::pipeline::{LogEntry, PreparedBlock};

/// Bytes that may go into the log before the disks are looked at again. Lower, the system is asked more often than
/// needed; higher, more must be kept free.
const LOG_STEP: u64 = 4 << 20;

/// See the module. There may be no log: then nothing is written.
#[derive(Debug)]
pub(super) struct LogTail {
    log: Option<BlockLogWriter>,
    keep_parts: Option<u32>,
    /// Bytes that went into the log since the disks were looked at.
    unwatched: u64,
}

impl LogTail {
    pub(super) fn new(log: Option<BlockLogWriter>, keep_parts: Option<u32>) -> Self {
        Self {
            log,
            keep_parts,
            unwatched: 0,
        }
    }

    /// From now on so many full parts are kept.
    pub(super) fn keep_parts(&mut self, keep: Option<u32>) {
        self.keep_parts = keep;
    }

    /// The last block in the log, 0 in an empty one; `None` when there is no log.
    pub(super) fn head_number(&self) -> Option<u32> {
        Some(self.log.as_ref()?.head().map_or(0, |id| id.number()))
    }

    /// What the log lacks below the state's head. A log without a block begins as late as it may: with the oldest part
    /// that is kept.
    pub(super) fn gap(&self, head: Head) -> Option<LogGap> {
        let log = self.log.as_ref().filter(|_| head.number > 0)?;
        let (first, below) = match log.head() {
            Some(id) => (id.number().checked_add(1)?, Some(id)),
            None => {
                let first = log.first_with(head.number.saturating_add(1), self.keep_parts);
                (first, (first == 1).then_some(BlockId::ZERO))
            }
        };
        (first <= head.number).then_some(LogGap {
            first,
            below,
            last: head.id,
        })
    }

    /// Appends a block; one that the log has already is its own tail that is being applied again.
    pub(super) fn append(&mut self, prepared: &PreparedBlock) -> Result<(), LogError> {
        let PreparedBlock { block, log_entry, .. } = prepared;
        let (number, id): (u32, BlockId) = (block.number(), block.id());
        let Some(log) = &mut self.log else { return Ok(()) };
        if log.head().is_some_and(|head| number <= head.number()) {
            return Ok(());
        }
        match log_entry {
            LogEntry::Stored(stored) => {
                log.append(stored, &id)?;
                self.unwatched += stored.bytes.len() as u64;
            }
            LogEntry::Plain | LogEntry::None => {
                log.append_plain(number, block.bytes(), &id)?;
                self.unwatched += block.bytes().len() as u64;
            }
        }
        Ok(())
    }

    /// Lets readers of the log see what was appended.
    pub(super) fn flush(&mut self) -> Result<(), LogError> {
        self.log.as_mut().map_or(Ok(()), BlockLogWriter::flush)
    }

    pub(super) fn sync(&mut self) -> Result<(), LogError> {
        self.log.as_mut().map_or(Ok(()), BlockLogWriter::sync)
    }

    /// Removes old parts of the log, as far as a state that is durable up to this block does not need them any more.
    pub(super) fn prune(&mut self, durable: u32) -> Result<(), LogError> {
        let (Some(log), Some(keep)) = (&mut self.log, self.keep_parts) else {
            return Ok(());
        };
        for path in log.prune(keep, durable)? {
            tracing::info!(
                target: "block_log",
                "{} removed: the {keep} newest full parts are kept (block-log-split = {keep})",
                path.display()
            );
        }
        Ok(())
    }

    pub(super) fn set_aside_after(&mut self, head: u32) -> Result<Option<SetAside>, LogError> {
        self.log
            .as_mut()
            .map_or(Ok(None), |log| log.set_aside_after(head))
    }

    /// Whether so much was written that the disks are to be looked at.
    pub(super) fn is_room_due(&self) -> bool {
        self.unwatched >= LOG_STEP
    }

    /// Bytes that may be written until the disks are looked at again.
    pub(super) fn need(&self) -> u64 {
        self.log.as_ref().map_or(0, |_| 2 * LOG_STEP)
    }

    /// The disks were looked at.
    pub(super) fn watched(&mut self) {
        self.unwatched = 0;
    }

    pub(super) fn close(self) -> Result<(), LogError> {
        self.log.map_or(Ok(()), BlockLogWriter::close)
    }
}
