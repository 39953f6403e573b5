//! The keys that signed, and which of them a walk has met.

use cairn_chain::PublicKey;

use super::AuthorityFailure;

/// Up to this many keys are searched one by one, and their marks live in one word.
const FEW: usize = 8;

/// The keys that signed, each with a mark that says whether it was met in a walk.
pub(super) struct SigningKeys<'a> {
    keys: &'a [PublicKey],
    /// Marks of `keys` while there are few of them.
    met: u8,
    /// Beyond that: key, position in `keys`, mark; sorted by key.
    sorted: Vec<(PublicKey, usize, bool)>,
}

impl<'a> SigningKeys<'a> {
    pub(super) fn new(keys: &'a [PublicKey]) -> Result<Self, AuthorityFailure> {
        let mut sorted = Vec::new();
        if keys.len() <= FEW {
            for (second, key) in keys.iter().enumerate() {
                if let Some(first) = keys[..second].iter().position(|earlier| earlier == key) {
                    return Err(AuthorityFailure::DuplicateSignature {
                        first,
                        second,
                        key: *key,
                    });
                }
            }
        } else {
            sorted = keys
                .iter()
                .enumerate()
                .map(|(position, key)| (*key, position, false))
                .collect();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(AuthorityFailure::DuplicateSignature {
                    first: pair[0].1,
                    second: pair[1].1,
                    key: pair[0].0,
                });
            }
        }
        Ok(Self { keys, met: 0, sorted })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether this key signed; if so, it is marked as met.
    pub(super) fn meet(&mut self, key: &PublicKey) -> bool {
        if self.keys.len() <= FEW {
            let Some(position) = self.keys.iter().position(|signed| signed == key) else {
                return false;
            };
            self.met |= 1 << position;
            return true;
        }
        let Ok(index) = self.sorted.binary_search_by(|(signed, ..)| signed.cmp(key)) else {
            return false;
        };
        self.sorted[index].2 = true;
        true
    }

    /// The first key, in key order, that no walk has met.
    pub(super) fn first_unmet(&self) -> Option<PublicKey> {
        if self.keys.len() <= FEW {
            let unmet = self
                .keys
                .iter()
                .enumerate()
                .filter(|(position, _)| self.met & (1 << position) == 0);
            unmet.map(|(_, key)| *key).min()
        } else {
            self.sorted.iter().find(|(.., met)| !met).map(|(key, ..)| *key)
        }
    }
}
