use std::time::{Duration, Instant};

use cairn_chain::BlockId;
use futures::{AsyncReadExt, io::Cursor};
use proptest::prelude::*;

use super::*;

mod clocks;
mod random;

const PACE: Pace = Pace {
    idle: Duration::from_millis(200),
    slowest: 1000,
};

const ALL: &[Kind] = &[
    Kind::Hello,
    Kind::GetBlocks,
    Kind::Announce,
    Kind::Goodbye,
    Kind::GetHeaders,
    Kind::Block,
    Kind::End,
    Kind::Headers,
];

/// The header of a block that follows the block with this id; an extension makes lengths differ.
fn header(previous: BlockId, version: bool) -> Vec<u8> {
    let mut bytes = previous.0.to_vec();
    bytes.extend([1, 2, 3, 4]);
    bytes.extend(b"\x03bob");
    bytes.extend([8; 20]);
    bytes.extend(if version { &[1, 1, 0, 0, 28, 1][..] } else { &[0] });
    bytes.extend([0x1f; 65]);
    bytes
}

/// Headers of blocks `first` and on.
fn headers(first: u32, count: u32) -> Vec<u8> {
    let one = |number: u32| header(id(number - 1, 5), number.is_multiple_of(3));
    (first..first + count).flat_map(one).collect()
}

fn id(number: u32, fill: u8) -> BlockId {
    let mut bytes = [fill; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    BlockId(bytes)
}

fn hello() -> Hello {
    Hello {
        chain: ChainId([0xab; 32]),
        first: 1,
        head: 500,
        head_id: id(500, 7),
        first_block_id: Some(id(1, 9)),
        agent: "cairn/0.1.0".to_owned(),
    }
}

fn read(bytes: &[u8]) -> Result<Frame, FrameError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(read_frame(&mut Cursor::new(bytes), ALL, "a message", PACE))
}

/// A block message as the asking side reads it.
fn read_as_block(message: &[u8]) -> Result<WireBlock, FrameError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut reader = Cursor::new(message);
    runtime.block_on(async {
        let (_, size) = read_header(&mut reader, &[Kind::Block], "a block", PACE).await?;
        read_block(&mut reader, size, PACE).await
    })
}

/// A block message of this payload.
fn block_message(payload: &[u8]) -> Vec<u8> {
    let mut message = vec![Kind::Block as u8];
    message.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
    message.extend(payload);
    message
}

/// The byte tables of the module documentation, written out by hand.
#[test]
fn messages_have_the_documented_bytes() {
    let mut out = Vec::new();
    hello().encode(&mut out);
    let mut expected = vec![0x01, 92, 0, 0, 0];
    expected.extend([0xab; 32]);
    expected.extend([1, 0, 0, 0, 0xf4, 1, 0, 0]);
    expected.extend([0, 0, 1, 0xf4]);
    expected.extend([7; 16]);
    expected.extend([0, 0, 0, 1]);
    expected.extend([9; 16]);
    expected.push(11);
    expected.extend(b"cairn/0.1.0");
    assert_eq!(out, expected);

    out.clear();
    RangeRequest {
        first: 258,
        count: 3,
        max_bytes: 65536,
    }
    .encode(&mut out);
    assert_eq!(out, [0x02, 12, 0, 0, 0, 2, 1, 0, 0, 3, 0, 0, 0, 0, 0, 1, 0]);

    out.clear();
    Announce {
        first: 2,
        head: 3,
        head_id: id(3, 4),
    }
    .encode(&mut out);
    let mut expected = vec![0x03, 28, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 3];
    expected.extend([4; 16]);
    assert_eq!(out, expected);

    out.clear();
    WireBlock {
        number: 1,
        attributes: 0x8105,
        bytes: vec![0xee, 0xff],
    }
    .encode(&mut out);
    assert_eq!(out, [0x10, 8, 0, 0, 0, 1, 0, 0, 0, 5, 0x81, 0xee, 0xff]);

    out.clear();
    HeadersRequest { first: 258, count: 3 }.encode(&mut out);
    assert_eq!(out, [0x05, 8, 0, 0, 0, 2, 1, 0, 0, 3, 0, 0, 0]);

    out.clear();
    WireHeaders {
        first: 258,
        bytes: vec![0xee, 0xff],
    }
    .encode(&mut out);
    assert_eq!(out, [0x12, 6, 0, 0, 0, 2, 1, 0, 0, 0xee, 0xff]);

    out.clear();
    RangeEnd {
        reason: EndReason::Busy,
        next: 9,
        text: "hm".into(),
    }
    .encode(&mut out);
    assert_eq!(out, [0x11, 7, 0, 0, 0, 3, 9, 0, 0, 0, b'h', b'm']);

    out.clear();
    Goodbye {
        reason: GoodbyeReason::WrongChain,
        text: String::new(),
    }
    .encode(&mut out);
    assert_eq!(out, [0x04, 1, 0, 0, 0, 1]);

    assert_eq!(
        protocol_name(&ChainId([0xbe; 32])).as_ref(),
        "/cairn/bebebebe/sync/1"
    );
}

