//! The scheduler's proof against liars, in virtual time: what leaves the window is the checkpoint's chain, whoever sends
//! what, and an honest peer is never blamed.

mod simulation;

use proptest::prelude::*;
use tempfile::TempDir;

use self::simulation::{Peer, Simulation, checkpoints, name};
use super::chain_for_tests::HeaderChain;
use super::*;
use crate::checkpoint::Checkpoint;
use crate::download::scheduler::{Scheduler, SchedulerOptions, Work};

const SMALL: u64 = 256 << 10;
const LARGE: u64 = 64 << 20;

#[test]
fn nothing_leaves_the_window_before_the_checkpoint_proves_it() {
    let chain = HeaderChain::new(600, 0);
    let mut simulation = Simulation::new(
        vec![Peer::honest(&chain, 599)],
        &[chain.checkpoint(600)],
        LARGE,
        200,
    );
    for _ in 0..100 {
        simulation.step();
    }
    assert!(simulation.released.is_empty(), "unproven blocks were released");
    assert_eq!(simulation.scheduler.waits_for(), 600);
    simulation.peers[0].head = 600;
    simulation.run(600);
    simulation.released_is(&chain, 600);
}

#[test]
fn what_does_not_fit_the_window_is_proven_by_its_headers() {
    let chain = HeaderChain::new(9_000, 0);
    let list = [chain.checkpoint(6_000), chain.checkpoint(9_000)];
    let mut simulation = Simulation::new(vec![Peer::honest(&chain, 9_000); 3], &list, SMALL, 300);
    let mut most = 0;
    for _ in 0..5_000 {
        simulation.step();
        most = most.max(simulation.scheduler.ready().1);
        if simulation.released.len() == 9_000 {
            break;
        }
    }
    simulation.released_is(&chain, 9_000);
    assert!(simulation.blamed.is_empty(), "{:?}", simulation.blamed);
    assert!(most <= SMALL * 5 / 4, "{most} bytes in a window of {SMALL}");
}

/// Blocks turn out larger than was expected when the segment was taken up.
#[test]
fn a_segment_that_outgrows_the_window_gets_its_headers_first() {
    let chain = HeaderChain::new(60, 0);
    let mut simulation = Simulation::new(
        vec![Peer::honest(&chain, 60)],
        &[chain.checkpoint(60)],
        SMALL,
        30_000,
    );
    simulation.run(60);
    simulation.released_is(&chain, 60);
}

/// Case S18: a fork below the checkpoint, whoever sends it first.
#[test]
fn a_fork_below_the_checkpoint_is_found_and_its_sender_blamed() {
    let chain = HeaderChain::new(500, 0);
    let fork = chain.fork_after(149, 3);
    for window in [LARGE, SMALL] {
        let mut peers = vec![Peer::honest(&fork, 500); 4];
        peers.push(Peer::honest(&chain, 500));
        let mut simulation = Simulation::new(peers, &[chain.checkpoint(500)], window, 2_000);
        simulation.run(500);
        simulation.released_is(&chain, 500);
        assert!(!simulation.blamed.contains_key(&4), "{:?}", simulation.blamed);
        assert!(!simulation.blamed.is_empty());
    }
}

/// Headers of a fork that ends in the right checkpoint cannot be made; headers of a fork in the middle are caught.
#[test]
fn lying_headers_are_caught_at_their_message() {
    let chain = HeaderChain::new(9_000, 0);
    let fork = chain.fork_after(3_000, 5);
    let liar = Peer {
        headers: Some(fork),
        ..Peer::honest(&chain, 9_000)
    };
    let peers = vec![liar.clone(), liar, Peer::honest(&chain, 9_000)];
    let mut simulation = Simulation::new(peers, &[chain.checkpoint(9_000)], SMALL, 300);
    simulation.run(9_000);
    simulation.released_is(&chain, 9_000);
    assert!(!simulation.blamed.contains_key(&2), "{:?}", simulation.blamed);
    assert!(!simulation.blamed.is_empty());
}

