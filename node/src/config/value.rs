//! Reading single values as boost reads them for hived.

use super::option::Kind;

/// A switch: `1`, `yes`, `on`, `true` or nothing, and their opposites, in any letter case.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "" | "1" | "on" | "yes" | "true" => Some(true),
        "0" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// A decimal number within a range.
pub fn parse_number(text: &str, min: i64, max: i64) -> Option<i64> {
    text.parse().ok().filter(|number| (min..=max).contains(number))
}

/// Drops one pair of quotation marks around a text.
pub fn unquote(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(text)
}

/// "expected ..." for messages.
pub fn expectation(kind: Kind) -> String {
    match kind {
        Kind::Bool => "1 or 0 (yes/no, on/off, true/false)".to_owned(),
        Kind::Number {
            min: i64::MIN,
            max: i64::MAX,
        } => "a whole number".to_owned(),
        Kind::Number { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Path => "a path".to_owned(),
        Kind::Text => "a text".to_owned(),
        Kind::Json => "JSON".to_owned(),
    }
}

/// Whether a value fits its kind; the value of a [`Kind::Json`] is looked at by its reader.
pub fn fits(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Bool => parse_bool(text).is_some(),
        Kind::Number { min, max } => parse_number(text, min, max).is_some(),
        Kind::Path | Kind::Text | Kind::Json => !text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_switches_as_boost_does() {
        for (text, expected) in [
            ("", Some(true)),
            ("1", Some(true)),
            ("Yes", Some(true)),
            ("ON", Some(true)),
            ("true", Some(true)),
            ("0", Some(false)),
            ("no", Some(false)),
            ("off", Some(false)),
            ("False", Some(false)),
            ("2", None),
            ("y", None),
        ] {
            assert_eq!(parse_bool(text), expected, "{text:?}");
        }
    }

    #[test]
    fn reads_numbers_within_their_range() {
        for (text, expected) in [("8", Some(8)), ("1", Some(1)), ("10", Some(10)), ("+2", Some(2))] {
            assert_eq!(parse_number(text, 1, 10), expected, "{text}");
        }
        for text in ["0", "11", "-1", "", "1.5", "0x5", "99999999999999999999", "1G"] {
            assert_eq!(parse_number(text, 1, 10), None, "{text}");
        }
    }

    #[test]
    fn drops_one_pair_of_quotation_marks() {
        for (text, expected) in [
            ("\"a b\"", "a b"),
            ("a", "a"),
            ("\"a", "\"a"),
            ("\"", "\""),
            ("\"\"", ""),
        ] {
            assert_eq!(unquote(text), expected);
        }
    }
}
