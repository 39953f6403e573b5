//! The answering side: one task per inbound stream.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use libp2p::{PeerId, Stream};
use tokio::task::JoinHandle;

use crate::{
    Announce, BlockProvider, EndReason, GoneReason, Goodbye, GoodbyeReason, Hello, ProvideError, RangeEnd,
    RangeRequest, Refusal, WireBlock, WireError,
    client::close,
    context::{Command, Context},
    headers,
    stats::PeerStats,
    wire::{Frame, FrameError, Kind, MAX_STORED_BLOCK, read_frame, write_all},
};

const REQUESTS: &[Kind] = &[
    Kind::Hello,
    Kind::GetBlocks,
    Kind::GetHeaders,
    Kind::Announce,
    Kind::Goodbye,
];

/// Answers the one request of a stream that a peer opened.
pub(crate) async fn serve(context: Arc<Context>, peer: PeerId, mut stream: Stream) {
    let Some(stats) = context.peers.stats(&peer) else {
        return;
    };
    let Some(_place) = stats.take_stream(context.config.streams.inbound_per_peer) else {
        if let Some(suppressed) = context.stream_log.admit() {
            tracing::warn!(target: "p2p", %peer, "Peer opens too many streams at once{suppressed}");
        }
        return;
    };
    let result = match read_frame(&mut stream, REQUESTS, "a request", context.reading()).await {
        Ok(Frame { kind, payload }) => match kind {
            Kind::Hello => answer_hello(&context, peer, stream, &payload).await,
            Kind::GetBlocks => answer_range(&context, peer, stream, &payload, &stats).await,
            Kind::GetHeaders => headers::answer(&context, peer, stream, &payload, &stats).await,
            Kind::Announce => take_announce(&context, peer, &payload),
            _ => {
                take_goodbye(&context, peer, &payload).await;
                Ok(())
            }
        },
        Err(FrameError::Wire(WireError::TooLong {
            kind: Kind::Goodbye, ..
        })) => {
            take_goodbye(&context, peer, &[]).await;
            Ok(())
        }
        // A request of a later version: say so, and keep the peer.
        Err(FrameError::Wire(error @ WireError::UnexpectedKind { .. })) => {
            end(&context, stream, EndReason::BadRequest, 0, error.to_string()).await
        }
        // The peer changed its mind.
        Err(FrameError::Closed) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        tracing::debug!(target: "p2p", %peer, "Exchange failed: {error}");
    }
}

async fn answer_hello(
    context: &Context,
    peer: PeerId,
    mut stream: Stream,
    payload: &[u8],
) -> Result<(), FrameError> {
    let judged = match Hello::decode(payload) {
        Ok(hello) => context.judge(&hello).map(|()| hello),
        Err(error) => Err(Refusal::BadHello(error.to_string())),
    };
    let mut out = Vec::new();
    match judged {
        Ok(hello) => {
            // Before the answer: the peer may ask for blocks as soon as it has it.
            let refresh_in = context.config.status_interval;
            if context.peers.hello(peer, hello.into(), refresh_in).is_none() {
                // It is being disconnected.
                return Ok(());
            }
            context.hello().encode(&mut out);
            write_all(&mut stream, &out, context.writing()).await?;
            close(stream).await;
        }
        Err(refusal) => {
            let goodbye = Goodbye {
                reason: refusal.goodbye_reason(),
                text: refusal.to_string(),
            };
            goodbye.encode(&mut out);
            let told = write_all(&mut stream, &out, context.reading()).await;
            close(stream).await;
            context.refuse(peer, refusal, told.is_ok()).await;
        }
    }
    Ok(())
}

fn take_announce(context: &Context, peer: PeerId, payload: &[u8]) -> Result<(), FrameError> {
    let announce = Announce::decode(payload)?;
    context.peers.announced(peer, announce);
    Ok(())
}

async fn take_goodbye(context: &Context, peer: PeerId, payload: &[u8]) {
    let goodbye = Goodbye::decode(payload);
    let gone = GoneReason::Goodbye(goodbye.clone());
    let log = if goodbye.reason == GoodbyeReason::Closing {
        None
    } else {
        context.refusal_log.admit()
    };
    if let Some(suppressed) = log {
        tracing::info!(target: "p2p", %peer, "{gone}{suppressed}");
    }
    if goodbye.reason == GoodbyeReason::Banned {
        context.provider.turned_away();
    }
    context.peers.leave(peer, gone, Refusal::ByPeer(goodbye));
    let _ = context.commands.send(Command::Close { peer }).await;
}

