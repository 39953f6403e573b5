//! JSON as hived judges it.

use proptest::prelude::*;

use crate::validate::json::strict::{Strict, parse};
use crate::validate::json::{Undecided, Verdict, lax, verdict};

fn of(text: &str) -> Verdict {
    verdict(text.as_bytes())
}

#[test]
fn plain_json_is_valid() {
    let texts = [
        "{}",
        "[]",
        "0",
        "-1",
        "1.5e-7",
        "\"\"",
        "true",
        "false",
        " { \"a\" : [ 1 , { } ] } \n",
        "\"\\u00e4\\n\"",
        "\"\\ud83d\\ude00\"",
        "18446744073709551615",
        "-9223372036854775808",
        "{\"a\":1,\"a\":2}",
        "\"\u{e4}\u{1f600}\"",
    ];
    for text in texts {
        assert_eq!(parse(text), Strict::Json, "{text}");
        assert_eq!(of(text), Verdict::Valid, "{text}");
    }
}

#[test]
fn null_is_for_the_lax_parser() {
    for text in [
        "null",
        "[null]",
        "{\"a\":null,\"b\":[1,-2,3.5,\"x\",true]}",
        "[nul]",
    ] {
        assert_ne!(parse(text), Strict::Json, "{text}");
        assert_eq!(of(text), Verdict::Valid, "{text}");
    }
    // JSON, but not to either parser: white space behind the value, an exponent with a plus sign.
    for text in ["[null] ", "{\"a\":null}\n", "[null,1e+5]", "[null,1.5E+3]"] {
        assert_eq!(parse(text), Strict::WithNull, "{text}");
        assert_eq!(of(text), Verdict::Invalid, "{text}");
    }
}

#[test]
fn the_lax_parser_takes_more_than_json() {
    let texts = [
        "[1 2]",
        "[,1,,2,]",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "{\"a\":1,}",
        "\"line\nfeed\"",
        "\"\\q\"",
        "01",
        "1.",
        ".5",
        "-.5",
        "nothing",
        "truthful ",
        "t\\\\",
        "[now]",
        "12ab",
        "1e400",
        "-x",
        "n-_.:/9",
        "{\"a\":no,\"b\":fun}",
        "\"\\udc00x\"",
        "\"tab\there\"",
        "fals",
    ];
    for text in texts {
        assert_ne!(parse(text), Strict::Json, "{text}");
        assert!(lax::accepts(text), "{text}");
        assert_eq!(of(text), Verdict::Valid, "{text}");
    }
}

#[test]
fn what_neither_takes_is_invalid() {
    let texts = [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\" 1}",
        "\"open",
        "\"\\",
        "-",
        ".",
        "-.",
        "1.2.3",
        "abc",
        "'a'",
        "[1}",
        "{\"a\":1]",
        "+1",
        "\"\u{4}\"",
        "// x",
        "{1:2}",
        "\u{feff}{}",
        "[1] x",
        "1 2",
        "true x",
        "{} \"",
        "\0",
        "[null] [",
    ];
    for text in texts {
        assert!(!lax::accepts(text), "{text:?}");
        let undecided = matches!(of(text), Verdict::Undecided(Undecided::TrailingContent));
        assert!(
            of(text) == Verdict::Invalid || undecided,
            "{text:?}: {:?}",
            of(text)
        );
    }
    for bytes in [
        &b"\"\xff\""[..],
        b"\xc0\x80",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
    ] {
        assert_eq!(verdict(bytes), Verdict::Invalid, "{bytes:?}");
    }
}

#[test]
fn corner_cases_of_the_fast_parser_are_undecided() {
    let cases = [
        ("{} {}", Undecided::TrailingContent),
        ("[1]]", Undecided::TrailingContent),
        ("{\"a\":1} \"b\"", Undecided::TrailingContent),
        ("\"a\" 1", Undecided::TrailingContent),
        ("99999999999999999999 ", Undecided::BigInteger),
        ("{\"a\":18446744073709551616}", Undecided::BigInteger),
        ("[-9223372036854775809]", Undecided::BigInteger),
    ];
    for (text, reason) in cases {
        assert_eq!(of(text), Verdict::Undecided(reason), "{text}");
    }
    // The fast parser goes over all of the text for strings.
    for text in ["{} \"", "{} \"\n\"", "1 2 3x\"", "12]"] {
        assert_ne!(of(text), Verdict::Valid, "{text}");
    }
    assert_eq!(of("{} \""), Verdict::Invalid);
    assert_eq!(of("12]"), Verdict::Invalid);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize, inner: &str| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    // Two for each container: the value and the container.
    assert!(lax::accepts(&nested(100, "")));
    assert!(!lax::accepts(&nested(101, "")));
    assert!(lax::accepts(&nested(99, "1")));
    assert!(!lax::accepts(&nested(100, "1")));
    assert_eq!(of(&nested(1_000, "1")), Verdict::Valid);
    assert_eq!(of(&nested(1_002, "1")), Verdict::Undecided(Undecided::Deep));
    // A block full of brackets costs no stack.
    assert_eq!(of(&"[".repeat(2_000_000)), Verdict::Invalid);
    assert_eq!(of(&nested(1_000_000, "")), Verdict::Undecided(Undecided::Deep));
}

/// Random text of the characters that matter.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "null", "true", "1", "-", ".", "e", "+",
            "\"a\"", "\"a\":", "\\u00e4", "\\ud800", "\u{e4}", "0", "t", "n", "\0", "\u{4}",
        ])
        .prop_map(str::to_owned),
        "[ -~]",
    ];
    prop::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Another JSON parser is the twin of the strict one. They may differ about numbers that do not fit, depth, and halves
    /// of surrogate pairs.
    #[test]
    fn strict_agrees_with_another_parser(text in scraps()) {
        let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let found = match parse(&text) {
            Strict::Json | Strict::WithNull | Strict::Undecided(Undecided::BigInteger) => true,
            Strict::Undecided(Undecided::LoneSurrogate) => is_json,
            Strict::Undecided(Undecided::TrailingContent | Undecided::Deep) | Strict::No => false,
        };
        prop_assert_eq!(found, is_json, "{:?}", text);
    }

    /// What is JSON to everybody is never refused, save for what the lax parser does to texts with `null`.
    #[test]
    fn json_without_null_is_never_invalid(text in scraps()) {
        if serde_json::from_str::<serde_json::Value>(&text).is_ok() && !text.contains("null") {
            prop_assert_ne!(of(&text), Verdict::Invalid, "{:?}", text);
        }
    }

    #[test]
    fn any_bytes_have_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = verdict(&bytes);
    }
}
