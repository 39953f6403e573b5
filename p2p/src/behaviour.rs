//! The libp2p side: transports, and the behaviours that share a connection.

use libp2p::{
    Swarm, SwarmBuilder, identify, identity::Keypair, noise, ping, swarm::NetworkBehaviour, tcp, yamux,
};

use crate::{
    NetworkConfig, NetworkError, bans::BanList, gate::Gate, read_ahead::ReadAhead, streams::Streams,
    wire::protocol_name,
};

/// Prefix of identify's protocol version; the full chain id follows, so that a node of another chain can be named
/// in the log although it does not speak this chain's protocol.
const IDENTIFY_PREFIX: &str = "cairn/";

/// Streams of all protocols that may be open on one connection; far above [`StreamLimits`](crate::StreamLimits),
/// far below what would hurt.
const CONNECTION_STREAMS: u16 = 256;

/// What a peer may send on one QUIC stream, and on one connection, before this node has read it, in bytes: at 100 ms
/// round-trip time 40 MB/s and 160 MB/s.
const QUIC_STREAM_WINDOW: u32 = 4 << 20;
const QUIC_CONNECTION_WINDOW: u32 = 16 << 20;

/// QUIC gives a silent peer up after so many milliseconds; pings go out more often than that.
const QUIC_IDLE: u32 = 30_000;

#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    gate: Gate,
    ping: ping::Behaviour,
    identify: identify::Behaviour,
    pub(crate) streams: Streams,
}

/// Builds the swarm; it neither listens nor dials yet.
pub(crate) fn build(
    config: &NetworkConfig,
    key: Keypair,
    bans: BanList,
) -> Result<Swarm<Behaviour>, NetworkError> {
    let timeouts = config.timeouts;
    let ping = ping::Config::new()
        .with_interval(timeouts.ping_interval)
        .with_timeout(timeouts.ping);
    let identify = identify::Config::new(format!("{IDENTIFY_PREFIX}{}", config.chain), key.public())
        .with_agent_version(config.agent.clone())
        // Nobody is looked up by address here, so none is kept.
        .with_cache_size(0);
    let behaviour = Behaviour {
        gate: Gate::new(config.connections, bans),
        ping: ping::Behaviour::new(ping),
        identify: identify::Behaviour::new(identify),
        streams: Streams::new(protocol_name(&config.chain), timeouts.open_stream),
    };
    let yamux = || {
        let mut config = yamux::Config::default();
        config.set_max_num_streams(usize::from(CONNECTION_STREAMS));
        config
    };
    let builder = SwarmBuilder::with_existing_identity(key)
        .with_tokio()
        .with_tcp(
            tcp::Config::default().nodelay(true),
            |key: &Keypair| noise::Config::new(key).map(ReadAhead),
            yamux,
        )
        .map_err(|error| NetworkError::Transport(error.to_string()))?
        .with_quic_config(|mut quic| {
            quic.handshake_timeout = timeouts.connect;
            quic.max_idle_timeout = QUIC_IDLE;
            quic.max_concurrent_stream_limit = u32::from(CONNECTION_STREAMS);
            quic.max_stream_data = QUIC_STREAM_WINDOW;
            quic.max_connection_data = QUIC_CONNECTION_WINDOW;
            quic
        });
    let builder = match builder.with_behaviour(|_| behaviour) {
        Ok(builder) => builder,
        Err(never) => return Err(NetworkError::Transport(never.to_string())),
    };
    Ok(builder
        .with_swarm_config(|swarm| swarm.with_max_negotiating_inbound_streams(32))
        .with_connection_timeout(timeouts.connect)
        .build())
}

/// The chain id in the protocol version that a peer shows to identify.
pub(crate) fn identified_chain(protocol_version: &str) -> Option<&str> {
    let chain = protocol_version.strip_prefix(IDENTIFY_PREFIX)?;
    (chain.len() == 64 && chain.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(chain)
}
