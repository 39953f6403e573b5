//! Where the network and the sync meet: neither knows the other.
//!
//! [`ServedLog`] gives the network this node's blocks, [`PeerNetwork`] gives the sync the network's peers.

mod frozen_chain;
mod header_builder;
mod network;
mod self_check;
mod served_log;

pub use network::PeerNetwork;
pub use served_log::{ServedLog, SharedLog};

use cairn_block_log::{Attributes, AttributesError, Compression, StoredBlock};
use cairn_p2p::WireBlock;

/// Bits of hived's trailer that lie above the offset.
const OFFSET_BITS: u32 = 48;

fn to_wire(stored: StoredBlock) -> Result<WireBlock, AttributesError> {
    let trailer = Attributes::new(0, stored.compression)?.pack();
    let attributes = (trailer >> OFFSET_BITS) as u16;
    Ok(WireBlock {
        number: stored.number,
        attributes,
        bytes: stored.bytes,
    })
}

fn from_wire(wire: WireBlock) -> Result<StoredBlock, AttributesError> {
    let compression: Compression =
        Attributes::unpack(u64::from(wire.attributes) << OFFSET_BITS)?.compression();
    Ok(StoredBlock {
        number: wire.number,
        compression,
        bytes: wire.bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_travels_as_it_is_stored() {
        for compression in [
            Compression::None,
            Compression::Zstd { dictionary: None },
            Compression::Zstd { dictionary: Some(0) },
            Compression::Zstd {
                dictionary: Some(104),
            },
        ] {
            let stored = StoredBlock {
                number: 7,
                compression,
                bytes: vec![1, 2, 3],
            };
            assert_eq!(from_wire(to_wire(stored.clone()).unwrap()).unwrap(), stored);
        }
    }

    #[test]
    fn attributes_of_a_stranger_may_be_anything() {
        for attributes in 0..=u16::MAX {
            let _ = from_wire(WireBlock {
                number: 1,
                attributes,
                bytes: Vec::new(),
            });
        }
    }
}