#[test]
fn a_peer_without_headers_does_not_hold_up_the_walk() {
    let chain = HeaderChain::new(9_000, 0);
    let mute = Peer {
        mute_headers: true,
        ..Peer::honest(&chain, 9_000)
    };
    let peers = vec![mute, Peer::honest(&chain, 9_000)];
    let mut simulation = Simulation::new(peers, &[chain.checkpoint(9_000)], SMALL, 300);
    simulation.run(9_000);
    assert!(
        simulation.blamed.is_empty(),
        "slow is not a lie: {:?}",
        simulation.blamed
    );
}

/// Cases S03 and S05: the checkpoint stands alone.
#[test]
fn when_all_peers_contradict_the_checkpoint_the_operator_is_told_and_nobody_blamed() {
    let chain = HeaderChain::new(500, 0);
    let wrong = Checkpoint {
        number: 300,
        id: HeaderChain::new(500, 8).id(300),
    };
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let list = [chain.checkpoint(100), wrong, chain.checkpoint(400)];
        let mut simulation = Simulation::new(vec![Peer::honest(&chain, 500); 3], &list, window, size);
        simulation.run(500);
        simulation.released_is(&chain, 100);
        assert_eq!(simulation.released.len(), 100, "the disputed range was released");
        assert!(simulation.blamed.is_empty(), "{:?}", simulation.blamed);
        let text = simulation.verdict.unwrap().to_string();
        let expected = format!(
            "Block did not match checkpoint: 3 of 3 peers disagree with checkpoint [300,{}] (config.ini:1): found {} (3 \
             peers). No block above 100 was applied",
            wrong.id,
            chain.id(300)
        );
        assert!(text.starts_with(&expected), "{text}");
    }
}

/// A liar that the network has not dropped yet is not asked, and its silence must not hold the verdict up.
#[test]
fn a_liar_that_stays_connected_has_no_voice() {
    let chain = HeaderChain::new(500, 0);
    let wrong = Checkpoint {
        number: 400,
        id: HeaderChain::new(500, 8).id(400),
    };
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let liar = Peer::honest(&chain.fork_after(0, 3), 500);
        // The last one is asked first.
        let peers = vec![Peer::honest(&chain, 500), Peer::honest(&chain, 500), liar];
        let mut simulation = Simulation::new(peers, &[chain.checkpoint(200), wrong], window, size);
        simulation.keeps_blamed = true;
        simulation.run(500);
        assert_eq!(simulation.released.len(), 200);
        assert_eq!(simulation.blamed.keys().collect::<Vec<_>>(), [&2]);
        let text = simulation.verdict.unwrap().to_string();
        assert!(
            text.contains("2 of 2 peers disagree with checkpoint [400,"),
            "{text}"
        );
    }
}

#[test]
fn a_node_that_waits_goes_on_when_a_peer_agrees() {
    let chain = HeaderChain::new(500, 0);
    let other = HeaderChain::new(500, 8);
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let list = [chain.checkpoint(300)];
        let mut simulation = Simulation::begin(vec![Peer::honest(&other, 500); 3], &list, window, size, true);
        for _ in 0..1_000 {
            simulation.step();
        }
        assert!(simulation.released.is_empty() && simulation.blamed.is_empty());
        assert_eq!(simulation.verdict, None);
        simulation.peers.push(Peer::honest(&chain, 500));
        simulation.run(300);
        simulation.released_is(&chain, 300);
        assert!(!simulation.blamed.contains_key(&3), "{:?}", simulation.blamed);
    }
}

#[test]
fn one_peer_against_the_checkpoint_and_another_peer_goes() {
    let chain = HeaderChain::new(500, 0);
    let other = HeaderChain::new(500, 8);
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let peers = vec![
            Peer::honest(&other, 500),
            Peer::honest(&other, 500),
            Peer::honest(&chain, 500),
        ];
        let mut simulation = Simulation::new(peers, &[chain.checkpoint(300)], window, size);
        simulation.run(300);
        simulation.released_is(&chain, 300);
        assert_eq!(simulation.verdict, None);
        assert!(!simulation.blamed.contains_key(&2), "{:?}", simulation.blamed);
    }
}

