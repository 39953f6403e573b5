//! Starts: the trie from its file, and from the registers.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_state::{Registers, Store, TrieOptions};

use super::beside::{Beside, without_file};

/// What a start takes, in seconds until the root is known; medians.
#[derive(Default)]
pub(super) struct Starts {
    /// From the registers.
    pub(super) rebuild: f64,
    /// From the file.
    pub(super) load: f64,
    pub(super) file_bytes: u64,
}

/// Starts so many times in each way, in turn.
pub(super) fn measure(beside: Beside, file: &Path, rounds: u32) -> anyhow::Result<Starts> {
    let in_file = TrieOptions {
        // Only when it is asked for.
        interval: Duration::MAX,
        ..TrieOptions::in_file(file)
    };
    let mut store = beside.registers.into_store();
    let (mut rebuilds, mut loads) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let (registers, rebuild) = start(store, without_file())?;
        rebuilds.push(rebuild);
        store = registers.into_store();
        if round == 0 {
            let (registers, _) = start(store, in_file.clone())?;
            let written = registers.write_trie_file(None)?;
            anyhow::ensure!(written, "the trie file was not written");
            store = registers.into_store();
        }
        // The trie file is of the store's block: it is taken, or else the start takes as long as the other one.
        let (registers, load) = start(store, in_file.clone())?;
        loads.push(load);
        store = registers.into_store();
    }
    if rounds == 0 {
        return Ok(Starts::default());
    }
    let meta = fs::metadata(file).with_context(|| format!("cannot look at {}", file.display()))?;
    Ok(Starts {
        rebuild: super::super::median(rebuilds),
        load: super::super::median(loads),
        file_bytes: meta.len(),
    })
}

fn start(store: Store, options: TrieOptions) -> anyhow::Result<(Registers, f64)> {
    let mut registers = Registers::new(store)?;
    let start = Instant::now();
    registers.keep_trie(options)?;
    registers.root(None)?;
    Ok((registers, start.elapsed().as_secs_f64()))
}
