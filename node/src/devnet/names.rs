//! Names of the generated accounts, and the words that texts and permlinks are made of.
//!
//! A name is a pure function of the account's index, so threads that write transactions need no table of
//! names.

use cairn_chain::AccountName;

use super::rng::mix;

/// Index of the account that exists from genesis and creates the others.
pub(super) const INITMINER: u32 = 0;

/// Accounts 1 to 20 become witnesses, so that with initminer 21 of them fill a round.
pub(super) const WITNESSES: u32 = 20;

/// Index of the first account that is neither initminer nor a witness.
pub(super) const FIRST_USER: u32 = WITNESSES + 1;

const SYLLABLES: [&str; 32] = [
    "ba", "bel", "cor", "da", "dor", "el", "fa", "fin", "gar", "ho", "in", "ja", "ka", "kel", "lo", "lu",
    "ma", "mir", "na", "nor", "ol", "pa", "quin", "ra", "ro", "sa", "sol", "ta", "tor", "ur", "va", "zen",
];

const WORDS: [&str; 64] = [
    "about",
    "after",
    "again",
    "air",
    "also",
    "amber",
    "answer",
    "autumn",
    "before",
    "block",
    "bread",
    "bridge",
    "bright",
    "camera",
    "chain",
    "city",
    "clear",
    "coffee",
    "cold",
    "community",
    "corner",
    "day",
    "door",
    "early",
    "evening",
    "every",
    "field",
    "first",
    "game",
    "garden",
    "green",
    "harbor",
    "hello",
    "hill",
    "history",
    "island",
    "kitchen",
    "lake",
    "letter",
    "light",
    "market",
    "morning",
    "mountain",
    "music",
    "night",
    "north",
    "open",
    "paper",
    "people",
    "photo",
    "place",
    "quiet",
    "rain",
    "river",
    "road",
    "small",
    "story",
    "summer",
    "table",
    "travel",
    "under",
    "village",
    "water",
    "winter",
];

/// The text of the name of account `index`.
pub(super) fn account_text(index: u32) -> String {
    match index {
        INITMINER => "initminer".to_owned(),
        1..=WITNESSES => format!("{}.witness", syllables(index, 2)),
        _ => format!("{}{index}", syllables(index, 2)),
    }
}

/// The name of account `index`.
pub(super) fn account(index: u32) -> AccountName {
    AccountName::new(account_text(index).as_bytes())
}

/// `count` syllables (2 to 4 letters each) that look different for neighboring numbers.
fn syllables(number: u32, count: usize) -> String {
    let mut bits = mix(u64::from(number));
    let mut text = String::with_capacity(count * 4);
    for _ in 0..count {
        text.push_str(SYLLABLES[(bits % 32) as usize]);
        bits >>= 5;
    }
    text
}

/// `count` words that follow from `seed`, joined by `separator`.
pub(super) fn words(seed: u64, count: usize, separator: char) -> String {
    let mut text = String::with_capacity(count * 7);
    let mut bits = seed;
    for position in 0..count {
        if position.is_multiple_of(10) {
            bits = mix(seed ^ position as u64);
        }
        if position > 0 {
            text.push(separator);
        }
        text.push_str(WORDS[(bits % 64) as usize]);
        bits >>= 6;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{FIRST_USER, WITNESSES, account, account_text};

    #[test]
    fn names_are_valid_whole_and_unique() {
        let mut seen = HashSet::new();
        for index in (0..5000).chain([65_535, 1_000_000, 99_999_999]) {
            let text = account_text(index);
            let name = account(index);
            assert!(name.is_valid(), "{text}");
            assert_eq!(name.as_bytes(), text.as_bytes());
            assert!(seen.insert(text));
        }
        assert!(account_text(WITNESSES).ends_with(".witness"));
        assert!(!account_text(FIRST_USER).contains('.'));
    }
}
