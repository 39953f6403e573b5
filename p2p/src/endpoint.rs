//! `host:port` texts as operators write them, and multiaddresses.
//!
//! hived's options hold `1.2.3.4:2001`, `seed.example.com:2001` or `[2001:db8::1]:2001`. Such a text names
//! one port that stands for TCP and for QUIC over UDP. A multiaddress (`/ip4/1.2.3.4/udp/2001/quic-v1`)
//! names one transport, and may name the node's id (`/p2p/...`).

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

use libp2p::{Multiaddr, PeerId, multiaddr::Protocol};

/// A host: an address, or a name that must be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// A numeric address.
    Ip(IpAddr),
    /// A name, in lower case, without the trailing dot.
    Name(String),
}

/// One of the two transports that a node speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransportKind {
    /// TCP with Noise encryption and Yamux streams.
    Tcp,
    /// QUIC version 1 over UDP.
    Quic,
}

/// Where a node listens or is dialed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// Address or name.
    pub host: Host,
    /// TCP and UDP port; 0 (listening only) lets the system choose one.
    pub port: u16,
    /// The one transport that was asked for; `None` means both.
    pub transport: Option<TransportKind>,
    /// The node id that must answer there; `None` accepts any.
    pub peer: Option<PeerId>,
}

/// Why a text is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Nothing but blanks.
    #[error("it is empty")]
    Empty,
    /// No `:port` at the end.
    #[error("the port is missing: write HOST:PORT, for example {0}:2001")]
    MissingPort(String),
    /// What follows the last colon is not a port number.
    #[error("`{0}` is not a port (1 to 65535)")]
    BadPort(String),
    /// Port 0 names no port of another node.
    #[error("port 0 cannot be dialed")]
    PortZero,
    /// An IPv6 address without brackets, where the port cannot be told from the address.
    #[error("an IPv6 address with a port must be in brackets: [ADDRESS]:PORT")]
    UnbracketedIpv6,
    /// `[` without `]`, or something else than an IPv6 address between them.
    #[error("`{0}` is not an IPv6 address in brackets")]
    BadIpv6(String),
    /// Neither an address nor a name that DNS would accept.
    #[error("`{0}` is neither an IP address nor a host name")]
    BadHost(String),
    /// A URL; only `host:port` or a multiaddress can be used.
    #[error("it looks like a URL: write HOST:PORT without the scheme")]
    Url,
    /// Starts with `/` but is not a multiaddress.
    #[error("it is not a multiaddress: {0}")]
    BadMultiaddr(String),
    /// A multiaddress of a transport that this node does not speak.
    #[error(
        "only /ip4, /ip6 or /dns with /tcp/PORT or /udp/PORT/quic-v1, and an optional /p2p/ID, can be used"
    )]
    UnsupportedMultiaddr,
}

impl Endpoint {
    /// Both transports at a numeric address.
    #[must_use]
    pub fn ip(ip: IpAddr, port: u16) -> Self {
        Self {
            host: Host::Ip(ip),
            port,
            transport: None,
            peer: None,
        }
    }

    /// The transports to use here, TCP first: it costs less processor time per byte.
    #[must_use]
    pub fn transports(&self) -> &'static [TransportKind] {
        match self.transport {
            None => &[TransportKind::Tcp, TransportKind::Quic],
            Some(TransportKind::Tcp) => &[TransportKind::Tcp],
            Some(TransportKind::Quic) => &[TransportKind::Quic],
        }
    }
}

/// The multiaddress of one transport at one address (without a node id).
pub(crate) fn multiaddr(ip: IpAddr, port: u16, transport: TransportKind) -> Multiaddr {
    let base = Multiaddr::from(ip);
    match transport {
        TransportKind::Tcp => base.with(Protocol::Tcp(port)),
        TransportKind::Quic => base.with(Protocol::Udp(port)).with(Protocol::QuicV1),
    }
}

