//! hived's config.ini as lines of `key = value`.
//!
//! hived reads the file with boost's program_options; the rules are the same here:
//! - everything from `#` to the end of the line is a comment, inside quotation marks too;
//! - blanks around the key and around the value are dropped; the value may contain blanks and further `=`;
//! - empty lines count for nothing;
//! - a key may come again.
//!
//! Where boost is stricter or quieter, an operator is told: a line without `=` is a bare key (a switch turned
//! on; boost refuses the whole file), `[section]` is skipped with a warning (boost would prefix the
//! keys below it, and no option has a prefix), a line that is not UTF-8 is a fault with its number.

/// Largest file that is read, in bytes. A million checkpoints fit; a block log given by mistake does not.
pub const MAX_FILE_SIZE: u64 = 64 << 20;

/// One `key = value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Line number, from 1.
    pub line: u32,
    /// The key, not empty.
    pub key: String,
    /// The value, possibly empty; `None` for a bare key.
    pub value: Option<String>,
}

/// A line that is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineNote {
    /// `[name]`: sections have no meaning.
    Section {
        /// Line number, from 1.
        line: u32,
        /// Text between the brackets.
        name: String,
    },
    /// Nothing before the `=`.
    NoKey {
        /// Line number, from 1.
        line: u32,
    },
    /// The key contains blanks or control characters.
    BadKey {
        /// Line number, from 1.
        line: u32,
        /// What stands where a key should.
        key: String,
    },
    /// Not UTF-8 outside the comment.
    NotText {
        /// Line number, from 1.
        line: u32,
    },
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedFile {
    /// The entries in the order of the file.
    pub entries: Vec<Entry>,
    /// Everything else that is not empty.
    pub notes: Vec<LineNote>,
}

/// Splits a file into entries. Never fails: what is wrong is in the notes.
pub fn parse(bytes: &[u8]) -> ParsedFile {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut parsed = ParsedFile::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        parse_line(number, line, &mut parsed);
    }
    parsed
}

fn parse_line(line: u32, bytes: &[u8], parsed: &mut ParsedFile) {
    let end = bytes.iter().position(|byte| *byte == b'#').unwrap_or(bytes.len());
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else {
        parsed.notes.push(LineNote::NotText { line });
        return;
    };
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key.trim_end(), Some(value.trim_start().to_owned())),
        None => {
            if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                parsed.notes.push(LineNote::Section {
                    line,
                    name: name.to_owned(),
                });
                return;
            }
            (text, None)
        }
    };
    if key.is_empty() {
        parsed.notes.push(LineNote::NoKey { line });
    } else if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        parsed.notes.push(LineNote::BadKey {
            line,
            key: key.to_owned(),
        });
    } else {
        parsed.entries.push(Entry {
            line,
            key: key.to_owned(),
            value,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(line: u32, key: &str, value: Option<&str>) -> Entry {
        Entry {
            line,
            key: key.to_owned(),
            value: value.map(str::to_owned),
        }
    }

    #[test]
    fn reads_the_syntax_line_by_line() {
        let cases: &[(&str, Option<Entry>, Option<LineNote>)] = &[
            ("a = b", Some(entry(1, "a", Some("b"))), None),
            ("a=b", Some(entry(1, "a", Some("b"))), None),
            ("  a \t=\t b c  \r", Some(entry(1, "a", Some("b c"))), None),
            ("a = b = c", Some(entry(1, "a", Some("b = c"))), None),
            ("a =", Some(entry(1, "a", Some(""))), None),
            ("a = # b", Some(entry(1, "a", Some(""))), None),
            ("a = b # c", Some(entry(1, "a", Some("b"))), None),
            ("a = \"b#c\"", Some(entry(1, "a", Some("\"b"))), None),
            (
                "a = [1,00000001]",
                Some(entry(1, "a", Some("[1,00000001]"))),
                None,
            ),
            (
                "replay-blockchain",
                Some(entry(1, "replay-blockchain", None)),
                None,
            ),
            ("\u{feff}a = b", Some(entry(1, "a", Some("b"))), None),
            ("# a = b", None, None),
            ("   ", None, None),
            ("", None, None),
            (
                "[log]",
                None,
                Some(LineNote::Section {
                    line: 1,
                    name: "log".into(),
                }),
            ),
            ("= b", None, Some(LineNote::NoKey { line: 1 })),
            (
                "a b = c",
                None,
                Some(LineNote::BadKey {
                    line: 1,
                    key: "a b".into(),
                }),
            ),
            (
                "a b",
                None,
                Some(LineNote::BadKey {
                    line: 1,
                    key: "a b".into(),
                }),
            ),
        ];
        for (text, entry, note) in cases {
            let expected = ParsedFile {
                entries: entry.clone().into_iter().collect(),
                notes: note.clone().into_iter().collect(),
            };
            assert_eq!(parse(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn counts_lines_and_keeps_repeats_in_order() {
        let parsed = parse(b"# head\n\nx = 1\r\ny\n\xff = 1\nx = 2 # \xff");
        assert_eq!(
            parsed.entries,
            [
                entry(3, "x", Some("1")),
                entry(4, "y", None),
                entry(6, "x", Some("2"))
            ]
        );
        assert_eq!(parsed.notes, [LineNote::NotText { line: 5 }]);
    }

    proptest! {
        #[test]
        fn takes_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let parsed = parse(&bytes);
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            prop_assert!(parsed.entries.len() + parsed.notes.len() <= lines);
            for entry in parsed.entries {
                prop_assert!(!entry.key.is_empty() && (entry.line as usize) <= lines);
            }
        }

        #[test]
        fn gives_back_what_was_written(
            entries in proptest::collection::vec(("[a-z][a-z0-9-]{0,20}", "([!-\"$-~]([ -\"$-~]{0,20}[!-\"$-~])?)?"), 0..20)
        ) {
            let text: String = entries.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
            let found: Vec<_> = parse(text.as_bytes()).entries;
            let expected: Vec<_> = (1..).zip(&entries).map(|(line, (key, value))| entry(line, key, Some(value))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