#[test]
fn a_chain_that_does_not_go_through_a_lower_checkpoint_is_the_operators_to_see() {
    let chain = HeaderChain::new(500, 0);
    let wrong = Checkpoint {
        number: 100,
        id: HeaderChain::new(500, 8).id(100),
    };
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let list = [wrong, chain.checkpoint(400)];
        let mut simulation = Simulation::new(vec![Peer::honest(&chain, 500)], &list, window, size);
        simulation.run(500);
        assert!(simulation.released.is_empty());
        // The lower one is disputed by the only peer before the upper one's chain comes down to it, or after.
        let text = simulation.verdict.unwrap().to_string();
        assert!(text.contains("checkpoint [100,"), "{text}");
    }
}

#[test]
fn a_head_on_another_chain_than_the_checkpoint_is_found_before_a_block_is_applied() {
    let chain = HeaderChain::new(500, 0);
    let own = HeaderChain::new(50, 7);
    let folder = TempDir::new().unwrap();
    let proof = ProofOptions {
        checkpoints: checkpoints(&[chain.checkpoint(400)]),
        head: (50, own.id(50)),
        folder: folder.path().to_owned(),
        patience: Duration::from_secs(2),
        wait_on_mismatch: false,
    };
    let mut simulation = Simulation::new(vec![Peer::honest(&chain, 500)], &[], LARGE, 200);
    simulation.scheduler = Scheduler::new(SchedulerOptions::default(), proof);
    simulation.run(500);
    let text = simulation.verdict.unwrap().to_string();
    assert!(text.contains("this node's head is"), "{text}");
}

/// A log that begins with a part: nothing here knows the block before.
#[test]
fn an_unknown_start_is_whatever_the_checkpoints_chain_has_there() {
    let chain = HeaderChain::new(6_000, 0);
    for (window, size) in [(LARGE, 200), (SMALL, 300)] {
        let mut simulation = Simulation::new(vec![Peer::honest(&chain, 6_000); 2], &[], window, size);
        let mut before = BlockId::ZERO;
        before.0[..4].copy_from_slice(&400u32.to_be_bytes());
        let proof = ProofOptions {
            checkpoints: checkpoints(&[chain.checkpoint(6_000)]),
            head: (400, before),
            folder: simulation.folder.path().to_owned(),
            patience: Duration::from_secs(2),
            wait_on_mismatch: false,
        };
        let options = SchedulerOptions {
            window_bytes: window,
            ..SchedulerOptions::default()
        };
        simulation.scheduler = Scheduler::new(options, proof).with_unknown_start();
        simulation.released = (1..=400).map(|number| chain.id(number)).collect();
        simulation.run(6_000);
        simulation.released_is(&chain, 6_000);
        assert!(simulation.blamed.is_empty(), "{:?}", simulation.blamed);
    }
}

/// A body that the writer refuses comes from somebody else, and is compared with the known id again.
#[test]
fn after_a_refused_body_the_known_ids_still_hold() {
    let chain = HeaderChain::new(500, 0);
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let mut simulation = Simulation::new(
            vec![Peer::honest(&chain, 500); 2],
            &[chain.checkpoint(500)],
            window,
            size,
        );
        simulation.run(200);
        let refused = 150;
        simulation
            .scheduler
            .rewind(refused, "peer-0", chain.id(refused - 1));
        simulation.released.truncate(refused as usize - 1);
        simulation.blame("peer-0", "refused".into());
        simulation
            .peers
            .push(Peer::honest(&chain.fork_after(refused - 1, 4), 500));
        simulation.run(500);
        simulation.released_is(&chain, 500);
        assert!(!simulation.blamed.contains_key(&1), "{:?}", simulation.blamed);
    }
}

