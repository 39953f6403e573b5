//! One checkpoint value as text: `[NUMBER,ID]`.
//!
//! hived reads the value with a lax JSON reader; the spellings below are the ones that it accepts and
//! that people paste: the number and the id may each be quoted or not, blanks may stand around every
//! part, hex digits may be upper case. Where hived fills in or drops what does not fit (a short id is
//! padded with zeros, a long one cut, a third element ignored) this reader refuses instead: a checkpoint
//! is a reason for trust, and a cut one is a typing error.
//!
//! ```text
//! [1000000,"000f4240e8f91385f7bff8f5aeebddc9b14e4281"]
//! [1000000,000f4240e8f91385f7bff8f5aeebddc9b14e4281]
//! ["1000000","000f4240e8f91385f7bff8f5aeebddc9b14e4281"]
//! ```

use cairn_chain::BlockId;
use thiserror::Error;

/// Digits of a block id in hex.
const ID_DIGITS: usize = 40;

/// Why a text is not a checkpoint. The texts name what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointSyntax {
    /// The value is not enclosed in brackets.
    #[error("expected [NUMBER,ID], found no opening and closing bracket")]
    Brackets,
    /// There are not exactly two elements.
    #[error("expected two elements, a block number and a block id, found {0}")]
    Elements(usize),
    /// An element is empty: a leading, doubled or trailing comma.
    #[error("element {0} is empty: a comma too many?")]
    EmptyElement(usize),
    /// A quotation mark without its partner.
    #[error("element {0} has a quotation mark without its partner")]
    Quotes(usize),
    /// The number is not a decimal number below 2^32.
    #[error("block number {0:?} is not a decimal number from 1 to 4294967295")]
    Number(String),
    /// Block 0 does not exist.
    #[error("block number 0 does not exist; the first block is 1")]
    Zero,
    /// The id does not have 40 hex digits.
    #[error("block id {id:?} has {found} characters, expected {ID_DIGITS}")]
    IdLength {
        /// The id as it was written.
        id: String,
        /// How many characters it has.
        found: usize,
    },
    /// The id has a character that is not a hex digit.
    #[error("block id {id:?} has {character:?} at position {position}, which is not a hex digit")]
    IdDigit {
        /// The id as it was written.
        id: String,
        /// The offending character.
        character: char,
        /// Its position, counted from 1.
        position: usize,
    },
    /// The number and the number inside the id differ. hived's own sentence.
    #[error(
        "Invalid checkpoint specification, block number ({number}) does not match number embedded in block id ({embedded})"
    )]
    Embedded {
        /// The number as it was written.
        number: u32,
        /// The number in the id's first four bytes.
        embedded: u32,
    },
}

/// Reads one checkpoint; the number is checked against the one embedded in the id.
///
/// # Errors
/// [`CheckpointSyntax`] for everything that is not exactly one pair.
pub fn parse(text: &str) -> Result<(u32, BlockId), CheckpointSyntax> {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(CheckpointSyntax::Brackets)?;
    let elements: Vec<&str> = inner.split(',').map(str::trim).collect();
    if let Some(empty) = elements.iter().position(|element| element.is_empty()) {
        return Err(CheckpointSyntax::EmptyElement(empty + 1));
    }
    let [number, id] = elements[..] else {
        return Err(CheckpointSyntax::Elements(elements.len()));
    };
    let number = parse_number(unquote(number, 1)?)?;
    let id = parse_id(unquote(id, 2)?)?;
    if id.number() != number {
        return Err(CheckpointSyntax::Embedded {
            number,
            embedded: id.number(),
        });
    }
    Ok((number, id))
}

fn unquote(element: &str, position: usize) -> Result<&str, CheckpointSyntax> {
    match (element.strip_prefix('"'), element.ends_with('"')) {
        (None, false) => Ok(element),
        (Some(rest), true) if !rest.is_empty() => Ok(rest[..rest.len() - 1].trim()),
        _ => Err(CheckpointSyntax::Quotes(position)),
    }
}

fn parse_number(text: &str) -> Result<u32, CheckpointSyntax> {
    let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(0) => Err(CheckpointSyntax::Zero),
        Ok(number) if digits_only => Ok(number),
        _ => Err(CheckpointSyntax::Number(text.to_owned())),
    }
}

fn parse_id(text: &str) -> Result<BlockId, CheckpointSyntax> {
    let wrong_digit = text
        .chars()
        .enumerate()
        .find(|(_, character)| !character.is_ascii_hexdigit());
    if let Some((index, character)) = wrong_digit {
        return Err(CheckpointSyntax::IdDigit {
            id: text.to_owned(),
            character,
            position: index + 1,
        });
    }
    let mut bytes = [0u8; ID_DIGITS / 2];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| CheckpointSyntax::IdLength {
        id: text.to_owned(),
        found: text.len(),
    })?;
    Ok(BlockId(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "000f4240e8f91385f7bff8f5aeebddc9b14e4281";

    #[test]
    fn accepts_every_spelling_that_hived_accepts() {
        for text in [
            format!("[1000000,{ID}]"),
            format!("[1000000,\"{ID}\"]"),
            format!("[\"1000000\",\"{ID}\"]"),
            format!("  [ 1000000 , {ID} ]  "),
            format!("[1000000,{}]", ID.to_uppercase()),
        ] {
            let (number, id) = parse(&text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
            assert_eq!((number, id.to_string().as_str()), (1_000_000, ID), "{text}");
        }
    }

    #[test]
    fn refuses_each_fault_by_its_name() {
        use CheckpointSyntax::*;
        let long = format!("{ID}00");
        for (text, expected) in [
            (String::new(), Brackets),
            (format!("1000000,{ID}"), Brackets),
            ("[1000000]".into(), Elements(1)),
            (format!("[1000000,{ID},1]"), Elements(3)),
            (format!("[,1000000,{ID}]"), EmptyElement(1)),
            (format!("[1000000,,{ID}]"), EmptyElement(2)),
            (format!("[1000000,{ID},]"), EmptyElement(3)),
            ("[]".into(), EmptyElement(1)),
            (format!("[1000000 {ID}]"), Elements(1)),
            (format!("[\"1000000,{ID}]"), Quotes(1)),
            (format!("[1000000,{ID}\"]"), Quotes(2)),
            ("[1000000,\"]".into(), Quotes(2)),
            (format!("[0,{ID}]"), Zero),
            (format!("[+5,{ID}]"), Number("+5".into())),
            (format!("[-5,{ID}]"), Number("-5".into())),
            (format!("[4294967296,{ID}]"), Number("4294967296".into())),
            (
                "[1000000,000f4240]".into(),
                IdLength {
                    id: "000f4240".into(),
                    found: 8,
                },
            ),
            (format!("[1000000,{long}]"), IdLength { id: long, found: 42 }),
            (
                "[1000000,000g]".into(),
                IdDigit {
                    id: "000g".into(),
                    character: 'g',
                    position: 4,
                },
            ),
        ] {
            assert_eq!(parse(&text), Err(expected), "{text}");
        }
    }

    #[test]
    fn names_both_numbers_when_the_id_belongs_to_another_block() {
        let fault = parse("[20000000,02625a000d8be8b1085b94d25e0c20daf1e9be56]").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "Invalid checkpoint specification, block number (20000000) does not match number embedded in block id (40000000)"
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn never_panics_near_the_grammar(text in "[\\[\\]\", 0-9a-f\u{e9}]{0,60}") {
            let _ = parse(&text);
        }
    }
}
