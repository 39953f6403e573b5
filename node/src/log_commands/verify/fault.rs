//! Why a log is refused: where, what was expected, what was found, what to do.

use anyhow::anyhow;
use cairn_block_log::{BlockFault, LogError, Place};
use cairn_chain::BlockId;
use cairn_sync::checkpoint::Checkpoint;
use serde_json::{Value, json};

use crate::exit::CommandError;
use crate::log_commands::block;
use crate::log_commands::source::OpenError;

/// Why a log is refused.
#[derive(Debug)]
pub enum Fault {
    /// The chain or the dictionaries cannot be used: usage.
    Open(OpenError),
    /// It holds no block.
    Empty,
    /// A block is damaged, is another one, or does not follow the one before.
    Log {
        /// What and where.
        error: Box<LogError>,
        /// The last block without fault.
        good: Option<u32>,
    },
    /// A block is not the one that a checkpoint names.
    Checkpoint(Box<Contradiction>),
}

/// A checkpoint and the block that the log has in its place.
#[derive(Debug)]
pub struct Contradiction {
    /// The trusted pair.
    pub checkpoint: Checkpoint,
    /// Where it was written.
    pub origin: String,
    /// The id in the log.
    pub found: BlockId,
    /// Where the block is.
    pub place: Place,
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Log(error) => Self::Log {
                error: Box::new(error),
                good: None,
            },
            usage => Self::Open(usage),
        }
    }
}

impl Fault {
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Checkpoint(contradiction) => Some(&contradiction.place),
            Self::Log { error, .. } => match &**error {
                LogError::Block { place, .. }
                | LogError::TornTail { place, .. }
                | LogError::TooMuchDamage { place, .. } => Some(place),
                _ => None,
            },
            _ => None,
        }
    }

    /// Expected and found, where the fault has them.
    fn values(&self) -> (Option<String>, Option<String>) {
        let pair = |expected: &dyn ToString, found: &dyn ToString| {
            (Some(expected.to_string()), Some(found.to_string()))
        };
        match self {
            Self::Checkpoint(contradiction) => pair(&contradiction.checkpoint.id, &contradiction.found),
            Self::Log { error, .. } => match &**error {
                LogError::Block { fault, .. } => match fault {
                    BlockFault::Number { expected, found } => pair(expected, found),
                    BlockFault::Link { expected, found } => pair(expected, found),
                    BlockFault::Merkle(mismatch) => pair(&mismatch.header, &mismatch.computed),
                    _ => (None, None),
                },
                LogError::PartEnd { expected, found, .. } => pair(expected, found),
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    /// What the operator can do.
    fn remedy(&self) -> Option<String> {
        match self {
            Self::Open(_) | Self::Empty => None,
            Self::Checkpoint(contradiction) => Some(format!(
                "Compare block {} on a node that you trust with the checkpoint ({}). If the checkpoint is right, this log \
                 is of another chain or was altered: take another copy, or get the blocks from peers with `cairn run`",
                contradiction.checkpoint.number, contradiction.origin
            )),
            Self::Log { error, good } => {
                let act = block::advice(error).or(match &**error {
                    LogError::Block { .. } => Some(
                        "Take another copy of the file, or get the blocks from peers with `cairn run` and a checkpoint",
                    ),
                    _ => None,
                })?;
                Some(match good {
                    Some(number) => format!("Blocks up to {number} are without fault. {act}"),
                    None => act.to_owned(),
                })
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let place = self.place();
        let (expected, found) = self.values();
        json!({
            "ok": false,
            "contradicts_checkpoint": matches!(self, Self::Checkpoint(_)),
            "block": place.and_then(|place| place.block),
            "file": place.map(|place| place.file.display().to_string()),
            "offset": place.map(|place| place.offset),
            "expected": expected,
            "found": found,
            "message": self.message(),
            "remedy": self.remedy(),
        })
    }

    fn message(&self) -> String {
        match self {
            Self::Open(error) => error.to_string(),
            Self::Empty => "the log is empty".to_owned(),
            Self::Log {
                error,
                good: Some(good),
            } => {
                format!("log breaks at block {}: {error}", u64::from(*good) + 1)
            }
            Self::Log { error, good: None } => error.to_string(),
            Self::Checkpoint(contradiction) => {
                let Contradiction {
                    checkpoint,
                    origin,
                    found,
                    place,
                } = &**contradiction;
                format!(
                    "Block did not match checkpoint [{},{}] ({origin}): the log has {found} ({place})",
                    checkpoint.number, checkpoint.id
                )
            }
        }
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        let error = match fault.remedy() {
            Some(remedy) => anyhow!("{}. {remedy}", fault.message()),
            None => anyhow!("{}", fault.message()),
        };
        match fault {
            Fault::Open(error) => error.into(),
            Fault::Checkpoint(_) => Self::Contradiction(error),
            Fault::Empty | Fault::Log { .. } => Self::Failed(error),
        }
    }
}
