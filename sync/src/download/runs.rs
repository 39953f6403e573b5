//! A set of block numbers, kept as runs: what is here of a window of hundreds of thousands of blocks is a handful of
//! them.

use std::collections::BTreeMap;

/// Numbers as disjoint runs that do not touch: start -> end (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(BTreeMap<u32, u32>);

impl Runs {
    /// The end (exclusive) of the run that holds `number`.
    pub(super) fn end_of(&self, number: u32) -> Option<u32> {
        let (_, end) = self.0.range(..=number).next_back()?;
        (number < *end).then_some(*end)
    }

    /// The first number of the set above `number`.
    pub(super) fn start_after(&self, number: u32) -> Option<u32> {
        self.0
            .range(number.checked_add(1)?..)
            .next()
            .map(|(start, _)| *start)
    }

    /// Adds one number.
    pub(super) fn insert(&mut self, number: u32) {
        if self.end_of(number).is_some() {
            return;
        }
        let end = self.0.remove(&(number + 1)).unwrap_or(number + 1);
        match self.0.range_mut(..number).next_back() {
            Some((_, before)) if *before == number => *before = end,
            _ => {
                self.0.insert(number, end);
            }
        }
    }

    /// Takes one number out.
    pub(super) fn remove(&mut self, number: u32) {
        let Some((start, end)) = self.0.range(..=number).next_back().map(|(s, e)| (*s, *e)) else {
            return;
        };
        if number >= end {
            return;
        }
        self.0.remove(&start);
        if start < number {
            self.0.insert(start, number);
        }
        if number + 1 < end {
            self.0.insert(number + 1, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn says_what_a_plain_set_says(steps in proptest::collection::vec((any::<bool>(), 1u32..40), 0..200)) {
            let (mut runs, mut plain) = (Runs::default(), BTreeSet::new());
            for (add, number) in steps {
                if add {
                    runs.insert(number);
                    plain.insert(number);
                } else {
                    runs.remove(number);
                    plain.remove(&number);
                }
                for n in 0..42 {
                    let end = plain.contains(&n).then(|| (n..).find(|m| !plain.contains(m)).unwrap());
                    prop_assert_eq!(runs.end_of(n), end);
                    // The first number above n is the start of a run, unless n's own run goes on.
                    if end.is_none() {
                        prop_assert_eq!(runs.start_after(n), plain.range(n + 1..).next().copied());
                    }
                }
            }
        }
    }
}
