//! What happens when its time has come: limits on one block's work, gaps of years.

use cairn_chain::operations::{CreateProposal, DeclineVotingRights, UpdateProposalVotes};
use cairn_chain::{Asset, Operation, Text, Time};

use super::world::{World, name};
use crate::checks::Undecided;
use crate::registers::{Proposal, ProposalVotes};

/// After the first expiry of governance votes of all.
const NOW: u32 = 1_700_000_000;

fn with_proposals(hardfork: u8, count: u32) -> World {
    let mut world = World::testnet(hardfork);
    world.time(NOW);
    for _ in 0..count {
        world
            .run_reduced(&Operation::CreateProposal(CreateProposal {
                creator: name("alice"),
                receiver: name("bob"),
                start_date: Time(NOW),
                end_date: Time(NOW + 1),
                daily_pay: Asset::hbd(1),
                subject: Text(b"subject"),
                permlink: Text(b"post"),
                extensions: Vec::new(),
            }))
            .unwrap();
    }
    world
}

fn votes(voter: &str, ids: std::ops::Range<i64>) -> Operation<'static> {
    Operation::UpdateProposalVotes(UpdateProposalVotes {
        voter: name(voter),
        proposal_ids: ids.collect(),
        approve: true,
        extensions: Vec::new(),
    })
}

#[test]
fn proposals_are_numbered_from_0() {
    let mut world = with_proposals(28, 2);
    assert_eq!(world.read::<Proposal>(1).creator, name("alice"));
    assert!(world.find::<Proposal>(2).is_none());
    world.does(&votes("carol", 0..2));
    assert!(
        world.run(&votes("carol", 2..3)).is_err(),
        "since hardfork 28 each must exist"
    );
    world.hardfork(27);
    world.does(&votes("carol", 2..3));
}

#[test]
fn a_vote_for_a_proposal_that_has_ended_is_taken_and_counted() {
    let mut world = with_proposals(28, 2);
    let counted = |world: &World| {
        world
            .state
            .checks()
            .undecided
            .get(&Undecided::EndedProposal)
            .copied()
    };
    world.does(&votes("carol", 0..2));
    assert_eq!(counted(&world), None);
    world.time(NOW + 1);
    world.does(&votes("bob", 0..2));
    assert_eq!(counted(&world), Some(2));
    world.hardfork(27);
    world.does(&votes("bob", 0..2));
    assert_eq!(counted(&world), Some(2), "before hardfork 28 it does not matter");
}

#[test]
fn governance_waits_for_proposal_votes() {
    // 20 removals a block on a testnet, all accounts together.
    let mut world = with_proposals(28, 15);
    for voter in ["alice", "bob", "carol"] {
        world.does(&votes(voter, 0..15));
    }
    let due = NOW + 5 * 86_400;
    let left = |world: &mut World| {
        ["alice", "bob", "carol"].map(|account| {
            world
                .find::<ProposalVotes>(&name(account))
                .map_or(0, |votes| votes.proposals().len())
        })
    };
    world.end_block(due);
    assert_eq!(left(&mut world), [0, 10, 15]);
    assert_eq!(world.account("alice").governance_expiry, Time(0));
    assert_ne!(world.account("bob").governance_expiry, Time(0));
    world.end_block(due + 3);
    assert_eq!(left(&mut world), [0, 0, 5]);
    world.end_block(due + 6);
    assert_eq!(left(&mut world), [0, 0, 0]);
    assert_eq!(world.account("carol").governance_expiry, Time(0));
}

#[test]
fn declining_waits_for_proposal_votes_since_28() {
    for (hardfork, waits) in [(27, false), (28, true)] {
        let mut world = with_proposals(hardfork, 30);
        world.does(&votes("alice", 0..30));
        world.does(&Operation::DeclineVotingRights(DeclineVotingRights {
            account: name("alice"),
            decline: true,
        }));
        world.end_block(NOW + 60);
        assert_eq!(world.account("alice").can_vote, waits, "hardfork {hardfork}");
        world.end_block(NOW + 63);
        assert!(!world.account("alice").can_vote);
    }
}

#[test]
fn years_pass_in_one_step() {
    let mut world = with_proposals(28, 1);
    for account in ["alice", "bob", "carol", "dan"] {
        world.does(&votes(account, 0..1));
        world.time(world.now() + 1_000_000);
    }
    world.end_block(u32::MAX - 1);
    for account in ["alice", "bob", "carol", "dan"] {
        assert_eq!(world.account(account).governance_expiry, Time(0), "{account}");
    }
}
