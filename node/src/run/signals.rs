//! SIGINT and SIGTERM end a run in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// Sets `stop` at the first SIGINT or SIGTERM. A second one ends the process at once: what is durable stays
/// whole, and the operator has waited long enough.
///
/// # Errors
/// When the system refuses the handlers.
pub fn stop_on_signals(runtime: &tokio::runtime::Handle, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let _context = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot handle SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot handle SIGTERM")?;
    let stop = Arc::clone(stop);
    runtime.spawn(async move {
        loop {
            let name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            if stop.swap(true, Ordering::Relaxed) {
                tracing::warn!(target: "run", "shutdown: second {name}, ending at once; the last commit is whole");
                std::process::exit(130);
            }
            tracing::info!(target: "run", "shutdown: {name}; waiting for the writer to finish its batch and to commit");
        }
    });
    Ok(())
}
