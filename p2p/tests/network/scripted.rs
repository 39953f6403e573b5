//! A peer that is made of raw libp2p streams: it says exactly the bytes that a test tells it to.
//!
//! The bytes are written out here, not with the crate's encoders, so that both sides of a test do not share a
//! mistake.

use std::{future::Future, sync::Arc, time::Duration};

use cairn_chain::ChainId;
use futures::{AsyncReadExt, AsyncWriteExt, StreamExt, future::BoxFuture};
use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol, SwarmBuilder, identify, noise, ping,
    swarm::{NetworkBehaviour, SwarmEvent},
    tcp, yamux,
};
use libp2p_stream::Control;
use tokio::sync::mpsc;

use crate::common::{CHAIN, PATIENCE, block_id};

#[derive(NetworkBehaviour)]
struct Behaviour {
    ping: ping::Behaviour,
    identify: identify::Behaviour,
    stream: libp2p_stream::Behaviour,
}

pub fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes
}

pub fn hello(chain: ChainId, first: u32, head: u32, first_block: bool) -> Vec<u8> {
    let mut payload = chain.0.to_vec();
    payload.extend(first.to_le_bytes());
    payload.extend(head.to_le_bytes());
    payload.extend(block_id(head).0);
    payload.extend(if first_block { block_id(1).0 } else { [0; 20] });
    payload.push(8);
    payload.extend(b"scripted");
    frame(0x01, &payload)
}

pub fn get_blocks(first: u32, count: u32, max_bytes: u32) -> Vec<u8> {
    let mut payload = first.to_le_bytes().to_vec();
    payload.extend(count.to_le_bytes());
    payload.extend(max_bytes.to_le_bytes());
    frame(0x02, &payload)
}

pub fn get_headers(first: u32, count: u32) -> Vec<u8> {
    let mut payload = first.to_le_bytes().to_vec();
    payload.extend(count.to_le_bytes());
    frame(0x05, &payload)
}

pub fn headers(first: u32, bytes: &[u8]) -> Vec<u8> {
    let mut payload = first.to_le_bytes().to_vec();
    payload.extend(bytes);
    frame(0x12, &payload)
}

pub fn block(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut payload = number.to_le_bytes().to_vec();
    payload.extend(0x8000_u16.to_le_bytes());
    payload.extend(bytes);
    frame(0x10, &payload)
}

pub fn end(reason: u8, next: u32) -> Vec<u8> {
    let mut payload = vec![reason];
    payload.extend(next.to_le_bytes());
    frame(0x11, &payload)
}

/// Reads one message; `None` at the end of the stream.
pub async fn read_message(stream: &mut Stream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).await.ok()?;
    let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await.ok()?;
    Some((header[0], payload))
}

/// What a script does with a request for blocks or headers: the stream, and the payload of the request.
pub type Script = Arc<dyn Fn(Stream, Vec<u8>) -> BoxFuture<'static, ()> + Send + Sync>;

pub fn script<F: Future<Output = ()> + Send + 'static>(
    act: impl Fn(Stream, Vec<u8>) -> F + Send + Sync + 'static,
) -> Script {
    Arc::new(move |stream, request| Box::pin(act(stream, request)))
}

/// A script that sends these bytes and closes.
pub fn say(bytes: Vec<u8>) -> Script {
    script(move |mut stream, _| {
        let bytes = bytes.clone();
        async move {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.close().await;
        }
    })
}

pub struct Scripted {
    pub id: PeerId,
    pub address: Multiaddr,
    control: Control,
    protocol: StreamProtocol,
    dials: mpsc::UnboundedSender<Multiaddr>,
    connected: mpsc::UnboundedReceiver<PeerId>,
    closed: mpsc::UnboundedReceiver<PeerId>,
    /// Goodbyes that it was told.
    pub goodbyes: mpsc::UnboundedReceiver<Vec<u8>>,
}

impl Scripted {
    /// A peer on the usual chain that claims blocks 1 to 1000.
    pub async fn with(blocks: Script) -> Self {
        Self::start(CHAIN, hello(CHAIN, 1, 1000, true), blocks).await
    }

    /// A peer that only dials.
    pub async fn client() -> Self {
        Self::with(say(Vec::new())).await
    }

