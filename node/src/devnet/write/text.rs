//! Titles, bodies and JSON documents of the generated operations.

use super::super::names::{account_text, words};
use super::super::plan::Post;
use super::super::rng::{Rng, mix};

const APPLICATIONS: [&str; 4] = ["cairn/1.0", "writer/0.7", "reader/2.3", "pocket/1.1"];
const LANGUAGES: [&str; 5] = ["en", "de", "es", "ko", "pl"];

/// The permlink of a post: words that follow from its number, and the number itself, which makes it unique.
pub(super) fn permlink(post: Post) -> String {
    let seed = mix(u64::from(post.serial));
    if post.depth == 0 {
        format!("{}-{}", words(seed, 4, '-'), post.serial)
    } else {
        format!("re-{}-{}", words(seed, 2, '-'), post.serial)
    }
}

/// The category of a root post, which stands where a reply names its parent's permlink. The same in each
/// edit.
pub(super) fn category(post: Post) -> String {
    words(mix(u64::from(post.serial) ^ 0xca7e), 1, '-')
}

pub(super) fn title(rng: &mut Rng) -> String {
    let count = rng.between(3, 9) as usize;
    words(rng.next(), count, ' ')
}

/// The body of a root post: up to some hundred words. Most are short, some long.
pub(super) fn post_body(rng: &mut Rng) -> String {
    let paragraphs = 1 + rng.below(3) * rng.below(3);
    let mut body = String::new();
    for _ in 0..paragraphs {
        let count = rng.between(15, 60) as usize;
        body.push_str(&words(rng.next(), count, ' '));
        body.push_str(".\n\n");
    }
    body
}

pub(super) fn reply_body(rng: &mut Rng) -> String {
    let count = rng.between(3, 40) as usize;
    let mut body = words(rng.next(), count, ' ');
    body.push(if rng.percent(20) { '!' } else { '.' });
    body
}

pub(super) fn post_metadata(rng: &mut Rng) -> String {
    let tags: Vec<String> = (0..rng.between(1, 5))
        .map(|_| format!("\"{}\"", words(rng.next(), 1, ' ')))
        .collect();
    format!(
        "{{\"app\":\"{}\",\"format\":\"markdown\",\"tags\":[{}]}}",
        rng.pick(&APPLICATIONS),
        tags.join(",")
    )
}

pub(super) fn reply_metadata(rng: &mut Rng) -> String {
    if rng.percent(25) {
        String::new()
    } else {
        format!("{{\"app\":\"{}\"}}", rng.pick(&APPLICATIONS))
    }
}

/// A profile, as applications keep it in an account's metadata.
pub(super) fn profile(account: u32, rng: &mut Rng) -> String {
    format!(
        "{{\"profile\":{{\"name\":\"{}\",\"about\":\"{}\",\"location\":\"{}\",\"version\":2}}}}",
        account_text(account),
        words(rng.next(), 6, ' '),
        words(rng.next(), 1, ' ')
    )
}

/// The memo of a transfer; often none.
pub(super) fn memo(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..=3 => String::new(),
        4..=7 => words(rng.next(), 3, ' '),
        _ => format!("invoice {:08x}", rng.next() >> 32),
    }
}

pub(super) fn url(rng: &mut Rng) -> String {
    format!("https://{}.example.com/witness", words(rng.next(), 2, '-'))
}

/// The id and the document of a custom_json that the posting key signs.
pub(super) fn posting_json(account: u32, rng: &mut Rng) -> (&'static str, String) {
    let name = account_text(account);
    match rng.below(10) {
        0..=3 => ("game", game_move(&name, rng)),
        4..=5 => (
            "follow",
            format!(
                "[\"follow\",{{\"follower\":\"{name}\",\"following\":\"{}\",\"what\":[\"blog\"]}}]",
                words(rng.next(), 1, ' ')
            ),
        ),
        6..=7 => (
            "community",
            format!(
                "[\"subscribe\",{{\"community\":\"cairn-{}\",\"lang\":\"{}\"}}]",
                rng.below(100_000),
                rng.pick(&LANGUAGES)
            ),
        ),
        8 => (
            "notify",
            format!("[\"setLastRead\",{{\"date\":{}}}]", rng.next() >> 24),
        ),
        _ => ("reading-list", reading_list(rng)),
    }
}

/// The id and the document of a custom_json that the active key signs.
pub(super) fn active_json(rng: &mut Rng) -> (&'static str, String) {
    let action = if rng.percent(50) { "buy" } else { "sell" };
    let symbol = words(rng.next(), 1, ' ');
    let quantity = format!("{}.{:03}", rng.below(1000), rng.below(1000));
    let json = format!(
        "{{\"contract\":\"market\",\"action\":\"{action}\",\
         \"payload\":{{\"symbol\":\"{symbol}\",\"quantity\":\"{quantity}\"}}}}"
    );
    ("market", json)
}

/// A document of the largest size that a custom_json may have. Its letters are random, so that compression makes
/// little of it.
pub(super) fn large_json(rng: &mut Rng) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const SIZE: usize = 8_192;
    const END: &str = "\"}";
    let mut json = String::with_capacity(SIZE);
    json.push_str("{\"data\":\"");
    while json.len() < SIZE - END.len() {
        let mut number = rng.next();
        for _ in 0..10.min(SIZE - END.len() - json.len()) {
            json.push(char::from(LETTERS[(number % 64) as usize]));
            number /= 64;
        }
    }
    json + END
}

fn game_move(name: &str, rng: &mut Rng) -> String {
    let cards: Vec<String> = (0..rng.between(1, 8))
        .map(|_| format!("\"C{:06x}\"", rng.next() >> 40))
        .collect();
    format!(
        "{{\"app\":\"{}\",\"player\":\"{name}\",\"match\":\"{:016x}\",\"cards\":[{}]}}",
        rng.pick(&APPLICATIONS),
        rng.next(),
        cards.join(",")
    )
}

fn reading_list(rng: &mut Rng) -> String {
    let entries: Vec<String> = (0..rng.between(2, 20))
        .map(|_| format!("{{\"title\":\"{}\"}}", words(rng.next(), 5, ' ')))
        .collect();
    format!("{{\"entries\":[{}]}}", entries.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_json_and_within_the_limits() {
        let mut rng = Rng::new(3);
        for account in 0..500 {
            for (id, json) in [posting_json(account, &mut rng), active_json(&mut rng)] {
                assert!(id.len() <= 32 && json.len() <= 8192);
                assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            }
            let json = large_json(&mut rng);
            assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
            assert_eq!(json.len(), 8192, "as large as it may be");
            for json in [profile(account, &mut rng), post_metadata(&mut rng)] {
                assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            }
            assert!(title(&mut rng).len() <= 255);
            assert!(!post_body(&mut rng).is_empty());
            assert!(!reply_body(&mut rng).is_empty());
        }
    }

    #[test]
    fn permlinks_are_unique_and_spelled_as_hive_demands() {
        let mut seen = std::collections::HashSet::new();
        for serial in 0..2000 {
            for depth in [0, 1] {
                let permlink = permlink(Post {
                    author: 1,
                    serial,
                    depth,
                });
                assert!(
                    permlink
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                );
                assert!(seen.insert(permlink));
            }
        }
    }
}
