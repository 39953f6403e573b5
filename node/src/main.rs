//! The cairn binary.
fn main() {}
