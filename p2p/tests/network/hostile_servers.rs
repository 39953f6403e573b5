//! Answers that a peer should not give: each ends in a typed error within the time allowed, and the node goes on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{common::*, scripted::*};
use cairn_p2p::{
    EndReason, Fault, FrameError, NetworkConfig, NetworkHandle, RequestError, Stalled, WireBlock, WireError,
};
use futures::{AsyncWriteExt, StreamExt};

/// A node whose patience with peers is short.
fn impatient(seed: &Scripted) -> NetworkConfig {
    let mut config = config(&[&seed.address.to_string()]);
    config.timeouts.idle = Duration::from_millis(600);
    config.timeouts.slowest = 1000;
    config
}

/// What the node makes of an answer to a request for blocks 5 to 8 in at most 100 bytes, and how long it took.
async fn answer(script: Script) -> (Vec<WireBlock>, Option<RequestError>, Duration) {
    let peer = Scripted::with(script).await;
    let node = start(impatient(&peer), &Chain::empty()).await;
    ready(&node, peer.id).await;
    let result = ask(&node, &peer).await;
    // The peer is still there: this layer reports, it does not judge.
    assert_eq!(node.peers().len(), 1);
    result
}

async fn ask(node: &NetworkHandle, peer: &Scripted) -> (Vec<WireBlock>, Option<RequestError>, Duration) {
    let began = Instant::now();
    let mut answer = node.request_range(peer.id, 5, 4, 100);
    let mut blocks = Vec::new();
    let mut error = None;
    while let Some(item) = answer.next().await {
        assert!(error.is_none(), "an error is the last item");
        match item {
            Ok(block) => blocks.push(block),
            Err(found) => error = Some(found),
        }
    }
    (blocks, error, began.elapsed())
}

