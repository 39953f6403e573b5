//! A walk over a log on several threads, with results in the order of the blocks.
//!
//! One thread reads blocks into chunks and deals them out to the workers in turn; the caller's thread collects the
//! results in the same turn, so that order costs no buffer: chunk k is always at worker k mod n.
//!
//! ```text
//!             ┌─> worker 0: decompress, decode, hash, recover keys ─┐
//! reader ─────┼─> worker 1                                          ┼─> fold, in order
//!             └─> worker 2                                          ┘
//! ```
//! Every channel holds two chunks of at most `CHUNK_BYTES` stored bytes, so memory does not grow with the log.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, LogError, StoredBlock};
use crossbeam_channel::{Receiver, Sender, bounded};

/// Blocks a chunk: enough that handing it over costs nothing beside hashing it.
const CHUNK_BLOCKS: usize = 256;
/// Stored bytes after which a chunk is full: half the largest block, so that a chunk of large blocks has few.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks that wait in front of and behind each worker.
const WAITING: usize = 2;

type Chunk<T> = Vec<Result<T, LogError>>;

/// Calls `map` on every block from `from` to `to`, on `threads` threads, and `fold` on the results in order, until it
/// breaks. A block that cannot be read comes as an error, and is the last.
pub fn in_order<T: Send>(
    log: &BlockLog,
    from: u32,
    to: u32,
    threads: NonZeroUsize,
    map: impl Fn(&mut BlockDecoder, StoredBlock) -> T + Sync,
    mut fold: impl FnMut(Result<T, LogError>) -> ControlFlow<()>,
) {
    std::thread::scope(|scope| {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..threads.get() {
            let (to_worker, input) = bounded::<Chunk<StoredBlock>>(WAITING);
            let (output, from_worker) = bounded::<Chunk<T>>(WAITING);
            inputs.push(to_worker);
            outputs.push(from_worker);
            let map = &map;
            scope.spawn(move || work(log, &input, &output, map));
        }
        scope.spawn(move || read(log, from, to, &inputs));
        // A worker's channel closes when the reader has no more chunks for it; then no later worker has any.
        for output in outputs.iter().cycle() {
            let Ok(chunk) = output.recv() else { break };
            if chunk.into_iter().map(&mut fold).any(|flow| flow.is_break()) {
                break;
            }
        }
        // Closing the outputs ends the workers, which ends the reader.
        drop(outputs);
    });
}

fn read(log: &BlockLog, from: u32, to: u32, workers: &[Sender<Chunk<StoredBlock>>]) {
    let wanted = to.saturating_sub(from).saturating_add(u32::from(to >= from)) as usize;
    let mut blocks = log.sequential(from).take(wanted).peekable();
    for worker in workers.iter().cycle() {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while chunk.len() < CHUNK_BLOCKS && bytes < CHUNK_BYTES {
            let Some(block) = blocks.next() else { break };
            bytes += block.as_ref().map_or(0, |block| block.bytes.len());
            let failed = block.is_err();
            chunk.push(block);
            if failed {
                let _ = worker.send(chunk);
                return;
            }
        }
        if chunk.is_empty() || worker.send(chunk).is_err() {
            return;
        }
    }
}

fn work<T>(
    log: &BlockLog,
    input: &Receiver<Chunk<StoredBlock>>,
    output: &Sender<Chunk<T>>,
    map: &impl Fn(&mut BlockDecoder, StoredBlock) -> T,
) {
    let mut decoder = BlockDecoder::new(Arc::clone(log.dictionaries()));
    for chunk in input {
        let done = chunk
            .into_iter()
            .map(|block| block.map(|block| map(&mut decoder, block)))
            .collect();
        if output.send(done).is_err() {
            return;
        }
    }
}
