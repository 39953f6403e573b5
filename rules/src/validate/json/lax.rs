//! What hived's older JSON parser takes.
//!
//! It was never meant to judge, so its language is odd. It reads one value and demands that the text ends right there:
//!
//! * white space is space, tab, line feed, carriage return; between parts it may be missing or, behind the value, must be;
//! * a string runs from quote to quote; a backslash takes the next character, whatever that is; a byte 04 is an error;
//! * in objects and arrays commas may be missing, doubled, leading or trailing; keys are strings, behind them a colon;
//! * a number is an optional minus, digits, at most one point; an integer must fit 64 bits; letters behind the digits
//!   make the whole a word;
//! * a word begins with `n`, `t` or `f`; it goes on with letters, digits and `_-.:/`; one space, tab, line feed or zero
//!   byte behind it belongs to it, unless it is exactly `null`, `true` or `false`;
//! * depth counts values and containers, both at most 200 deep together.

/// Values and containers that may enclose each other.
const DEPTH: u32 = 200;

/// The text is not taken.
struct Refused;

struct Parser<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// Whether the lax parser takes the text, which must be UTF-8 for hived to ask it.
#[must_use]
pub fn accepts(text: &str) -> bool {
    let mut parser = Parser {
        bytes: text.as_bytes(),
        position: 0,
    };
    parser.value(0).is_ok() && parser.position == parser.bytes.len()
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Parser<'_> {
    /// The next byte; the end of the text is an error almost everywhere.
    fn peek(&self) -> Result<u8, Refused> {
        self.bytes.get(self.position).copied().ok_or(Refused)
    }

    /// Skips white space, behind which something must follow.
    fn white_space(&mut self) -> Result<(), Refused> {
        while is_white(self.peek()?) {
            self.position += 1;
        }
        Ok(())
    }

    fn value(&mut self, depth: u32) -> Result<(), Refused> {
        let depth = depth + 1;
        if depth > DEPTH {
            return Err(Refused);
        }
        self.white_space()?;
        match self.peek()? {
            b'"' => self.string(),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'-' | b'.' | b'0'..=b'9' => self.number(),
            b'n' | b't' | b'f' => self.word(),
            _ => Err(Refused),
        }
    }

    fn string(&mut self) -> Result<(), Refused> {
        if self.peek()? != b'"' {
            return Err(Refused);
        }
        self.position += 1;
        loop {
            let byte = self.peek()?;
            self.position += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => {
                    self.peek()?;
                    self.position += 1;
                }
                0x04 => return Err(Refused),
                _ => {}
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<(), Refused> {
        let depth = depth + 1;
        if depth > DEPTH {
            return Err(Refused);
        }
        self.position += 1;
        loop {
            self.white_space()?;
            match self.peek()? {
                b'}' => {
                    self.position += 1;
                    return Ok(());
                }
                b',' => self.position += 1,
                _ => {
                    self.string()?;
                    self.white_space()?;
                    if self.peek()? != b':' {
                        return Err(Refused);
                    }
                    self.position += 1;
                    self.value(depth)?;
                }
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<(), Refused> {
        let depth = depth + 1;
        if depth > DEPTH {
            return Err(Refused);
        }
        self.position += 1;
        loop {
            self.white_space()?;
            match self.peek()? {
                b']' => {
                    self.position += 1;
                    return Ok(());
                }
                b',' => self.position += 1,
                _ => self.value(depth)?,
            }
        }
    }

    fn number(&mut self) -> Result<(), Refused> {
        let start = self.position;
        let negative = self.peek()? == b'-';
        if negative {
            self.position += 1;
        }
        let mut point = false;
        while let Ok(byte) = self.peek() {
            match byte {
                b'.' if point => return Err(Refused),
                b'.' => point = true,
                b'0'..=b'9' => {}
                b'a'..=b'z' | b'A'..=b'Z' => {
                    self.rest_of_word();
                    return Ok(());
                }
                _ => break,
            }
            self.position += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.position]).map_err(|_| Refused)?;
        let is_number = match (point, negative) {
            // Without a digit this is no number to Rust either.
            (true, _) => text.parse::<f64>().is_ok_and(f64::is_finite),
            (false, true) => text.parse::<i64>().is_ok(),
            (false, false) => text.parse::<u64>().is_ok(),
        };
        if is_number { Ok(()) } else { Err(Refused) }
    }

    fn word(&mut self) -> Result<(), Refused> {
        let start = self.position;
        while matches!(
            self.peek(),
            Ok(b'n' | b'u' | b'l' | b't' | b'r' | b'e' | b'f' | b'a' | b's')
        ) {
            self.position += 1;
        }
        let is_known = matches!(&self.bytes[start..self.position], b"null" | b"true" | b"false");
        if !is_known && self.position < self.bytes.len() {
            self.rest_of_word();
        }
        Ok(())
    }

    /// The rest of a word, with the one white space that belongs to it. Never an error; the end of the text ends it, too.
    fn rest_of_word(&mut self) {
        while let Ok(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.position += 1;
                    if self.peek().is_err() {
                        return;
                    }
                    self.position += 1;
                }
                b'\t' | b' ' | 0 | b'\n' => {
                    self.position += 1;
                    return;
                }
                b'_' | b'-' | b'.' | b':' | b'/' => self.position += 1,
                byte if byte.is_ascii_alphanumeric() => self.position += 1,
                _ => return,
            }
        }
    }
}
