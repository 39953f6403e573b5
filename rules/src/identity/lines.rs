//! The lines of each section.

use cairn_chain::AccountName;
use cairn_state::Store;

use super::collect::Collected;
use super::text::Line;
use super::{IdentityError, Section};
use crate::registers::{
    AccountCore, ActiveAuthority, Comment, CommentId, DeclinedVotingRequest, JsonMetadata, OwnerAuthority,
    PostingAuthority, PostingJsonMetadata, Record, RecoveryAccountChange, RecoveryRequest, TableError,
    Witness, WitnessUrl, WitnessVotes, decode,
};

/// What is counted on the way.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) accounts_mined: u64,
}

type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), IdentityError>;

/// Hands each line of a section to the sink.
pub(super) fn of(
    section: Section,
    collected: &Collected,
    store: &Store,
    facts: &mut Facts,
    sink: Sink<'_>,
) -> Result<(), IdentityError> {
    let mut line = Line::default();
    match section {
        Section::Accounts => {
            for name in &collected.accounts {
                account(store, name, facts, line.clear())?;
                sink(line.bytes())?;
            }
        }
        Section::Witnesses => {
            for name in &collected.witnesses {
                witness(store, name, line.clear())?;
                sink(line.bytes())?;
            }
        }
        Section::WitnessVotes => {
            for name in &collected.voters {
                let votes: WitnessVotes = require(store, name)?;
                for witness in votes.witnesses() {
                    line.clear().raw(name.as_bytes()).raw(witness.as_bytes());
                    sink(line.bytes())?;
                }
            }
        }
        Section::Comments => {
            for (author, permlink) in &collected.comments {
                let comment: Comment = require(store, CommentId { author, permlink })?;
                line.clear().raw(author.as_bytes()).raw(permlink);
                match &comment.parent {
                    Some(parent) => line.raw(parent.author.as_bytes()).raw(&parent.permlink),
                    None => line.raw(b"").raw(b""),
                };
                sink(line.show(comment.depth).bytes())?;
            }
        }
        Section::RecoveryRequests => {
            for name in &collected.recovery_requests {
                let request: RecoveryRequest = require(store, name)?;
                line.clear()
                    .raw(name.as_bytes())
                    .authority(Some(&request.new_owner_authority));
                sink(line.time(request.expires).bytes())?;
            }
        }
        Section::RecoveryAccountChanges => {
            for name in &collected.recovery_changes {
                let change: RecoveryAccountChange = require(store, name)?;
                line.clear()
                    .raw(name.as_bytes())
                    .raw(change.new_recovery_account.as_bytes());
                sink(line.time(change.effective).bytes())?;
            }
        }
        Section::OwnerHistory => {
            for (entry, name) in &collected.owner_history {
                line.clear()
                    .raw(name.as_bytes())
                    .authority(Some(&entry.authority))
                    .time(entry.replaced);
                sink(line.bytes())?;
            }
        }
        Section::DeclinedVotingRequests => {
            for name in &collected.declined_voting {
                let request: DeclinedVotingRequest = require(store, name)?;
                sink(line.clear().raw(name.as_bytes()).time(request.effective).bytes())?;
            }
        }
    }
    Ok(())
}

fn account(store: &Store, name: &AccountName, facts: &mut Facts, line: &mut Line) -> Result<(), TableError> {
    let core: AccountCore = require(store, name)?;
    let owner = read::<OwnerAuthority>(store, name)?;
    let active = read::<ActiveAuthority>(store, name)?;
    let posting = read::<PostingAuthority>(store, name)?;
    let json = read::<JsonMetadata>(store, name)?;
    let posting_json = read::<PostingJsonMetadata>(store, name)?;
    facts.accounts_mined += u64::from(core.mined);
    line.raw(name.as_bytes())
        .authority(owner.as_ref().map(|authority| &authority.0))
        .authority(active.as_ref().map(|authority| &authority.0))
        .authority(posting.as_ref().map(|authority| &authority.0))
        .show(core.memo_key)
        .raw(core.recovery_account.as_bytes())
        .raw(core.proxy.as_bytes())
        .flag(core.can_vote)
        .flag(core.mined)
        .time(core.created)
        .time(core.last_owner_update)
        .time(core.previous_owner_update)
        .time(core.last_account_recovery)
        .show(core.claimed_accounts)
        .digest(json.as_ref().map(|text| text.0.as_slice()))
        .digest(posting_json.as_ref().map(|text| text.0.as_slice()));
    Ok(())
}

fn witness(store: &Store, name: &AccountName, line: &mut Line) -> Result<(), TableError> {
    let witness: Witness = require(store, name)?;
    let url = read::<WitnessUrl>(store, name)?;
    line.raw(name.as_bytes())
        .show(witness.signing_key)
        .digest(url.as_ref().map(|url| url.0.as_slice()))
        .time(witness.created)
        .show(witness.account_creation_fee)
        .show(witness.maximum_block_size)
        .show(witness.interest_rate)
        .show(witness.subsidy_budget)
        .show(witness.subsidy_decay)
        .price(witness.feed.map(|feed| (feed.base, feed.quote)))
        .time(witness.feed_time);
    Ok(())
}

fn read<R: Record>(store: &Store, owner: R::Owner<'_>) -> Result<Option<R>, TableError> {
    let mut key = Vec::with_capacity(64);
    R::key(owner, &mut key);
    store.get(&key)?.map(|value| decode(&key, &value)).transpose()
}

fn require<R: Record>(store: &Store, owner: R::Owner<'_>) -> Result<R, TableError> {
    read(store, owner)?.ok_or_else(|| {
        let mut key = Vec::new();
        R::key(owner, &mut key);
        TableError::Missing {
            kind: R::NAME,
            key: hex::encode(key),
        }
    })
}