#[test]
fn a_skeleton_is_resumed() {
    let chain = HeaderChain::new(9_000, 0);
    let list = [chain.checkpoint(9_000)];
    let mut first = Simulation::new(vec![Peer::honest(&chain, 9_000)], &list, SMALL, 300);
    first.run(100);
    let kept = std::fs::metadata(Skeleton::path(first.folder.path(), 9_000))
        .unwrap()
        .len();
    assert_eq!(kept, 64 + 8 * (1024 * 20 + 8));
    let proof = ProofOptions {
        checkpoints: checkpoints(&list),
        head: (100, chain.id(100)),
        folder: first.folder.path().to_owned(),
        patience: Duration::ZERO,
        wait_on_mismatch: false,
    };
    let options = SchedulerOptions {
        window_bytes: SMALL,
        ..SchedulerOptions::default()
    };
    let mut again = Scheduler::new(options, proof);
    let offers = [PeerOffer {
        peer: name(0),
        first: 1,
        head: 9_000,
        head_id: BlockId::ZERO,
    }];
    let assignments = again.assign(Instant::now(), &offers, 100);
    let Work::Headers(range) = assignments[0].work else {
        panic!("{assignments:?}");
    };
    // Eight groups of 1024 ids were kept.
    assert_eq!((range.first, range.count), (101, 9_000 - 8 * 1024 + 1 - 100));
}

/// The protocol allows answers with fewer headers than were asked for.
#[test]
fn short_answers_are_no_fault() {
    let chain = HeaderChain::new(9_000, 0);
    let short = Peer {
        most_headers: 300,
        ..Peer::honest(&chain, 9_000)
    };
    let mut simulation = Simulation::new(vec![short; 2], &[chain.checkpoint(9_000)], SMALL, 300);
    simulation.run(9_000);
    simulation.released_is(&chain, 9_000);
    assert!(simulation.blamed.is_empty(), "{:?}", simulation.blamed);
}

/// A lagging peer and a pruned one have all blocks between them, and neither has a whole range of headers.
#[test]
fn headers_come_from_peers_that_have_a_part_each() {
    let chain = HeaderChain::new(1_500, 0);
    let lagging = Peer::honest(&chain, 1_000);
    let pruned = Peer {
        first: 900,
        ..Peer::honest(&chain, 1_500)
    };
    let mut simulation = Simulation::new(vec![lagging, pruned], &[chain.checkpoint(1_500)], SMALL, 300);
    simulation.run(1_500);
    simulation.released_is(&chain, 1_500);
}

/// Two peers that never answer must not take turns at the range that all wait for.
#[test]
fn peers_that_do_not_answer_are_not_preferred() {
    let chain = HeaderChain::new(9_000, 0);
    let mute = Peer {
        mute_headers: true,
        ..Peer::honest(&chain, 9_000)
    };
    let mut peers = vec![mute; 6];
    peers.push(Peer::honest(&chain, 9_000));
    let mut simulation = Simulation::new(peers, &[chain.checkpoint(9_000)], SMALL, 300);
    simulation.run(1);
    let steps = simulation.now.duration_since(simulation.started).as_secs();
    assert!(steps < 60, "{steps} s until the headers were here");
}

/// The last wanted block lies below the checkpoint that proves it.
#[test]
fn a_last_block_below_the_checkpoint_is_proven_by_those_above() {
    let chain = HeaderChain::new(1_000, 0);
    for (window, size) in [(LARGE, 200), (SMALL, 2_000)] {
        let mut simulation = Simulation::new(
            vec![Peer::honest(&chain, 1_000)],
            &[chain.checkpoint(1_000)],
            window,
            size,
        );
        simulation.scheduler = Scheduler::new(
            SchedulerOptions {
                window_bytes: window,
                last_block: Some(500),
                ..SchedulerOptions::default()
            },
            ProofOptions {
                checkpoints: checkpoints(&[chain.checkpoint(1_000)]),
                head: (0, BlockId::ZERO),
                folder: simulation.folder.path().to_owned(),
                patience: Duration::from_secs(2),
                wait_on_mismatch: false,
            },
        );
        simulation.run(500);
        simulation.released_is(&chain, 500);
    }
}

