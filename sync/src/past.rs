//! Checkpoints at or below the state's head.
//!
//! They can no longer be met by a block that is applied, so they are compared at start with the block
//! log, as long as the block is still there.

use cairn_chain::BlockId;
use thiserror::Error;

use crate::checkpoint::Checkpoints;

/// A block that was applied earlier is not the one that a checkpoint names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PastCheckpointError {
    /// Ids differ.
    #[error(
        "checkpoint [{number},{expected}] ({origin}) lies below this node's head {head}, and the block log has \
         {found} as block {number}. Either the checkpoint was copied wrongly, or this state belongs to another \
         chain: then remove the state and the block log and begin again"
    )]
    Mismatch {
        /// Block number.
        number: u32,
        /// The trusted id.
        expected: BlockId,
        /// The id computed from the log's bytes.
        found: BlockId,
        /// Where the checkpoint was written.
        origin: String,
        /// The state's head.
        head: u32,
    },
}

impl PastCheckpointError {
    /// Always: that is what it says.
    pub fn contradicts_checkpoint(&self) -> bool {
        true
    }
}

/// Compares all checkpoints at or below `head` with the ids that `lookup` computes from stored blocks; a
/// block that is not there any more is a warning.
///
/// # Errors
/// [`PastCheckpointError::Mismatch`] for the lowest checkpoint that differs.
pub fn check_past(
    checkpoints: &Checkpoints,
    head: u32,
    lookup: impl Fn(u32) -> Option<BlockId>,
) -> Result<(), PastCheckpointError> {
    let mut unchecked = Vec::new();
    for checkpoint in checkpoints
        .iter()
        .take_while(|checkpoint| checkpoint.number <= head)
    {
        let (number, expected) = (checkpoint.number, checkpoint.id);
        match lookup(number) {
            Some(found) if found == expected => {}
            Some(found) => {
                let origin = checkpoints.origin(number).unwrap_or("configuration").to_owned();
                return Err(PastCheckpointError::Mismatch {
                    number,
                    expected,
                    found,
                    origin,
                    head,
                });
            }
            None => unchecked.push(checkpoint),
        }
    }
    // One line: a checkpoint-file may have thousands of them.
    if let Some(last) = unchecked.last() {
        let others = match unchecked.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} before it"),
        };
        tracing::warn!(
            target: "test_checkpoint",
            "Checkpoint [{},{}]{others} lies below the head {head} and cannot be checked: the block is not in a block log \
             here",
            last.number,
            last.id
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::ConfiguredCheckpoint;

    fn id(number: u32, tail: u8) -> BlockId {
        let mut bytes = [tail; 20];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        BlockId(bytes)
    }

    #[test]
    fn compares_every_one_below_the_head_and_none_above() {
        let values = [50, 100, 101].map(|n| ConfiguredCheckpoint::new(format!("[{n},{}]", id(n, 7)), "here"));
        let checkpoints = Checkpoints::parse(&values).checkpoints;
        let good = |number| Some(id(number, 7));
        assert_eq!(check_past(&checkpoints, 100, good), Ok(()));
        assert_eq!(check_past(&checkpoints, 100, |_| None), Ok(()));
        let wrong_at = |wrong| move |number| Some(id(number, if number == wrong { 8 } else { 7 }));
        assert!(check_past(&checkpoints, 100, wrong_at(101)).is_ok());
        let error = check_past(&checkpoints, 100, wrong_at(100)).unwrap_err();
        assert!(
            error.to_string().contains("lies below this node's head 100"),
            "{error}"
        );
        assert!(check_past(&checkpoints, 100, wrong_at(50)).is_err());
    }
}
