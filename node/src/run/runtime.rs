//! The runtime for what is asynchronous.

use std::future::Future;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::{Builder, Handle};

/// How long the end of the process waits for what runs on threads of its own. Looking up a seed's name is one such
/// thing, and takes as long as the system's resolver likes.
const PATIENCE: Duration = Duration::from_millis(200);

/// A tokio runtime whose end does not wait for blocking calls.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system refuses them.
    pub fn start() -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("network")
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }

    /// For spawning.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future to its end on this thread.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.handle.block_on(future)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