/// Sends an end without blocks and closes.
pub(crate) async fn end(
    context: &Context,
    mut stream: Stream,
    reason: EndReason,
    next: u32,
    text: String,
) -> Result<(), FrameError> {
    let mut out = Vec::new();
    RangeEnd { reason, next, text }.encode(&mut out);
    write_all(&mut stream, &out, context.reading()).await?;
    close(stream).await;
    Ok(())
}

async fn answer_range(
    context: &Arc<Context>,
    peer: PeerId,
    stream: Stream,
    payload: &[u8],
    stats: &Arc<PeerStats>,
) -> Result<(), FrameError> {
    let request = match RangeRequest::decode(payload) {
        Ok(request) => request,
        Err(error) => return end(context, stream, EndReason::BadRequest, 0, error.to_string()).await,
    };
    let decline = |stream, reason| end(context, stream, reason, request.first, String::new());
    let _places = match context.places(&peer, stats) {
        Ok(places) => places,
        Err(reason) => return decline(stream, reason).await,
    };
    let provider = &context.provider;
    let mut range = Range {
        context,
        provider: provider.frozen().unwrap_or_else(|| Arc::clone(provider)),
        peer,
        next: request.first,
        remaining: request.count,
        budget: (request.max_bytes as usize).min(context.config.streams.response_bytes),
    };
    range.send(stream, stats).await
}

type Chunk = Result<Vec<WireBlock>, ProvideError>;

/// A range that is being sent.
struct Range<'a> {
    context: &'a Arc<Context>,
    /// All reads see the same chain.
    provider: Arc<dyn BlockProvider>,
    peer: PeerId,
    /// Number of the next block to read.
    next: u32,
    /// Blocks that are still to be read.
    remaining: u32,
    /// Stored bytes that may still be read (the last block may pass it).
    budget: usize,
}

impl Range<'_> {
    /// Reads chunk by chunk where blocking is allowed, and writes one while the next is read.
    async fn send(&mut self, mut stream: Stream, stats: &PeerStats) -> Result<(), FrameError> {
        let mut out = Vec::new();
        let mut reading = Some(self.read());
        let mut reason = EndReason::Done;
        while let Some(chunk) = reading.take() {
            let blocks = match chunk.await {
                Ok(chunk) => self.check(chunk),
                // The provider panicked, or the runtime is going down.
                Err(error) => Err(self.read_failed(&error.to_string())),
            };
            let blocks = match blocks {
                Ok(blocks) => blocks,
                Err(declined) => {
                    reason = declined;
                    break;
                }
            };
            let bytes: usize = blocks.iter().map(|block| block.bytes.len()).sum();
            self.next += blocks.len() as u32;
            self.remaining -= blocks.len() as u32;
            self.budget = self.budget.saturating_sub(bytes);
            if self.remaining == 0 {
                reason = EndReason::Done;
            } else if self.budget == 0 {
                reason = EndReason::LimitReached;
            } else if self.context.is_closing() {
                reason = EndReason::Closing;
            } else {
                reading = Some(self.read());
            }
            out.clear();
            for block in blocks {
                block.encode(&mut out);
            }
            write_all(&mut stream, &out, self.context.writing()).await?;
            stats.sent.fetch_add(bytes as u64, Relaxed);
        }
        end(self.context, stream, reason, self.next, String::new()).await
    }

    fn read(&self) -> JoinHandle<Chunk> {
        let provider = Arc::clone(&self.provider);
        let limits = &self.context.config.streams;
        let first = self.next;
        let count = self.remaining.min(limits.chunk_blocks);
        let bytes = self.budget.min(limits.chunk_bytes);
        tokio::task::spawn_blocking(move || provider.read_range(first, count, bytes))
    }

    /// Holds the provider to its contract, so that what goes out is what was asked for.
    fn check(&self, chunk: Chunk) -> Result<Vec<WireBlock>, EndReason> {
        let blocks = chunk.map_err(|error| match error {
            ProvideError::NoSuchBlock(_) => EndReason::NoSuchBlock,
            ProvideError::Busy => EndReason::Busy,
            error @ ProvideError::Read { .. } => self.read_failed(&error.to_string()),
        })?;
        let numbered = blocks
            .iter()
            .zip(self.next..)
            .all(|(block, number)| block.number == number);
        let sized = blocks
            .iter()
            .all(|block| (1..=MAX_STORED_BLOCK).contains(&block.bytes.len()));
        if blocks.is_empty() {
            Err(EndReason::NoSuchBlock)
        } else if numbered && sized && blocks.len() <= self.remaining as usize {
            Ok(blocks)
        } else {
            Err(self.read_failed("blocks out of order, empty, too long or too many"))
        }
    }

    fn read_failed(&self, text: &str) -> EndReason {
        self.context.read_failed(self.peer, self.next, text)
    }
}
