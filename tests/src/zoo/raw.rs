//! Peers that break the protocol: raw streams, answered by a script.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use cairn_chain::ChainId;
use futures::{AsyncWriteExt, StreamExt};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Stream, StreamProtocol, Swarm, SwarmBuilder};
use libp2p::{identify, noise, ping, tcp, yamux};
use libp2p_stream::{Behaviour as Streams, Control};

use super::stock::Item;
use super::{Stock, wire};

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// A request for blocks, and the stream to answer it on.
#[derive(Debug)]
pub struct Asked {
    stream: Stream,
    stock: Arc<Stock>,
    /// First block asked for.
    pub first: u32,
    /// How many.
    pub count: u32,
    max_bytes: u32,
}

type Script = Arc<dyn Fn(Asked) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A scripted peer that has a stock of blocks, and answers requests for headers in good order.
#[derive(Clone)]
pub struct Raw {
    stock: Arc<Stock>,
    script: Script,
    pushes: Option<Pushes>,
    pushed: Arc<AtomicU32>,
}

/// Makes a message of the peer's stock and a number that no other one has.
type Message = Arc<dyn Fn(&Stock, u32) -> Vec<u8> + Send + Sync>;

/// What nobody asked for: so many messages, each on a stream of its own.
#[derive(Clone)]
struct Pushes {
    count: u32,
    message: Message,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw")
            .field("pushed", &self.pushed)
            .finish_non_exhaustive()
    }
}

impl Asked {
    /// The blocks of an answer in good order, with their numbers.
    fn answer(&self) -> Vec<(u32, Item)> {
        let mut bytes = 0;
        self.stock
            .range(self.first, self.count)
            .iter()
            .zip(self.first..)
            .take_while(|(item, _)| {
                let fits = bytes < self.max_bytes as usize;
                bytes += item.bytes.len();
                fits
            })
            .map(|(item, number)| (number, item.clone()))
            .collect()
    }

    /// Sends bytes; false when the node does not take them any more.
    async fn say(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok() && self.stream.flush().await.is_ok()
    }

    async fn say_block(&mut self, number: u32, item: &Item) -> bool {
        self.say(&wire::block(number, item)).await
    }

    /// Ends the answer before block `next`.
    async fn end(mut self, next: u32) {
        let limit_reached = next < self.first + self.count;
        let end = match next == self.first {
            true => wire::no_such_block(),
            false => wire::end(limit_reached, next),
        };
        self.say(&end).await;
        // What was said has been flushed; an error means that the node is gone.
        let _ = self.stream.close().await;
    }
}

