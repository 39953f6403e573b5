//! Who gets in: chains, bans, limits on connections and streams.

use std::{sync::Arc, time::Duration};

use crate::{common::*, scripted::*};
use cairn_chain::{BlockId, ChainId};
use cairn_p2p::{
    EndReason, GoneReason, GoodbyeReason, NetworkConfig, NetworkEvent, NetworkHandle, PeerId, Refusal,
    RequestError,
};
use futures::StreamExt;
use tokio::sync::broadcast;

async fn refusal(events: &mut broadcast::Receiver<NetworkEvent>, peer: PeerId) -> Refusal {
    wait_for(events, "a refusal", |event| match event {
        NetworkEvent::PeerRefused {
            peer: refused,
            reason,
        } if refused == peer => Some(reason),
        NetworkEvent::PeerReady { .. } => panic!("a peer of another chain became ready"),
        _ => None,
    })
    .await
}

/// Starts two nodes of which the second dials the first, and gives how each refused the other.
async fn both_refuse(
    first: NetworkConfig,
    first_chain: &Arc<Chain>,
    mut second: NetworkConfig,
    second_chain: &Arc<Chain>,
) -> (Refusal, Refusal, NetworkHandle, NetworkHandle) {
    let first = start(first, first_chain).await;
    let mut first_events = first.subscribe();
    second.seeds = vec![address(&first, "tcp").parse().unwrap()];
    let second = start(second, second_chain).await;
    let mut second_events = second.subscribe();
    let by_first = refusal(&mut first_events, second.local_peer()).await;
    let by_second = refusal(&mut second_events, first.local_peer()).await;
    // Not dialed again, although the redial interval of these tests is under a second.
    until("both are disconnected", || {
        first.peers().is_empty() && second.peers().is_empty()
    })
    .await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    if let Ok(event) = first_events.try_recv() {
        panic!("another attempt: {event:?}");
    }
    if let Ok(event) = second_events.try_recv() {
        panic!("another attempt: {event:?}");
    }
    assert_eq!(first.bans().len(), 1);
    assert_eq!(second.bans().len(), 1);
    (by_first, by_second, first, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_chain_is_refused_on_both_sides() {
    let mut other = config(&[]);
    other.chain = ChainId([0x77; 32]);
    let (by_first, by_second, ..) = both_refuse(config(&[]), &Chain::small(5), other, &Chain::small(5)).await;
    let (ours, theirs) = (CHAIN.to_string(), ChainId([0x77; 32]).to_string());
    assert_eq!(
        by_first,
        Refusal::WrongChain {
            theirs: theirs.clone(),
            ours: ours.clone()
        }
    );
    assert_eq!(
        by_second,
        Refusal::WrongChain {
            theirs: ours,
            ours: theirs
        }
    );
}

/// The protocol names are equal, the chain ids differ behind the eighth digit: the hello tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_with_the_same_first_digits_is_refused() {
    let mut id = CHAIN.0;
    id[31] ^= 1;
    let node = start(config(&[]), &Chain::small(5)).await;
    let mut events = node.subscribe();
    // The peer dials: it is answered with goodbye and the reason.
    let mut peer = Scripted::client().await;
    let to = peer.dial(dialable(&node)).await;
    let (kind, payload) = peer.ask(to, &hello(ChainId(id), 1, 5, true)).await.unwrap();
    assert_eq!((kind, payload[0]), (0x04, GoodbyeReason::WrongChain.code()));
    let reason = refusal(&mut events, peer.id).await;
    assert_eq!(
        reason,
        Refusal::WrongChain {
            theirs: ChainId(id).to_string(),
            ours: CHAIN.to_string()
        }
    );
    peer.until_closed().await;

    // The node dials: it says goodbye with the reason.
    let mut peer = Scripted::start(CHAIN, hello(ChainId(id), 1, 5, true), say(Vec::new())).await;
    let node = start(config(&[&peer.address.to_string()]), &Chain::small(5)).await;
    let mut events = node.subscribe();
    let reason = refusal(&mut events, peer.id).await;
    assert!(matches!(reason, Refusal::WrongChain { .. }), "{reason}");
    let goodbye = tokio::time::timeout(PATIENCE, peer.goodbyes.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(goodbye[0], GoodbyeReason::WrongChain.code());
    peer.until_closed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_first_block_is_refused_on_both_sides() {
    let mut id = block_id(1).0;
    id[19] ^= 1;
    let mut other = Chain::small(5);
    Arc::get_mut(&mut other).unwrap().first_block_id = Some(BlockId(id));
    let (by_first, by_second, ..) = both_refuse(config(&[]), &Chain::small(5), config(&[]), &other).await;
    assert_eq!(
        by_first,
        Refusal::WrongFirstBlock {
            theirs: BlockId(id),
            ours: block_id(1)
        }
    );
    let Refusal::ByPeer(goodbye) = by_second else {
        panic!("a goodbye expected, got {by_second}");
    };
    assert_eq!(goodbye.reason, GoodbyeReason::WrongFirstBlock);
}

/// A peer that speaks another program's protocols only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_program_is_refused() {
    let node = start(config(&[]), &Chain::small(5)).await;
    let mut events = node.subscribe();
    let mut peer = Scripted::start(ChainId([1; 32]), Vec::new(), say(Vec::new())).await;
    peer.dial(dialable(&node)).await;
    let reason = refusal(&mut events, peer.id).await;
    assert_eq!(
        reason,
        Refusal::WrongChain {
            theirs: "01010101".into(),
            ours: CHAIN.to_string()[..8].into()
        }
    );
    peer.until_closed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ban_holds_and_ends() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let mut events = server.subscribe();
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let mut client_events = client.subscribe();
    let (server_id, client_id) = (server.local_peer(), client.local_peer());
    ready(&server, client_id).await;
    ready(&client, server_id).await;
    server.ban(client_id, Duration::from_secs(4), "test").await;
    assert!(server.peers().is_empty());
    let gone = wait_for(&mut events, "the end", |event| match event {
        NetworkEvent::PeerGone { peer, reason } if peer == client_id => Some(reason),
        _ => None,
    })
    .await;
    assert_eq!(gone, GoneReason::Banned("test".into()));
    let told = wait_for(&mut client_events, "the goodbye", |event| match event {
        NetworkEvent::PeerGone { reason, .. } => Some(reason),
        _ => None,
    })
    .await;
    assert!(
        matches!(&told, GoneReason::Goodbye(goodbye) if goodbye.reason == GoodbyeReason::Banned),
        "{told}"
    );
    // The client dials again every second or so, and does not get in.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(server.peers().is_empty() && client.status(&server_id).is_none());
    assert_eq!(server.bans()[0].peer, client_id);
    // Then the ban ends.
    ready(&server, client_id).await;
    assert!(server.bans().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ban_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let with_file = || {
        let mut config = config(&[]);
        config.ban_file = Some(folder.path().join("bans.json"));
        config
    };
    let mut peer = Scripted::client().await;
    let node = start(with_file(), &Chain::small(5)).await;
    peer.greet(dialable(&node)).await;
    node.ban(peer.id, Duration::from_secs(60), "sent nonsense").await;
    peer.until_closed().await;
    node.shutdown().await;
    drop(node);

    let node = start(with_file(), &Chain::small(5)).await;
    let [ban] = &node.bans()[..] else {
        panic!("one ban expected, found {:?}", node.bans());
    };
    assert_eq!((ban.peer, ban.offences), (peer.id, 1));
    assert_eq!(ban.reason, "sent nonsense");
    peer.dial(dialable(&node)).await;
    peer.until_closed().await;
    assert!(node.peers().is_empty());
    // Lifted for good.
    assert!(node.unban(&peer.id));
    peer.greet(dialable(&node)).await;
    let node = start(with_file(), &Chain::small(5)).await;
    assert!(node.bans().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disconnected_seed_comes_back() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let server_id = server.local_peer();
    ready(&client, server_id).await;
    let mut events = client.subscribe();
    assert!(client.disconnect(server_id, GoodbyeReason::Unneeded).await);
    assert!(!client.disconnect(server_id, GoodbyeReason::Unneeded).await);
    let mut seen = Vec::new();
    wait_for(&mut events, "the return", |event| {
        seen.push(event.clone());
        matches!(event, NetworkEvent::PeerReady { .. }).then_some(())
    })
    .await;
    assert!(matches!(
        seen[0],
        NetworkEvent::PeerGone {
            reason: GoneReason::Disconnected(GoodbyeReason::Unneeded),
            ..
        }
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connection_limit_holds() {
    let mut limited = config(&[]);
    limited.connections.maximum = 3;
    limited.connections.desired = 0;
    let server = start(limited, &Chain::small(5)).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
        ready(&client, server.local_peer()).await;
        clients.push(client);
    }
    let fourth = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(server.peers().len(), 3);
    assert!(fourth.peers().is_empty());
    // A place becomes free, and the one that keeps trying gets it.
    clients.pop().unwrap().shutdown().await;
    ready(&server, fourth.local_peer()).await;
    assert_eq!(server.peers().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_per_address_holds() {
    let mut limited = config(&[]);
    limited.connections.per_loopback_address = 2;
    let server = start(limited, &Chain::small(5)).await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(start(config(&[&address(&server, "tcp")]), &Chain::empty()).await);
    }
    until("two are in", || server.peers().len() == 2).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(server.peers().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_per_peer_holds() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let mut peer = Scripted::client().await;
    let to = peer.greet(dialable(&server)).await;
    peer.dial(dialable(&server)).await;
    // The third connection with the same id is closed again.
    peer.dial(dialable(&server)).await;
    peer.until_closed().await;
    let (kind, _) = peer.ask(to, &get_blocks(1, 1, 1)).await.unwrap();
    assert_eq!(kind, 0x10);
}

/// More ranges than a peer may have at a time are declined, politely and at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_per_peer_are_limited() {
    let mut limited = config(&[]);
    limited.streams.ranges_per_peer = 2;
    let mut chain = Chain::small(2000);
    Arc::get_mut(&mut chain).unwrap().read_delay = Duration::from_millis(400);
    let server = start(limited, &chain).await;
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    let peer = server.local_peer();
    ready(&client, peer).await;
    let answers = futures::future::join_all((0..6).map(|_| {
        let client = client.clone();
        async move {
            let mut answer = client.request_range(peer, 1, 10, 1 << 20);
            let mut blocks = 0;
            while let Some(item) = answer.next().await {
                match item {
                    Ok(_) => blocks += 1,
                    Err(RequestError::Ended {
                        reason: EndReason::Busy,
                        ..
                    }) => return None,
                    Err(error) => panic!("{error}"),
                }
            }
            Some(blocks)
        }
    }))
    .await;
    let served: Vec<_> = answers.iter().flatten().copied().collect();
    assert_eq!(served, [10, 10], "{answers:?}");
}