#[test]
fn every_reason_keeps_its_code() {
    for reason in EndReason::ALL {
        assert_eq!(EndReason::from_code(reason.code()), *reason);
    }
    for reason in GoodbyeReason::ALL {
        assert_eq!(GoodbyeReason::from_code(reason.code()), *reason);
    }
    assert_eq!(EndReason::from_code(77), EndReason::Unknown(77));
}

#[test]
fn contradictions_in_a_hello_are_errors() {
    let broken = |change: fn(&mut Hello)| {
        let mut hello = hello();
        change(&mut hello);
        let mut out = Vec::new();
        hello.encode(&mut out);
        Hello::decode(&out[HEADER..])
    };
    assert!(broken(|_| ()).is_ok());
    assert!(matches!(
        broken(|hello| hello.head_id = id(499, 7)),
        Err(WireError::HeadId { number: 500, .. })
    ));
    assert!(matches!(
        broken(|hello| hello.first = 501),
        Err(WireError::Range { .. })
    ));
    assert!(matches!(
        broken(|hello| hello.first = 0),
        Err(WireError::Range { .. })
    ));
    assert!(matches!(
        broken(|hello| (hello.first, hello.head) = (0, 0)),
        Err(WireError::HeadId { .. })
    ));
    assert!(matches!(
        broken(|hello| hello.first_block_id = Some(id(2, 1))),
        Err(WireError::FirstBlockId(_))
    ));
    let empty = broken(|hello| {
        (hello.first, hello.head, hello.head_id) = (0, 0, BlockId::ZERO);
        hello.first_block_id = None;
    });
    assert!(empty.is_ok());
    // An agent is cut at a character, and its control characters do not reach a log.
    let agent = broken(|hello| hello.agent = format!("a\n\x1b[31m{}", "ü".repeat(60)))
        .unwrap()
        .agent;
    assert!(agent.starts_with("a  [31mü") && agent.len() <= MAX_AGENT);
}

#[test]
fn an_end_is_understood_however_it_is_said() {
    for (payload, reason, next) in [
        (&[][..], EndReason::Unreadable, 0),
        (&[0][..], EndReason::Done, 0),
        (&[2, 1, 2][..], EndReason::NoSuchBlock, 0),
        (&[2, 1, 0, 0, 0][..], EndReason::NoSuchBlock, 1),
        (&[200, 1, 0, 0, 0, 0xff, 0xfe, 7][..], EndReason::Unknown(200), 1),
    ] {
        let end = RangeEnd::decode(payload);
        assert_eq!((end.reason, end.next), (reason, next), "{payload:?}");
    }
    assert_eq!(Goodbye::decode(&[]).reason, GoodbyeReason::Unreadable);
    assert_eq!(Goodbye::decode(&[99, 1]).reason, GoodbyeReason::Unknown(99));
}

