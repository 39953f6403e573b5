//! Streams of the sync protocol as a libp2p behaviour: opens them on request, hands out those that peers open.
//!
//! No inbound stream is lost here: each becomes an event of the swarm, and when events are not taken fast enough
//! libp2p stops reading the connection. (`libp2p-stream` does the same job with a queue of one and resets what
//! does not fit, which hits a peer that opens two streams at once; it also dials peers by itself.) The task
//! that takes the events enforces the limits on open streams.

use std::{
    collections::VecDeque,
    convert::Infallible,
    task::{Context, Poll},
    time::Duration,
};

use futures::channel::oneshot;
use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol,
    core::{Endpoint, transport::PortUse, upgrade::ReadyUpgrade},
    swarm::{
        ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm,
        NetworkBehaviour, NotifyHandler, StreamUpgradeError, SubstreamProtocol, THandler, THandlerInEvent,
        THandlerOutEvent, ToSwarm,
        handler::{ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound},
    },
};

/// Why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no connection to the peer (any more).
    #[error("not connected")]
    NotConnected,
    /// The peer does not know the protocol: another chain, another version, or another program.
    #[error("the peer does not speak this protocol")]
    Unsupported,
    /// The peer did not agree on the protocol in time.
    #[error("the peer did not answer in time")]
    Timeout,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(std::io::Error),
}

/// Where the opened stream goes.
pub(crate) type Opened = oneshot::Sender<Result<Stream, OpenError>>;

/// A stream that a peer opened.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(crate) peer: PeerId,
    pub(crate) stream: Stream,
}

/// See the module documentation.
pub(crate) struct Streams {
    protocol: StreamProtocol,
    open_timeout: Duration,
    events: VecDeque<ToSwarm<Inbound, Opened>>,
}

impl Streams {
    pub(crate) fn new(protocol: StreamProtocol, open_timeout: Duration) -> Self {
        Self {
            protocol,
            open_timeout,
            events: VecDeque::new(),
        }
    }

    /// Asks for a stream. If the connection is gone `opened` is dropped.
    pub(crate) fn open(&mut self, peer: PeerId, connection: Option<ConnectionId>, opened: Opened) {
        self.events.push_back(ToSwarm::NotifyHandler {
            peer_id: peer,
            handler: connection.map_or(NotifyHandler::Any, NotifyHandler::One),
            event: opened,
        });
    }

    fn handler(&self) -> Handler {
        Handler {
            protocol: self.protocol.clone(),
            open_timeout: self.open_timeout,
            to_open: VecDeque::new(),
            inbound: VecDeque::new(),
        }
    }
}

impl NetworkBehaviour for Streams {
    type ConnectionHandler = Handler;
    type ToSwarm = Inbound;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler())
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler())
    }

    fn on_swarm_event(&mut self, _: FromSwarm<'_>) {}

    fn on_connection_handler_event(&mut self, peer: PeerId, _: ConnectionId, stream: THandlerOutEvent<Self>) {
        self.events
            .push_back(ToSwarm::GenerateEvent(Inbound { peer, stream }));
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        // No waker: events are only added by the swarm and by the task that polls it.
        match self.events.pop_front() {
            Some(event) => Poll::Ready(event),
            None => Poll::Pending,
        }
    }
}

/// The part of [`Streams`] that lives with one connection.
pub(crate) struct Handler {
    protocol: StreamProtocol,
    open_timeout: Duration,
    to_open: VecDeque<Opened>,
    inbound: VecDeque<Stream>,
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Opened;
    type ToBehaviour = Stream;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = Opened;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), ())
    }

    /// Whether a connection is useful is decided by the peer's status, not by whether a stream is open.
    fn connection_keep_alive(&self) -> bool {
        true
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, Opened, Stream>> {
        // No waker: both queues are only filled by calls that libp2p follows with a poll.
        if let Some(stream) = self.inbound.pop_front() {
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(stream));
        }
        if let Some(opened) = self.to_open.pop_front() {
            let protocol = SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), opened);
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                protocol: protocol.with_timeout(self.open_timeout),
            });
        }
        Poll::Pending
    }

    fn on_behaviour_event(&mut self, opened: Opened) {
        // Nobody waits any more: do not open a stream for it.
        if !opened.is_canceled() {
            self.to_open.push_back(opened);
        }
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, Self::InboundProtocol, Self::OutboundProtocol, (), Opened>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound { protocol: stream, .. }) => {
                self.inbound.push_back(stream);
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: stream,
                info: opened,
            }) => {
                // If the receiver is gone the stream is dropped with it, which resets it.
                let _ = opened.send(Ok(stream));
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { info: opened, error }) => {
                let _ = opened.send(Err(open_error(error)));
            }
            _ => {}
        }
    }
}

fn open_error(error: StreamUpgradeError<Infallible>) -> OpenError {
    match error {
        StreamUpgradeError::Timeout => OpenError::Timeout,
        StreamUpgradeError::Apply(never) => match never {},
        StreamUpgradeError::NegotiationFailed => OpenError::Unsupported,
        StreamUpgradeError::Io(error) => OpenError::Io(error),
    }
}
