//! Whether a text is JSON, as hived judges it.
//!
//! hived asks a fast and fairly strict parser first. If that says no, and the text is UTF-8, an older, lax parser gets a
//! second chance, since history holds text that only it takes. So a text is good if either takes it:
//!
//! * the *strict* one ([`mod@strict`]) takes JSON as RFC 8259 has it, with one surprise: any `null` in it is an error, so
//!   that every text with a `null` is for the lax one to decide;
//! * the *lax* one ([`mod@lax`]) takes words without quotes, missing or repeated commas, control characters in strings,
//!   and more; but white space behind the value, or an exponent with a plus sign, is an error to it.
//!
//! hived's fast parser is a library whose corner cases differ between versions. Where they matter the verdict is
//! [`Verdict::Undecided`], and `check` accepts the text: a block that hived took must not be refused here.

pub mod lax;
pub mod strict;

use super::ValidityError;
use strict::Strict;

/// What is known of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// hived accepts it.
    Valid,
    /// hived refuses it.
    Invalid,
    /// It depends on the version of a library in hived.
    Undecided(Undecided),
}

/// Why nothing certain is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Something stands behind the JSON value; some versions stop looking there.
    TrailingContent,
    /// An integer that does not fit 64 bits; some versions take it for a floating-point number.
    BigInteger,
    /// Half of a surrogate pair, written as `\u`.
    LoneSurrogate,
    /// Nested deeper than 1000 levels.
    Deep,
}

/// Judges a text.
#[must_use]
pub fn verdict(text: &[u8]) -> Verdict {
    let Ok(utf8) = std::str::from_utf8(text) else {
        return Verdict::Invalid;
    };
    let strict = strict::parse(utf8);
    if strict == Strict::Json {
        return Verdict::Valid;
    }
    if lax::accepts(utf8) {
        return Verdict::Valid;
    }
    match strict {
        Strict::Undecided(reason) => Verdict::Undecided(reason),
        Strict::Json | Strict::WithNull | Strict::No => Verdict::Invalid,
    }
}

/// Refuses what hived certainly refuses. An empty text is no JSON.
pub(super) fn check(field: &'static str, text: &[u8]) -> Result<(), ValidityError> {
    if verdict(text) != Verdict::Invalid {
        return Ok(());
    }
    super::fields::utf8(field, text)?;
    Err(ValidityError::NotJson { field })
}
