//! The libp2p network: block transfer between Cairn nodes.
