//! Finds the end of a zstd frame without decompressing it.
//!
//! A frame is a header, then blocks with a three-byte header each, the last one flagged, then an optional
//! checksum. The length serves two ends: a stored block must be exactly one frame (libzstd would accept any
//! number of them, so that one block could have many stored forms), and a log whose tail is torn can be read
//! forwards, although trailers only lead backwards.

use crate::MAX_STORED_SIZE;

/// Largest content of a block inside a frame, from the zstd format (128 KiB).
const MAX_CHUNK: usize = 128 << 10;

/// Length of the magicless frame at the start of `bytes`, or `None` if there is no whole one within
/// [`MAX_STORED_SIZE`].
pub(crate) fn frame_len(bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(MAX_STORED_SIZE)];
    let descriptor = *bytes.first()?;
    if descriptor & 0b0000_1000 != 0 {
        return None; // reserved bit
    }
    let single_segment = descriptor & 0b0010_0000 != 0;
    let checksum = if descriptor & 0b0000_0100 != 0 { 4 } else { 0 };
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        size => 1 << size,
    };
    let mut at = 1 + window + dictionary + content_size;
    loop {
        let header = bytes.get(at..at + 3)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let size = (header >> 3) as usize;
        if size > MAX_CHUNK {
            return None;
        }
        let content = match (header >> 1) & 3 {
            0 | 2 => size, // raw, compressed
            1 => 1,        // one byte, repeated
            _ => return None,
        };
        at += 3 + content;
        if at > bytes.len() {
            return None;
        }
        if header & 1 != 0 {
            break;
        }
    }
    let end = at + checksum;
    (end <= bytes.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockEncoder, Compression, Dictionaries};
    use proptest::prelude::*;
    use std::sync::Arc;

    const PLAIN: Compression = Compression::Zstd { dictionary: None };

    proptest! {
        #[test]
        fn agrees_with_the_encoder(
            raw in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..5_000),
                proptest::collection::vec(0..3_u8, 0..300_000),
                (any::<u8>(), 0..400_000_usize).prop_map(|(byte, len)| vec![byte; len]),
            ],
            behind in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut encoder = BlockEncoder::new(Arc::new(Dictionaries::none()));
            let mut frame = encoder.encode(&raw, PLAIN).unwrap();
            let len = frame.len();
            prop_assert_eq!(frame_len(&frame), Some(len));
            prop_assert_eq!(frame_len(&frame[..len - 1]), None);
            frame.extend_from_slice(&behind);
            prop_assert_eq!(frame_len(&frame), Some(len));
        }

        #[test]
        fn never_reaches_past_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(len) = frame_len(&bytes) {
                prop_assert!(len <= bytes.len());
            }
        }
    }
}