/// The IP address that a multiaddress starts with; an IPv4 address mapped into IPv6 is given as IPv4.
pub(crate) fn ip_of(address: &Multiaddr) -> Option<IpAddr> {
    match address.iter().next()? {
        Protocol::Ip4(ip) => Some(IpAddr::V4(ip)),
        Protocol::Ip6(ip) => Some(IpAddr::V6(ip).to_canonical()),
        _ => None,
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EndpointError::Empty);
        }
        if text.starts_with('/') {
            return parse_multiaddr(text);
        }
        if text.contains("://") {
            return Err(EndpointError::Url);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let Some((inside, after)) = rest.split_once(']') else {
                return Err(EndpointError::BadIpv6(text.to_owned()));
            };
            let ip: Ipv6Addr = inside
                .parse()
                .map_err(|_| EndpointError::BadIpv6(inside.to_owned()))?;
            let Some(port) = after.strip_prefix(':') else {
                return Err(EndpointError::MissingPort(format!("[{inside}]")));
            };
            return Ok(Self::ip(IpAddr::V6(ip), parse_port(port)?));
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            return Err(EndpointError::MissingPort(text.to_owned()));
        };
        if host.contains(':') {
            return Err(EndpointError::UnbracketedIpv6);
        }
        Ok(Self {
            host: parse_host(host)?,
            port: parse_port(port)?,
            transport: None,
            peer: None,
        })
    }
}

fn parse_port(text: &str) -> Result<u16, EndpointError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits => Ok(port),
        _ => Err(EndpointError::BadPort(text.to_owned())),
    }
}

/// A numeric IPv4 address or a name. A name's last label must not be all digits, so that `1.2.3` or
/// `300.1.1.1` is an error here and not a DNS query.
fn parse_host(text: &str) -> Result<Host, EndpointError> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(Host::Ip(ip));
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    let label_fits = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit());
    if name.len() <= 253 && !numeric && name.split('.').all(label_fits) {
        Ok(Host::Name(name.to_ascii_lowercase()))
    } else {
        Err(EndpointError::BadHost(text.to_owned()))
    }
}

fn parse_multiaddr(text: &str) -> Result<Endpoint, EndpointError> {
    let address: Multiaddr = text
        .parse()
        .map_err(|error: libp2p::multiaddr::Error| EndpointError::BadMultiaddr(error.to_string()))?;
    let mut parts = address.iter();
    let host = match parts.next() {
        Some(Protocol::Ip4(ip)) => Host::Ip(IpAddr::V4(ip)),
        Some(Protocol::Ip6(ip)) => Host::Ip(IpAddr::V6(ip)),
        Some(Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name)) => parse_host(&name)?,
        _ => return Err(EndpointError::UnsupportedMultiaddr),
    };
    let (port, transport) = match parts.next() {
        Some(Protocol::Tcp(port)) => (port, TransportKind::Tcp),
        Some(Protocol::Udp(port)) if matches!(parts.next(), Some(Protocol::QuicV1)) => {
            (port, TransportKind::Quic)
        }
        _ => return Err(EndpointError::UnsupportedMultiaddr),
    };
    let peer = match parts.next() {
        None => None,
        Some(Protocol::P2p(peer)) => Some(peer),
        Some(_) => return Err(EndpointError::UnsupportedMultiaddr),
    };
    if parts.next().is_some() {
        return Err(EndpointError::UnsupportedMultiaddr);
    }
    Ok(Endpoint {
        host,
        port,
        transport: Some(transport),
        peer,
    })
}

impl fmt::Display for Endpoint {
    /// `host:port` when it stands for both transports, else the multiaddress.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(transport) = self.transport else {
            return match &self.host {
                Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]:{}", self.port),
                Host::Ip(IpAddr::V4(ip)) => write!(f, "{ip}:{}", self.port),
                Host::Name(name) => write!(f, "{name}:{}", self.port),
            };
        };
        match &self.host {
            Host::Ip(IpAddr::V6(ip)) => write!(f, "/ip6/{ip}")?,
            Host::Ip(IpAddr::V4(ip)) => write!(f, "/ip4/{ip}")?,
            Host::Name(name) => write!(f, "/dns/{name}")?,
        }
        match transport {
            TransportKind::Tcp => write!(f, "/tcp/{}", self.port)?,
            TransportKind::Quic => write!(f, "/udp/{}/quic-v1", self.port)?,
        }
        match self.peer {
            Some(peer) => write!(f, "/p2p/{peer}"),
            None => Ok(()),
        }
    }
}
