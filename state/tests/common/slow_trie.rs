//! The register trie as its definition says it, without any of what makes it fast: the judge of all roots.

fn keyed(key: &[u8; 32], left: [u8; 32], right: [u8; 32]) -> [u8; 32] {
    *blake3::keyed_hash(key, &[left, right].concat()).as_bytes()
}

/// The root of these registers, `(path, hash of the value)` in ascending order, that share the bits above `depth`.
pub(crate) fn root(registers: &[([u8; 32], [u8; 32])], depth: usize) -> [u8; 32] {
    match registers {
        [] => [0; 32],
        &[(path, value)] => keyed(b"cairn register trie v1: leaf    ", path, value),
        _ => {
            let right = registers.partition_point(|(path, _)| path[depth / 8] << (depth % 8) < 0x80);
            let (left, right) = (
                root(&registers[..right], depth + 1),
                root(&registers[right..], depth + 1),
            );
            keyed(b"cairn register trie v1: interior", left, right)
        }
    }
}
