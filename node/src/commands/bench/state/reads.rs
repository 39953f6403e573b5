//! Random reads, in four ways.

use std::time::{Duration, Instant};

use cairn_state::Registers;

use super::workload::Workload;
use crate::progress::Progress;

/// Keys that are read in one way before the next one has its turn, and made before the clock runs.
const TURN: usize = 10_000;
/// Registers of a batch read.
const AT_ONCE: usize = 100;

/// Reads a second, in each way.
pub(super) struct Reads {
    /// From the registers in memory, one after the other.
    pub(super) single: f64,
    /// The same, many at once.
    pub(super) batch: f64,
    /// From RocksDB, one after the other.
    pub(super) store_single: f64,
    /// The same, many at once.
    pub(super) store_batch: f64,
}

/// Reads so many registers in each way. The ways take turns, so that they are measured under the same load of the
/// machine.
pub(super) fn measure(
    registers: &mut Registers,
    workload: &mut Workload,
    count: usize,
) -> anyhow::Result<Reads> {
    let mut times = [Duration::ZERO; 4];
    let mut progress = Progress::start("reading", "registers", count as u64);
    let (mut done, mut found) = (0, 0);
    while done < count {
        let turn = TURN.min(count - done);
        let keys = workload.reads(turn);
        let start = Instant::now();
        for key in &keys {
            found += usize::from(registers.get(key)?.is_some());
        }
        times[0] += start.elapsed();
        let keys = workload.reads(turn);
        let start = Instant::now();
        for keys in keys.chunks(AT_ONCE) {
            found += registers.get_many(keys)?.iter().flatten().count();
        }
        times[1] += start.elapsed();
        let keys = workload.reads(turn);
        let store = registers.store();
        let start = Instant::now();
        for key in &keys {
            found += usize::from(store.get(key)?.is_some());
        }
        times[2] += start.elapsed();
        let keys = workload.reads(turn);
        let start = Instant::now();
        for keys in keys.chunks(AT_ONCE) {
            found += store.get_many(keys)?.iter().flatten().count();
        }
        times[3] += start.elapsed();
        done += turn;
        progress.set(done as u64);
    }
    anyhow::ensure!(
        found == times.len() * done,
        "{found} of {} registers were found: the state engine has lost some",
        times.len() * done
    );
    let [single, batch, store_single, store_batch] =
        times.map(|time| done as f64 / time.as_secs_f64().max(1e-9));
    Ok(Reads {
        single,
        batch,
        store_single,
        store_batch,
    })
}
