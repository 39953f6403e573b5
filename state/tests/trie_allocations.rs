//! That an update of existing registers allocates nothing, once one of its size has been made.
//!
//! One test in a binary of its own: the allocator counts what all threads do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be put around the system's with unsafe code"
)]

#[path = "common/counting.rs"]
mod counting;

use cairn_state::Path;
use cairn_state::trie::{LeafBatch, Trie};

#[test]
fn a_steady_state_update_allocates_nothing() {
    let paths: Vec<_> = (0..20_000_u32)
        .map(|number| Path::of(&number.to_le_bytes()))
        .collect();
    let mut trie = Trie::new();
    trie.set_threads(1);
    let mut batch = LeafBatch::new();
    for round in 1..10_u8 {
        let before = counting::allocations();
        batch.clear();
        for path in &paths[..if round == 1 { 20_000 } else { 5_000 }] {
            batch.set(*path, 4, &[round; 64]);
        }
        trie.update(batch.changes()).unwrap();
        trie.exchange(batch.changes()).unwrap();
        trie.exchange(batch.changes()).unwrap();
        let allocated = counting::allocations() - before;
        assert_eq!(
            allocated > 0,
            round == 1,
            "{allocated} allocations in round {round}"
        );
    }
}
