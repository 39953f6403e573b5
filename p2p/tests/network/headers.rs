//! Header ranges, between two nodes and with peers that answer what they should not.

use std::time::Duration;

use crate::{common::*, scripted::*};
use cairn_p2p::{
    EndReason, Fault, FrameError, HeadersError, MAX_HEADERS, RequestError, WireError, wire::MAX_HEADERS_BYTES,
};
use futures::AsyncWriteExt;

fn headers_of(first: u32, count: u32) -> Vec<u8> {
    (first..first + count).flat_map(small_header).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_come_as_they_are() {
    let server = start(config(&[]), &Chain::of(5, 5000, small_block)).await;
    for transport in ["tcp", "quic-v1"] {
        let client = start(config(&[&address(&server, transport)]), &Chain::empty()).await;
        let peer = server.local_peer();
        ready(&client, peer).await;
        for (first, count) in [(5, 1), (100, 7), (1000, MAX_HEADERS)] {
            let bytes = client.request_headers(peer, first, count).await.unwrap();
            assert!(bytes == headers_of(first, count), "{count} from {first}");
        }
        // What there is of a range that goes past the head.
        let bytes = client.request_headers(peer, 4990, 100).await.unwrap();
        assert!(bytes == headers_of(4990, 11));
        for first in [1, 4, 5001] {
            let error = client.request_headers(peer, first, 10).await.unwrap_err();
            assert!(
                matches!(
                    error,
                    RequestError::Ended {
                        reason: EndReason::NoSuchBlock,
                        ..
                    }
                ),
                "{error}"
            );
            assert_eq!(error.fault(), Fault::Declined);
        }
        for (first, count) in [(0, 1), (1, 0), (1, MAX_HEADERS + 1)] {
            let error = client.request_headers(peer, first, count).await.unwrap_err();
            assert_eq!(error.fault(), Fault::Own, "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_headers_byte_by_byte() {
    let node = start(config(&[]), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.dial(dialable(&node)).await;
    let (kind, payload) = peer.ask(id, &get_headers(1, 5)).await.unwrap();
    assert_eq!((kind, payload[0]), (0x11, EndReason::HelloFirst.code()));
    peer.ask(id, &hello(CHAIN, 1, 1000, true)).await.unwrap();
    let mut stream = peer.send(id, &get_headers(19, 2)).await;
    let mut expected = vec![19, 0, 0, 0];
    expected.extend(headers_of(19, 2));
    assert_eq!(read_message(&mut stream).await, Some((0x12, expected)));
    assert_eq!(read_message(&mut stream).await, None);
    for request in [
        get_headers(0, 1),
        get_headers(1, 0),
        get_headers(1, 2049),
        frame(0x05, &[1, 0]),
    ] {
        let (kind, payload) = peer.ask(id, &request).await.unwrap();
        assert_eq!((kind, payload[0]), (0x11, EndReason::BadRequest.code()));
    }
}

/// What the node makes of an answer to a request for the headers of blocks 5 to 8.
async fn error_of(script: Script) -> RequestError {
    let peer = Scripted::with(script).await;
    let mut config = config(&[&peer.address.to_string()]);
    config.timeouts.idle = Duration::from_millis(600);
    config.timeouts.slowest = 1000;
    let node = start(config, &Chain::empty()).await;
    ready(&node, peer.id).await;
    let asking = node.request_headers(peer.id, 5, 4);
    let error = tokio::time::timeout(PATIENCE, asking)
        .await
        .expect("an end in time")
        .unwrap_err();
    assert_eq!(node.peers().len(), 1, "this layer reports, it does not judge");
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_no_headers() {
    let whole = headers_of(5, 4);
    let mut too_long = vec![0x12];
    too_long.extend((MAX_HEADERS_BYTES as u32 + 5).to_le_bytes());
    for bytes in [
        headers(6, &headers_of(6, 1)),
        headers(5, &headers_of(6, 1)),
        headers(5, &headers_of(5, 5)),
        headers(5, &whole[..whole.len() - 1]),
        headers(5, &[headers_of(5, 1), vec![0; 7]].concat()),
        headers(5, &[headers_of(5, 1), headers_of(7, 1)].concat()),
        headers(5, &[]),
        frame(0x12, &[5, 0]),
        block(5, &[7; 20]),
        too_long,
        end(0, 9),
        end(1, 5),
    ] {
        let error = error_of(say(bytes)).await;
        assert_eq!(error.fault(), Fault::Misbehaved, "{error}");
    }
    let error = error_of(say(headers(5, &headers_of(5, 5)))).await;
    assert!(
        matches!(error, RequestError::Headers(HeadersError::TooMany { count: 4 })),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_do_not_come() {
    let error = error_of(say(headers(5, &headers_of(5, 4))[..100].to_vec())).await;
    assert!(
        matches!(error, RequestError::Frame(FrameError::Truncated { .. })),
        "{error}"
    );
    assert_eq!(error.fault(), Fault::Connection);

    let error = error_of(say(end(3, 5))).await;
    assert!(
        matches!(
            error,
            RequestError::Ended {
                reason: EndReason::Busy,
                ..
            }
        ),
        "{error}"
    );
    // A peer of an earlier version.
    let error = error_of(say(end(6, 0))).await;
    assert_eq!(error.fault(), Fault::Declined);

    let drip = script(|mut stream, _| async move {
        for byte in headers(5, &headers_of(5, 4)) {
            if stream.write_all(&[byte]).await.is_err() || stream.flush().await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let error = error_of(drip).await;
    assert_eq!(error.fault(), Fault::Stalled, "{error}");
    let mute = script(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    });
    let error = error_of(mute).await;
    assert_eq!(error.fault(), Fault::Stalled, "{error}");
    // Too long for a message of that kind, but an end all the same.
    let mut drowned = vec![0x11];
    drowned.extend(1_000_000_u32.to_le_bytes());
    let error = error_of(say(drowned)).await;
    assert!(
        matches!(
            error,
            RequestError::Ended {
                reason: EndReason::Unreadable,
                ..
            }
        ),
        "{error}"
    );
    let wire = error_of(say(frame(0x12, &[5, 0]))).await;
    assert!(
        matches!(
            wire,
            RequestError::Frame(FrameError::Wire(WireError::TooShort { .. }))
        ),
        "{wire}"
    );
}
