//! Opening the listening addresses, and waiting until they are known.

use std::{
    io,
    net::{IpAddr, TcpListener, UdpSocket},
    time::Duration,
};

use futures::StreamExt;
use libp2p::{Multiaddr, Swarm, core::transport::ListenerId, multiaddr::Protocol, swarm::SwarmEvent};

use crate::{
    Endpoint, NetworkError, TransportKind,
    behaviour::{Behaviour, BehaviourEvent},
    endpoint::multiaddr,
    resolve::resolve,
};

/// A listener says where it listens as soon as the socket is bound; more than this means that no network interface
/// has an address for it.
const ANSWER: Duration = Duration::from_secs(5);

/// With port 0 the system chooses a TCP port; the UDP port of that number may be taken. Tried so often.
const PORT_ATTEMPTS: usize = 16;

/// Events that came while waiting; the swarm's task must see them too.
pub(crate) type Missed = Vec<SwarmEvent<BehaviourEvent>>;

/// Listens on all endpoints. On an error nothing of the swarm is of use any more.
pub(crate) async fn listen_all(
    swarm: &mut Swarm<Behaviour>,
    endpoints: &[Endpoint],
) -> Result<Missed, NetworkError> {
    let mut missed = Vec::new();
    for endpoint in endpoints {
        let addresses = resolve(endpoint).await.map_err(|source| NetworkError::Resolve {
            endpoint: endpoint.to_string(),
            source,
        })?;
        for ip in addresses {
            listen(swarm, endpoint, ip, &mut missed)
                .await
                .map_err(|source| NetworkError::Listen {
                    endpoint: endpoint.to_string(),
                    source,
                })?;
        }
    }
    Ok(missed)
}

/// Listens on each transport of the endpoint, all at the same port.
async fn listen(
    swarm: &mut Swarm<Behaviour>,
    endpoint: &Endpoint,
    ip: IpAddr,
    missed: &mut Missed,
) -> io::Result<()> {
    let (first, others) = match endpoint.transports() {
        [first, others @ ..] => (*first, others),
        [] => return Ok(()),
    };
    let mut attempt = 1;
    loop {
        let (listener, port) = listen_on(swarm, ip, endpoint.port, first, missed).await?;
        let mut result = Ok(());
        for transport in others {
            if let Err(error) = listen_on(swarm, ip, port, *transport, missed).await {
                result = Err(error);
            }
        }
        match result {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && endpoint.port == 0
                    && attempt < PORT_ATTEMPTS =>
            {
                attempt += 1;
                swarm.remove_listener(listener);
            }
            other => return other,
        }
    }
}

/// Listens on one address and waits for the port.
async fn listen_on(
    swarm: &mut Swarm<Behaviour>,
    ip: IpAddr,
    port: u16,
    transport: TransportKind,
    missed: &mut Missed,
) -> io::Result<(ListenerId, u16)> {
    probe(ip, port, transport)?;
    let listener = swarm
        .listen_on(multiaddr(ip, port, transport))
        .map_err(io::Error::other)?;
    let answer = async {
        loop {
            let event = swarm.select_next_some().await;
            let answer = match &event {
                SwarmEvent::NewListenAddr { listener_id, address } if *listener_id == listener => {
                    Some(Ok(port_of(address)))
                }
                SwarmEvent::ListenerClosed {
                    listener_id, reason, ..
                } if *listener_id == listener => Some(Err(match reason {
                    Ok(()) => io::Error::other("the listener closed"),
                    Err(error) => io::Error::new(error.kind(), error.to_string()),
                })),
                _ => None,
            };
            missed.push(event);
            if let Some(answer) = answer {
                return answer;
            }
        }
    };
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(port) => Ok((listener, port?)),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::AddrNotAvailable,
            "no network interface has a fitting address",
        )),
    }
}

/// Binds a socket of the same kind for a moment, because libp2p's error for a taken port no longer tells that it is
/// one. Not for `[::]`: the standard library's socket would claim the IPv4 port too, which may be this node's own.
fn probe(ip: IpAddr, port: u16, transport: TransportKind) -> io::Result<()> {
    if ip.is_ipv6() && ip.is_unspecified() {
        return Ok(());
    }
    match transport {
        TransportKind::Tcp => TcpListener::bind((ip, port)).map(drop),
        TransportKind::Quic => UdpSocket::bind((ip, port)).map(drop),
    }
}

fn port_of(address: &Multiaddr) -> u16 {
    address
        .iter()
        .find_map(|part| match part {
            Protocol::Tcp(port) | Protocol::Udp(port) => Some(port),
            _ => None,
        })
        .unwrap_or_default()
}
