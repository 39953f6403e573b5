//! The asking side: hello, announce, goodbye, block ranges.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock, atomic::Ordering::Relaxed},
    task::{self, Poll},
};

use futures::{AsyncWriteExt, io::BufReader, stream};
use libp2p::{PeerId, Stream, swarm::ConnectionId};

use crate::{
    Announce, EndReason, Goodbye, PeerStatus, RangeEnd, RangeRequest, Refusal, RequestError, WireBlock,
    WireError,
    context::Context,
    stats::PeerStats,
    wire::{FrameError, Hello, Kind, read_block, read_frame, read_header, read_payload, write_all},
};

/// Buffer for reading an answer: a few small blocks come with one read, what is left of a larger one bypasses it.
/// A larger buffer would cost a copy of most blocks.
const READ_BUFFER: usize = 2 << 10;

/// Exchanges hellos. Does not change the table of peers.
pub(crate) async fn exchange_hello(
    context: &Context,
    peer: PeerId,
    connection: Option<ConnectionId>,
) -> Result<PeerStatus, RequestError> {
    let mut stream = context.open(peer, connection).await?;
    let mut out = Vec::new();
    context.hello().encode(&mut out);
    write_all(&mut stream, &out, context.writing()).await?;
    let frame = read_frame(
        &mut stream,
        &[Kind::Hello, Kind::Goodbye],
        "hello or goodbye",
        context.reading(),
    )
    .await?;
    close(stream).await;
    if frame.kind == Kind::Goodbye {
        return Err(RequestError::Refused(Refusal::ByPeer(Goodbye::decode(
            &frame.payload,
        ))));
    }
    let hello = Hello::decode(&frame.payload).map_err(FrameError::Wire)?;
    context.judge(&hello).map_err(RequestError::Refused)?;
    Ok(hello.into())
}

/// Asks for the status of a ready peer and enters it in the table.
pub(crate) async fn refresh(context: &Context, peer: PeerId) -> Result<PeerStatus, RequestError> {
    if context.peers.ready(&peer).is_none() {
        return Err(RequestError::NotReady);
    }
    let status = match exchange_hello(context, peer, None).await {
        Err(RequestError::Refused(refusal)) => {
            context.refuse(peer, refusal.clone(), false).await;
            return Err(RequestError::Refused(refusal));
        }
        other => other?,
    };
    context
        .peers
        .hello(peer, status.clone(), context.config.status_interval);
    Ok(status)
}

/// Sends one message that has no answer.
async fn send(context: &Context, peer: PeerId, message: &[u8]) -> Result<(), RequestError> {
    let mut stream = context.open(peer, None).await?;
    write_all(&mut stream, message, context.reading()).await?;
    close(stream).await;
    Ok(())
}

pub(crate) async fn announce(
    context: &Context,
    peer: PeerId,
    announce: Announce,
) -> Result<(), RequestError> {
    let mut out = Vec::new();
    announce.encode(&mut out);
    send(context, peer, &out).await
}

pub(crate) async fn goodbye(
    stream: Stream,
    goodbye: &Goodbye,
    context: &Context,
) -> Result<(), RequestError> {
    let mut stream = stream;
    let mut out = Vec::new();
    goodbye.encode(&mut out);
    write_all(&mut stream, &out, context.reading()).await?;
    close(stream).await;
    Ok(())
}

/// Closes the writing side, so that what was written is delivered and not cut off by a reset. Bounded: a peer
/// that does not acknowledge must not hold the task.
pub(crate) async fn close(mut stream: Stream) {
    let _ = tokio::time::timeout(std::time::Duration::from_secs(5), stream.close()).await;
}

/// The blocks of an answer, in order, as a stream.
///
/// It ends after the last block when everything was sent or a byte limit was reached
/// ([`end`](Self::end) tells which), and with one error otherwise. Blocks are read from the connection when the
/// stream is polled: a consumer that stops polling stops the sender, and what is buffered in between is
/// what the transport's flow control allows, never more than the answer. Dropping it cancels the request.
#[must_use = "a request is sent when the stream is polled"]
pub struct RangeResponse {
    blocks: Pin<Box<dyn futures::Stream<Item = Result<WireBlock, RequestError>> + Send>>,
    end: Arc<OnceLock<RangeEnd>>,
}

impl std::fmt::Debug for RangeResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RangeResponse")
            .field("end", &self.end.get())
            .finish_non_exhaustive()
    }
}

impl RangeResponse {
    /// How the answer ended; `None` until it has, or if it broke off.
    #[must_use]
    pub fn end(&self) -> Option<&RangeEnd> {
        self.end.get()
    }
}

impl futures::Stream for RangeResponse {
    type Item = Result<WireBlock, RequestError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        self.blocks.as_mut().poll_next(cx)
    }
}

