//! A node under test and who watches it.

use std::ffi::OsString;
use std::sync::Arc;

use cairn_block_log::{Attributes, BlockDecoder, Dictionaries};
use cairn_chain::{BlockId, SignedHeader};
use cairn_node::devnet::RawBlock;
use cairn_tests::zoo::{Peer, Watcher, Yard};
use cairn_tests::{Running, free_port};

pub(crate) fn joined(trunk: &[RawBlock], branch: &[RawBlock]) -> Vec<RawBlock> {
    [trunk, branch].concat()
}

/// A node that these peers are known to, and a watcher beside it.
pub(crate) fn start(yard: &Yard, name: &str, peers: &[&Peer], lines: &[String]) -> (Running, Watcher) {
    start_with(yard, name, peers, lines, [])
}

/// The same with variables of the environment.
pub(crate) fn start_with<'a>(
    yard: &Yard,
    name: &str,
    peers: &[&Peer],
    lines: &[String],
    environment: impl IntoIterator<Item = (&'a str, OsString)>,
) -> (Running, Watcher) {
    let port = free_port();
    let mut lines = lines.to_vec();
    lines.push(format!("p2p-endpoint = 127.0.0.1:{port}"));
    let folder = yard.configure(name, peers, &lines);
    let node = Running::start_with(["run", "-d", &folder, "--json"], environment);
    (node, yard.watch(port))
}

pub(crate) fn ids_served(watcher: &Watcher, yard: &Yard) -> Vec<BlockId> {
    let mut decoder = BlockDecoder::new(Arc::new(Dictionaries::none()));
    let mut previous = BlockId::ZERO;
    let read = |block: cairn_p2p::WireBlock| {
        let form = Attributes::unpack(u64::from(block.attributes) << 48).unwrap();
        let raw = decoder.view(form.compression(), &block.bytes).unwrap();
        let header = SignedHeader::unpack_prefix(raw).unwrap().0;
        assert_eq!(header.previous, previous, "block {} does not link", block.number);
        previous = header.id();
        previous
    };
    watcher.fetch(yard).into_iter().map(read).collect()
}
