//! "Did you mean": the known name that is nearest to a misspelt one.

/// Edits that a misspelt name may be away from the right one. Two catch the usual slips (a letter lost, two
/// letters exchanged twice); with three, different options of hived would be taken for each other.
const MAX_EDITS: usize = 2;

/// Longest name that is compared, in bytes: keeps the table of distances small on any input.
const MAX_LENGTH: usize = 64;

/// The candidate with the fewest edits from `name`, when there are few enough; letter case and the choice
/// between `-` and `_` do not count. Short names allow one edit only.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = normalize(name);
    if name.len() > MAX_LENGTH {
        return None;
    }
    let allowed = if name.len() < 7 { 1 } else { MAX_EDITS };
    candidates
        .map(|candidate| (distance(&name, &normalize(candidate)), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn normalize(name: &str) -> Vec<u8> {
    name.bytes()
        .map(|byte| {
            if byte == b'_' {
                b'-'
            } else {
                byte.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Insertions, deletions, replacements and exchanges of neighbours that turn `a` into `b` (optimal string
/// alignment). Keeps three rows.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "", 3),
            ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("abc", "abxc", 1),
            ("checkpoint", "chekcpoint", 1),
            ("checkpoint", "chckpont", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), expected, "{b} {a}");
        }
    }

    #[test]
    fn takes_the_nearest_and_nothing_far() {
        let names = ["checkpoint", "checkpoint-file", "chain", "p2p-seed-node"];
        let find = |name| nearest(name, names.into_iter());
        assert_eq!(find("chekpoint"), Some("checkpoint"));
        assert_eq!(find("Checkpoint_File"), Some("checkpoint-file"));
        assert_eq!(find("p2p_seed_nodes"), Some("p2p-seed-node"));
        assert_eq!(find("chian"), Some("chain"));
        assert_eq!(find("chan-id"), None);
        assert_eq!(find("brain"), None);
        assert_eq!(find("seed-node"), None);
        assert_eq!(find(&"x".repeat(10_000)), None);
    }
}
