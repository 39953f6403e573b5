//! A checkpoint and the chain do not go together, and nobody here can decide for one of them.

use std::fmt;

use cairn_chain::BlockId;

use crate::checkpoint::Checkpoint;

/// Why blocks up to a checkpoint cannot be had. Not one of them was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every peer that serves the checkpoint's block has another one.
    PeersDisagree {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// Where it was written.
        origin: String,
        /// The ids that the peers have, and how many peers have each.
        found: Vec<(BlockId, usize)>,
        /// The last block that is not disputed.
        below: u32,
    },
    /// The chain that ends in the checkpoint does not go through a block that is trusted as well.
    TwoChains {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// Where it was written.
        origin: String,
        /// The other block's number.
        below: u32,
        /// The id that is trusted: this node's head, or a lower checkpoint.
        trusted: BlockId,
        /// Where the lower checkpoint was written; `None` for the node's own head.
        trusted_origin: Option<String>,
        /// The id that the checkpoint's chain has there.
        found: BlockId,
    },
}

impl Verdict {
    /// The checkpoint that stands alone.
    pub fn checkpoint(&self) -> Checkpoint {
        match self {
            Verdict::PeersDisagree { checkpoint, .. } | Verdict::TwoChains { checkpoint, .. } => *checkpoint,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::PeersDisagree {
                checkpoint: Checkpoint { number, id },
                origin,
                found,
                below,
            } => {
                let peers: usize = found.iter().map(|(_, count)| count).sum();
                write!(
                    f,
                    "Block did not match checkpoint: {peers} of {peers} peers disagree with checkpoint [{number},{id}] \
                     ({origin}): found "
                )?;
                for (index, (id, count)) in found.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    let peers = if *count == 1 { "peer" } else { "peers" };
                    write!(f, "{comma}{id} ({count} {peers})")?;
                }
                write!(
                    f,
                    ". No block above {below} was applied, and no peer is blamed. Either the checkpoint was copied \
                     wrongly or these peers follow another chain: compare the id of block {number} with a node of your own"
                )
            }
            Verdict::TwoChains {
                checkpoint: Checkpoint { number, id },
                origin,
                below,
                trusted,
                trusted_origin: Some(trusted_origin),
                found,
            } => write!(
                f,
                "Block did not match checkpoint: the chain of checkpoint [{number},{id}] ({origin}) has {found} as block \
                 {below}, checkpoint [{below},{trusted}] ({trusted_origin}) says otherwise: one of the two was copied \
                 wrongly. No block above {below} was applied"
            ),
            Verdict::TwoChains {
                checkpoint: Checkpoint { number, id },
                origin,
                below,
                trusted,
                trusted_origin: None,
                found,
            } => write!(
                f,
                "Block did not match checkpoint: the chain of checkpoint [{number},{id}] ({origin}) has {found} as block \
                 {below}, this node's head is {trusted}: the node is on another chain than the checkpoint. If the \
                 checkpoint is right, go back below the fork with `cairn state restore --cut-log`: to the newest restore \
                 point, or with --to NUMBER to another one, with --to 0 to the beginning. The blocks that are cut off \
                 the log are kept beside it"
            ),
        }
    }
}
