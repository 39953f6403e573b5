//! Edges of the packing.

use super::*;
use crate::asset::{AssetPacking, Symbols};
use crate::name::AccountName;
use crate::text::Text;

fn reader(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes, Symbols::Mainnet)
}

fn packed(value: &impl Pack) -> Vec<u8> {
    Packer::pack_one(value, AssetPacking::Legacy, Symbols::Mainnet)
}

#[test]
fn varints_are_read_as_hived_reads_them() {
    // Bytes, value, how many of them are read, whether it is the shortest form.
    let cases: [(&[u8], u32, usize, bool); 11] = [
        (&[0x00], 0, 1, true),
        (&[0x7f], 127, 1, true),
        (&[0x80, 0x01], 128, 2, true),
        (&[0xff, 0xff, 0xff, 0xff, 0x0f], u32::MAX, 5, true),
        (&[0x80, 0x80, 0x80, 0x80, 0x08], 1 << 31, 5, true),
        (&[0x80, 0x00], 0, 2, false),
        (&[0xff, 0x00], 127, 2, false),
        (&[0x80, 0x80, 0x80, 0x80, 0x00], 0, 5, false),
        // Bits above the 32nd are dropped.
        (&[0x80, 0x80, 0x80, 0x80, 0x10], 0, 5, false),
        (&[0xff, 0xff, 0xff, 0xff, 0x7f], u32::MAX, 5, false),
        // The fifth byte is the last one whatever it says.
        (&[0x81, 0x80, 0x80, 0x80, 0x80, 0x01], 1, 5, false),
    ];
    for (bytes, value, length, shortest) in cases {
        let mut reader = reader(bytes);
        assert_eq!(reader.varint().unwrap(), value, "{bytes:02x?}");
        assert_eq!(reader.position(), length, "{bytes:02x?}");
        assert_eq!(reader.take_exact(), shortest, "{bytes:02x?}");
        let mut packer = Packer::new(AssetPacking::Legacy, Symbols::Mainnet);
        packer.varint(value);
        assert_eq!(packer.bytes() == &bytes[..length], shortest, "{bytes:02x?}");
    }
    for bytes in [&[][..], &[0x80], &[0xff, 0xff, 0xff, 0xff]] {
        let error = reader(bytes).varint().unwrap_err();
        assert_eq!(error.offset, bytes.len());
    }
}

#[test]
fn booleans_are_zero_or_one() {
    assert_eq!(bool::unpack(&mut reader(&[0])), Ok(false));
    assert_eq!(bool::unpack(&mut reader(&[1])), Ok(true));
    let kind = UnpackErrorKind::InvalidBool { found: 2 };
    assert_eq!(
        bool::unpack(&mut reader(&[2])),
        Err(UnpackError { offset: 0, kind })
    );
    bool::unpack(&mut reader(&[])).unwrap_err();
    Option::<u8>::unpack(&mut reader(&[2, 7])).unwrap_err();
}

#[test]
fn integers_are_little_endian() {
    assert_eq!(packed(&0x0102_0304u32), [4, 3, 2, 1]);
    assert_eq!(packed(&-2i16), [0xfe, 0xff]);
    assert_eq!(i64::unpack(&mut reader(&[0xff; 8])), Ok(-1));
}

/// A count is compared with the bytes behind it before anything is reserved for it.
#[test]
fn a_count_without_its_elements_is_refused() {
    let bytes = [0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3];
    let kind = UnpackErrorKind::CountTooLarge {
        count: u32::MAX,
        element_size: 8,
        remaining: 3,
    };
    assert_eq!(
        Vec::<u64>::unpack(&mut reader(&bytes)),
        Err(UnpackError { offset: 0, kind })
    );
    // As many as fit by the least size, but fewer by what they say.
    let error = Vec::<Text<'_>>::unpack(&mut reader(&[3, 1, b'a', 5])).unwrap_err();
    assert_eq!(
        error,
        UnpackError {
            offset: 4,
            kind: UnpackErrorKind::UnexpectedEnd {
                needed: 5,
                remaining: 0
            }
        }
    );
}

/// A list longer than what is reserved for it up front still is read whole.
#[test]
fn a_long_list_is_read_whole() {
    let list: Vec<u64> = (0..50_000).collect();
    assert_eq!(Vec::<u64>::unpack(&mut reader(&packed(&list))), Ok(list));
}

#[test]
fn a_length_beyond_the_end_is_refused() {
    let error = Text::unpack(&mut reader(&[0xff, 0xff, 0xff, 0xff, 0x0f, b'a'])).unwrap_err();
    let kind = UnpackErrorKind::UnexpectedEnd {
        needed: u32::MAX as usize,
        remaining: 1,
    };
    assert_eq!(error, UnpackError { offset: 5, kind });
}

#[test]
fn what_is_left_over_is_told() {
    let mut reader = reader(&[1, 2, 3]);
    u8::unpack(&mut reader).unwrap();
    let error = reader.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "at byte 1: nothing more expected, 2 bytes left"
    );
}

/// hived keeps names in 16 bytes: longer ones are cut, and a zero byte ends them.
#[test]
fn long_names_are_cut_and_that_is_noted() {
    let cases: [(&[u8], &[u8], bool); 4] = [
        (b"", b"", true),
        (b"abcdefghijklmnop", b"abcdefghijklmnop", true),
        (b"abcdefghijklmnopq", b"abcdefghijklmnop", false),
        (b"ab\0cd", b"ab", false),
    ];
    for (written, kept, exact) in cases {
        let bytes = packed(&Text(written));
        let mut reader = reader(&bytes);
        let name = AccountName::unpack(&mut reader).unwrap();
        assert_eq!(name.as_bytes(), kept);
        assert_eq!(reader.remaining(), 0);
        assert_eq!(reader.take_exact(), exact);
    }
}
