//! Hive's protocol as pure functions: types, packing, ids, Merkle roots, keys and signatures, chain specifications.
