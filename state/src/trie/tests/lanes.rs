use crate::trie::lanes::{Domain, Lanes, WIDTH};
use crate::trie::scheme::{INTERIOR_KEY, LEAF_KEY};

/// What [`Lanes::many`] calls may change with any release of blake3: this is what then fails.
#[test]
fn blocks_hashed_side_by_side_are_hashed_as_by_the_plain_call() {
    let blocks: [[u8; 64]; WIDTH] =
        std::array::from_fn(|block| std::array::from_fn(|byte| (block * 64 + byte * 7) as u8));
    for (domain, key) in [(Domain::Leaf, LEAF_KEY), (Domain::Interior, INTERIOR_KEY)] {
        for count in 0..=WIDTH {
            let inputs: Vec<_> = blocks.iter().take(count).collect();
            let expected: Vec<_> = inputs
                .iter()
                .map(|input| *blake3::keyed_hash(key, *input).as_bytes())
                .collect();
            for lanes in [Lanes::many(), Lanes::portable(), Lanes::one()] {
                let mut out = vec![[0; 32]; count];
                lanes.hash(domain, &inputs, &mut out);
                assert_eq!(out, expected);
            }
        }
    }
}
