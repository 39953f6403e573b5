//! Messages on a stream, with a limit on every length and every wait.
//!
//! Two clocks guard a read. No byte at all within [`Pace::idle`] means that the peer has stalled. And a whole
//! message must be there within `idle + length / slowest`: without that, a byte now and then would hold a
//! stream for ever.

use std::{
    io,
    task::Poll,
    time::{Duration, Instant},
};

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{BLOCK_HEADER, HEADER, Kind, WireBlock, WireError};

/// How patient a read or write is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Longest wait without any progress.
    pub(crate) idle: Duration,
    /// Slowest transfer that is borne with, in bytes per second.
    pub(crate) slowest: u32,
}

impl Pace {
    /// When a transfer of this length that starts now must have ended.
    fn deadline(self, length: usize) -> Instant {
        let seconds = length as f64 / f64::from(self.slowest.max(1));
        Instant::now() + self.idle + Duration::from_secs_f64(seconds)
    }
}

/// Which of the two clocks ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stalled {
    /// Not one byte for the idle time.
    Idle,
    /// Bytes came, but so slowly that the message was not whole in its time.
    Slow,
}

/// Why no message came out of a stream.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended where a message could have begun.
    #[error("the stream was closed")]
    Closed,
    /// The stream ended inside a message.
    #[error("the stream ended after {found} of {expected} bytes of a message")]
    Truncated {
        /// Bytes of the header, payload or stored block that were to come.
        expected: usize,
        /// Bytes that came.
        found: usize,
    },
    /// The peer was too slow.
    #[error("the peer {} ({found} of {expected} bytes of a message came)", match kind {
        Stalled::Idle => "sent nothing",
        Stalled::Slow => "sent too slowly",
    })]
    Stalled {
        /// Nothing at all, or too little.
        kind: Stalled,
        /// Bytes of the header, payload or stored block that were to come.
        expected: usize,
        /// Bytes that came.
        found: usize,
    },
    /// The bytes mean nothing.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The stream or its connection broke.
    #[error("the stream broke: {0}")]
    Io(#[from] io::Error),
}

/// A message whose payload is not decoded yet.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
}

/// Reads one message of a kind in `allowed`; `expected` names them in the error.
pub(crate) async fn read_frame<R: AsyncRead + Unpin>(
    reader: &mut R,
    allowed: &[Kind],
    expected: &'static str,
    pace: Pace,
) -> Result<Frame, FrameError> {
    let (kind, size) = read_header(reader, allowed, expected, pace).await?;
    let payload = read_payload(reader, size, pace).await?;
    Ok(Frame { kind, payload })
}

/// Reads what stands before a payload: its kind, and its length in bytes, which is one that this kind may have.
pub(crate) async fn read_header<R: AsyncRead + Unpin>(
    reader: &mut R,
    allowed: &[Kind],
    expected: &'static str,
    pace: Pace,
) -> Result<(Kind, usize), FrameError> {
    let mut header = [0; HEADER];
    match read_exact(reader, &mut header, pace).await {
        Err(FrameError::Truncated { found: 0, .. }) => return Err(FrameError::Closed),
        other => other?,
    }
    let [kind, length @ ..] = header;
    let length = u32::from_le_bytes(length);
    let kind = match Kind::from_byte(kind) {
        Some(known) if allowed.contains(&known) => known,
        _ => {
            return Err(FrameError::Wire(WireError::UnexpectedKind {
                expected,
                found: kind,
            }));
        }
    };
    let size = length as usize;
    if size > kind.max_payload() {
        return Err(FrameError::Wire(WireError::TooLong {
            kind,
            length,
            limit: kind.max_payload(),
        }));
    }
    Ok((kind, size))
}

/// Reads a payload whose length was checked: at most one block.
pub(crate) async fn read_payload<R: AsyncRead + Unpin>(
    reader: &mut R,
    size: usize,
    pace: Pace,
) -> Result<Vec<u8>, FrameError> {
    let mut payload = vec![0; size];
    read_exact(reader, &mut payload, pace).await?;
    Ok(payload)
}

/// Reads the payload of a block. What stands before the stored bytes is read apart, so that these come into the buffer
/// in which they stay.
pub(crate) async fn read_block<R: AsyncRead + Unpin>(
    reader: &mut R,
    size: usize,
    pace: Pace,
) -> Result<WireBlock, FrameError> {
    let Some(stored) = size.checked_sub(BLOCK_HEADER).filter(|stored| *stored > 0) else {
        return Err(FrameError::Wire(WireError::TooShort {
            kind: Kind::Block,
            expected: BLOCK_HEADER + 1,
            found: size,
        }));
    };
    let mut front = [0; BLOCK_HEADER];
    read_exact(reader, &mut front, pace).await?;
    let bytes = read_payload(reader, stored, pace).await?;
    Ok(WireBlock::from_parts(front, bytes))
}

async fn read_exact<R: AsyncRead + Unpin>(
    reader: &mut R,
    buffer: &mut [u8],
    pace: Pace,
) -> Result<(), FrameError> {
    let expected = buffer.len();
    let mut found = 0;
    let mut deadline = None;
    while found < expected {
        let read = match futures::poll!(reader.read(&mut buffer[found..])) {
            // What is here already needs no clock: most blocks of a fast peer are read without one.
            Poll::Ready(read) => read,
            Poll::Pending => {
                let deadline = *deadline.get_or_insert_with(|| pace.deadline(expected));
                let left = deadline.saturating_duration_since(Instant::now());
                let (wait, kind) = if left < pace.idle {
                    (left, Stalled::Slow)
                } else {
                    (pace.idle, Stalled::Idle)
                };
                let reading = tokio::time::timeout(wait, reader.read(&mut buffer[found..]));
                reading.await.map_err(|_| FrameError::Stalled {
                    kind,
                    expected,
                    found,
                })?
            }
        };
        match read {
            Ok(0) => return Err(FrameError::Truncated { expected, found }),
            Ok(read) => found += read,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(FrameError::Truncated { expected, found });
            }
            Err(error) => return Err(FrameError::Io(error)),
        }
    }
    Ok(())
}

/// Writes and flushes all bytes, at the same pace as a read.
pub(crate) async fn write_all<W: AsyncWrite + Unpin>(
    writer: &mut W,
    bytes: &[u8],
    pace: Pace,
) -> Result<(), FrameError> {
    let deadline = pace.deadline(bytes.len());
    let mut written = 0;
    let stalled = |kind, found| FrameError::Stalled {
        kind,
        expected: bytes.len(),
        found,
    };
    while written < bytes.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        let (wait, kind) = if left < pace.idle {
            (left, Stalled::Slow)
        } else {
            (pace.idle, Stalled::Idle)
        };
        match tokio::time::timeout(wait, writer.write(&bytes[written..])).await {
            Ok(Ok(0)) => return Err(FrameError::Io(io::ErrorKind::WriteZero.into())),
            Ok(Ok(count)) => written += count,
            Ok(Err(error)) => return Err(FrameError::Io(error)),
            Err(_) => return Err(stalled(kind, written)),
        }
    }
    match tokio::time::timeout(pace.idle, writer.flush()).await {
        Ok(flushed) => Ok(flushed?),
        Err(_) => Err(stalled(Stalled::Idle, written)),
    }
}