#[test]
fn lengths_are_checked_before_anything_is_allocated() {
    for kind in ALL {
        let mut bytes = vec![*kind as u8];
        bytes.extend((u32::try_from(kind.max_payload()).unwrap() + 1).to_le_bytes());
        assert!(
            matches!(read(&bytes), Err(FrameError::Wire(WireError::TooLong { .. }))),
            "{kind:?}"
        );
        bytes.truncate(1);
        bytes.extend(u32::MAX.to_le_bytes());
        assert!(matches!(
            read(&bytes),
            Err(FrameError::Wire(WireError::TooLong { .. }))
        ));
    }
    assert!(matches!(
        read(&[0x7f, 0, 0, 0, 0]),
        Err(FrameError::Wire(WireError::UnexpectedKind { found: 0x7f, .. }))
    ));
    assert!(matches!(read(&[]), Err(FrameError::Closed)));
    assert!(matches!(
        read(&[1, 0, 0]),
        Err(FrameError::Truncated {
            expected: 5,
            found: 3
        })
    ));
    assert!(matches!(
        read(&[1, 9, 0, 0, 0, 1]),
        Err(FrameError::Truncated {
            expected: 9,
            found: 1
        })
    ));
}

#[test]
fn requests_outside_the_limits_are_errors() {
    let check = |first, count, max_bytes| {
        RangeRequest {
            first,
            count,
            max_bytes,
        }
        .check()
        .is_ok()
    };
    assert!(check(1, 1, 1));
    assert!(check(1, MAX_COUNT, u32::MAX));
    assert!(!check(0, 1, 1));
    assert!(!check(1, 0, 1));
    assert!(!check(1, MAX_COUNT + 1, 1));
    assert!(!check(1, 1, 0));
    assert!(!check(u32::MAX, 2, 1));
    let check = |first, count| HeadersRequest { first, count }.check().is_ok();
    assert!(check(1, MAX_HEADERS) && check(u32::MAX - 1, 1));
    assert!(!check(0, 1) && !check(1, 0) && !check(1, MAX_HEADERS + 1) && !check(u32::MAX, 2));
}

#[test]
fn headers_are_counted_and_nothing_else_passes() {
    let bytes = headers(7, 5);
    assert_eq!(count_headers(&bytes, 7, 5), Ok(5));
    assert_eq!(count_headers(&bytes, 7, 9), Ok(5));
    assert_eq!(
        count_headers(&bytes, 7, 4),
        Err(HeadersError::TooMany { count: 4 })
    );
    assert_eq!(
        count_headers(&bytes, 8, 5),
        Err(HeadersError::Number {
            expected: 8,
            found: 7
        })
    );
    let swapped = [headers(7, 1), headers(9, 1)].concat();
    assert_eq!(
        count_headers(&swapped, 7, 5),
        Err(HeadersError::Number {
            expected: 8,
            found: 9
        })
    );
    for cut in [1, 20, 100, bytes.len() - 1] {
        let error = count_headers(&bytes[..cut], 7, 5).unwrap_err();
        assert!(matches!(error, HeadersError::NotAHeader { .. }), "{error}");
    }
}

#[test]
fn longest_headers_pass_and_one_byte_more_does_not() {
    let payload = vec![1; HEADERS_HEADER + MAX_HEADERS_BYTES];
    assert_eq!(
        WireHeaders::decode(payload).unwrap().bytes.len(),
        MAX_HEADERS_BYTES
    );
    for length in [HEADERS_HEADER, HEADERS_HEADER - 1, 0] {
        assert!(matches!(
            WireHeaders::decode(vec![1; length]),
            Err(WireError::TooShort { .. })
        ));
    }
    assert!(matches!(
        WireHeaders::decode(vec![1; HEADERS_HEADER + MAX_HEADERS_BYTES + 1]),
        Err(WireError::TooLong { .. })
    ));
}

#[test]
fn longest_block_passes_and_one_byte_more_does_not() {
    let mut block = WireBlock {
        number: 1,
        attributes: 0,
        bytes: vec![5; MAX_STORED_BLOCK],
    };
    let mut bytes = Vec::new();
    block.encode(&mut bytes);
    assert_eq!(read_as_block(&bytes).unwrap(), block);
    block.bytes.push(5);
    bytes.clear();
    block.encode(&mut bytes);
    assert!(matches!(
        read_as_block(&bytes),
        Err(FrameError::Wire(WireError::TooLong { .. }))
    ));
    for length in [BLOCK_HEADER, BLOCK_HEADER - 1, 0] {
        assert!(matches!(
            read_as_block(&block_message(&vec![0; length])),
            Err(FrameError::Wire(WireError::TooShort { .. }))
        ));
    }
}
