//! Proposals to the fund, as far as identity depends on them.

use cairn_chain::ProposalOption;
use cairn_chain::operations::{CreateProposal, RemoveProposal, UpdateProposal, UpdateProposalVotes};

use super::{Evaluated, Evaluator, no_comment};
use crate::checks::Undecided;
use crate::error::OperationFault;
use crate::registers::{Comment, CommentId, Proposal, ProposalVotes};

impl Evaluator<'_> {
    pub(super) fn create_proposal(&mut self, op: &CreateProposal<'_>) -> Evaluated {
        let proposal = Proposal {
            creator: op.creator,
            receiver: op.receiver,
            end_date: op.end_date,
        };
        self.accounts_exist(&[op.creator, op.receiver])?;
        self.proposal_comment_exists(&proposal, op.permlink.as_bytes())?;
        let id = self.globals.next_proposal;
        self.globals.next_proposal += 1;
        Ok(self.tables.write(id, &proposal)?)
    }

    /// In full validation: a comment with this permlink by the creator or the receiver exists.
    fn proposal_comment_exists(&mut self, proposal: &Proposal, permlink: &[u8]) -> Evaluated {
        if !self.full {
            return Ok(());
        }
        for author in [&proposal.creator, &proposal.receiver] {
            if self.tables.has::<Comment>(CommentId { author, permlink })? {
                return Ok(());
            }
        }
        Err(no_comment(&proposal.creator, permlink))
    }

    pub(super) fn update_proposal(&mut self, op: &UpdateProposal<'_>) -> Evaluated {
        let Some(mut proposal) = self.tables.read::<Proposal>(op.proposal_id)? else {
            return Err(OperationFault::NoProposal(op.proposal_id).into());
        };
        if self.full {
            if proposal.creator != op.creator {
                let (expected, found) = (proposal.creator, op.creator);
                return Err(OperationFault::OtherCreator {
                    id: op.proposal_id,
                    expected,
                    found,
                }
                .into());
            }
            self.proposal_comment_exists(&proposal, op.permlink.as_bytes())?;
            self.note_ended(&proposal);
        }
        for extension in &op.extensions {
            if let ProposalOption::EndDate(end) = extension {
                proposal.end_date = end.end_date;
            }
        }
        Ok(self.tables.write(op.proposal_id, &proposal)?)
    }

    /// In full validation: a proposal that was needed may not be there any more.
    fn note_ended(&mut self, proposal: &Proposal) {
        if self.full && proposal.end_date <= self.now() {
            self.checks.undecided(Undecided::EndedProposal);
        }
    }

    /// Removes those of the given proposals that are the owner's; hived passes the others over too.
    pub(super) fn remove_proposal(&mut self, op: &RemoveProposal) -> Evaluated {
        for id in &op.proposal_ids {
            let proposal = self.tables.read::<Proposal>(*id)?;
            if proposal.is_some_and(|proposal| proposal.creator == op.proposal_owner) {
                self.tables.remove::<Proposal>(*id)?;
            }
        }
        Ok(())
    }

    pub(super) fn update_proposal_votes(&mut self, op: &UpdateProposalVotes) -> Evaluated {
        let mut core = self.account(&op.voter)?;
        if self.full && !core.can_vote {
            return Err(OperationFault::Declined(op.voter).into());
        }
        let mut votes = self.tables.read::<ProposalVotes>(&op.voter)?.unwrap_or_default();
        for id in &op.proposal_ids {
            if let Some(proposal) = self.tables.read::<Proposal>(*id)? {
                if self.hardfork() >= 28 {
                    self.note_ended(&proposal);
                }
                if op.approve {
                    votes.add(*id);
                } else {
                    votes.remove(*id);
                }
            } else if self.full && self.hardfork() >= 28 {
                return Err(OperationFault::NoProposal(*id).into());
            }
        }
        self.tables.write(&op.voter, &votes)?;
        self.renew_governance(&op.voter, &mut core)?;
        Ok(self.tables.write(&op.voter, &core)?)
    }
}
