//! When to commit.

use std::time::Duration;

/// Says when a commit is due: when blocks, bytes or time reach their limit, whichever comes first.
///
/// A rare commit writes less (many changes of one register become one write) and a crash costs more: the blocks
/// since the last commit are applied again from the block log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitPolicy {
    /// Blocks applied since the last commit. 1 commits every block.
    pub blocks: u32,
    /// Bytes that changed since the last commit, as [`Registers::dirty_bytes`](crate::Registers::dirty_bytes)
    /// reports them. A commit needs about as much memory again while it is written.
    pub bytes: usize,
    /// Time since the last commit, or since the first block after it.
    pub interval: Duration,
}

impl CommitPolicy {
    /// Commits after every block.
    pub const EVERY_BLOCK: Self = Self {
        blocks: 1,
        bytes: 0,
        interval: Duration::ZERO,
    };

    /// Whether a commit is due. Without a block since the last commit there is nothing to commit.
    #[must_use]
    pub fn is_due(&self, blocks: u32, bytes: usize, elapsed: Duration) -> bool {
        blocks > 0 && (blocks >= self.blocks || bytes >= self.bytes || elapsed >= self.interval)
    }
}

impl Default for CommitPolicy {
    /// For a long replay or sync: 50,000 blocks (about a second at full speed), 64 MiB (about 320,000 registers,
    /// under half a second of writing), 10 seconds (what a crash costs when blocks are slow).
    fn default() -> Self {
        Self {
            blocks: 50_000,
            bytes: 64 * 1024 * 1024,
            interval: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: CommitPolicy = CommitPolicy {
        blocks: 100,
        bytes: 1_000,
        interval: Duration::from_secs(5),
    };

    #[test]
    fn each_limit_makes_a_commit_due_when_it_is_reached() {
        let short = Duration::from_millis(4_999);
        assert!(!POLICY.is_due(99, 999, short));
        assert!(POLICY.is_due(100, 0, Duration::ZERO));
        assert!(POLICY.is_due(1, 1_000, Duration::ZERO));
        assert!(POLICY.is_due(1, 0, Duration::from_secs(5)));
    }

    #[test]
    fn without_blocks_no_commit_is_due() {
        assert!(!POLICY.is_due(0, usize::MAX, Duration::MAX));
        assert!(!CommitPolicy::EVERY_BLOCK.is_due(0, 0, Duration::ZERO));
        assert!(CommitPolicy::EVERY_BLOCK.is_due(1, 0, Duration::ZERO));
    }
}
