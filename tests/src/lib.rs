//! End-to-end tests that run the built cairn binary.
