//! What the check can say.

use cairn_chain::{AccountName, PublicKey};

/// How the requirements were met. The counts are of required names and explicit authorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Satisfied {
    /// Posting names, by their posting authority.
    pub posting_by_posting: u32,
    /// Posting names, by their active authority (before hardfork 28).
    pub posting_by_active: u32,
    /// Posting names, by their owner authority (before hardfork 28).
    pub posting_by_owner: u32,
    /// Active names, by their active authority.
    pub active_by_active: u32,
    /// Active names, by their owner authority (before hardfork 28).
    pub active_by_owner: u32,
    /// Owner names, by their owner authority.
    pub owner_by_owner: u32,
    /// Explicit authorities.
    pub other: u32,
    /// Witness names, by their signing key.
    pub witness: u32,
    /// Whether a member account's own authority was satisfied on the way.
    pub nested: bool,
    /// Whether something was required, and all of it was satisfied although the transaction has no signature
    /// (authorities with threshold 0).
    pub without_signature: bool,
}

impl Satisfied {
    /// How many requirements there were.
    #[must_use]
    pub const fn requirements(&self) -> u32 {
        self.posting_by_posting
            + self.posting_by_active
            + self.posting_by_owner
            + self.active_by_active
            + self.active_by_owner
            + self.owner_by_owner
            + self.other
            + self.witness
    }
}

/// Why the signatures do not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityFailure {
    /// The posting authority of this account is not satisfied.
    #[error("missing posting authority of {0}")]
    MissingPosting(AccountName),
    /// The active authority of this account is not satisfied.
    #[error("missing active authority of {0}")]
    MissingActive(AccountName),
    /// The owner authority of this account is not satisfied.
    #[error("missing owner authority of {0}")]
    MissingOwner(AccountName),
    /// The signing key of this witness did not sign, or there is no such witness.
    #[error("missing signature of witness {0}")]
    MissingWitness(AccountName),
    /// An explicit authority is not satisfied.
    #[error("missing explicit authority number {index} (from 0, in the order of the operations)")]
    MissingOther {
        /// Position in the list of explicit authorities.
        index: usize,
    },
    /// Posting is required together with another level, before hardfork 28.
    #[error("posting authority is combined with another level")]
    MixedWithPosting,
    /// Nothing needed this key's signature, before hardfork 28.
    #[error("unnecessary signature of {0}")]
    UnusedSignature(PublicKey),
    /// A required account, or a member account that the walk came to, does not exist.
    #[error("account {0} does not exist")]
    UnknownAccount(AccountName),
    /// Two signatures are by the same key.
    #[error("signatures {first} and {second} are by the same key {key}")]
    DuplicateSignature {
        /// Position of the first one.
        first: usize,
        /// Position of the second one.
        second: usize,
        /// The key.
        key: PublicKey,
    },
}

impl AuthorityFailure {
    /// A short fixed name of the kind, for counting and for comparison with other implementations.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::MissingPosting(_) => "missing_posting",
            Self::MissingActive(_) => "missing_active",
            Self::MissingOwner(_) => "missing_owner",
            Self::MissingWitness(_) => "missing_witness",
            Self::MissingOther { .. } => "missing_other",
            Self::MixedWithPosting => "mixed_with_posting",
            Self::UnusedSignature(_) => "unused_signature",
            Self::UnknownAccount(_) => "unknown_account",
            Self::DuplicateSignature { .. } => "duplicate_signature",
        }
    }
}

/// The check did not end in success. `E` is the error of the [`AuthoritySource`](super::AuthoritySource).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError<E> {
    /// The transaction is not authorized.
    #[error(transparent)]
    Refused(AuthorityFailure),
    /// An authority could not be looked up; this says nothing about the transaction.
    #[error("looking up an authority failed: {0}")]
    Source(#[source] E),
    /// The check was given up. Possible only in a chain before hardfork 20 with authorities made for it, since later
    /// rules limit the work.
    #[error("authority check given up after {steps} steps")]
    TooMuchWork {
        /// Members looked at.
        steps: u64,
    },
}

impl<E> From<AuthorityFailure> for CheckError<E> {
    fn from(failure: AuthorityFailure) -> Self {
        Self::Refused(failure)
    }
}
