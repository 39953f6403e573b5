//! The thread that hands blocks from the window to the pipeline, in order.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::shared::Shared;
use crate::pipeline::{BatchBuilder, Feed, FeedClosed, Origin, RawBatch};

/// Blocks that are taken out of the window at once.
const TAKE: usize = 32;
/// How long the thread sleeps at most before it looks whether it is still wanted.
const IDLE: Duration = Duration::from_millis(100);

/// Runs until the writer or the driver has ended.
pub(super) fn feed_in_order(shared: &Arc<Shared>, feed: &Feed) {
    while !shared.ended.load(Relaxed) {
        let Some(ready) = shared.wait_ready(TAKE, IDLE) else {
            if feed.is_closed() {
                return;
            }
            continue;
        };
        let push = |blocks| {
            let (origin, epoch) = (Origin::Peer(Arc::clone(&ready.peer)), ready.epoch);
            feed.push(RawBatch {
                blocks,
                origin,
                epoch,
            })
        };
        let mut builder = BatchBuilder::default();
        for stored in ready.blocks {
            if let Some(Err(FeedClosed)) = builder.push(stored).map(push) {
                return;
            }
        }
        if let Some(Err(FeedClosed)) = builder.take().map(push) {
            return;
        }
    }
}