async fn error_of(script: Script) -> RequestError {
    let (_, error, took) = answer(script).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    error.expect("an error")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proper_answer_of_the_scripted_peer() {
    let mut bytes = Vec::new();
    for number in 5..9 {
        bytes.extend(block(number, &[7; 20]));
    }
    bytes.extend(end(0, 9));
    let (blocks, error, _) = answer(say(bytes)).await;
    assert!(error.is_none(), "{error:?}");
    let numbers: Vec<_> = blocks.iter().map(|block| block.number).collect();
    assert_eq!(numbers, [5, 6, 7, 8]);
    assert!(
        blocks
            .iter()
            .all(|block| block.bytes == [7; 20] && block.attributes == 0x8000)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_frame() {
    for length in [(2 << 20) + (16 << 10) + 7, u32::MAX] {
        let mut bytes = vec![0x10];
        bytes.extend(length.to_le_bytes());
        bytes.extend([0; 100]);
        let error = error_of(say(bytes)).await;
        assert!(
            matches!(
                error,
                RequestError::Frame(FrameError::Wire(WireError::TooLong { .. }))
            ),
            "{error}"
        );
        assert_eq!(error.fault(), Fault::Misbehaved);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truncated_frame() {
    let mut bytes = block(5, &[7; 20]);
    bytes.extend(&block(6, &[7; 20])[..15]);
    let (blocks, error, _) = answer(say(bytes)).await;
    assert_eq!(blocks.len(), 1);
    let error = error.unwrap();
    assert!(
        matches!(
            error,
            RequestError::Frame(FrameError::Truncated {
                expected: 20,
                found: 4
            })
        ),
        "{error}"
    );
    // Closed before an end: the answer is not taken for a complete one.
    let (blocks, error, _) = answer(say(block(5, &[7; 20]))).await;
    assert_eq!(blocks.len(), 1);
    assert!(matches!(error, Some(RequestError::Frame(FrameError::Closed))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage() {
    for bytes in [
        vec![0xff; 64],
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        hello(CHAIN, 1, 9, true),
    ] {
        let error = error_of(say(bytes)).await;
        assert!(
            matches!(
                error,
                RequestError::Frame(FrameError::Wire(WireError::UnexpectedKind { .. }))
            ),
            "{error}"
        );
    }
    let error = error_of(say(frame(0x10, &[5, 0, 0, 0, 0, 0]))).await;
    assert!(
        matches!(
            error,
            RequestError::Frame(FrameError::Wire(WireError::TooShort { .. }))
        ),
        "{error}"
    );
}

/// Case S16: the reason of a closing message may be new, missing, or drowned in a whole block.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_that_cannot_be_understood() {
    let mut drowned = vec![0x11];
    drowned.extend(1_000_000_u32.to_le_bytes());
    for (bytes, expected) in [
        (end(200, 5), EndReason::Unknown(200)),
        (frame(0x11, &[]), EndReason::Unreadable),
        (frame(0x11, &[3]), EndReason::Busy),
        (frame(0x11, &[4, 0xff, 0xff]), EndReason::Closing),
        (drowned, EndReason::Unreadable),
    ] {
        let error = error_of(say(bytes)).await;
        let RequestError::Ended { reason, next: 5, .. } = &error else {
            panic!("an end expected, got {error}");
        };
        assert_eq!(*reason, expected);
        assert_eq!(error.fault(), Fault::Declined);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_drip() {
    let drip = script(|mut stream, _| async move {
        for byte in block(5, &[7; 2000]) {
            if stream.write_all(&[byte]).await.is_err() || stream.flush().await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let (blocks, error, took) = answer(drip).await;
    assert!(blocks.is_empty());
    let error = error.unwrap();
    assert!(
        matches!(
            error,
            RequestError::Frame(FrameError::Stalled {
                kind: Stalled::Slow,
                ..
            })
        ),
        "{error}"
    );
    assert_eq!(error.fault(), Fault::Stalled);
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_stream() {
    let mute = script(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    });
    let (_, error, took) = answer(mute).await;
    let error = error.unwrap();
    assert!(
        matches!(
            error,
            RequestError::Frame(FrameError::Stalled {
                kind: Stalled::Idle,
                found: 0,
                ..
            })
        ),
        "{error}"
    );
    assert!(
        took >= Duration::from_millis(500) && took < Duration::from_secs(4),
        "{took:?}"
    );

    let stops = script(|mut stream, _| async move {
        let _ = stream.write_all(&block(5, &[7; 20])).await;
        let _ = stream.flush().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
    let (blocks, error, took) = answer(stops).await;
    assert_eq!(blocks.len(), 1);
    assert!(matches!(
        error,
        Some(RequestError::Frame(FrameError::Stalled {
            kind: Stalled::Idle,
            ..
        }))
    ));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_that_were_not_asked_for() {
    let cases: &[(&[u8], &str)] = &[
        (&block(4, &[7; 20]), "another number"),
        (&[block(5, &[7; 20]), block(5, &[7; 20])].concat(), "twice"),
        (&[block(5, &[7; 20]), block(7, &[7; 20])].concat(), "one left out"),
    ];
    for (bytes, what) in cases {
        let error = error_of(say(bytes.to_vec())).await;
        assert!(
            matches!(error, RequestError::UnexpectedBlock { .. }),
            "{what}: {error}"
        );
        assert_eq!(error.fault(), Fault::Misbehaved);
    }
    let flood: Vec<u8> = (5..100).flat_map(|number| block(number, &[7; 2])).collect();
    let (blocks, error, _) = answer(say(flood)).await;
    assert_eq!(blocks.len(), 4);
    assert!(matches!(error, Some(RequestError::TooManyBlocks { count: 4 })));
    let heavy: Vec<u8> = (5..9).flat_map(|number| block(number, &[7; 100])).collect();
    let (blocks, error, _) = answer(say(heavy)).await;
    assert_eq!(blocks.len(), 1);
    assert!(matches!(
        error,
        Some(RequestError::TooManyBytes {
            received: 100,
            limit: 100
        })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_that_are_not_true() {
    for (reason, bytes) in [
        (EndReason::Done, end(0, 9)),
        (EndReason::LimitReached, end(1, 5)),
        (EndReason::Done, [block(5, &[7; 20]), end(0, 9)].concat()),
    ] {
        let error = error_of(say(bytes)).await;
        assert!(
            matches!(error, RequestError::FalseEnd { reason: found, .. } if found == reason),
            "{error}"
        );
        assert_eq!(error.fault(), Fault::Misbehaved);
    }
}

/// The peer goes away in the middle of an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connection() {
    let chain = Chain::of(1, 4096, |number| WireBlock {
        number,
        attributes: 0,
        bytes: vec![1; 16 << 10],
    });
    let server = start(config(&[]), &chain).await;
    let node = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let peer = server.local_peer();
    ready(&node, peer).await;
    let mut answer = node.request_range(peer, 1, 4096, 64 << 20);
    answer.next().await.unwrap().unwrap();
    server.shutdown().await;
    let mut error = None;
    while let Some(item) = answer.next().await {
        error = item.err();
    }
    let error = error.expect("an error");
    assert!(
        matches!(error.fault(), Fault::Connection | Fault::Declined),
        "{error}"
    );
    let after = node.request_range(peer, 1, 1, 1).next().await;
    assert!(after.is_some_and(|item| item.is_err()));
}

/// Many answers of random bytes: none may bring the node down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_answers() {
    let seed = Arc::new(std::sync::atomic::AtomicU64::new(1));
    let random = script(move |mut stream, _| {
        let mut state = seed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move {
            let mut bytes = [block(5, &[7; 20]), end(0, 9), block(6, &[8; 9])].concat();
            for _ in 0..3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                let at = (state >> 33) as usize % bytes.len();
                bytes[at] = (state >> 50) as u8;
            }
            let _ = stream.write_all(&bytes).await;
            let _ = stream.close().await;
        }
    });
    let peer = Scripted::with(random).await;
    let node = start(impatient(&peer), &Chain::empty()).await;
    ready(&node, peer.id).await;
    let asks = (0..200).map(|_| ask(&node, &peer));
    let answers: Vec<_> = futures::stream::iter(asks).buffer_unordered(8).collect().await;
    assert!(answers.iter().all(|(_, error, _)| error.is_some()));
}
