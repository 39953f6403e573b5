//! Which hardfork the scheduled witnesses have agreed on.
//!
//! Counted whenever a schedule is drawn, since hardfork 5, over the list that was in force before (since hardfork 26: the
//! one just promoted), each entry once: enough of them must vote for the same version at the same time. Without that the
//! next hardfork is withdrawn. After hardfork 22 no votes are counted until 23 has happened: hived forces it.

use cairn_chain::{Time, Version};

/// Votes that are needed, of 21.
pub const REQUIRED_VOTES: usize = 17;

/// What a witness's blocks say about versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HardforkVote {
    /// The hardfork, as a version.
    pub version: Version,
    /// When it is to happen.
    pub time: Time,
}

/// The vote that at least [`REQUIRED_VOTES`] entries of the list have cast. At most one can have that many of 21.
#[must_use]
pub fn agreed(votes: &[HardforkVote]) -> Option<HardforkVote> {
    let mut votes = votes.to_vec();
    votes.sort_unstable();
    votes
        .chunk_by(|a, b| a == b)
        .find(|same| same.len() >= REQUIRED_VOTES)
        .map(|same| same[0])
}