/// An answer that is being read.
struct Answer {
    context: Arc<Context>,
    stats: Arc<PeerStats>,
    reader: BufReader<Stream>,
    request: RangeRequest,
    received_blocks: u32,
    received_bytes: u64,
    end: Arc<OnceLock<RangeEnd>>,
}

enum State {
    Start,
    Reading(Box<Answer>),
    Over,
}

/// Prepares a request; it is sent at the first poll.
pub(crate) fn request_range(context: Arc<Context>, peer: PeerId, request: RangeRequest) -> RangeResponse {
    let end = Arc::new(OnceLock::new());
    let shared = Arc::clone(&end);
    let blocks = stream::unfold(State::Start, move |state| {
        let context = Arc::clone(&context);
        let end = Arc::clone(&shared);
        async move {
            let mut answer = match state {
                State::Over => return None,
                State::Reading(answer) => answer,
                State::Start => match start(context, peer, request, end).await {
                    Ok(answer) => Box::new(answer),
                    Err(error) => return Some((Err(error), State::Over)),
                },
            };
            match answer.next().await {
                Ok(Some(block)) => Some((Ok(block), State::Reading(answer))),
                Ok(None) => None,
                Err(error) => Some((Err(error), State::Over)),
            }
        }
    });
    RangeResponse {
        blocks: Box::pin(blocks),
        end,
    }
}

async fn start(
    context: Arc<Context>,
    peer: PeerId,
    request: RangeRequest,
    end: Arc<OnceLock<RangeEnd>>,
) -> Result<Answer, RequestError> {
    request.check().map_err(RequestError::Invalid)?;
    if context.is_closing() {
        return Err(RequestError::Closing);
    }
    let stats = context.peers.ready(&peer).ok_or(RequestError::NotReady)?;
    let mut stream = context.open(peer, None).await?;
    let mut out = Vec::new();
    request.encode(&mut out);
    write_all(&mut stream, &out, context.reading()).await?;
    Ok(Answer {
        reader: BufReader::with_capacity(READ_BUFFER, stream),
        context,
        stats,
        request,
        received_blocks: 0,
        received_bytes: 0,
        end,
    })
}

impl Answer {
    /// The number that the next block must have.
    fn next_number(&self) -> u32 {
        self.request.first + self.received_blocks
    }

    async fn next(&mut self) -> Result<Option<WireBlock>, RequestError> {
        let pace = self.context.reading();
        let allowed = &[Kind::Block, Kind::End];
        match read_header(&mut self.reader, allowed, "block or end", pace).await {
            Ok((Kind::Block, size)) => {
                let block = read_block(&mut self.reader, size, pace).await?;
                self.accept(&block)?;
                Ok(Some(block))
            }
            Ok((_, size)) => {
                let payload = read_payload(&mut self.reader, size, pace).await?;
                self.finish(RangeEnd::decode(&payload))
            }
            // An end that is too long to be read is an end all the same.
            Err(FrameError::Wire(WireError::TooLong { kind: Kind::End, .. })) => {
                self.finish(RangeEnd::decode(&[]))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn accept(&mut self, block: &WireBlock) -> Result<(), RequestError> {
        let RangeRequest { count, max_bytes, .. } = self.request;
        if self.received_blocks >= count {
            return Err(RequestError::TooManyBlocks { count });
        }
        if self.received_bytes >= u64::from(max_bytes) {
            return Err(RequestError::TooManyBytes {
                received: self.received_bytes,
                limit: max_bytes,
            });
        }
        let expected = self.next_number();
        if block.number != expected {
            return Err(RequestError::UnexpectedBlock {
                expected,
                found: block.number,
            });
        }
        self.received_blocks += 1;
        self.received_bytes += block.bytes.len() as u64;
        self.stats.add_received(block.bytes.len());
        Ok(())
    }

    fn finish(&mut self, mut end: RangeEnd) -> Result<Option<WireBlock>, RequestError> {
        let next = self.next_number();
        end.next = next;
        let RangeEnd { reason, text, .. } = end.clone();
        // Set once: an answer has one end.
        let _ = self.end.set(end);
        let complete = self.received_blocks == self.request.count;
        match reason {
            EndReason::Done if complete => Ok(None),
            EndReason::LimitReached if self.received_blocks > 0 => Ok(None),
            EndReason::Done | EndReason::LimitReached => Err(RequestError::FalseEnd { reason, next }),
            // Whatever the reason, nothing is missing.
            _ if complete => Ok(None),
            _ => Err(RequestError::Ended { reason, next, text }),
        }
    }
}

/// Marks a status exchange or announcement as under way; `None` if one is already.
pub(crate) struct Updating(Arc<PeerStats>);

impl Updating {
    pub(crate) fn begin(stats: Arc<PeerStats>) -> Option<Self> {
        if stats.updating.swap(true, Relaxed) {
            return None;
        }
        Some(Self(stats))
    }
}

impl Drop for Updating {
    fn drop(&mut self) {
        self.0.updating.store(false, Relaxed);
    }
}
