//! A second look at blocks that were served, when a peer has banned this node.
//!
//! A block is checked when it is applied, and not each time it is served: that would cost a server a multiple. But disks
//! forget, below the state's head too, where nothing of this node reads the block again. The first to notice are the
//! peers, which ban whoever sends them a damaged block. So what was served last is read again then. A damaged block is
//! an error line, nothing up to it is served any more, and its number is noted for the next start, which cuts the log
//! there and fetches the blocks again.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cairn_block_log::{BlockLog, LogError, verify};
use cairn_chain::ChainSpec;

/// Answers that are remembered. One has a megabyte or so, and a peer looks into a block at the latest when it leaves its
/// window, which has 256 MiB.
const REMEMBERED: usize = 512;
/// Time between two looks, so that peers which ban without a reason cost little.
const REST: Duration = Duration::from_secs(30);

/// What was served, and whether it was right.
#[derive(Debug)]
pub(super) struct SelfCheck {
    chain: Arc<ChainSpec>,
    /// Where the number of a damaged block is noted.
    note: PathBuf,
    /// First and last block of the last answers.
    served: Mutex<VecDeque<(u32, u32)>>,
    last: Mutex<Option<Instant>>,
    running: AtomicBool,
    /// Blocks up to this one are not served any more; 0: all are.
    withdrawn: AtomicU32,
}

impl SelfCheck {
    pub(super) fn new(chain: Arc<ChainSpec>, note: PathBuf) -> Self {
        Self {
            chain,
            note,
            served: Mutex::default(),
            last: Mutex::default(),
            running: AtomicBool::new(false),
            withdrawn: AtomicU32::new(0),
        }
    }

    /// The first block that may be served.
    pub(super) fn first(&self) -> u32 {
        self.withdrawn.load(Relaxed).saturating_add(1)
    }

    /// Notes an answer.
    pub(super) fn note_served(&self, first: u32, last: u32) {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if served.len() == REMEMBERED {
            served.pop_front();
        }
        served.push_back((first, last));
    }

    /// Reads again what was served last, on a thread of its own.
    pub(super) fn look_again(self: &Arc<Self>, log: BlockLog) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < REST) || self.running.swap(true, Relaxed) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        let check = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("self-check".to_owned())
            .spawn(move || {
                check.check(&log);
                check.running.store(false, Relaxed);
            });
        if let Err(error) = spawned {
            self.running.store(false, Relaxed);
            tracing::warn!(target: "p2p", "what was served cannot be looked at again, no thread can be started: {error}");
        }
    }

    fn check(&self, log: &BlockLog) {
        let mut ranges: Vec<(u32, u32)> = {
            let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            served.iter().copied().collect()
        };
        ranges.sort_unstable();
        ranges.dedup();
        for (first, last) in ranges {
            let (Some(log_first), Some(head)) = (log.first_number(), log.head_number()) else {
                return;
            };
            let (first, last) = (first.max(log_first), last.min(head));
            if first > last {
                continue;
            }
            match verify(log, first, Some(last), &self.chain, |_| {}) {
                Ok(_) => {}
                Err(LogError::Block { place, fault }) if fault.is_damage() => {
                    let number = place.block.unwrap_or(first);
                    self.withdraw(number, &LogError::Block { place, fault });
                    return;
                }
                // Not damage: pruned away a moment ago, or of another kind and said elsewhere.
                Err(error) => tracing::debug!(target: "p2p", "{error}"),
            }
        }
        tracing::debug!(target: "p2p", "a peer banned this node; what was served last is whole");
    }

    fn withdraw(&self, number: u32, error: &LogError) {
        self.withdrawn.fetch_max(number, Relaxed);
        let noted = match fs::write(&self.note, format!("{number}\n")) {
            Ok(()) => "the next start cuts the log there and fetches what is cut off from peers".to_owned(),
            Err(error) => format!("it cannot be noted in {}: {error}", self.note.display()),
        };
        tracing::error!(
            target: "p2p",
            "the block log is damaged, and peers that are sent block {number} ban this node: {error}. Blocks up to {number} \
             are not served any more; {noted}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_answers_are_remembered_and_a_look_rests() {
        let folder = tempfile::tempdir().unwrap();
        let chain = Arc::new(ChainSpec::hive());
        let check = Arc::new(SelfCheck::new(chain, folder.path().join("note")));
        for number in 0..2 * REMEMBERED as u32 {
            check.note_served(number, number);
        }
        let served = check.served.lock().unwrap().clone();
        assert_eq!(served.len(), REMEMBERED);
        assert_eq!(served.front(), Some(&(REMEMBERED as u32, REMEMBERED as u32)));
        assert_eq!(check.first(), 1);
        check.withdraw(
            7,
            &LogError::OutOfRange {
                block: 7,
                range: None,
            },
        );
        assert_eq!(check.first(), 8);
        assert_eq!(fs::read_to_string(&check.note).unwrap(), "7\n");
    }
}
