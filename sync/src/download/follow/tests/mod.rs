//! Forks, laggards, liars about their head, lost blocks: the downloader ends on the longest chain, and nobody is accused
//! for being on another one.

mod world;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use cairn_chain::BlockId;
use proptest::prelude::*;

use self::world::{Peer, Start, World};
use super::super::proof::chain_for_tests::HeaderChain;

const START: Start = Start {
    head: BlockId::ZERO,
    depth: 21,
    loses: None,
};

/// As many reversible blocks as the tests have.
const DEEP: Start = Start {
    depth: 10_000,
    ..START
};

#[test]
fn a_head_that_grows_is_followed_block_by_block() {
    let chain = HeaderChain::new(400, 0);
    let world = World::new(
        START,
        &[("a", Peer::new(&chain, 300)), ("b", Peer::new(&chain, 300))],
    );
    world.until_head(chain.id(300));
    for head in 301..=340 {
        world.set(["a", "b"][head as usize % 2], Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    assert_eq!(world.switches(), 0);
    world.end(&[]);
}

#[test]
fn a_short_chain_needs_no_large_ranges() {
    let chain = HeaderChain::new(30, 0);
    let world = World::new(START, &[("a", Peer::new(&chain, 1))]);
    for head in 1..=5 {
        world.set("a", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    world.end(&[]);
}

#[test]
fn what_all_peers_have_is_fetched_once() {
    let chain = HeaderChain::new(200, 0);
    let peers: Vec<String> = (0..6).map(|number| format!("peer {number}")).collect();
    let all: Vec<_> = peers
        .iter()
        .map(|name| (name.as_str(), Peer::new(&chain, 100)))
        .collect();
    let world = World::new(
        Start {
            head: chain.id(100),
            ..START
        },
        &all,
    );
    for head in 101..=130 {
        for name in &peers {
            world.set(name, Peer::new(&chain, head));
        }
        world.until_head(chain.id(head));
    }
    let sent = world.peers.sent.load(Relaxed);
    // A slow moment of this machine may look like a peer that brings nothing.
    assert!(sent < 60, "{sent} blocks and headers were sent for 30 blocks");
    world.end(&[]);
}

#[test]
fn switches_to_the_longer_fork_and_back() {
    for depth in [1, 5, 200] {
        let chain = HeaderChain::new(900, 0);
        let fork = chain.fork_after(300, 1);
        let world = World::new(DEEP, &[("a", Peer::new(&chain, 300 + depth))]);
        world.until_head(chain.id(300 + depth));
        world.set("b", Peer::new(&fork, 301 + depth));
        world.until_head(fork.id(301 + depth));
        world.set("a", Peer::new(&chain, 302 + depth));
        world.until_head(chain.id(302 + depth));
        world.set("b", Peer::new(&fork, 320 + depth));
        world.until_head(fork.id(320 + depth));
        assert_eq!(world.switches(), 3);
        world.end(&[]);
    }
}

#[test]
fn peers_on_two_forks_from_the_beginning() {
    let chain = HeaderChain::new(2_000, 0);
    let fork = chain.fork_after(700, 1);
    for (a, b) in [(1_400, 1_401), (1_401, 1_400), (720, 1_900), (1_900, 705)] {
        let world = World::new(
            DEEP,
            &[
                ("a", Peer::new(&chain, a)),
                ("b", Peer::new(&fork, b)),
                ("c", Peer::new(&chain, a.min(900))),
            ],
        );
        let longest = if a > b { chain.id(a) } else { fork.id(b) };
        world.until_head(longest);
        world.end(&[]);
    }
}

/// The minority's blocks came first, and the majority is far ahead.
#[test]
fn a_dead_end_is_left_for_a_chain_that_is_far_ahead() {
    let chain = HeaderChain::new(3_000, 0);
    let fork = chain.fork_after(500, 1);
    let world = World::new(DEEP, &[("minority", Peer::new(&fork, 520))]);
    world.until_head(fork.id(520));
    for name in ["a", "b", "c"] {
        world.set(name, Peer::new(&chain, 2_900));
    }
    world.until_head(chain.id(2_900));
    world.end(&[]);
}

/// Cases S15 and S18.
#[test]
fn a_fork_below_the_last_irreversible_block_is_left_alone() {
    let chain = HeaderChain::new(1_000, 0);
    let fork = chain.fork_after(150, 1);
    let world = World::new(START, &[("good", Peer::new(&chain, 400))]);
    world.until_head(chain.id(400));
    world.set("dead", Peer::new(&fork, 900));
    world.set("near", Peer::new(&fork, 410));
    for head in 401..=430 {
        world.set("good", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    let requests = world.peers.requests.load(Relaxed);
    assert!(requests < 400 / 128 + 30 * 3 + 20, "{requests} requests");
    assert_eq!(world.switches(), 0);
    world.end(&[]);
}

/// Case S15: a peer goes back, and says again what is long known.
#[test]
fn an_old_head_is_nobodys_fault() {
    let chain = HeaderChain::new(500, 0);
    let world = World::new(
        START,
        &[("a", Peer::new(&chain, 200)), ("b", Peer::new(&chain, 195))],
    );
    world.until_head(chain.id(200));
    for head in 201..=220 {
        world.set("a", Peer::new(&chain, head));
        world.set("b", Peer::new(&chain, head - 30));
        world.until_head(chain.id(head));
        world.set("b", Peer::new(&chain, head - 5));
    }
    world.end(&[]);
}

#[test]
fn a_peer_that_announces_and_does_not_send_holds_nobody_up() {
    let chain = HeaderChain::new(500, 0);
    let world = World::new(START, &[("a", Peer::new(&chain, 200))]);
    world.until_head(chain.id(200));
    for head in 201..=206 {
        let mute = Peer {
            mute: true,
            ..Peer::new(&chain, head)
        };
        world.set("Mute", mute);
        std::thread::sleep(Duration::from_millis(120));
        world.set("a", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    world.end(&[]);
}

#[test]
fn a_peer_that_claims_a_head_it_does_not_have_holds_nobody_up() {
    let (chain, other) = (HeaderChain::new(500, 0), HeaderChain::new(90_000, 3));
    let boaster = |claim: u32| Peer {
        claims: Some(other.id(claim)),
        ..Peer::new(&chain, 150)
    };
    let world = World::new(
        START,
        &[
            ("a", Peer::new(&chain, 200)),
            ("far", boaster(90_000)),
            ("near", boaster(210)),
        ],
    );
    world.until_head(chain.id(200));
    for head in 201..=220 {
        world.set("a", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    world.end(&[]);
}

#[test]
fn who_sends_a_block_that_breaks_a_rule_is_banned_and_the_others_go_on() {
    let chain = HeaderChain::new(500, 0);
    let fork = chain.fork_after(195, 1);
    let world = World::new(DEEP, &[("good", Peer::new(&chain, 200))]);
    world.until_head(chain.id(200));
    world.ours.0.lock().unwrap().bad.insert(fork.id(201));
    world.set("bad", Peer::new(&fork, 205));
    for head in 201..=210 {
        std::thread::sleep(Duration::from_millis(60));
        world.set("good", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    world.end(&["bad"]);
}

/// Blocks that the pipeline or the fork database loses are fetched again, far from the head and near it.
#[test]
fn lost_blocks_come_again() {
    let chain = HeaderChain::new(1_000, 0);
    let world = World::new(
        Start {
            loses: Some(97),
            ..START
        },
        &[("a", Peer::new(&chain, 480)), ("b", Peer::new(&chain, 470))],
    );
    world.until_head(chain.id(480));
    for head in [485, 486, 490] {
        world.set("a", Peer::new(&chain, head));
        world.until_head(chain.id(head));
    }
    world.end(&[]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Trees of forks that grow in any order: the node is on the longest one in the end.
    #[test]
    fn ends_on_the_longest_of_several_forks(
        forks in proptest::collection::vec((0usize..4, 1u32..400, 1u32..500), 1..5),
        growth in proptest::collection::vec((0usize..6, 1u32..80), 1..8),
    ) {
        let mut chains = vec![(HeaderChain::new(2_000, 0), 300)];
        for (salt, (parent, split, more)) in forks.into_iter().enumerate() {
            let (parent, head) = chains[parent % chains.len()].clone();
            let split = split.min(head);
            chains.push((parent.fork_after(split, salt as u8 + 1), split + more));
        }
        let names: Vec<String> = (0..chains.len()).map(|number| format!("peer {number}")).collect();
        let peers: Vec<_> = names
            .iter()
            .zip(&chains)
            .map(|(name, (chain, head))| (name.as_str(), Peer::new(chain, *head)))
            .collect();
        let world = World::new(DEEP, &peers);
        for (which, blocks) in growth {
            let which = which % chains.len();
            chains[which].1 += blocks;
            world.set(&names[which], Peer::new(&chains[which].0, chains[which].1));
            std::thread::sleep(Duration::from_millis(20));
        }
        // Of two that are equally high, the one that came first stays: let one be higher.
        let (chain, head) = chains.iter().max_by_key(|(_, head)| *head).unwrap().clone();
        let which = chains.iter().position(|(_, other)| *other == head).unwrap();
        world.set(&names[which], Peer::new(&chain, head + 1));
        world.until_head(chain.id(head + 1));
        world.end(&[]);
    }
}
