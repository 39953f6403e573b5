//! Peers that are refused for a time. A ban ends by itself; who offends again soon after is banned for longer.
//!
//! Times are wall-clock times, because bans outlive the process. A clock that is set back cannot make a ban
//! longer than it was when it was spoken.

mod file;
mod record;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use libp2p::PeerId;

use crate::log_limit::LogLimit;
use record::{Entry, Record};

/// Time between two attempts to write a list that could not be written. Lower, a full disk is asked more often for nothing;
/// higher, a crash after there is room again loses more bans.
const RETRY: Duration = Duration::from_secs(5);

/// Why a peer is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ban {
    /// The peer.
    pub peer: PeerId,
    /// Time left.
    pub remaining: Duration,
    /// How many offences of the peer are remembered, this one included; 0 if it was turned away for another reason.
    pub offences: u32,
    /// In words, for the log and the status page.
    pub reason: String,
}

/// The list, shared by the handle and the gate that connections pass.
#[derive(Debug, Clone)]
pub(crate) struct BanList(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Where the list is kept, if it is; locked while it is written, so that the newest state is written last.
    path: Mutex<Option<PathBuf>>,
    log: LogLimit,
    /// Somebody tries again to write it.
    retrying: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    record: Record,
    /// Something changed that is not in the file.
    unsaved: bool,
}

impl BanList {
    /// The list kept in this file, or one in memory only. A file that cannot be read is a warning, and is kept under
    /// another name.
    pub(crate) fn load(path: Option<PathBuf>) -> Self {
        let record = match &path {
            Some(path) => file::load(path, SystemTime::now()),
            None => Record::default(),
        };
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                record,
                unsaved: false,
            }),
            path: Mutex::new(path),
            log: LogLimit::new(Duration::from_secs(600), 1),
            retrying: AtomicBool::new(false),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a half-changed list.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bans a peer from now on, for `base` or longer if it offends again; gives the ban that holds then, and whether one for
    /// an offence did before. [`save`](Self::save) must follow.
    pub(crate) fn ban(&self, peer: PeerId, base: Duration, reason: &str) -> (Ban, bool) {
        let mut state = self.lock();
        state.unsaved = true;
        let now = SystemTime::now();
        let present = state.record.get(&peer);
        let held = present.is_some_and(|entry| entry.holds(now) && entry.offences > 0);
        (state.record.ban(peer, base, reason, now).shown(peer, now), held)
    }

    /// Turns a peer away for a time that is no punishment: it is not remembered as an offence, and not kept on disk.
    pub(crate) fn turn_away(&self, peer: PeerId, duration: Duration, reason: &str) {
        self.lock()
            .record
            .turn_away(peer, duration, reason, SystemTime::now());
    }

    /// Lifts a ban and forgets the offences. [`save`](Self::save) must follow.
    pub(crate) fn unban(&self, peer: &PeerId) -> bool {
        let mut state = self.lock();
        let lifted = state.record.lift(peer, SystemTime::now());
        state.unsaved = true;
        lifted
    }

    /// The ban that holds for this peer now.
    pub(crate) fn get(&self, peer: &PeerId) -> Option<Ban> {
        let now = SystemTime::now();
        self.lock()
            .record
            .get(peer)
            .filter(|entry| entry.holds(now))
            .map(|entry| entry.shown(*peer, now))
    }

    /// All bans that hold now.
    pub(crate) fn all(&self) -> Vec<Ban> {
        let now = SystemTime::now();
        self.lock()
            .record
            .iter()
            .filter(|(_, entry)| entry.holds(now))
            .map(|(peer, entry)| entry.shown(*peer, now))
            .collect()
    }

    /// Writes the list if it has changed; `false`: it could not be written. Blocks for as long as the disk takes to sync a
    /// small file.
    pub(crate) fn save(&self) -> bool {
        let path = self.0.path.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &*path else { return true };
        let text = {
            let mut state = self.lock();
            if !std::mem::take(&mut state.unsaved) {
                return true;
            }
            file::text(&mut state.record, SystemTime::now())
        };
        let written = file::write(path, &text);
        if let Err(error) = &written {
            self.lock().unsaved = true;
            if let Some(suppressed) = self.0.log.admit() {
                tracing::warn!(
                    target: "p2p",
                    "cannot write the ban list {}: {error}; bans are in memory only until this succeeds{suppressed}",
                    path.display()
                );
            }
        }
        written.is_ok()
    }

    /// Writes the list, and tries again in the background for as long as it cannot be written.
    pub(crate) async fn save_for_certain(self) {
        let save = |list: Self| tokio::task::spawn_blocking(move || list.save());
        // An error means that the runtime is going down: then the shutdown saves.
        if !matches!(save(self.clone()).await, Ok(false)) || self.0.retrying.swap(true, Relaxed) {
            return;
        }
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(RETRY).await;
                if !matches!(save(self.clone()).await, Ok(false)) {
                    break;
                }
            }
            self.0.retrying.store(false, Relaxed);
        });
    }
}

impl Entry {
    fn shown(&self, peer: PeerId, now: SystemTime) -> Ban {
        Ban {
            peer,
            remaining: self.remaining(now),
            offences: self.offences,
            reason: self.reason.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
