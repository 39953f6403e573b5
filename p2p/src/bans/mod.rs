//! Peers that are refused for a time. A ban ends by itself; who offends again soon after is banned for longer.
//!
//! Times are wall-clock times, because bans outlive the process. A clock that is set back cannot make a ban
//! longer than it was when it was spoken.

mod file;
mod record;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use libp2p::PeerId;

use crate::log_limit::LogLimit;
use record::{Entry, Record};

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
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a half-changed list.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bans a peer from now on, for `base` or longer if it offends again; gives the ban that holds then.
    /// [`save`](Self::save) must follow.
    pub(crate) fn ban(&self, peer: PeerId, base: Duration, reason: &str) -> Ban {
        let mut state = self.lock();
        state.unsaved = true;
        let now = SystemTime::now();
        state.record.ban(peer, base, reason, now).shown(peer, now)
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

    /// Writes the list if it has changed. Blocks for as long as the disk takes to sync a small file.
    pub(crate) fn save(&self) {
        let path = self.0.path.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &*path else { return };
        let text = {
            let mut state = self.lock();
            if !std::mem::take(&mut state.unsaved) {
                return;
            }
            file::text(&mut state.record, SystemTime::now())
        };
        if let Err(error) = file::write(path, &text) {
            self.lock().unsaved = true;
            if let Some(suppressed) = self.0.log.admit() {
                tracing::warn!(
                    target: "p2p",
                    "cannot write the ban list {}: {error}; bans are in memory only until this succeeds{suppressed}",
                    path.display()
                );
            }
        }
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
