//! JSON as RFC 8259 has it, with a remark on what hived's fast parser makes of it.
//!
//! One pass, with a stack of open brackets instead of recursion, so that nesting costs memory of the text's size at most.

use super::Undecided;

/// Levels of nesting beyond which it is unknown what hived's parser does.
const DEEP: usize = 1_000;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strict {
    /// JSON that the fast parser takes.
    Json,
    /// JSON, but with a `null` in it, which the fast parser refuses.
    WithNull,
    /// JSON or the beginning of it, in a form whose fate is unknown.
    Undecided(Undecided),
    /// Not JSON, or not as the fast parser takes it.
    No,
}

/// No JSON from here on.
struct Stop;

struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
    has_null: bool,
    doubt: Option<Undecided>,
}

/// Looks at a text.
#[must_use]
pub fn parse(text: &str) -> Strict {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        position: 0,
        has_null: false,
        doubt: None,
    };
    scanner.white_space();
    let is_scalar = !matches!(scanner.peek(), Some(b'{' | b'[' | b'"'));
    if scanner.value().is_err() {
        return Strict::No;
    }
    let end = scanner.position;
    scanner.white_space();
    let rest = &scanner.bytes[scanner.position..];
    if !rest.is_empty() {
        if scanner.has_null {
            return Strict::No;
        }
        // A word or number must end where it ends; of everything else only the value is looked at.
        let runs_on = is_scalar && end == scanner.position;
        if runs_on || !strings_end(rest) {
            return Strict::No;
        }
        return Strict::Undecided(Undecided::TrailingContent);
    }
    if scanner.has_null {
        return Strict::WithNull;
    }
    scanner.doubt.map_or(Strict::Json, Strict::Undecided)
}

/// Whether strings in what follows the value are closed and hold no control characters: the part of the fast parser
/// that goes over the whole text demands that.
fn strings_end(rest: &[u8]) -> bool {
    let (mut in_string, mut escaped) = (false, false);
    for byte in rest {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            0..0x20 if in_string => return false,
            _ => {}
        }
    }
    !in_string
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn next(&mut self) -> Result<u8, Stop> {
        let byte = self.peek().ok_or(Stop)?;
        self.position += 1;
        Ok(byte)
    }

    fn white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    /// One value, whatever is in it.
    fn value(&mut self) -> Result<(), Stop> {
        let mut open = Vec::new();
        loop {
            self.white_space();
            match self.next()? {
                b'{' => {
                    self.white_space();
                    if self.peek() == Some(b'}') {
                        self.position += 1;
                    } else {
                        self.key()?;
                        open.push(b'}');
                        continue;
                    }
                }
                b'[' => {
                    self.white_space();
                    if self.peek() == Some(b']') {
                        self.position += 1;
                    } else {
                        open.push(b']');
                        continue;
                    }
                }
                b'"' => self.string()?,
                first @ (b'-' | b'0'..=b'9') => self.number(first)?,
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => {
                    self.word(b"ull")?;
                    self.has_null = true;
                }
                _ => return Err(Stop),
            }
            if open.len() > DEEP {
                self.doubt.get_or_insert(Undecided::Deep);
            }
            // A value is complete; close what ends with it.
            loop {
                let Some(closing) = open.last().copied() else {
                    return Ok(());
                };
                self.white_space();
                match self.next()? {
                    b',' => {
                        if closing == b'}' {
                            self.white_space();
                            self.key()?;
                        }
                        break;
                    }
                    byte if byte == closing => {
                        open.pop();
                    }
                    _ => return Err(Stop),
                }
            }
        }
    }

    fn word(&mut self, rest: &[u8]) -> Result<(), Stop> {
        for expected in rest {
            if self.next()? != *expected {
                return Err(Stop);
            }
        }
        Ok(())
    }

    fn key(&mut self) -> Result<(), Stop> {
        if self.next()? != b'"' {
            return Err(Stop);
        }
        self.string()?;
        self.white_space();
        if self.next()? == b':' { Ok(()) } else { Err(Stop) }
    }

    /// A string from behind its opening quote.
    fn string(&mut self) -> Result<(), Stop> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => self.unicode()?,
                    _ => return Err(Stop),
                },
                0..0x20 => return Err(Stop),
                _ => {}
            }
        }
    }

    /// Four digits, and the second half if they are the first half of a surrogate pair.
    fn unicode(&mut self) -> Result<(), Stop> {
        match self.hexadecimal()? {
            0xd800..0xdc00 => {
                let is_pair = self.next()? == b'\\' && self.next()? == b'u';
                if is_pair && (0xdc00..0xe000).contains(&self.hexadecimal()?) {
                    Ok(())
                } else {
                    Err(Stop)
                }
            }
            0xdc00..0xe000 => {
                self.doubt.get_or_insert(Undecided::LoneSurrogate);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn hexadecimal(&mut self) -> Result<u32, Stop> {
        let mut number = 0;
        for _ in 0..4 {
            let digit = char::from(self.next()?).to_digit(16).ok_or(Stop)?;
            number = number << 4 | digit;
        }
        Ok(number)
    }

    fn digits(&mut self) -> usize {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        self.position - start
    }

    /// A number from behind its first byte.
    fn number(&mut self, first: u8) -> Result<(), Stop> {
        let start = self.position - 1;
        let leading = if first == b'-' { self.next()? } else { first };
        match leading {
            b'0' => {
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(Stop);
                }
            }
            b'1'..=b'9' => {
                self.digits();
            }
            _ => return Err(Stop),
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            self.position += 1;
            is_integer = false;
            if self.digits() == 0 {
                return Err(Stop);
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            is_integer = false;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            if self.digits() == 0 {
                return Err(Stop);
            }
        }
        let text = std::str::from_utf8(&self.bytes[start..self.position]).map_err(|_| Stop)?;
        if is_integer {
            if text.parse::<i64>().is_err() && text.parse::<u64>().is_err() {
                self.doubt.get_or_insert(Undecided::BigInteger);
            }
        } else if !text.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(Stop);
        }
        Ok(())
    }
}
