//! Starting, dialing seeds, coming back, shutting down.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{common::*, scripted::*};
use cairn_p2p::{
    BlockProvider, GoneReason, GoodbyeReason, Identity, Network, NetworkError, NetworkEvent, SeedList,
    WireBlock,
};
use futures::StreamExt;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_transports_listen_on_the_same_real_port() {
    let node = start(config(&[]), &Chain::empty()).await;
    let addresses: Vec<_> = node.listen_addresses().iter().map(ToString::to_string).collect();
    let [tcp, quic] = &addresses[..] else {
        panic!("two addresses expected, got {addresses:?}");
    };
    let port = tcp.strip_prefix("/ip4/127.0.0.1/tcp/").unwrap();
    assert_ne!(port, "0");
    assert_eq!(*quic, format!("/ip4/127.0.0.1/udp/{port}/quic-v1"));

    // The port is taken now.
    let mut second = config(&[]);
    second.listen = vec![format!("127.0.0.1:{port}").parse().unwrap()];
    let error = Network::start(second, Chain::empty() as Arc<dyn BlockProvider>)
        .await
        .unwrap_err();
    let NetworkError::Listen { endpoint, source } = &error else {
        panic!("a listen error expected, got {error}");
    };
    assert_eq!(*endpoint, format!("127.0.0.1:{port}"));
    assert_eq!(source.kind(), std::io::ErrorKind::AddrInUse, "{source}");
    // And free again after the shutdown.
    node.shutdown().await;
    // Tests beside this one may be given the number by the system in the meantime, for a while.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let mut third = config(&[]);
        third.listen = vec![format!("127.0.0.1:{port}").parse().unwrap()];
        match Network::start(third, Chain::empty() as Arc<dyn BlockProvider>).await {
            Ok(_) => break,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Case S20: a dead host, the same seed twice, and a good one. S21: a seed by name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_seeds_do_not_stop_the_good_one() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let good = address(&server, "tcp");
    let port = good.rsplit('/').next().unwrap();
    let list = SeedList::parse([
        format!("no-such-host.invalid:2001 127.0.0.1:1\tlocalhost:{port}"),
        format!("localhost:{port}"),
        "bad::".to_owned(),
    ]);
    assert_eq!(list.to_string(), "3 of 4 seed nodes usable");
    assert_eq!(list.duplicates.len(), 1);
    let mut config = config(&[]);
    config.seeds = list.seeds;
    let client = start(config, &Chain::empty()).await;
    ready(&client, server.local_peer()).await;
}

/// `host:port` falls back to QUIC where TCP is closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_without_a_transport_is_tried_over_both() {
    let mut only_quic = config(&[]);
    only_quic.listen = vec!["/ip4/127.0.0.1/udp/0/quic-v1".parse().unwrap()];
    let server = start(only_quic, &Chain::small(5)).await;
    let [quic] = &server.listen_addresses()[..] else {
        panic!("one address expected");
    };
    let port = quic.to_string().split('/').nth(4).unwrap().to_owned();
    let client = start(config(&[&format!("127.0.0.1:{port}")]), &Chain::empty()).await;
    ready(&client, server.local_peer()).await;
    assert!(client.peers()[0].address.to_string().contains("quic"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_dial_each_other() {
    let mut first = config(&[]);
    let mut second = config(&[]);
    // Fixed ports, so that each knows the other beforehand; found by asking the system.
    let ports: Vec<u16> = (0..2)
        .map(|_| {
            let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            socket.local_addr().unwrap().port()
        })
        .collect();
    for (config, own, other) in [
        (&mut first, ports[0], ports[1]),
        (&mut second, ports[1], ports[0]),
    ] {
        config.listen = vec![format!("127.0.0.1:{own}").parse().unwrap()];
        // Each also has itself as a seed.
        config.seeds = SeedList::parse([format!("127.0.0.1:{own} 127.0.0.1:{other}")]).seeds;
    }
    let (first_chain, second_chain) = (Chain::small(5), Chain::small(5));
    let (first, second) = tokio::join!(start(first, &first_chain), start(second, &second_chain));
    ready(&first, second.local_peer()).await;
    ready(&second, first.local_peer()).await;
    let mut events = first.subscribe();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(events.try_recv().is_err(), "the connection does not flap");
    assert_eq!((first.peers().len(), second.peers().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_that_restarts_is_found_again_with_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut server_config = config(&[]);
    server_config.identity = Identity::File(folder.path().join("node_key"));
    let server = start(server_config.clone(), &Chain::small(5)).await;
    let id = server.local_peer();
    let seed = address(&server, "tcp");
    server_config.listen = vec![seed.parse().unwrap()];
    // The operator names the id that must answer.
    let client = start(config(&[&format!("{seed}/p2p/{id}")]), &Chain::empty()).await;
    ready(&client, id).await;
    let mut events = client.subscribe();
    server.shutdown().await;
    let reason = wait_for(&mut events, "the end", |event| match event {
        NetworkEvent::PeerGone { reason, .. } => Some(reason),
        _ => None,
    })
    .await;
    assert!(
        matches!(&reason, GoneReason::Goodbye(goodbye) if goodbye.reason == GoodbyeReason::Closing),
        "{reason}"
    );
    let server = start(server_config.clone(), &Chain::small(9)).await;
    assert_eq!(server.local_peer(), id);
    ready(&client, id).await;
    assert_eq!(client.status(&id).unwrap().head, 9);

    // Another node at the same address is not taken for it.
    server.shutdown().await;
    server_config.identity = Identity::Ephemeral;
    let impostor = start(server_config, &Chain::small(9)).await;
    tokio::time::sleep(Duration::from_millis(2000)).await;
    assert!(client.peers().is_empty() && impostor.peers().is_empty());
}

/// The last handle is dropped without a shutdown: the peer is told, and the port is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_handle_stops_the_network() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
    ready(&client, server.local_peer()).await;
    let mut events = client.subscribe();
    let clone = server.clone();
    drop(server);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(client.peers().len(), 1);
    drop(clone);
    wait_for(&mut events, "the end", |event| {
        matches!(event, NetworkEvent::PeerGone { .. }).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_is_bounded_under_load_and_with_a_mute_peer() {
    let chain = Chain::of(1, 2048, |number| WireBlock {
        number,
        attributes: 0,
        bytes: vec![1; 64 << 10],
    });
    let mut server_config = config(&[]);
    server_config.timeouts.shutdown = Duration::from_secs(2);
    let server = start(server_config, &chain).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let client = start(config(&[&address(&server, "tcp")]), &Chain::empty()).await;
        let peer = server.local_peer();
        ready(&client, peer).await;
        for reads in [true, false] {
            let client = client.clone();
            clients.push(tokio::spawn(async move {
                let mut answer = client.request_range(peer, 1, 2048, 1 << 30);
                while let Some(Ok(_)) = answer.next().await {
                    if !reads {
                        tokio::time::sleep(Duration::from_secs(30)).await;
                    }
                }
            }));
        }
    }
    let mut mute = Scripted::client().await;
    let id = mute.greet(dialable(&server)).await;
    let _held = mute.send(id, &get_blocks(1, 2048, 1 << 30)).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    server.shutdown().await;
    let took = began.elapsed();
    println!("shutdown under load took {took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    clients.iter().for_each(tokio::task::JoinHandle::abort);
    // Twice is not an error.
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_cannot_work_are_errors() {
    let mut nothing = config(&[]);
    nothing.connections.maximum = 0;
    let error = Network::start(nothing, Chain::empty() as Arc<dyn BlockProvider>)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "connections.maximum must be at least 1, it is 0"
    );

    let mut unresolvable = config(&[]);
    unresolvable.listen = vec!["no-such-host.invalid:1".parse().unwrap()];
    let error = Network::start(unresolvable, Chain::empty() as Arc<dyn BlockProvider>)
        .await
        .unwrap_err();
    assert!(matches!(error, NetworkError::Resolve { .. }), "{error}");
}

/// A goodbye arrives before the end of the connection, on both transports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_is_told_why_it_is_disconnected() {
    for transport in ["tcp", "quic-v1"] {
        let server = start(config(&[]), &Chain::small(5)).await;
        let client = start(config(&[&address(&server, transport)]), &Chain::empty()).await;
        ready(&client, server.local_peer()).await;
        ready(&server, client.local_peer()).await;
        let mut events = client.subscribe();
        assert!(
            server
                .disconnect(client.local_peer(), GoodbyeReason::TooManyPeers)
                .await
        );
        let reason = wait_for(&mut events, "the goodbye", |event| match event {
            NetworkEvent::PeerGone { reason, .. } => Some(reason),
            _ => None,
        })
        .await;
        assert!(
            matches!(&reason, GoneReason::Goodbye(goodbye) if goodbye.reason == GoodbyeReason::TooManyPeers),
            "{transport}: {reason}"
        );
    }
}

/// Forwards bytes between a client and a server until it is told to stop without closing anything.
async fn freezable_proxy(
    to: std::net::SocketAddr,
) -> (std::net::SocketAddr, tokio::sync::watch::Sender<bool>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (frozen, freeze) = tokio::sync::watch::channel(false);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = tokio::net::TcpStream::connect(to).await.unwrap();
            let freeze = freeze.clone();
            tokio::spawn(async move {
                let mut buffer = vec![0; 1 << 16];
                loop {
                    if *freeze.borrow() {
                        tokio::time::sleep(Duration::from_secs(60)).await;
                        return;
                    }
                    let mut moved = false;
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        match from.try_read(&mut buffer) {
                            Ok(0) => return,
                            Ok(length) => {
                                moved = true;
                                let mut written = 0;
                                while written < length {
                                    to.writable().await.unwrap();
                                    written += to.try_write(&buffer[written..length]).unwrap_or(0);
                                }
                            }
                            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                            Err(_) => return,
                        }
                    }
                    if !moved {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
            });
        }
    });
    (address, frozen)
}

/// A peer that is connected and dead is noticed by its missing answers to pings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_connection_is_closed() {
    let server = start(config(&[]), &Chain::small(5)).await;
    let port = address(&server, "tcp")
        .rsplit('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let (proxy, frozen) = freezable_proxy(([127, 0, 0, 1], port).into()).await;
    let mut client_config = config(&[&format!("/ip4/127.0.0.1/tcp/{}", proxy.port())]);
    client_config.timeouts.ping_interval = Duration::from_millis(200);
    client_config.timeouts.ping = Duration::from_millis(500);
    let client = start(client_config, &Chain::empty()).await;
    ready(&client, server.local_peer()).await;
    until("a ping was answered", || client.peers()[0].round_trip.is_some()).await;
    let mut events = client.subscribe();
    frozen.send_replace(true);
    let began = Instant::now();
    let reason = wait_for(&mut events, "the end", |event| match event {
        NetworkEvent::PeerGone { reason, .. } => Some(reason),
        _ => None,
    })
    .await;
    assert_eq!(reason, GoneReason::NoAnswer);
    assert!(began.elapsed() > Duration::from_millis(500));
}
