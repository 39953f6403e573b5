//! The task that owns the swarm: turns its events into the table of peers, dials seeds, announces heads.
//!
//! It never waits for a peer: every exchange is a task of its own, and all of them end with this one.

mod dial;
mod swarm_events;

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt, channel::oneshot};
use libp2p::{PeerId, Swarm};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::{
    Announce, GoneReason, Goodbye, GoodbyeReason, Refusal,
    announcements::Announcements,
    behaviour::Behaviour,
    client::{self, Updating},
    context::{Command, Context, GOODBYE_GRACE},
    dialer::Dialer,
    listen::Missed,
};

/// How often deadlines are looked at.
const TICK: Duration = Duration::from_millis(100);

/// How often the head is looked at: a new one is announced within this time.
const LOOK: Duration = Duration::from_millis(20);

/// Time for saying goodbye to one peer.
const GOODBYE: Duration = Duration::from_millis(500);

/// See the module documentation.
pub(crate) struct Task {
    swarm: Swarm<Behaviour>,
    context: Arc<Context>,
    commands: mpsc::Receiver<Command>,
    closing: watch::Receiver<bool>,
    dialer: Dialer,
    /// When it was last said that all seeds are banned.
    told_banned_seeds: Option<Instant>,
    exchanges: JoinSet<()>,
    announcements: Announcements,
}

impl Task {
    /// `missed` are the events that came while the listeners were opened.
    pub(crate) fn new(
        swarm: Swarm<Behaviour>,
        context: Arc<Context>,
        commands: mpsc::Receiver<Command>,
        missed: Missed,
    ) -> Self {
        let now = Instant::now();
        let config = &context.config;
        let mut task = Self {
            swarm,
            commands,
            closing: context.closing.subscribe(),
            dialer: Dialer::new(&config.seeds, config.redial, now),
            told_banned_seeds: None,
            exchanges: JoinSet::new(),
            announcements: Announcements::new(
                config.announce_interval,
                config.announce_burst,
                context.provider.status(),
                now,
            ),
            context,
        };
        for event in missed {
            task.on_swarm(event);
        }
        task
    }

    /// Runs until the network closes.
    pub(crate) async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !*self.closing.borrow_and_update() {
            tokio::select! {
                event = self.swarm.select_next_some() => self.on_swarm(event),
                Some(command) = self.commands.recv() => self.on_command(command),
                Some(ended) = self.exchanges.join_next() => report(ended),
                _ = tick.tick() => self.on_tick(Instant::now()),
                _ = look.tick() => self.announce(Instant::now()),
                _ = self.closing.changed() => {}
            }
        }
        self.drain().await;
    }

    /// Says goodbye to everyone and lets what is under way end, for a bounded time.
    async fn drain(mut self) {
        let connected = self.context.peers.connected_peers();
        tracing::info!(target: "p2p", "shutdown: closing connections to {} peers", connected.len());
        for peer in connected {
            self.context.peers.leave(
                peer,
                GoneReason::Disconnected(GoodbyeReason::Closing),
                Refusal::Disconnected(GoodbyeReason::Closing),
            );
            self.say_goodbye(
                peer,
                Goodbye {
                    reason: GoodbyeReason::Closing,
                    text: String::new(),
                },
            );
        }
        let mut over = pin!(tokio::time::sleep(self.context.config.timeouts.shutdown));
        while !self.context.peers.connected_peers().is_empty() {
            tokio::select! {
                event = self.swarm.select_next_some() => self.on_swarm(event),
                Some(command) = self.commands.recv() => self.on_command(command),
                Some(ended) = self.exchanges.join_next() => report(ended),
                () = &mut over => break,
            }
        }
        self.exchanges.abort_all();
        while let Some(ended) = self.exchanges.join_next().await {
            report(ended);
        }
    }

    fn on_tick(&mut self, now: Instant) {
        let hello = self.context.config.timeouts.hello;
        for peer in self.context.peers.without_hello(now) {
            self.refuse(peer, Refusal::NoHello(hello), false);
        }
        self.dial_seeds(now);
        self.warn_of_banned_seeds(now);
        let again_in = self.context.config.status_interval;
        for (peer, stats) in self.context.peers.to_refresh(now, again_in) {
            let Some(updating) = Updating::begin(stats) else {
                continue;
            };
            let context = Arc::clone(&self.context);
            self.exchanges.spawn(async move {
                if let Err(error) = client::refresh(&context, peer).await {
                    tracing::debug!(target: "p2p", %peer, "No status: {error}");
                }
                drop(updating);
            });
        }
    }

    fn announce(&mut self, now: Instant) {
        let status = self.context.provider.status();
        let ready = || {
            self.context
                .peers
                .ready_peers()
                .into_iter()
                .map(|(peer, _)| peer)
                .collect()
        };
        let untold = self.announcements.due(status, now, ready);
        if untold.is_empty() {
            return;
        }
        let announce = Announce {
            first: status.first,
            head: status.head,
            head_id: status.head_id,
        };
        for peer in untold {
            let Some(stats) = self.context.peers.ready(&peer) else {
                self.announcements.told(&peer);
                continue;
            };
            // One that is still busy with the last one has its turn at the next look.
            let Some(updating) = Updating::begin(stats) else {
                continue;
            };
            self.announcements.told(&peer);
            let context = Arc::clone(&self.context);
            self.exchanges.spawn(async move {
                if let Err(error) = client::announce(&context, peer, announce).await {
                    tracing::debug!(target: "p2p", %peer, "Cannot announce the head: {error}");
                }
                drop(updating);
            });
        }
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Open {
                peer,
                connection,
                opened,
            } => self.swarm.behaviour_mut().streams.open(peer, connection, opened),
            Command::Leave { peer, goodbye } => self.say_goodbye(peer, goodbye),
            Command::Close { peer } => {
                // An error means that it is not connected.
                let _ = self.swarm.disconnect_peer_id(peer);
            }
            Command::Announce => self.announce(Instant::now()),
            Command::Resolved { seed, addresses } => self.on_resolved(seed, addresses),
        }
    }

    fn say_goodbye(&mut self, peer: PeerId, goodbye: Goodbye) {
        let (opened, stream) = oneshot::channel();
        self.swarm.behaviour_mut().streams.open(peer, None, opened);
        let context = Arc::clone(&self.context);
        self.exchanges.spawn(async move {
            let saying = async {
                match stream.await {
                    Ok(Ok(stream)) => client::goodbye(stream, &goodbye, &context).await.is_ok(),
                    _ => false,
                }
            };
            if tokio::time::timeout(GOODBYE, saying).await == Ok(true) {
                // A peer that understands it closes the connection itself. It must not see the end first.
                tokio::time::sleep(GOODBYE_GRACE).await;
            }
            let _ = context.commands.send(Command::Close { peer }).await;
        });
    }

    fn refuse(&mut self, peer: PeerId, refusal: Refusal, told: bool) {
        let context = Arc::clone(&self.context);
        self.exchanges
            .spawn(async move { context.refuse(peer, refusal, told).await });
    }
}

/// A panic in an exchange ends that exchange only; it is a bug all the same.
fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(target: "p2p", "An exchange with a peer failed: {error}");
    }
}

/// The innermost cause: what libp2p wraps around it helps nobody.
fn root_text(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
