//! Has the disk write what was appended while blocks are still being appended.
//!
//! Without it a sync of tens of megabytes finds all of them still to be written, and the appending thread waits for the
//! disk with nothing to do. A thread of its own syncs the file every few megabytes. Nobody relies on that: what is
//! durable is what [`Current::sync`](super::current::Current::sync) has synced itself, and an error here is left to
//! that call, which sees it too, because the file is opened once more for this thread: Linux reports a failed write once
//! to each open file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes between two syncs. Lower costs a journal entry each time, higher leaves more to the sync that is waited for.
const STEP: u64 = 8 << 20;

/// The thread, once there is something for it to do; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct EarlySync {
    path: PathBuf,
    thread: Option<Thread>,
    /// Bytes written since the last order.
    pending: u64,
}

#[derive(Debug)]
struct Thread {
    /// `None`: the system gave no thread, or the file could not be opened twice.
    orders: Option<SyncSender<()>>,
    handle: Option<JoinHandle<()>>,
}

impl EarlySync {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            thread: None,
            pending: 0,
        }
    }

    /// So many bytes were handed to the system.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.pending += bytes;
        if self.pending < STEP {
            return;
        }
        self.pending = 0;
        let thread = self.thread.get_or_insert_with(|| Thread::start(&self.path));
        if let Some(orders) = &thread.orders {
            // A full queue means that the disk is behind: the thread will sync these bytes with the others.
            let _ = orders.try_send(());
        }
    }
}

impl Thread {
    fn start(path: &Path) -> Self {
        let (orders, queue) = sync_channel::<()>(1);
        let sync = move |file: File| {
            for () in queue {
                let _ = file.sync_data();
            }
        };
        let handle = File::open(path).and_then(|file| {
            let thread = thread::Builder::new().name("log-sync".to_owned());
            thread.spawn(move || sync(file))
        });
        Self {
            orders: handle.is_ok().then_some(orders),
            handle: handle.ok(),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(handle) = self.handle.take() {
            // It has nothing to tell.
            let _ = handle.join();
        }
    }
}
