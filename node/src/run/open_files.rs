//! How many files the process may have open, and who gets how many.
//!
//! A node that meets the limit in the middle of its work fails in odd places. So it is looked at before: raised where
//! that is allowed, and refused with the numbers where it is not enough.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

/// Standard streams, the lock, statistics, the runtime, listening sockets, folders that are listed.
const BASE: u64 = 48;
/// A part of a split log is open for reading, and so may be its artifacts.
const PER_PART: u64 = 2;
/// Parts that may be added while the node runs: about a year of a chain with a block every three seconds.
const NEW_PARTS: u64 = 10;
/// Least for the state: RocksDB's log, manifest and two files a level that it merges.
const STATE_LEAST: u64 = 32;
/// As many as the state can use: 64 GiB of registers in files of 64 MiB.
const STATE_MOST: u64 = 1_024;

/// The limit is too low.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "too few open files allowed: need {need}, have {have}. Raise the limit (`ulimit -n {need}` in the shell that starts \
     the node, LimitNOFILE={need} in a systemd unit){}",
    if *.peers > 0 { ", or lower p2p-max-connections" } else { "" }
)]
pub struct TooFewOpenFiles {
    /// Least that this configuration needs.
    pub need: u64,
    /// The hard limit of this process.
    pub have: u64,
    /// How many of them are for peers.
    pub peers: u64,
}

/// What a node opens beside the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Files of the block log.
    pub log: u64,
    /// Connections.
    pub peers: u64,
}

impl Demand {
    /// For the log in a folder, and so many peers.
    pub fn of(blockchain: &Path, peers: u64) -> Self {
        let files = fs::read_dir(blockchain).map_or(0, |entries| entries.flatten().count() as u64);
        Self {
            log: files + PER_PART * NEW_PARTS,
            peers,
        }
    }

    fn without_state(self) -> u64 {
        BASE + self.log + self.peers
    }
}

/// Raises this process's limit as far as it is of use and allowed; gives the number of files that the state may keep
/// open.
///
/// # Errors
/// [`TooFewOpenFiles`].
pub(super) fn prepare(demand: Demand) -> Result<u16, TooFewOpenFiles> {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(u64::MAX);
    let soft = limit.current.unwrap_or(u64::MAX);
    let plan = plan(demand, soft, hard)?;
    if plan.limit > soft {
        let raised = Rlimit {
            current: Some(plan.limit),
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(target: "run", "the limit of open files stays at {soft}: {error}");
            return self::plan(demand, soft, soft).map(|plan| plan.state);
        }
        tracing::debug!(target: "run", "limit of open files raised from {soft} to {}", plan.limit);
    }
    Ok(plan.state)
}

#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// The soft limit to set.
    limit: u64,
    /// Files for the state.
    state: u16,
}

fn plan(demand: Demand, soft: u64, hard: u64) -> Result<Plan, TooFewOpenFiles> {
    let others = demand.without_state();
    let need = others + STATE_LEAST;
    if hard < need {
        return Err(TooFewOpenFiles {
            need,
            have: hard,
            peers: demand.peers,
        });
    }
    let limit = soft.max(hard.min(others + STATE_MOST));
    let state = (limit - others).min(STATE_MOST);
    Ok(Plan {
        limit,
        state: u16::try_from(state).unwrap_or(u16::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand = Demand { log: 20, peers: 200 };

    #[test]
    fn the_state_gets_what_is_left() {
        let of = |soft, hard| plan(DEMAND, soft, hard).map(|plan| (plan.limit, plan.state));
        assert_eq!(
            of(1_024, 1 << 20),
            Ok((1_292, 1_024)),
            "raised as far as it is of use"
        );
        assert_eq!(of(65_536, 1 << 20), Ok((65_536, 1_024)), "never lowered");
        assert_eq!(of(1_024, 1_024), Ok((1_024, 756)));
        assert_eq!(of(64, 300), Ok((300, 32)), "just enough");
    }

    #[test]
    fn too_few_are_refused_with_the_numbers() {
        let text = plan(DEMAND, 64, 64).unwrap_err().to_string();
        assert!(
            text.starts_with("too few open files allowed: need 300, have 64.")
                && text.contains("ulimit -n 300"),
            "{text}"
        );
        assert!(text.ends_with("or lower p2p-max-connections"), "{text}");
        let replay = Demand { log: 20, peers: 0 };
        let text = plan(replay, 64, 64).unwrap_err().to_string();
        assert!(!text.contains("p2p"), "{text}");
    }
}
