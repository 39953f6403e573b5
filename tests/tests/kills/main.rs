//! kill -9 above the last checkpoint, where every block is validated in full and forks come and go: the state is that of an
//! irreversible block, equal to one that only went forward, nothing that was durable is lost, and the next start goes on.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod judge;
mod script;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;
use cairn_node::devnet::{ChainShape, Tree};
use cairn_tests::power_cut::Rng;
use cairn_tests::zoo::{Grower, Peer, Watcher, Yard};
use cairn_tests::{PATIENCE, Running, cairn, free_port};

use crate::judge::Judge;
use crate::script::Script;

/// Kills at the head of the network, and in the validation of what lies behind it.
const LIVE_KILLS: u64 = 10;
const SYNC_KILLS: u64 = 10;

struct World {
    yard: Yard,
    growers: [Grower; 2],
    peers: [Peer; 2],
}

impl World {
    fn new() -> Self {
        let yard = Yard::new(1);
        let growers = [Grower::default(), Grower::default()];
        let peers = growers.clone().map(|grower| yard.keep(grower));
        Self { yard, growers, peers }
    }

    fn start(&self, name: &str) -> (Running, Watcher) {
        let port = free_port();
        let lines = [
            format!("p2p-endpoint = 127.0.0.1:{port}"),
            "flush-state-interval = 20".to_owned(),
        ];
        let peers = [&self.peers[0], &self.peers[1]];
        let folder = self.yard.configure(name, &peers, &lines);
        let node = Running::start(["run", "-d", &folder, "--json"]);
        (node, self.yard.watch(port))
    }

    /// What is on the disk: number and id of the state's block, whose digest is the one of a walk that only goes forward.
    /// The log is on the same chain and at least as long.
    fn check(&self, name: &str, script: &Script, judge: &mut Judge) -> BlockId {
        let folder = self.yard.path(name);
        let folder = folder.to_str().unwrap();
        let state = cairn(["state", "info", "-d", folder, "--json"])
            .expect_code(0)
            .json();
        let head = state["head"]["id"].as_str().unwrap();
        let Some(block) = script.find(head) else {
            panic!("the state is of a block that was never made: {state}");
        };
        judge.go_to(&script.way_to(block));
        assert_eq!(
            state["digest"],
            judge.digest(),
            "the state of block {head} is another one: {state}"
        );
        block
    }

    fn serve(&self, script: &Script, at: usize) {
        for (grower, chain) in self.growers.iter().zip(script.offers(at)) {
            grower.go_to(&chain);
        }
    }
}

/// Kills the node in the middle of a script, looks at what is left, starts it again and brings the script to its end.
fn kill_and_go_on(world: &World, name: &str, script: &Script, rng: &mut Rng, live: bool) -> (u32, bool) {
    let (mut node, watcher) = world.start(name);
    let kill_at = rng.between(script.steps() / 2, script.steps() - 1);
    let mut announced = BlockId::ZERO;
    if live {
        world.serve(script, 0);
        watcher.until_head(script.head(0), &node);
        announced = script.head(0);
        for step in 1..kill_at {
            world.serve(script, step);
            watcher.until_head(script.head(step), &node);
            announced = script.head(step);
        }
        world.serve(script, kill_at);
    } else {
        world.serve(script, kill_at);
        // It is in the middle of its work, and has committed once.
        let folder = world.yard.path(name);
        let folder = folder.to_str().unwrap().to_owned();
        let started = Instant::now();
        let has_committed = || {
            let info = cairn(["state", "info", "-d", &folder, "--json"]);
            info.code() == 0 && info.json()["head"]["number"] != 0
        };
        while !has_committed() {
            assert!(
                started.elapsed() < PATIENCE && !node.has_ended(),
                "{}",
                node.log().join("\n")
            );
        }
    }
    thread::sleep(Duration::from_millis(rng.below(40) as u64));
    let killed = node.kill();
    let was_live = killed.stderr.contains("entering live mode");
    let mut judge = Judge::new();
    let durable = world.check(name, script, &mut judge);
    if was_live {
        // Each block is durable as soon as it is irreversible.
        assert!(
            durable.number() + 21 >= announced.number(),
            "block {} of {} is left\n{killed}",
            durable.number(),
            announced.number()
        );
    }

    let (node, watcher) = world.start(name);
    let last = script.steps() - 1;
    world.serve(script, last);
    watcher.until_head(script.head(last), &node);
    node.terminate();
    let finished = node.wait().expect_code(0);
    for text in ["reconcile", "panicked", "was refused"] {
        assert!(!finished.stderr.contains(text), "{text}\n{finished}");
    }
    let kept = world.check(name, script, &mut judge);
    assert!(kept.number() >= durable.number(), "{finished}");
    let record = finished.json();
    assert_eq!(record["head"]["id"], kept.to_string());
    let reversible = record["reversible_blocks"].as_u64().unwrap();
    assert_eq!(
        u64::from(kept.number()) + reversible,
        u64::from(script.head(last).number()),
        "{finished}"
    );
    assert!(world.yard.banned(name).is_empty(), "{finished}");
    (durable.number(), was_live)
}

/// The yards' chain, small blocks, all of its witnesses.
fn tree() -> Tree {
    Tree::new(ChainShape {
        witnesses: 21,
        missed_slots: 0,
        ..ChainShape::small(1)
    })
}

/// Runs one test for each seed, a few side by side: the nodes wait for their peers most of the time.
fn for_seeds(seeds: std::ops::Range<u64>, test: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(seeds.start);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < seeds.end) {
                    test(seed);
                }
            });
        }
    });
}

#[test]
fn a_kill_at_the_head_of_the_network_leaves_an_irreversible_block() {
    let live = AtomicU64::new(0);
    for_seeds(0..LIVE_KILLS, |seed| {
        let (world, mut rng) = (World::new(), Rng::new(seed));
        let script = Script::until_now(&mut tree(), &mut rng);
        let (durable, was_live) = kill_and_go_on(&world, "node", &script, &mut rng, true);
        live.fetch_add(u64::from(was_live), Relaxed);
        println!(
            "seed {seed}: killed with block {durable} durable, {} forks, live: {was_live}",
            script.forks()
        );
    });
    assert!(live.into_inner() > 0, "no kill came in live mode");
}

#[test]
fn a_kill_in_full_validation_leaves_an_irreversible_block() {
    for_seeds(100..100 + SYNC_KILLS, |seed| {
        let (world, mut rng) = (World::new(), Rng::new(seed));
        let script = Script::long_ago(&mut tree(), &mut rng, 500);
        let (durable, _) = kill_and_go_on(&world, "node", &script, &mut rng, false);
        println!(
            "seed {seed}: killed with block {durable} durable, {} forks",
            script.forks()
        );
    });
}
