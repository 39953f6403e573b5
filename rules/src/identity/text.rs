//! Lines of fields.

use std::fmt::Display;
use std::io::Write;

use cairn_chain::{Asset, Authority, Time};
use sha2::{Digest, Sha256};

/// A line that is being put together. It is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
    has_field: bool,
}

impl Line {
    /// Starts over.
    pub(super) fn clear(&mut self) -> &mut Self {
        self.bytes.clear();
        self.has_field = false;
        self
    }

    /// What is there.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn separate(&mut self) {
        if self.has_field {
            self.bytes.push(b'|');
        }
        self.has_field = true;
    }

    /// Adds a field of plain bytes.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.separate();
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn append(&mut self, value: impl Display) {
        // Writing into a vector does not fail.
        let _ = write!(self.bytes, "{value}");
    }

    /// Adds a field as it is displayed.
    pub(super) fn show(&mut self, value: impl Display) -> &mut Self {
        self.separate();
        self.append(value);
        self
    }

    /// Adds a time in seconds.
    pub(super) fn time(&mut self, time: Time) -> &mut Self {
        self.show(time.0)
    }

    /// Adds 1 or 0.
    pub(super) fn flag(&mut self, flag: bool) -> &mut Self {
        self.show(u8::from(flag))
    }

    /// Adds the SHA-256 of a text, or nothing if there is none.
    pub(super) fn digest(&mut self, text: Option<&[u8]>) -> &mut Self {
        match text {
            Some(text) if !text.is_empty() => self.show(hex::encode(Sha256::digest(text))),
            _ => self.raw(b""),
        }
    }

    /// Adds an authority; nothing if there is none.
    pub(super) fn authority(&mut self, authority: Option<&Authority>) -> &mut Self {
        self.separate();
        let Some(authority) = authority else { return self };
        self.append(authority.weight_threshold);
        self.bytes.push(b'/');
        for (index, (name, weight)) in authority.account_auths.iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            self.bytes.extend_from_slice(name.as_bytes());
            self.append(format_args!(":{weight}"));
        }
        self.bytes.push(b'/');
        for (index, (key, weight)) in authority.key_auths.iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            self.append(format_args!("{key}:{weight}"));
        }
        self
    }

    /// Adds a price; nothing if there is none.
    pub(super) fn price(&mut self, price: Option<(Asset, Asset)>) -> &mut Self {
        self.separate();
        if let Some((base, quote)) = price {
            let (base_nai, quote_nai) = (base.symbol.nai(), quote.symbol.nai());
            self.append(format_args!(
                "{} @@{base_nai:09}/{} @@{quote_nai:09}",
                base.amount, quote.amount
            ));
        }
        self
    }
}
