//! An older root that stays whole while the trie goes on.

use std::ops::Deref;
use std::sync::Arc;

use super::subtrie::SUBTRIES;
use super::version::Version;

/// The trie as it was when it was [held](super::Trie::hold).
///
/// It can be read in another thread while the trie is updated. Each update copies those nodes on the ways to its
/// changes that a held root still has; they are freed when no root has them any more. It may outlive the trie.
#[derive(Debug)]
pub struct HeldRoot {
    version: Version,
    /// By subtrie: what the hold is released by.
    epochs: [u32; SUBTRIES],
}

impl HeldRoot {
    /// Nobody may change the subtries meanwhile.
    pub(super) fn take(present: &Version) -> Self {
        let Version { subtries, top } = present;
        Self {
            version: Version {
                subtries: Arc::clone(subtries),
                top: top.clone(),
            },
            epochs: std::array::from_fn(|subtrie| subtries.write(subtrie).holds.hold()),
        }
    }
}

impl Deref for HeldRoot {
    type Target = Version;

    fn deref(&self) -> &Version {
        &self.version
    }
}

impl Drop for HeldRoot {
    fn drop(&mut self) {
        for (subtrie, epoch) in self.epochs.into_iter().enumerate() {
            self.version.subtries.write(subtrie).release(epoch);
        }
    }
}
