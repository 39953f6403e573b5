//! Memory that a sync has left behind.
//!
//! The blocks of the window are allocated by the network's threads and freed by the writer's. glibc keeps what is
//! freed in the middle of its heaps for the next blocks: after a sync that is more than all that the node still uses.
//! Once few blocks come, the free pages are given back to the system.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use cairn_sync::stats::Meter;
use tokio::runtime::Handle;
use tokio::time::MissedTickBehavior;

/// How often the received bytes are looked at.
const INTERVAL: Duration = Duration::from_secs(5);
/// Received bytes in one interval up to which a node is not syncing: Hive's largest blocks (2 MiB each 3 seconds) come
/// to twice as much and are rare.
const QUIET: u64 = 2 << 20;
/// Received bytes that are worth a look through the heaps.
const WORTH: u64 = 16 << 20;

/// Decides when.
#[derive(Debug, Default)]
struct Quiet {
    seen: u64,
    given_back: u64,
}

impl Quiet {
    /// Whether the free pages should go, with `received` bytes in all.
    fn look(&mut self, received: u64) -> bool {
        let quiet = received - self.seen <= QUIET;
        self.seen = received;
        let due = quiet && received - self.given_back >= WORTH;
        if due {
            self.given_back = received;
        }
        due
    }
}

/// Gives free pages back whenever much has come and little comes any more, until the runtime ends.
pub fn give_back_when_quiet(runtime: &Handle, meter: Arc<Meter>) {
    runtime.spawn(async move {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut quiet = Quiet::default();
        loop {
            interval.tick().await;
            if quiet.look(meter.received_bytes.load(Relaxed)) {
                // It takes each heap's lock for some milliseconds: not on a thread that carries blocks.
                let given = tokio::task::spawn_blocking(give_back).await.unwrap_or(false);
                tracing::debug!(target: "run", "free memory given back to the system: {given}");
            }
        }
    });
}

/// Gives the heaps' free pages back; whether there were any.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() -> bool {
    #[expect(
        unsafe_code,
        reason = "glibc's function; it may be called at any time from any thread"
    )]
    // SAFETY: no argument but the bytes to keep at the end of the heap; no memory in use is touched.
    let given = unsafe { libc::malloc_trim(0) };
    given == 1
}

/// Other allocators give memory back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_go_once_after_much_has_come() {
        let mut quiet = Quiet::default();
        assert!(!quiet.look(0));
        assert!(!quiet.look(WORTH), "it still comes");
        assert!(quiet.look(WORTH + QUIET));
        assert!(!quiet.look(WORTH + QUIET), "nothing has come since");
        let later = WORTH + QUIET + QUIET;
        assert!(!quiet.look(later), "too little to look for");
        assert!(!quiet.look(later + WORTH));
        assert!(quiet.look(later + WORTH));
    }
}
