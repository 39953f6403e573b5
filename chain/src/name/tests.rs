//! Names of accounts.

use super::*;

/// Names that hived's own unit tests call valid and invalid.
#[test]
fn well_formed_names() {
    let valid = [
        "abc",
        "aaa",
        "a-a",
        "a1a",
        "abc.def",
        "abcdefghijklmnop",
        "null",
        "temp",
        "miners",
        "steem.dao",
        "a--b",
    ];
    for name in valid {
        assert!(AccountName::from(name).is_valid(), "{name}");
    }
    let invalid = [
        "", "a", "ab", "1ab", "-ab", "ab-", "aB1", "a_b", "ab.", ".ab", "abc.", ".abc", "abc.de", "ab.cde",
        "abc..def", "a.b", "abc.1de", "abc.d-", "\u{e9}bc", "abc def",
    ];
    for name in invalid {
        assert!(!AccountName::from(name).is_valid(), "{name}");
    }
}

/// As 16 bytes with zeros behind, which puts a name before those that go on behind it.
#[test]
fn order_is_by_bytes() {
    let mut names = ["b", "a-b", "ab", "a", "a.b", ""].map(AccountName::from);
    names.sort();
    assert_eq!(
        names.map(|name| name.to_string()),
        ["", "a", "a-b", "a.b", "ab", "b"]
    );
}

#[test]
fn long_text_is_cut_and_a_zero_ends_it() {
    assert_eq!(
        AccountName::from("abcdefghijklmnopq"),
        AccountName::from("abcdefghijklmnop")
    );
    assert_eq!(AccountName::new(b"ab\0cd"), AccountName::from("ab"));
    assert_eq!(AccountName::from("abc").as_bytes(), b"abc");
    assert_eq!(AccountName::from("abcdefghijklmnop").as_bytes().len(), 16);
    assert!(AccountName::EMPTY.is_empty() && !AccountName::from("a").is_empty());
    assert_eq!(
        format!("{:>5}|{:?}", AccountName::from("abc"), AccountName::from("abc")),
        "  abc|\"abc\""
    );
}
