//! The threads that hand blocks to the pipeline: those of the window, in order, and those of the peers' branches.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::mpsc;

use super::follow::Followed;
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

/// Runs until the driver, which has the other end of the queue, or the writer has ended.
pub(super) fn feed_branches(shared: &Shared, mut queue: mpsc::Receiver<Followed>, feed: &Feed) {
    while let Some(Followed { blocks, peer }) = queue.blocking_recv() {
        let (origin, epoch) = (Origin::Peer(peer), shared.lock().epoch());
        let batch = RawBatch {
            blocks,
            origin,
            epoch,
        };
        if feed.push(batch).is_err() {
            return;
        }
    }
}
