//! Requests that a peer should not make.

use std::time::{Duration, Instant};

use crate::{common::*, scripted::*};
use cairn_p2p::{EndReason, GoneReason, GoodbyeReason, NetworkConfig, NetworkEvent, Refusal};
use futures::{AsyncReadExt, AsyncWriteExt};

fn strict() -> NetworkConfig {
    let mut config = config(&[]);
    config.timeouts.idle = Duration::from_millis(500);
    config.timeouts.hello = Duration::from_millis(800);
    config
}

/// Reads an end and gives its reason.
fn reason(message: Option<(u8, Vec<u8>)>) -> EndReason {
    let (kind, payload) = message.expect("a message");
    assert_eq!(kind, 0x11, "an end expected");
    EndReason::from_code(payload[0])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proper_exchange_byte_by_byte() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.dial(dialable(&node)).await;
    let (kind, payload) = peer.ask(id, &hello(CHAIN, 1, 1000, true)).await.unwrap();
    assert_eq!(kind, 0x01);
    let mut expected = CHAIN.0.to_vec();
    expected.extend([1, 0, 0, 0, 20, 0, 0, 0]);
    expected.extend(block_id(20).0);
    expected.extend(block_id(1).0);
    assert_eq!(payload[..80], expected);
    assert!(payload[81..].starts_with(b"cairn/"));

    let mut stream = peer.send(id, &get_blocks(19, 2, 1 << 20)).await;
    for number in [19_u32, 20] {
        let (kind, payload) = read_message(&mut stream).await.unwrap();
        let block = small_block(number);
        assert_eq!(kind, 0x10);
        assert_eq!(payload[..4], number.to_le_bytes());
        assert_eq!(payload[4..6], block.attributes.to_le_bytes());
        assert_eq!(payload[6..], block.bytes);
    }
    assert_eq!(
        read_message(&mut stream).await,
        Some((0x11, vec![0, 21, 0, 0, 0]))
    );
    assert_eq!(read_message(&mut stream).await, None);
    assert_eq!(node.peers()[0].agent, "scripted");
    assert_eq!(node.peers()[0].head, 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_blocks_before_hello() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.dial(dialable(&node)).await;
    let answer = peer.ask(id, &get_blocks(1, 5, 1000)).await;
    assert_eq!(reason(answer), EndReason::HelloFirst);
    assert!(node.peers().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_says_nothing_is_closed() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut events = node.subscribe();
    let mut peer = Scripted::client().await;
    let began = Instant::now();
    peer.dial(dialable(&node)).await;
    wait_for(&mut events, "the refusal", |event| match event {
        NetworkEvent::PeerRefused {
            reason: Refusal::NoHello(_),
            ..
        } => Some(()),
        _ => None,
    })
    .await;
    peer.until_closed().await;
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_mean_nothing() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.greet(dialable(&node)).await;
    for request in [
        // Kinds of a later version, an answer in place of a request, ranges outside the limits, a short payload.
        frame(0x06, &[1; 20]),
        frame(0x7f, &[]),
        end(0, 1),
        get_blocks(0, 1, 1),
        get_blocks(1, 0, 1),
        get_blocks(1, 4097, 1),
        get_blocks(1, 1, 0),
        get_blocks(u32::MAX, 2, 1),
        frame(0x02, &[1, 0, 0, 0]),
    ] {
        let answer = peer.ask(id, &request).await;
        assert_eq!(reason(answer), EndReason::BadRequest, "{request:?}");
    }
    // A payload above the limit is not read, and its stream is dropped.
    let mut huge = vec![0x02];
    huge.extend(u32::MAX.to_le_bytes());
    assert_eq!(peer.ask(id, &huge).await, None);
    // Above the head.
    let answer = peer.ask(id, &get_blocks(21, 5, 1000)).await;
    assert_eq!(reason(answer), EndReason::NoSuchBlock);
    // Fields that a later version adds are ignored.
    let mut longer = get_blocks(20, 1, 1000)[5..].to_vec();
    longer.extend([9; 100]);
    let (kind, _) = peer.ask(id, &frame(0x02, &longer)).await.unwrap();
    assert_eq!(kind, 0x10);
    // An announcement that contradicts itself changes nothing.
    let mut announce = [1, 0, 0, 0, 200, 0, 0, 0].to_vec();
    announce.extend(block_id(201).0);
    assert_eq!(peer.ask(id, &frame(0x03, &announce)).await, None);
    assert_eq!(node.peers()[0].head, 1000);
    announce[8..].copy_from_slice(&block_id(200).0);
    assert_eq!(peer.ask(id, &frame(0x03, &announce)).await, None);
    until("the head is known", || node.peers()[0].head == 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_streams_are_given_up() {
    let mut config = strict();
    config.streams.inbound_per_peer = 3;
    let node = start(config, &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.greet(dialable(&node)).await;
    let mut held = Vec::new();
    for bytes in [&[][..], &[0x02], &[0x02, 12, 0, 0, 0, 1]] {
        held.push(peer.send(id, bytes).await);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    // All places are taken: one more is reset at once.
    let mut more = peer.open(id).await;
    let _ = more.write_all(&get_blocks(1, 1, 1)).await;
    assert_eq!(read_message(&mut more).await, None);
    let began = Instant::now();
    for stream in &mut held {
        let mut byte = [0];
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut byte))
            .await
            .unwrap();
        assert!(matches!(read, Ok(0) | Err(_)));
    }
    assert!(began.elapsed() < Duration::from_secs(4));
    let answer = peer.ask(id, &get_blocks(1, 1, 1)).await;
    assert_eq!(answer.unwrap().0, 0x10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_does_not_read_is_given_up() {
    let mut config = strict();
    config.timeouts.write = Duration::from_millis(700);
    config.streams.ranges_per_peer = 1;
    let chain = Chain::of(1, 64, |number| cairn_p2p::WireBlock {
        number,
        attributes: 0,
        bytes: vec![1; 1 << 20],
    });
    let node = start(config, &chain).await;
    let mut peer = Scripted::client().await;
    let id = peer.greet(dialable(&node)).await;
    let stuck = peer.send(id, &get_blocks(1, 64, 64 << 20)).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let answer = peer.ask(id, &get_blocks(1, 1, 1)).await;
    assert_eq!(reason(answer), EndReason::Busy);
    // Its place is free again although it never read anything.
    let began = Instant::now();
    loop {
        let answer = peer.ask(id, &get_blocks(1, 1, 1)).await.unwrap();
        if answer.0 == 0x10 {
            break;
        }
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(stuck);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hello_that_means_nothing() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut events = node.subscribe();
    let mut wrong_id = hello(CHAIN, 1, 1000, true);
    wrong_id[5 + 43] ^= 1;
    for request in [frame(0x01, &[0; 10]), wrong_id] {
        let mut peer = Scripted::client().await;
        let id = peer.dial(dialable(&node)).await;
        let (kind, payload) = peer.ask(id, &request).await.unwrap();
        assert_eq!((kind, payload[0]), (0x04, GoodbyeReason::Misbehaved.code()));
        wait_for(&mut events, "the refusal", |event| match event {
            NetworkEvent::PeerRefused {
                reason: Refusal::BadHello(_),
                ..
            } => Some(()),
            _ => None,
        })
        .await;
        peer.until_closed().await;
    }
    assert!(node.peers().is_empty());
}

/// Case S16: a goodbye that is empty, unknown, or as long as a block.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goodbyes_however_they_are_said() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut events = node.subscribe();
    let mut long = vec![0x04];
    long.extend(1_500_000_u32.to_le_bytes());
    long.extend([3; 3000]);
    for (request, expected) in [
        (frame(0x04, &[]), GoodbyeReason::Unreadable),
        (frame(0x04, &[222, 0xff, 0x00]), GoodbyeReason::Unknown(222)),
        (frame(0x04, b"\x06bye\n"), GoodbyeReason::Unneeded),
        (long, GoodbyeReason::Unreadable),
    ] {
        let mut peer = Scripted::client().await;
        let id = peer.greet(dialable(&node)).await;
        let _stream = peer.send(id, &request).await;
        let reason = wait_for(&mut events, "the goodbye", |event| match event {
            NetworkEvent::PeerGone { reason, .. } => Some(reason),
            _ => None,
        })
        .await;
        let GoneReason::Goodbye(goodbye) = &reason else {
            panic!("a goodbye expected, got {reason}");
        };
        assert_eq!(goodbye.reason, expected);
        if expected == GoodbyeReason::Unreadable {
            assert!(reason.to_string().contains("closed without readable reason"));
        }
        peer.until_closed().await;
    }
    assert!(node.peers().is_empty());
}

/// Case S15: a block that is old or was not asked for, and a head that went back, are no reason to lose a peer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_blocks_and_heads_cost_nothing() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.greet(dialable(&node)).await;
    for number in [15, 20, 15] {
        let answer = peer.ask(id, &block(number, &small_block(number).bytes)).await;
        assert_eq!(reason(answer), EndReason::BadRequest);
    }
    for head in [995_u32, 10] {
        let mut announce = 1_u32.to_le_bytes().to_vec();
        announce.extend(head.to_le_bytes());
        announce.extend(block_id(head).0);
        assert_eq!(peer.ask(id, &frame(0x03, &announce)).await, None);
        until("the head is known", || node.peers()[0].head == head).await;
    }
    assert!(node.bans().is_empty());
    let answer = peer.ask(id, &get_blocks(20, 1, 1000)).await;
    assert_eq!(answer.unwrap().0, 0x10);
}

/// Bytes that are no message at all, on many streams.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_requests() {
    let node = start(strict(), &Chain::small(20)).await;
    let mut peer = Scripted::client().await;
    let id = peer.greet(dialable(&node)).await;
    let mut state = 7_u64;
    for _ in 0..200 {
        let mut bytes = get_blocks(1, 5, 1000);
        for _ in 0..2 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let at = 1 + (state >> 33) as usize % (bytes.len() - 1);
            bytes[at] = (state >> 50) as u8;
        }
        let _ = tokio::time::timeout(Duration::from_millis(20), peer.send(id, &bytes)).await;
    }
    tokio::time::sleep(Duration::from_millis(800)).await;
    let answer = peer.ask(id, &get_blocks(1, 1, 1)).await;
    assert_eq!(answer.unwrap().0, 0x10);
}
