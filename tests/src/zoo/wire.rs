//! Messages of the sync protocol, written out: the encoders of the network would not let a peer break it.

use cairn_chain::ChainId;
use futures::AsyncReadExt;
use libp2p::Stream;

use super::Stock;
use super::stock::Item;

pub(super) const HELLO: u8 = 0x01;
pub(super) const GET_BLOCKS: u8 = 0x02;
pub(super) const GET_HEADERS: u8 = 0x05;
const ANNOUNCE: u8 = 0x03;
const BLOCK: u8 = 0x10;
const END: u8 = 0x11;
const HEADERS: u8 = 0x12;

pub(super) fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short message");
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A hello that claims the whole stock.
pub(super) fn hello(chain: &ChainId, stock: &Stock) -> Vec<u8> {
    let head = stock.head();
    let mut payload = chain.0.to_vec();
    payload.extend_from_slice(&1_u32.to_le_bytes());
    payload.extend_from_slice(&head.to_le_bytes());
    payload.extend_from_slice(&stock.id(head).0);
    payload.extend_from_slice(&stock.id(1).0);
    payload.push(3);
    payload.extend_from_slice(b"zoo");
    frame(HELLO, &payload)
}

pub(super) fn block(number: u32, item: &Item) -> Vec<u8> {
    let mut payload = number.to_le_bytes().to_vec();
    payload.extend_from_slice(&item.attributes.to_le_bytes());
    payload.extend_from_slice(&item.bytes);
    frame(BLOCK, &payload)
}

/// The announcement of a head that nobody has; another one for each `nonce`.
pub(super) fn announce(number: u32, nonce: u32) -> Vec<u8> {
    let mut payload = 1_u32.to_le_bytes().to_vec();
    payload.extend_from_slice(&number.to_le_bytes());
    payload.extend_from_slice(&number.to_be_bytes());
    payload.extend_from_slice(&nonce.to_le_bytes());
    payload.extend_from_slice(&[0x77; 12]);
    frame(ANNOUNCE, &payload)
}

/// An end in good order, before block `next`.
pub(super) fn end(limit_reached: bool, next: u32) -> Vec<u8> {
    let mut payload = vec![u8::from(limit_reached)];
    payload.extend_from_slice(&next.to_le_bytes());
    frame(END, &payload)
}

/// An end without a block: there is none of that number.
pub(super) fn no_such_block() -> Vec<u8> {
    frame(END, &[2])
}

/// The answer to a request for headers.
pub(super) fn headers(first: u32, items: &[Item]) -> Vec<u8> {
    if items.is_empty() {
        return no_such_block();
    }
    let mut payload = first.to_le_bytes().to_vec();
    for item in items {
        payload.extend_from_slice(&item.header);
    }
    frame(HEADERS, &payload)
}

/// Reads one message; `None` at the end of the stream.
pub(super) async fn read(stream: &mut Stream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).await.ok()?;
    let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await.ok()?;
    Some((header[0], payload))
}
