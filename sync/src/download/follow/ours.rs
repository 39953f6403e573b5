//! What is known here of the blocks near the head.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use crate::view::ChainView;

/// Blocks that are remembered as handed on; more than a fork database may hold.
const MOST_FED: usize = 20_000;
/// A block above the head that was handed on so long ago and has not become the head was lost or refused.
const LOST: Duration = Duration::from_secs(5);

/// The chain that this node has, as it is published.
pub(in crate::download) trait OurChain: Debug + Send + Sync {
    /// The last applied block.
    fn head(&self) -> BlockId;
    /// The last block that cannot be taken back.
    fn irreversible(&self) -> BlockId;
    /// Whether a block is the last irreversible one or an applied one above it.
    fn has(&self, id: &BlockId) -> bool;
}

impl OurChain for ChainView {
    fn head(&self) -> BlockId {
        self.heads().head.map_or(BlockId::ZERO, |head| head.id)
    }

    fn irreversible(&self) -> BlockId {
        self.heads().irreversible.map_or(BlockId::ZERO, |head| head.id)
    }

    fn has(&self, id: &BlockId) -> bool {
        let heads = self.heads();
        let irreversible = heads.irreversible.map_or(BlockId::ZERO, |head| head.id);
        let held = heads.reversible.get(id.number());
        *id == irreversible || held.is_some_and(|held| held.block.id() == *id)
    }
}

/// The blocks of this node's chain, and those that were handed to the writer and link to them.
///
/// What becomes of the latter is the writer's to say: one that comes back as unlinked or refused is [forgotten
/// ](Self::forget).
#[derive(Clone, Debug)]
pub(in crate::download) struct Known {
    ours: Arc<dyn OurChain>,
    /// Ids sort by number.
    fed: Arc<Mutex<BTreeMap<BlockId, Instant>>>,
}

impl Known {
    pub(in crate::download) fn new(ours: Arc<dyn OurChain>) -> Self {
        Self {
            ours,
            fed: Arc::default(),
        }
    }

    pub(in crate::download) fn ours(&self) -> &dyn OurChain {
        &*self.ours
    }

    fn fed(&self) -> MutexGuard<'_, BTreeMap<BlockId, Instant>> {
        self.fed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a block need not be fetched, and blocks that name it as their parent link to this node's.
    pub(in crate::download) fn has(&self, id: &BlockId) -> bool {
        self.fed().contains_key(id) || self.ours.has(id)
    }

    /// A block that links to a known one was handed on.
    pub(super) fn was_fed(&self, id: BlockId, now: Instant) {
        let mut fed = self.fed();
        fed.insert(id, now);
        if fed.len() > MOST_FED {
            fed.pop_first();
        }
    }

    /// A block that was handed on is not here after all.
    pub(in crate::download) fn forget(&self, id: &BlockId) {
        self.fed().remove(id);
    }

    /// Forgets what has become irreversible, and what seems to be lost.
    pub(super) fn tidy(&self, now: Instant) {
        let (head, irreversible) = (self.ours.head().number(), self.ours.irreversible().number());
        self.fed().retain(|id, since| {
            let lost = id.number() > head && now.saturating_duration_since(*since) > LOST;
            id.number() > irreversible && !lost
        });
    }
}