/// A peer that boasts of a head that there cannot be.
#[test]
fn the_greatest_head_of_all_is_no_trap() {
    let chain = HeaderChain::new(600, 0);
    let boaster = Peer {
        pace: 0,
        ..Peer::honest(&chain, u32::MAX)
    };
    let slow = Peer {
        pace: 1,
        ..Peer::honest(&chain, 600)
    };
    for list in [vec![], vec![chain.checkpoint(600)]] {
        let mut simulation = Simulation::new(vec![boaster.clone(), slow.clone()], &list, LARGE, 200);
        simulation.run(600);
        simulation.released_is(&chain, 600);
    }
}

/// One liar, and honest peers that are slow to say what they have: their silence is no consent.
#[test]
fn a_lone_voice_is_not_believed_while_others_have_not_spoken() {
    let chain = HeaderChain::new(500, 0);
    let other = HeaderChain::new(500, 8);
    let behind = Peer::honest(&chain, 200);
    let mut simulation = Simulation::new(
        vec![Peer::honest(&other, 500), behind],
        &[chain.checkpoint(300)],
        LARGE,
        200,
    );
    for _ in 0..100 {
        simulation.step();
    }
    assert_eq!(
        simulation.verdict, None,
        "ten seconds are no time to come to a block"
    );
    simulation.peers[1].head = 500;
    simulation.run(300);
    simulation.released_is(&chain, 300);
    assert!(simulation.blamed.contains_key(&0) && !simulation.blamed.contains_key(&1));
}

/// Case: thousands of checkpoints work as well as five.
#[test]
fn dense_checkpoints_keep_the_window_full() {
    let chain = HeaderChain::new(4_000, 0);
    let list: Vec<_> = (1..=1_000).map(|n| chain.checkpoint(4 * n)).collect();
    let mut simulation = Simulation::new(vec![Peer::honest(&chain, 4_000); 2], &list, SMALL, 300);
    simulation.run(4_000);
    simulation.released_is(&chain, 4_000);
    assert!(simulation.blamed.is_empty(), "{:?}", simulation.blamed);
}

fn liar(chain: &HeaderChain) -> impl Strategy<Value = Peer> + use<> {
    let chain = chain.clone();
    let fork_at = 0u32..900;
    (
        fork_at.clone(),
        fork_at,
        1u8..20,
        any::<bool>(),
        any::<bool>(),
        1u32..900,
        1u32..900,
    )
        .prop_map(
            move |(bodies, headers, salt, lies_in_headers, mute_headers, first, head)| Peer {
                chain: chain.fork_after(bodies, salt),
                first,
                head,
                pace: 25,
                headers: lies_in_headers.then(|| chain.fork_after(headers, salt)),
                mute_headers,
                most_headers: u32::from(salt) * 40,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// One honest peer is enough, whatever the others do; it is never blamed, and nothing else is ever released.
    #[test]
    fn the_checkpoints_chain_comes_out(
        liars in proptest::collection::vec(liar(&HeaderChain::new(900, 0)), 0..6),
        tops in proptest::collection::btree_set(1u32..900, 0..5),
        small in any::<bool>(),
        size in 130usize..3_000,
    ) {
        let chain = HeaderChain::new(900, 0);
        let mut list: Vec<_> = tops.into_iter().map(|n| chain.checkpoint(n)).collect();
        list.push(chain.checkpoint(900));
        let mut peers = liars;
        let honest = peers.len();
        peers.push(Peer::honest(&chain, 900));
        let window = if small { SMALL } else { LARGE };
        let mut simulation = Simulation::new(peers, &list, window, size);
        simulation.run(900);
        prop_assert_eq!(&simulation.verdict, &None);
        simulation.released_is(&chain, 900);
        prop_assert!(!simulation.blamed.contains_key(&honest), "{:?}", simulation.blamed);
    }
}
