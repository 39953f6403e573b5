//! Addresses of peers and of the listening socket.
//!
//! A seed is `NAME:PORT`, `IPv4:PORT`, `[IPv6]:PORT` or a libp2p multiaddress (`/ip4/...`, `/dns4/...`). Names are not resolved
//! here: a dead name must not keep a node from starting.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thiserror::Error;

/// Longest DNS name, in characters.
const MAX_NAME: usize = 253;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPort {
    /// An address.
    Address(SocketAddr),
    /// A DNS name, in lower case, and a port.
    Name(String, u16),
}

/// A peer to dial.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SeedNode {
    /// hived's spelling.
    HostPort(HostPort),
    /// A libp2p multiaddress, as written.
    Multiaddress(String),
}

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenEndpoint(pub SocketAddr);

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// Nothing after the host.
    #[error("it has no port; expected HOST:PORT")]
    NoPort,
    /// The port is not a number from 1 to 65535.
    #[error("the port is not a number from 1 to 65535")]
    Port,
    /// Nothing before the port.
    #[error("it has no host; expected HOST:PORT")]
    NoHost,
    /// Colons in the host without brackets.
    #[error("an IPv6 address needs brackets: [ADDRESS]:PORT")]
    Brackets,
    /// The text in brackets is not an IPv6 address.
    #[error("the text in brackets is not an IPv6 address")]
    Ipv6,
    /// The host is neither an address nor a possible name.
    #[error("the host is neither an IP address nor a DNS name")]
    Host,
    /// A name where an address is needed.
    #[error("expected an IP address to listen on, found a name")]
    NameToListen,
}

impl HostPort {
    /// Reads `HOST:PORT`; port 0 only where `any_port`.
    fn parse(text: &str, any_port: bool) -> Result<Self, EndpointError> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or(EndpointError::Ipv6)?;
                let address: Ipv6Addr = host.parse().map_err(|_| EndpointError::Ipv6)?;
                let port = rest.strip_prefix(':').ok_or(EndpointError::NoPort)?;
                return Ok(Self::Address(SocketAddr::new(
                    IpAddr::V6(address),
                    parse_port(port, any_port)?,
                )));
            }
            None => text.rsplit_once(':').ok_or(EndpointError::NoPort)?,
        };
        if host.contains(':') {
            return Err(EndpointError::Brackets);
        }
        if host.is_empty() {
            return Err(EndpointError::NoHost);
        }
        let port = parse_port(port, any_port)?;
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Ok(Self::Address(SocketAddr::new(IpAddr::V4(address), port)));
        }
        if !is_name(host) {
            return Err(EndpointError::Host);
        }
        Ok(Self::Name(host.to_ascii_lowercase(), port))
    }
}

fn parse_port(text: &str, any: bool) -> Result<u16, EndpointError> {
    if text.is_empty() {
        return Err(EndpointError::NoPort);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(EndpointError::Port);
    }
    text.parse()
        .ok()
        .filter(|port| any || *port != 0)
        .ok_or(EndpointError::Port)
}

/// Labels of letters, digits, `-` and `_`; the last one not all digits, or it would be a broken IPv4 address.
fn is_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let last_is_number = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    host.len() <= MAX_NAME && host.split('.').all(label) && !last_is_number
}

impl SeedNode {
    /// Reads one seed.
    ///
    /// # Errors
    /// [`EndpointError`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        if text.starts_with('/') {
            return Ok(Self::Multiaddress(text.to_owned()));
        }
        HostPort::parse(text, false).map(Self::HostPort)
    }
}

impl ListenEndpoint {
    /// Reads `ADDRESS:PORT`; `localhost` is 127.0.0.1, port 0 lets the system choose.
    ///
    /// # Errors
    /// [`EndpointError`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        match HostPort::parse(text, true)? {
            HostPort::Address(address) => Ok(Self(address)),
            HostPort::Name(name, port) if name == "localhost" => {
                Ok(Self(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)))
            }
            HostPort::Name(..) => Err(EndpointError::NameToListen),
        }
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "{address}"),
            Self::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

impl fmt::Display for SeedNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostPort(endpoint) => write!(f, "{endpoint}"),
            Self::Multiaddress(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_spelling_of_a_seed() {
        for (text, expected) in [
            ("localhost:2001", "localhost:2001"),
            ("Seed.Example.org:2001", "seed.example.org:2001"),
            ("127.0.0.1:65535", "127.0.0.1:65535"),
            ("[::1]:2001", "[::1]:2001"),
            ("[0:0::1]:2001", "[::1]:2001"),
            ("/ip4/127.0.0.1/tcp/2001", "/ip4/127.0.0.1/tcp/2001"),
        ] {
            assert_eq!(SeedNode::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn names_what_is_wrong_with_an_address() {
        use EndpointError::*;
        for (text, expected) in [
            ("bad::", Brackets),
            ("::1:2001", Brackets),
            ("seed.example.org", NoPort),
            ("seed.example.org:", NoPort),
            ("[::1]", NoPort),
            ("[::1", Ipv6),
            ("[localhost]:1", Ipv6),
            (":2001", NoHost),
            ("a:0", Port),
            ("a:65536", Port),
            ("a:+1", Port),
            ("a:x", Port),
            ("1.2.3:1", Host),
            ("1.2.3.256:1", Host),
            ("a..b:1", Host),
            ("a b:1", Host),
            ("", NoPort),
        ] {
            assert_eq!(SeedNode::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn listens_on_addresses_only() {
        assert_eq!(
            ListenEndpoint::parse("0.0.0.0:0").unwrap().0.to_string(),
            "0.0.0.0:0"
        );
        assert_eq!(
            ListenEndpoint::parse("localhost:1").unwrap().0.to_string(),
            "127.0.0.1:1"
        );
        assert_eq!(
            ListenEndpoint::parse("[::]:2001").unwrap().0.to_string(),
            "[::]:2001"
        );
        assert_eq!(
            ListenEndpoint::parse("example.org:1"),
            Err(EndpointError::NameToListen)
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}") {
            let _ = SeedNode::parse(&text);
            let _ = ListenEndpoint::parse(&text);
        }

        #[test]
        fn shows_what_it_read(text in "[\\[\\]:.0-9a-f]{1,24}") {
            if let Ok(seed) = SeedNode::parse(&text) {
                prop_assert_eq!(SeedNode::parse(&seed.to_string()), Ok(seed));
            }
        }
    }
}