impl Raw {
    fn new<F>(stock: &Stock, script: impl Fn(Asked) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            stock: Arc::new(stock.clone()),
            script: Arc::new(move |asked| Box::pin(script(asked))),
            pushes: None,
            pushed: Arc::default(),
        }
    }

    fn pushing(
        mut self,
        count: u32,
        message: impl Fn(&Stock, u32) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        self.pushes = Some(Pushes {
            count,
            message: Arc::new(message),
        });
        self
    }

    /// Answers in good order, and sends so many different blocks unasked that say they are block `number`.
    #[must_use]
    pub fn pushing_blocks(stock: &Stock, number: u32, count: u32) -> Self {
        Self::late(stock, Duration::ZERO).pushing(count, move |stock, nonce| flood(stock, number, nonce))
    }

    /// Answers in good order, and announces so many heads, each another block `number`, that it does not have.
    #[must_use]
    pub fn announcing(stock: &Stock, number: u32, count: u32) -> Self {
        Self::late(stock, Duration::ZERO).pushing(count, move |_, nonce| wire::announce(number, nonce))
    }

    /// How many messages it has sent unasked.
    #[must_use]
    pub fn pushed(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.pushed)
    }

    /// Ends its answers in the middle of a block.
    #[must_use]
    pub fn truncating(stock: &Stock) -> Self {
        Self::new(stock, |mut asked| async move {
            for (number, item) in asked.answer() {
                let whole = wire::block(number, &item);
                if number == asked.first {
                    asked.say(&whole).await;
                } else {
                    asked.say(&whole[..whole.len() / 2]).await;
                    break;
                }
            }
            let _ = asked.stream.close().await;
        })
    }

    /// Sends its blocks so many bytes at a time.
    #[must_use]
    pub fn dripping_bytes(stock: &Stock, bytes: usize, pause: Duration) -> Self {
        Self::new(stock, move |mut asked| async move {
            let mut next = asked.first;
            for (number, item) in asked.answer() {
                for part in wire::block(number, &item).chunks(bytes) {
                    if !asked.say(part).await {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
                next = number + 1;
            }
            asked.end(next).await;
        })
    }

    /// Sends a block, waits, sends the next, and so on.
    #[must_use]
    pub fn dripping_blocks(stock: &Stock, pause: Duration) -> Self {
        Self::new(stock, move |mut asked| async move {
            let mut next = asked.first;
            for (number, item) in asked.answer() {
                if !asked.say_block(number, &item).await {
                    return;
                }
                next = number + 1;
                tokio::time::sleep(pause).await;
            }
            asked.end(next).await;
        })
    }

    /// Answers in good order, but never sends block `missing`.
    #[must_use]
    pub fn never_sending(stock: &Stock, missing: u32) -> Self {
        Self::new(stock, move |mut asked| async move {
            let mut next = asked.first;
            for (number, item) in asked.answer() {
                if number == missing {
                    tokio::time::sleep(FOR_EVER).await;
                }
                if !asked.say_block(number, &item).await {
                    return;
                }
                next = number + 1;
            }
            asked.end(next).await;
        })
    }

    /// Answers each request with a thousand different blocks that all say they are block `number`, and sends more of
    /// them unasked.
    #[must_use]
    pub fn flooding(stock: &Stock, number: u32) -> Self {
        Self::new(stock, move |mut asked| async move {
            for nonce in 0..1000_u32 {
                if !asked.say(&flood(&asked.stock, number, nonce)).await {
                    return;
                }
            }
        })
        .pushing(1000, move |stock, nonce| flood(stock, number, nonce))
    }

    /// Answers in good order, but only after a while.
    #[must_use]
    pub fn late(stock: &Stock, delay: Duration) -> Self {
        Self::new(stock, move |mut asked| async move {
            tokio::time::sleep(delay).await;
            let mut next = asked.first;
            for (number, item) in asked.answer() {
                if !asked.say_block(number, &item).await {
                    return;
                }
                next = number + 1;
            }
            asked.end(next).await;
        })
    }

    /// Starts the peer; gives its id and port. It lives as long as the runtime.
    pub(super) async fn start(self, chain: ChainId) -> (PeerId, u16) {
        let digits: String = chain.to_string().chars().take(8).collect();
        let protocol = StreamProtocol::try_from_owned(format!("/cairn/{digits}/sync/1")).expect("a slash");
        let (mut swarm, control) = swarm();
        let mut accepting = control.clone();
        let mut incoming = accepting.accept(protocol.clone()).expect("accepted once");
        swarm
            .listen_on("/ip4/127.0.0.1/tcp/0".parse().expect("an address"))
            .expect("loopback listens");
        let id = *swarm.local_peer_id();
        let address = loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                break address;
            }
        };
        let hello = wire::hello(&chain, &self.stock);
        let pusher = self.clone();
        tokio::spawn(async move {
            loop {
                if let SwarmEvent::ConnectionEstablished { peer_id, .. } = swarm.select_next_some().await
                    && let Some(pushes) = &pusher.pushes
                {
                    let (pusher, pushes) = (pusher.clone(), pushes.clone());
                    tokio::spawn(pusher.push(pushes, control.clone(), protocol.clone(), peer_id));
                }
            }
        });
        tokio::spawn(async move {
            while let Some((_, stream)) = incoming.next().await {
                tokio::spawn(self.clone().answer(stream, hello.clone()));
            }
        });
        (id, port(&address))
    }

    async fn answer(self, mut stream: Stream, hello: Vec<u8>) {
        let Some((kind, payload)) = wire::read(&mut stream).await else {
            return;
        };
        let field = |at: usize| {
            let bytes = payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes)
        };
        let (first, count) = (field(0).max(1), field(4));
        match kind {
            wire::HELLO => {
                let _ = stream.write_all(&hello).await;
                let _ = stream.close().await;
            }
            wire::GET_BLOCKS => {
                let max_bytes = field(8);
                let stock = Arc::clone(&self.stock);
                (self.script)(Asked {
                    stream,
                    stock,
                    first,
                    count,
                    max_bytes,
                })
                .await;
            }
            wire::GET_HEADERS => {
                let answer = wire::headers(first, self.stock.range(first, count));
                let _ = stream.write_all(&answer).await;
                let _ = stream.close().await;
            }
            _ => {}
        }
    }

    async fn push(self, pushes: Pushes, mut control: Control, protocol: StreamProtocol, peer: PeerId) {
        for nonce in 0..pushes.count {
            let Ok(mut stream) = control.open_stream(peer, protocol.clone()).await else {
                return;
            };
            let _ = stream.write_all(&(pushes.message)(&self.stock, nonce)).await;
            let _ = stream.close().await;
            self.pushed.fetch_add(1, Relaxed);
        }
    }
}

/// A block that says it has this number, each time another one.
fn flood(stock: &Stock, number: u32, nonce: u32) -> Vec<u8> {
    let mut item = stock.item(stock.head()).clone();
    item.bytes.extend_from_slice(&nonce.to_le_bytes());
    wire::block(number, &item)
}

#[derive(NetworkBehaviour)]
struct Behaviour {
    ping: ping::Behaviour,
    identify: identify::Behaviour,
    streams: Streams,
}

fn swarm() -> (Swarm<Behaviour>, Control) {
    let swarm = SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .expect("the transport works")
        .with_behaviour(|key| Behaviour {
            ping: ping::Behaviour::default(),
            identify: identify::Behaviour::new(identify::Config::new("zoo".into(), key.public())),
            streams: Streams::new(),
        })
        .expect("the behaviour works")
        .with_swarm_config(|config| config.with_idle_connection_timeout(FOR_EVER))
        .build();
    let control = swarm.behaviour().streams.new_control();
    (swarm, control)
}

/// The TCP or UDP port in an address.
pub(super) fn port(address: &Multiaddr) -> u16 {
    address
        .iter()
        .find_map(|part| match part {
            libp2p::multiaddr::Protocol::Tcp(port) => Some(port),
            _ => None,
        })
        .expect("a TCP address")
}
