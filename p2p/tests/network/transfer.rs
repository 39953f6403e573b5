//! Blocks between two nodes over loopback.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::common::*;
use cairn_p2p::{
    BlockProvider, EndReason, Fault, LocalStatus, Network, NetworkEvent, NetworkHandle, PeerId, ProvideError,
    RequestError, WireBlock,
};
use futures::StreamExt;

async fn pair(transport: &str, server: &Arc<Chain>) -> (NetworkHandle, NetworkHandle, PeerId) {
    let server = start(config(&[]), server).await;
    let client = start(config(&[&address(&server, transport)]), &Chain::empty()).await;
    let peer = server.local_peer();
    ready(&client, peer).await;
    (server, client, peer)
}

/// Fetches a range in requests of `step` blocks, in order.
async fn fetch(client: &NetworkHandle, peer: PeerId, head: u32, step: u32, mut each: impl FnMut(WireBlock)) {
    let mut next = 1;
    while next <= head {
        let count = step.min(head - next + 1);
        let mut answer = client.request_range(peer, next, count, 32 << 20);
        while let Some(block) = answer.next().await {
            let block = block.unwrap();
            assert_eq!(block.number, next);
            next += 1;
            each(block);
        }
    }
}

async fn ten_thousand_blocks(transport: &str) {
    const HEAD: u32 = 10_000;
    let chain = Chain::small(HEAD);
    let (server, client, peer) = pair(transport, &chain).await;
    let status = client.status(&peer).unwrap();
    assert_eq!((status.first, status.head), (1, HEAD));
    assert_eq!(status.head_id, block_id(HEAD));
    assert_eq!(status.first_block_id, Some(block_id(1)));
    ready(&server, client.local_peer()).await;
    let [seen] = &server.peers()[..] else {
        panic!("one peer expected");
    };
    assert_eq!((seen.first, seen.head), (0, 0));

    let began = Instant::now();
    let mut number = 0;
    let mut bytes = 0;
    fetch(&client, peer, HEAD, 2500, |block| {
        number += 1;
        bytes += block.bytes.len();
        assert_eq!(block, small_block(number));
    })
    .await;
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(number, HEAD);
    let [summary] = &client.peers()[..] else {
        panic!("one peer expected");
    };
    assert_eq!(summary.received, bytes as u64);
    assert!(summary.rate > 0 && summary.agent.starts_with("cairn/"));
    println!(
        "{transport}: {HEAD} blocks, {:.1} MiB in {seconds:.3} s = {:.0} blocks/s, {:.1} MiB/s",
        bytes as f64 / 1048576.0,
        f64::from(HEAD) / seconds,
        bytes as f64 / 1048576.0 / seconds
    );
    server.shutdown().await;
    client.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_blocks_over_tcp() {
    ten_thousand_blocks("tcp").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_blocks_over_quic() {
    ten_thousand_blocks("quic-v1").await;
}

/// Blocks of the size that mainnet has today, one and four requests at a time. Only printed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throughput_of_ordinary_blocks() {
    const HEAD: u32 = 4096;
    const LENGTH: usize = 16 << 10;
    let chain = Chain::of(1, HEAD, |number| WireBlock {
        number,
        attributes: 0x8000,
        bytes: vec![number as u8; LENGTH],
    });
    for transport in ["tcp", "quic-v1"] {
        let (_server, client, peer) = pair(transport, &chain).await;
        for parallel in [1, 4] {
            let began = Instant::now();
            let quarter = HEAD / parallel;
            let fetches = (0..parallel).map(|part| {
                let client = client.clone();
                tokio::spawn(async move {
                    let mut next = part * quarter + 1;
                    let past = (part + 1) * quarter + 1;
                    while next < past {
                        let mut answer = client.request_range(peer, next, 512.min(past - next), 8 << 20);
                        while let Some(block) = answer.next().await {
                            assert_eq!(block.unwrap().number, next);
                            next += 1;
                        }
                    }
                })
            });
            for fetched in futures::future::join_all(fetches).await {
                fetched.unwrap();
            }
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "{transport}, {parallel} at a time: {HEAD} blocks of 16 KiB in {seconds:.3} s = {:.0} blocks/s, {:.0} MiB/s",
                f64::from(HEAD) / seconds,
                HEAD as f64 * LENGTH as f64 / 1048576.0 / seconds
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_byte_limit_ends_an_answer_after_one_block_more() {
    let chain = Chain::of(1, 50, |number| WireBlock {
        number,
        attributes: 0,
        bytes: vec![1; 1000],
    });
    let (_server, client, peer) = pair("tcp", &chain).await;
    for (limit, blocks) in [(1, 1), (1000, 1), (1001, 2), (10_500, 11), (1_000_000, 50)] {
        let mut answer = client.request_range(peer, 1, 50, limit);
        let mut count = 0;
        while let Some(block) = answer.next().await {
            block.unwrap();
            count += 1;
        }
        assert_eq!(count, blocks, "limit {limit}");
        let end = answer.end().unwrap();
        let reason = if blocks == 50 {
            EndReason::Done
        } else {
            EndReason::LimitReached
        };
        assert_eq!((end.reason, end.next), (reason, blocks + 1), "limit {limit}");
    }
}

/// Blocks of the greatest length pass; each is a chunk of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn longest_blocks() {
    let chain = Chain::of(1, 8, |number| WireBlock {
        number,
        attributes: 0,
        bytes: vec![number as u8; cairn_p2p::wire::MAX_STORED_BLOCK],
    });
    let (_server, client, peer) = pair("tcp", &chain).await;
    let mut answer = client.request_range(peer, 1, 8, usize::MAX);
    let mut number = 0;
    while let Some(block) = answer.next().await {
        number += 1;
        assert_eq!(block.unwrap(), chain.blocks.lock().unwrap()[number - 1]);
    }
    assert_eq!(number, 8);
}

/// Case S19: a peer that keeps only recent blocks says so, and a request for older ones is not answered by an
/// empty success.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_that_a_peer_does_not_have() {
    let (_server, client, peer) = pair("tcp", &Chain::of(400, 500, small_block)).await;
    let status = client.status(&peer).unwrap();
    assert_eq!((status.first, status.head), (400, 500));
    assert!(!status.serves(399) && status.serves(400) && status.serves(500) && !status.serves(501));

    let mut answer = client.request_range(peer, 1, 10, 1 << 20);
    let error = answer.next().await.unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            RequestError::Ended {
                reason: EndReason::NoSuchBlock,
                next: 1,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.fault(), Fault::Declined);
    assert!(answer.next().await.is_none());

    // Past the head: what is there comes, then the reason.
    let items: Vec<_> = client.request_range(peer, 499, 10, 1 << 20).collect().await;
    let [Ok(first), Ok(second), Err(error)] = &items[..] else {
        panic!("two blocks and an end expected, got {items:?}");
    };
    assert_eq!((first.number, second.number), (499, 500));
    assert!(
        matches!(
            error,
            RequestError::Ended {
                reason: EndReason::NoSuchBlock,
                next: 501,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_outside_the_limits_is_not_sent() {
    let chain = Chain::small(10);
    let (_server, client, peer) = pair("tcp", &chain).await;
    for (first, count, bytes) in [(0, 1, 1), (1, 0, 1), (1, 4097, 1), (1, 1, 0), (u32::MAX, 5, 1)] {
        let error = client
            .request_range(peer, first, count, bytes)
            .next()
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(error.fault(), Fault::Own, "{error}");
    }
    let stranger = client.request_range(PeerId::random(), 1, 1, 1).next().await;
    assert!(matches!(stranger, Some(Err(RequestError::NotReady))));
    assert_eq!(chain.reads.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_growing_head_is_announced() {
    let chain = Chain::small(10);
    let server = start(config(&[]), &chain).await;
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let mut events = client.subscribe();
    let peer = server.local_peer();
    ready(&client, peer).await;
    for head in [11, 12, 30] {
        let have = chain.blocks.lock().unwrap().len() as u32;
        chain.grow(head - have);
        server.announce();
        wait_for(&mut events, "the new head", |event| match event {
            NetworkEvent::StatusChanged { peer: from, status } if from == peer => {
                assert_eq!(status.head_id, block_id(status.head));
                (status.head == head).then_some(())
            }
            _ => None,
        })
        .await;
    }
    chain.grow(5);
    assert_eq!(client.refresh_status(peer).await.unwrap().head, 35);
    assert_eq!(client.peers()[0].head, 35);
}

/// A node at the head: what comes a moment after the last block must not wait for a second to be over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_in_quick_succession_are_announced_at_once() {
    let chain = Chain::small(10);
    let mut patient = config(&[]);
    patient.announce_interval = Duration::from_secs(600);
    let server = start(patient, &chain).await;
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let mut events = client.subscribe();
    let peer = server.local_peer();
    ready(&client, peer).await;
    for head in 11..=16 {
        chain.grow(1);
        wait_for(&mut events, "the new head", |event| match event {
            NetworkEvent::StatusChanged { peer: from, status } if from == peer => {
                (status.head == head).then_some(())
            }
            _ => None,
        })
        .await;
    }
}

/// Goes over to another chain after the first read.
struct Switching {
    chain: Arc<Chain>,
    frozen: bool,
}

impl BlockProvider for Switching {
    fn status(&self) -> LocalStatus {
        self.chain.status()
    }

    fn frozen(&self) -> Option<Arc<dyn BlockProvider>> {
        Some(Arc::new(Self {
            chain: Arc::clone(&self.chain),
            frozen: true,
        }))
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        let mut blocks = self.chain.read_range(first, max_count, max_bytes)?;
        if !self.frozen && first > 1 {
            blocks.iter_mut().for_each(|block| block.bytes = vec![0xEE; 9]);
        }
        Ok(blocks)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        self.chain.read_headers(first, max_count, max_bytes)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_is_of_one_chain() {
    let chain = Chain::small(20);
    let provider = Switching {
        chain: Arc::clone(&chain),
        frozen: false,
    };
    let mut small = config(&[]);
    small.streams.chunk_blocks = 4;
    let server = Network::start(small, Arc::new(provider)).await.unwrap();
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let peer = server.local_peer();
    ready(&client, peer).await;
    let mut answer = client.request_range(peer, 1, 20, 1 << 20);
    for number in 1..=20 {
        assert_eq!(answer.next().await.unwrap().unwrap(), small_block(number));
    }
}

/// A consumer that does not take blocks stops the sender, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_consumer_holds_the_sender_back() {
    let chain = Chain::of(1, 4096, |number| WireBlock {
        number,
        attributes: 0,
        bytes: vec![number as u8; 16 << 10],
    });
    let (server, client, peer) = pair("tcp", &chain).await;
    let mut answer = client.request_range(peer, 1, 4096, 32 << 20);
    answer.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    let sent = server.peers()[0].sent;
    assert!(
        sent < 16 << 20,
        "{sent} bytes were sent to a peer that does not read"
    );
    let mut rest = 1;
    while let Some(block) = answer.next().await {
        block.unwrap();
        rest += 1;
    }
    assert_eq!(rest, (32 << 20) / (16 << 10));
    // A request that is dropped ends at the server too, and its place is free again: far more than there are places.
    for _ in 0..40 {
        first_block(&client, peer, 1, 4096).await;
    }
    assert_eq!(first_block(&client, peer, 4096, 1).await, 4096);
}

/// The first block of an answer, asked for again while the server is busy; the rest is dropped.
async fn first_block(client: &NetworkHandle, peer: PeerId, first: u32, count: u32) -> u32 {
    let asking = async {
        loop {
            match client.request_range(peer, first, count, 32 << 20).next().await {
                Some(Ok(block)) => return block.number,
                Some(Err(RequestError::Ended {
                    reason: EndReason::Busy,
                    ..
                })) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
                other => panic!("a block expected, got {other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .expect("places become free")
}

/// A provider whose log is damaged, or which breaks its contract: the peer is told, and gets nothing wrong.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_gives_other_blocks() {
    type Damage = fn(&mut WireBlock);
    let damages: [Damage; 3] = [
        |block| block.number += 1,
        |block| block.bytes.clear(),
        |block| block.bytes = vec![0; cairn_p2p::wire::MAX_STORED_BLOCK + 1],
    ];
    for damage in damages {
        let chain = Chain::of(1, 10, |number| {
            let mut block = small_block(number);
            if number == 7 {
                damage(&mut block);
            }
            block
        });
        let (_server, client, peer) = pair("tcp", &chain).await;
        let items: Vec<_> = client.request_range(peer, 1, 6, 1 << 20).collect().await;
        assert!(items.len() == 6 && items.iter().all(Result::is_ok));
        let items: Vec<_> = client.request_range(peer, 1, 10, 1 << 20).collect().await;
        let Some(Err(RequestError::Ended { reason, .. })) = items.last() else {
            panic!("an end expected, got {items:?}");
        };
        assert_eq!(*reason, EndReason::ReadFailed);
    }
}
