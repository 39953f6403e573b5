//! Header ranges: both sides of the exchange. An answer is one message, so nothing is streamed.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use libp2p::{PeerId, Stream};

use crate::{
    EndReason, HeadersRequest, ProvideError, RangeEnd, RequestError, WireHeaders,
    client::close,
    context::Context,
    server::end,
    stats::PeerStats,
    wire::{FrameError, Kind, MAX_HEADERS_BYTES, count_headers, read_frame, write_all},
};

/// Asks a peer for headers.
pub(crate) async fn request(
    context: Arc<Context>,
    peer: PeerId,
    request: HeadersRequest,
) -> Result<Vec<u8>, RequestError> {
    request.check().map_err(RequestError::Invalid)?;
    if context.is_closing() {
        return Err(RequestError::Closing);
    }
    let stats = context.peers.ready(&peer).ok_or(RequestError::NotReady)?;
    let mut stream = context.open(peer, None).await?;
    let mut out = Vec::new();
    request.encode(&mut out);
    write_all(&mut stream, &out, context.reading()).await?;
    let answer = read_frame(
        &mut stream,
        &[Kind::Headers, Kind::End],
        "headers or end",
        context.reading(),
    )
    .await;
    let frame = match answer {
        // An end that is too long to be read is an end all the same.
        Err(FrameError::Wire(crate::WireError::TooLong { kind: Kind::End, .. })) => {
            return Err(ended(&[], request.first));
        }
        other => other?,
    };
    if frame.kind == Kind::End {
        return Err(ended(&frame.payload, request.first));
    }
    let headers = WireHeaders::decode(frame.payload).map_err(FrameError::Wire)?;
    if headers.first != request.first {
        return Err(RequestError::UnexpectedBlock {
            expected: request.first,
            found: headers.first,
        });
    }
    count_headers(&headers.bytes, request.first, request.count)?;
    stats.add_received(headers.bytes.len());
    Ok(headers.bytes)
}

/// An answer without headers. Good order is no reason for one: there would be at least the first.
fn ended(payload: &[u8], next: u32) -> RequestError {
    let RangeEnd { reason, text, .. } = RangeEnd::decode(payload);
    match reason {
        EndReason::Done | EndReason::LimitReached => RequestError::FalseEnd { reason, next },
        _ => RequestError::Ended { reason, next, text },
    }
}

/// Answers a peer that asks for headers.
pub(crate) async fn answer(
    context: &Arc<Context>,
    peer: PeerId,
    mut stream: Stream,
    payload: &[u8],
    stats: &Arc<PeerStats>,
) -> Result<(), FrameError> {
    let request = match HeadersRequest::decode(payload) {
        Ok(request) => request,
        Err(error) => return end(context, stream, EndReason::BadRequest, 0, error.to_string()).await,
    };
    let decline = |stream, reason| end(context, stream, reason, request.first, String::new());
    let _places = match context.places(&peer, stats) {
        Ok(places) => places,
        Err(reason) => return decline(stream, reason).await,
    };
    let bytes = match read(context, peer, request).await {
        Ok(bytes) => bytes,
        Err(reason) => return decline(stream, reason).await,
    };
    let sent = bytes.len() as u64;
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let first = request.first;
    WireHeaders { first, bytes }.encode(&mut out);
    write_all(&mut stream, &out, context.writing()).await?;
    stats.sent.fetch_add(sent, Relaxed);
    close(stream).await;
    Ok(())
}

/// Reads where blocking is allowed, and holds the provider to its contract.
async fn read(context: &Arc<Context>, peer: PeerId, request: HeadersRequest) -> Result<Vec<u8>, EndReason> {
    let HeadersRequest { first, count } = request;
    let provider = Arc::clone(&context.provider);
    let reading = tokio::task::spawn_blocking(move || provider.read_headers(first, count, MAX_HEADERS_BYTES));
    let failed = |text: &str| context.read_failed(peer, first, text);
    let bytes = match reading.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(ProvideError::NoSuchBlock(_))) => return Err(EndReason::NoSuchBlock),
        Ok(Err(ProvideError::Busy)) => return Err(EndReason::Busy),
        Ok(Err(error @ ProvideError::Read { .. })) => return Err(failed(&error.to_string())),
        // The provider panicked, or the runtime is going down.
        Err(error) => return Err(failed(&error.to_string())),
    };
    if bytes.is_empty() {
        return Err(EndReason::NoSuchBlock);
    }
    if bytes.len() > MAX_HEADERS_BYTES {
        let length = bytes.len();
        return Err(failed(&format!(
            "headers of {length} bytes, at most {MAX_HEADERS_BYTES} are allowed"
        )));
    }
    match count_headers(&bytes, first, count) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(failed(&error.to_string())),
    }
}
