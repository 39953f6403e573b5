//! The state engine: registers on RocksDB, committed atomically with the chain's head.
