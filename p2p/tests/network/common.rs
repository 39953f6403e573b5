//! Nodes over a chain in memory.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cairn_chain::{BlockId, ChainId};
use cairn_p2p::{
    BlockProvider, LocalStatus, Multiaddr, Network, NetworkConfig, NetworkEvent, NetworkHandle, PeerId,
    ProvideError, SeedList, WireBlock,
};
use tokio::sync::broadcast;

pub const CHAIN: ChainId = ChainId([0xc4; 32]);

/// Long enough for a loaded machine, short enough to fail.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn block_id(number: u32) -> BlockId {
    if number == 0 {
        return BlockId::ZERO;
    }
    let mut bytes = [0x5a; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    BlockId(bytes)
}

/// Block `number` as every node of these tests has it: small, of different lengths, each with bytes of its own.
pub fn small_block(number: u32) -> WireBlock {
    let mut state = u64::from(number) + 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u8
    };
    let length = 120 + usize::from(next()) * 2;
    WireBlock {
        number,
        attributes: if number.is_multiple_of(3) { 0x8105 } else { 0x8000 },
        bytes: (0..length).map(|_| next()).collect(),
    }
}

/// The header of block `number`, as it stands at the start of a block; every third has an extension.
pub fn small_header(number: u32) -> Vec<u8> {
    let mut bytes = block_id(number - 1).0.to_vec();
    bytes.extend(number.to_le_bytes());
    bytes.extend(b"\x07witness");
    bytes.extend([number as u8; 20]);
    bytes.extend(if number.is_multiple_of(3) {
        &[1, 1, 0, 0, 28, 1][..]
    } else {
        &[0]
    });
    bytes.extend([0x1f; 65]);
    bytes
}

/// A chain in memory from `first` to the head.
pub struct Chain {
    pub first: u32,
    pub blocks: Mutex<Vec<WireBlock>>,
    pub first_block_id: Option<BlockId>,
    pub read_delay: Duration,
    pub reads: AtomicU64,
}

impl Chain {
    pub fn empty() -> Arc<Self> {
        Self::of(1, 0, small_block)
    }

    pub fn small(head: u32) -> Arc<Self> {
        Self::of(1, head, small_block)
    }

    pub fn of(first: u32, head: u32, block: impl Fn(u32) -> WireBlock) -> Arc<Self> {
        Arc::new(Self {
            first,
            blocks: Mutex::new((first..=head).map(block).collect()),
            first_block_id: Some(block_id(1)),
            read_delay: Duration::ZERO,
            reads: AtomicU64::new(0),
        })
    }

    pub fn grow(&self, by: u32) {
        let mut blocks = self.blocks.lock().unwrap();
        let next = self.first + blocks.len() as u32;
        blocks.extend((next..next + by).map(small_block));
    }
}

impl BlockProvider for Chain {
    fn status(&self) -> LocalStatus {
        let blocks = self.blocks.lock().unwrap();
        if blocks.is_empty() {
            return LocalStatus::EMPTY;
        }
        let head = self.first + blocks.len() as u32 - 1;
        LocalStatus {
            first: self.first,
            head,
            head_id: block_id(head),
            first_block_id: self.first_block_id,
        }
    }

    fn read_range(
        &self,
        first: u32,
        max_count: u32,
        max_bytes: usize,
    ) -> Result<Vec<WireBlock>, ProvideError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if !self.read_delay.is_zero() {
            std::thread::sleep(self.read_delay);
        }
        let blocks = self.blocks.lock().unwrap();
        let at = first
            .checked_sub(self.first)
            .ok_or(ProvideError::NoSuchBlock(first))? as usize;
        if at >= blocks.len() {
            return Err(ProvideError::NoSuchBlock(first));
        }
        let mut bytes = 0;
        let mut range = Vec::new();
        for block in blocks[at..].iter().take(max_count as usize) {
            if bytes >= max_bytes {
                break;
            }
            bytes += block.bytes.len();
            range.push(block.clone());
        }
        Ok(range)
    }

    fn read_headers(&self, first: u32, max_count: u32, max_bytes: usize) -> Result<Vec<u8>, ProvideError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let head = self.status().head;
        if !(self.first..=head).contains(&first) {
            return Err(ProvideError::NoSuchBlock(first));
        }
        let mut headers = Vec::new();
        for number in (first..=head).take(max_count as usize) {
            let header = small_header(number);
            if headers.len() + header.len() > max_bytes {
                break;
            }
            headers.extend(header);
        }
        Ok(headers)
    }
}

/// Listening on loopback, with short waits so that a test that must fail fails soon.
pub fn config(seeds: &[&str]) -> NetworkConfig {
    let mut config = NetworkConfig::new(CHAIN);
    config.listen = vec!["127.0.0.1:0".parse().unwrap()];
    config.seeds = SeedList::parse(seeds).seeds;
    assert_eq!(config.seeds.len(), seeds.len(), "a bad seed in a test");
    config.redial.first = Duration::from_millis(200);
    config.redial.longest = Duration::from_millis(800);
    config.announce_interval = Duration::from_millis(200);
    config
}

pub async fn start(config: NetworkConfig, chain: &Arc<Chain>) -> NetworkHandle {
    init_log();
    Network::start(config, Arc::clone(chain) as Arc<dyn BlockProvider>)
        .await
        .unwrap()
}

/// A node's address on one transport (`tcp` or `quic-v1`), as a seed.
pub fn address(node: &NetworkHandle, transport: &str) -> String {
    let address = node
        .listen_addresses()
        .into_iter()
        .find(|address| address.to_string().contains(transport));
    address.expect("listens on both transports").to_string()
}

pub fn dialable(node: &NetworkHandle) -> Multiaddr {
    address(node, "tcp").parse().unwrap()
}

/// Waits for an event that `pick` takes something from.
pub async fn wait_for<T>(
    events: &mut broadcast::Receiver<NetworkEvent>,
    what: &str,
    mut pick: impl FnMut(NetworkEvent) -> Option<T>,
) -> T {
    let waiting = async {
        loop {
            if let Some(picked) = pick(events.recv().await.expect("the network runs")) {
                return picked;
            }
        }
    };
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(picked) => picked,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
        panic!("waited in vain until {what}");
    }
}

pub async fn ready(node: &NetworkHandle, peer: PeerId) {
    until("the peer is ready", || node.status(&peer).is_some()).await;
}

/// `P2P_TEST_LOG=1` shows the log lines of a run.
pub fn init_log() {
    use std::sync::Once;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("P2P_TEST_LOG").is_some() {
            log::install();
        }
    });
}

/// The smallest subscriber that prints; the crate needs no other one.
mod log {
    use std::fmt::Write;
    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span,
    };

    struct Print;
    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            let _ = if field.name() == "message" {
                write!(self.0, " {value:?}")
            } else {
                write!(self.0, " {}={value:?}", field.name())
            };
        }
    }

    impl Subscriber for Print {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "p2p"
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line(event.metadata().level().to_string());
            event.record(&mut line);
            eprintln!("{}", line.0);
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    pub fn install() {
        let _ = tracing::subscriber::set_global_default(Print);
    }
}
