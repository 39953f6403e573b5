//! The canonical form of the identity state: text with one line for each thing, in eight sections, and its digests.
//!
//! Two programs with the same state make the same text, whatever they keep it in. Fields are joined by `|`, each line is
//! ended by one newline, names are sorted by their bytes, times are decimal seconds (0 never), keys are `STM...`, and an
//! authority is `threshold/accounts/keys` with members as `member:weight` joined by commas. Bytes that are not UTF-8 go in
//! as they are.
//!
//! | section | line | order |
//! |---|---|---|
//! | accounts | name, owner, active, posting, memo key, recovery account, proxy, can vote, mined, created, last and previous owner update, last recovery, claimed accounts, SHA-256 of json_metadata and of posting_json_metadata (nothing if empty) | name |
//! | witnesses | name, signing key, SHA-256 of the url (nothing if empty), created, creation fee, block size, interest, subsidy budget and decay, feed, its time | name |
//! | witness_votes | account, witness | account, witness |
//! | comments | author, permlink, parent author, parent permlink, depth | author, permlink |
//! | recovery_requests | account, new authority, expires | account |
//! | recovery_account_changes | account, new recovery account, effective | account |
//! | owner_history | account, old owner authority, time of the change | order of making |
//! | declined_voting_requests | account, effective | account |
//!
//! Comments whose deletion is undecided ([`crate::checks::Undecided::CommentDeletion`]) count as deleted.
//!
//! It is made from the store in one pass over all registers, and one read for each account, witness and comment after
//! that. Memory holds the names of accounts and comments (about 100 bytes a comment), not their content.

mod collect;
mod lines;
mod text;

use std::io;

use cairn_chain::{BlockId, Time};
use cairn_state::{StateError, Store};
use sha2::{Digest, Sha256};

use crate::duplicates;
use crate::registers::{Globals, TableError};
use collect::Collected;

/// The sections, in the order of the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Accounts.
    Accounts,
    /// Witnesses.
    Witnesses,
    /// Votes for witnesses.
    WitnessVotes,
    /// Comments.
    Comments,
    /// Pending recoveries.
    RecoveryRequests,
    /// Pending changes of recovery accounts.
    RecoveryAccountChanges,
    /// Former owner authorities.
    OwnerHistory,
    /// Pending declining of voting rights.
    DeclinedVotingRequests,
}

impl Section {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Accounts,
        Self::Witnesses,
        Self::WitnessVotes,
        Self::Comments,
        Self::RecoveryRequests,
        Self::RecoveryAccountChanges,
        Self::OwnerHistory,
        Self::DeclinedVotingRequests,
    ];

    /// Its name in the canonical form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accounts => "accounts",
            Self::Witnesses => "witnesses",
            Self::WitnessVotes => "witness_votes",
            Self::Comments => "comments",
            Self::RecoveryRequests => "recovery_requests",
            Self::RecoveryAccountChanges => "recovery_account_changes",
            Self::OwnerHistory => "owner_history",
            Self::DeclinedVotingRequests => "declined_voting_requests",
        }
    }
}

/// A section in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionDigest {
    /// Its lines.
    pub count: u64,
    /// SHA-256 over them.
    pub sha256: [u8; 32],
}

/// The canonical form in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityReport {
    /// Number of the block after which the state is like this.
    pub head_number: u32,
    /// Its id.
    pub head_id: BlockId,
    /// Its time.
    pub head_time: Time,
    /// The last hardfork.
    pub hardfork: u8,
    /// The sections, in the order of [`Section::ALL`].
    pub sections: [SectionDigest; 8],
    /// SHA-256 over the eight lines "section name, space, digest in hexadecimal digits".
    pub identity_sha256: [u8; 32],
    /// SHA-256 over the ring of reference blocks: 65536 ids of 20 bytes, unused ones zero.
    pub tapos_ring_sha256: [u8; 32],
    /// Unexpired transactions that the node knows; 0 if it never validated in full.
    pub known_transactions: u64,
    /// Accounts that came from genesis or mining.
    pub accounts_mined: u64,
    /// Comments that are left out, since their deletion is undecided.
    pub comments_undecided: u64,
}

impl IdentityReport {
    /// A section in short.
    #[must_use]
    pub fn section(&self, section: Section) -> SectionDigest {
        self.sections[section as usize]
    }
}

/// The canonical form could not be made.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A register could not be read.
    #[error(transparent)]
    State(#[from] TableError),
    /// The lines could not be written.
    #[error("writing the lines failed: {0}")]
    Write(#[from] io::Error),
}

impl From<StateError> for IdentityError {
    fn from(error: StateError) -> Self {
        Self::State(error.into())
    }
}

/// Counts and digests of the canonical form of a committed state.
///
/// # Errors
///
/// [`IdentityError::State`].
pub fn canonical(store: &Store) -> Result<IdentityReport, IdentityError> {
    canonical_with(store, |_, _| Ok(()))
}

/// The same, and hands each line to `each`, without its newline, in order.
///
/// # Errors
///
/// [`IdentityError`]; those of writing come from `each`.
pub fn canonical_with(
    store: &Store,
    mut each: impl FnMut(Section, &[u8]) -> io::Result<()>,
) -> Result<IdentityReport, IdentityError> {
    let collected = Collected::read(store)?;
    let mut sections = [SectionDigest {
        count: 0,
        sha256: [0; 32],
    }; 8];
    let mut facts = lines::Facts::default();
    for section in Section::ALL {
        let mut hash = Sha256::new();
        let mut count = 0;
        lines::of(section, &collected, store, &mut facts, &mut |line| {
            count += 1;
            hash.update(line);
            hash.update(b"\n");
            Ok(each(section, line)?)
        })?;
        sections[section as usize] = SectionDigest {
            count,
            sha256: hash.finalize().into(),
        };
    }
    let mut identity = Sha256::new();
    for section in Section::ALL {
        let digest = hex::encode(sections[section as usize].sha256);
        identity.update(format!("{} {digest}\n", section.name()));
    }
    let Globals {
        head_number,
        head_id,
        head_time,
        hardfork,
        ..
    } = collected.globals;
    Ok(IdentityReport {
        head_number,
        head_id,
        head_time,
        hardfork,
        sections,
        identity_sha256: identity.finalize().into(),
        tapos_ring_sha256: collected.ring_digest(),
        known_transactions: duplicates::count(store)?,
        accounts_mined: facts.accounts_mined,
        comments_undecided: collected.comments_undecided,
    })
}