    /// `protocol_chain` is what it negotiates, `hello` what it says and answers.
    pub async fn start(protocol_chain: ChainId, hello: Vec<u8>, blocks: Script) -> Self {
        let digits: String = protocol_chain.to_string().chars().take(8).collect();
        let protocol = StreamProtocol::try_from_owned(format!("/cairn/{digits}/sync/1")).unwrap();
        let mut swarm = SwarmBuilder::with_new_identity()
            .with_tokio()
            .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
            .unwrap()
            .with_behaviour(|key| Behaviour {
                ping: ping::Behaviour::default(),
                identify: identify::Behaviour::new(identify::Config::new("scripted".into(), key.public())),
                stream: libp2p_stream::Behaviour::new(),
            })
            .unwrap()
            .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(600)))
            .build();
        let id = *swarm.local_peer_id();
        let mut control = swarm.behaviour().stream.new_control();
        let mut incoming = control.accept(protocol.clone()).unwrap();
        swarm.listen_on("/ip4/127.0.0.1/tcp/0".parse().unwrap()).unwrap();
        let address = loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                break address;
            }
        };
        let (dials, mut to_dial) = mpsc::unbounded_channel::<Multiaddr>();
        let (connected_to, connected) = mpsc::unbounded_channel();
        let (closed_to, closed) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    event = swarm.select_next_some() => match event {
                        SwarmEvent::ConnectionEstablished { peer_id, .. } => {
                            let _ = connected_to.send(peer_id);
                        }
                        SwarmEvent::ConnectionClosed { peer_id, .. } => {
                            let _ = closed_to.send(peer_id);
                        }
                        _ => {}
                    },
                    address = to_dial.recv() => match address {
                        Some(address) => swarm.dial(address).unwrap(),
                        None => return,
                    },
                }
            }
        });
        let (goodbye_to, goodbyes) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some((_, mut stream)) = incoming.next().await {
                let (hello, blocks, goodbye_to) = (hello.clone(), Arc::clone(&blocks), goodbye_to.clone());
                tokio::spawn(async move {
                    match read_message(&mut stream).await {
                        Some((0x01, _)) => {
                            let _ = stream.write_all(&hello).await;
                            let _ = stream.close().await;
                        }
                        Some((0x02 | 0x05, request)) => blocks(stream, request).await,
                        Some((0x04, payload)) => {
                            let _ = goodbye_to.send(payload);
                        }
                        _ => {}
                    }
                });
            }
        });
        Self {
            id,
            address,
            control,
            protocol,
            dials,
            connected,
            closed,
            goodbyes,
        }
    }

    /// Dials and waits for the connection.
    pub async fn dial(&mut self, address: Multiaddr) -> PeerId {
        self.dials.send(address).unwrap();
        tokio::time::timeout(PATIENCE, self.connected.recv())
            .await
            .expect("connects in time")
            .unwrap()
    }

    /// Waits until a connection has closed.
    pub async fn until_closed(&mut self) {
        tokio::time::timeout(PATIENCE, self.closed.recv())
            .await
            .expect("is disconnected in time")
            .unwrap();
    }

    pub async fn open(&mut self, peer: PeerId) -> Stream {
        let opening = self.control.open_stream(peer, self.protocol.clone());
        tokio::time::timeout(PATIENCE, opening).await.unwrap().unwrap()
    }

    /// Sends bytes on a new stream and gives the stream.
    pub async fn send(&mut self, peer: PeerId, bytes: &[u8]) -> Stream {
        let mut stream = self.open(peer).await;
        stream.write_all(bytes).await.unwrap();
        stream.flush().await.unwrap();
        stream
    }

    /// Dials and exchanges hellos; the peer is ready afterwards.
    pub async fn greet(&mut self, address: Multiaddr) -> PeerId {
        let peer = self.dial(address).await;
        let mut stream = self.send(peer, &hello(CHAIN, 1, 1000, true)).await;
        let (kind, _) = read_message(&mut stream).await.expect("a hello");
        assert_eq!(kind, 0x01);
        peer
    }

    /// Sends a request and reads the one message that answers it.
    pub async fn ask(&mut self, peer: PeerId, request: &[u8]) -> Option<(u8, Vec<u8>)> {
        let mut stream = self.send(peer, request).await;
        tokio::time::timeout(PATIENCE, read_message(&mut stream))
            .await
            .expect("an answer in time")
    }
}
