//! Messages of any content, and what any bytes are taken for.

use super::*;

/// All decoders over one payload, for their panics.
fn decode_all(bytes: &[u8]) {
    let _ = Hello::decode(bytes);
    let _ = Announce::decode(bytes);
    let _ = RangeRequest::decode(bytes);
    let _ = read_as_block(&block_message(bytes));
    let _ = HeadersRequest::decode(bytes);
    let _ = WireHeaders::decode(bytes.to_vec());
    let _ = count_headers(bytes, 7, 3);
    let end = RangeEnd::decode(bytes);
    assert!(!end.text.chars().any(char::is_control));
    let goodbye = Goodbye::decode(bytes);
    assert!(!goodbye.text.chars().any(char::is_control));
}

fn body(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    let length = u32::from_le_bytes([out[1], out[2], out[3], out[4]]) as usize;
    assert_eq!(length, out.len() - HEADER);
    out.split_off(HEADER)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_payload_is_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        decode_all(&bytes);
    }

    #[test]
    fn any_stream_gives_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40), kind in 0..ALL.len()) {
        let _ = read(&bytes);
        // A known kind and a short length, so that payloads are reached.
        let mut bytes = bytes;
        if bytes.len() >= HEADER {
            bytes[0] = ALL[kind] as u8;
            bytes[2..5].fill(0);
        }
        if let Ok(frame) = read(&bytes) {
            prop_assert_eq!(&frame.payload[..], &bytes[HEADER..HEADER + frame.payload.len()]);
            decode_all(&frame.payload);
        }
    }

    #[test]
    fn a_changed_hello_is_decoded_or_refused(at in 0usize..92, with: u8, length in 0usize..92) {
        let mut bytes = body(|out| hello().encode(out));
        bytes[at] = with;
        decode_all(&bytes);
        bytes.truncate(length);
        prop_assert!(Hello::decode(&bytes).is_err());
    }

    #[test]
    fn hello_comes_back(chain: [u8; 32], head: u32, first: u32, fill: u8, knows_first: bool, agent in "[ -~]{0,64}") {
        let head = head.max(1);
        let hello = Hello {
            chain: ChainId(chain),
            first: first.clamp(1, head),
            head,
            head_id: id(head, fill),
            first_block_id: knows_first.then(|| id(1, fill)),
            agent: agent.trim().to_owned(),
        };
        let mut bytes = body(|out| hello.encode(out));
        prop_assert_eq!(Hello::decode(&bytes), Ok(hello.clone()));
        // A later version may add fields.
        bytes.extend([1, 2, 3]);
        prop_assert_eq!(Hello::decode(&bytes), Ok(hello));
    }

    #[test]
    fn blocks_come_back(number: u32, attributes: u16, bytes in proptest::collection::vec(any::<u8>(), 1..2000)) {
        let block = WireBlock { number, attributes, bytes };
        let mut message = Vec::new();
        block.encode(&mut message);
        prop_assert_eq!(read_as_block(&message).unwrap(), block);
        let torn = read_as_block(&message[..message.len() - 1]);
        prop_assert!(matches!(torn, Err(FrameError::Truncated { .. })), "{:?}", torn);
    }

    #[test]
    fn headers_come_back(first in 1u32..u32::MAX - 50, count in 1u32..50) {
        let request = HeadersRequest { first, count };
        prop_assert_eq!(HeadersRequest::decode(&body(|out| request.encode(out))), Ok(request));
        let headers = WireHeaders { first, bytes: headers(first, count) };
        prop_assert_eq!(WireHeaders::decode(body(|out| headers.encode(out))), Ok(headers.clone()));
        prop_assert_eq!(count_headers(&headers.bytes, first, count), Ok(count));
    }

    #[test]
    fn changed_headers_are_counted_or_refused(at in 0usize..340, with: u8, length in 0usize..340) {
        let mut bytes = headers(7, 3);
        bytes[at] = with;
        bytes.truncate(length);
        if let Ok(count) = count_headers(&bytes, 7, 3) {
            prop_assert!(count <= 3);
        }
    }

    #[test]
    fn ends_and_goodbyes_come_back(code: u8, next: u32, text in "[a-z]{0,200}") {
        let end = RangeEnd { reason: EndReason::from_code(code), next, text: text.clone() };
        prop_assert_eq!(RangeEnd::decode(&body(|out| end.encode(out))), end);
        let goodbye = Goodbye { reason: GoodbyeReason::from_code(code), text };
        prop_assert_eq!(Goodbye::decode(&body(|out| goodbye.encode(out))), goodbye);
    }

    #[test]
    fn requests_come_back(first in 1u32..u32::MAX - MAX_COUNT, count in 1..=MAX_COUNT, max_bytes in 1u32..) {
        let request = RangeRequest { first, count, max_bytes };
        prop_assert_eq!(RangeRequest::decode(&body(|out| request.encode(out))), Ok(request));
    }
}
