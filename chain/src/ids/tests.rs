//! Hashes as text.

use super::*;

const TEXT: &str = "0000000109833ce528d5bbfb3f6225b39ee10086";

#[test]
fn the_id_of_block_1() {
    let id: BlockId = TEXT.parse().unwrap();
    assert_eq!(id.to_string(), TEXT);
    assert_eq!(id.number(), 1);
    assert_eq!(id.reference_prefix(), 0xe53c_8309);
    assert_eq!(TEXT.to_uppercase().parse(), Ok(id));
    assert_eq!(BlockId::ZERO.number(), 0);
}

#[test]
fn what_is_no_hash_is_refused() {
    let parse = |text: &str| text.parse::<BlockId>().unwrap_err();
    assert_eq!(
        parse(""),
        ParseHexError::Length {
            expected: 40,
            found: 0
        }
    );
    assert_eq!(
        parse(&TEXT[1..]),
        ParseHexError::Length {
            expected: 40,
            found: 39
        }
    );
    assert_eq!(
        parse(&format!("{TEXT}00")),
        ParseHexError::Length {
            expected: 40,
            found: 42
        }
    );
    assert_eq!(
        parse(&TEXT.replace("28", "2x")),
        ParseHexError::Digit {
            found: 'x',
            position: 17
        }
    );
    let accented = TEXT.replace("28", "\u{e9}");
    assert_eq!(
        parse(&accented),
        ParseHexError::Digit {
            found: '\u{e9}',
            position: 16
        }
    );
}
