//! A batch in the order of its paths.

use super::leaf::{DuplicatePath, LeafChange};

/// Room to sort in, kept from one batch to the next.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// The first eight bytes of each path, and where it is in the batch.
    order: Vec<(u64, u32)>,
    sorted: Vec<LeafChange>,
}

impl Sorter {
    /// The changes in ascending order of their paths, in room of this sorter's.
    ///
    /// # Errors
    ///
    /// When two changes are of one register.
    pub(super) fn sort(&mut self, batch: &[LeafChange]) -> Result<&mut [LeafChange], DuplicatePath> {
        // 68 bytes each: so many do not fit into a machine.
        assert!(
            u32::try_from(batch.len()).is_ok(),
            "a batch holds fewer than 2^32 changes"
        );
        self.sorted.clear();
        if batch.is_sorted_by(|a, b| a.path < b.path) {
            self.sorted.extend_from_slice(batch);
            return Ok(&mut self.sorted);
        }
        // Sixteen bytes are moved about instead of a change, and most comparisons are of one number.
        self.order.clear();
        let prefixes = batch.iter().map(|change| change.path.prefix());
        self.order.extend(prefixes.zip(0..));
        self.order.sort_unstable_by(|&(a, i), &(b, j)| {
            a.cmp(&b)
                .then_with(|| batch[i as usize].path.cmp(&batch[j as usize].path))
        });
        self.sorted
            .extend(self.order.iter().map(|&(_, at)| batch[at as usize]));
        match self.sorted.windows(2).find(|pair| pair[0].path == pair[1].path) {
            Some(pair) => Err(DuplicatePath { path: pair[0].path }),
            None => Ok(&mut self.sorted),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.order.capacity() * size_of::<(u64, u32)>() + self.sorted.capacity() * size_of::<LeafChange>()
    }
}
