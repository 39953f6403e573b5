//! What is too slow, on either side.

use super::*;

/// A reader that gives one byte per interval, for ever.
fn drip(interval: Duration) -> impl futures::AsyncRead + Unpin {
    let bytes = futures::stream::unfold((), move |()| async move {
        tokio::time::sleep(interval).await;
        Some((Ok::<_, std::io::Error>(vec![1u8]), ()))
    });
    futures::TryStreamExt::into_async_read(Box::pin(bytes))
}

#[test]
fn both_clocks_run_out() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let stall = |reader: &mut (dyn futures::AsyncRead + Unpin)| {
        let start = Instant::now();
        let mut reader = reader;
        let error = runtime
            .block_on(read_frame(&mut reader, ALL, "a message", PACE))
            .unwrap_err();
        (error, start.elapsed())
    };
    let (error, took) = stall(&mut drip(Duration::from_secs(60)));
    assert!(
        matches!(
            error,
            FrameError::Stalled {
                kind: Stalled::Idle,
                found: 0,
                ..
            }
        ),
        "{error}"
    );
    assert!(took < Duration::from_secs(1));
    // Each byte comes in time, the message does not: length 0x01010101 would be refused, so start with a header.
    let mut slow = Cursor::new(vec![0x10, 100, 0, 0, 0]).chain(drip(Duration::from_millis(50)));
    let (error, took) = stall(&mut slow);
    assert!(
        matches!(
            error,
            FrameError::Stalled {
                kind: Stalled::Slow,
                expected: 100,
                found: 2..,
            }
        ),
        "{error}"
    );
    assert!(took < Duration::from_secs(1));
}

#[test]
fn a_writer_that_takes_nothing_is_given_up() {
    struct Stuck;
    impl futures::AsyncWrite for Stuck {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            std::task::Poll::Pending
        }
        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn poll_close(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    assert!(matches!(
        runtime.block_on(write_all(&mut Stuck, &[0; 10], PACE)),
        Err(FrameError::Stalled {
            kind: Stalled::Idle,
            found: 0,
            ..
        })
    ));
}
