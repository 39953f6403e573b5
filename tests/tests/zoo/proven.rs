//! Below a checkpoint, where every block is proven.

use std::time::{Duration, Instant};

use cairn_tests::zoo::{Keeper, Peer, Raw, Stock, Yard};
use cairn_tests::{Finished, Running};

/// Ends in good order at the checkpoint `last`.
fn expect_synced(finished: Finished, last: u32) -> Finished {
    let finished = finished.expect_code(0);
    let record = finished.json();
    assert_eq!(record["head"]["number"], last, "{finished}");
    assert_eq!(
        record["checkpoints_reached"].as_array().unwrap().len(),
        1,
        "{finished}"
    );
    finished
}

/// A sync of 400 blocks from an honest peer and this one: it ends well, and the honest peer is not banned. Gives the log
/// and whether the other one is.
fn beside_an_honest_peer(yard: &Yard, other: &Peer) -> (Finished, bool) {
    let honest = yard.keep(Keeper::new(yard.honest()));
    let last = yard.honest().head();
    // The other one is met first.
    let finished = expect_synced(yard.sync("node", &[other, &honest], last), last);
    let banned = yard.banned("node");
    assert!(!banned.contains(&honest.id), "{finished}");
    (finished, banned.contains(&other.id))
}

#[test]
fn one_honest_peer_among_nine_liars() {
    const BLOCKS: u32 = 3000;
    const WINDOW_MIB: u64 = 8;
    let yard = Yard::new(BLOCKS);
    let honest = yard.honest();
    let late = Duration::from_secs(2);
    let contradicting = [
        yard.keep(Keeper::new(Stock::fork(BLOCKS, 150))),
        yard.keep(Keeper::new(honest.clone().with_altered_bodies())),
        yard.keep(Keeper::new(honest.clone().with_altered_headers())),
        yard.keep(Keeper::new(honest.clone().with_swapped_bodies())),
        yard.keep(Keeper::new(honest.clone().with_zip_bombs())),
        yard.let_loose(Raw::flooding(&honest, 500)),
    ];
    let stalling = [
        yard.let_loose(Raw::truncating(&honest)),
        yard.let_loose(Raw::dripping_bytes(&honest, 5, late)),
        yard.let_loose(Raw::never_sending(&honest, 137)),
    ];
    let good = yard.keep(Keeper::new(honest.clone()));
    let window = format!("sync-window-size = {WINDOW_MIB}");
    let checkpoint = format!("checkpoint = {}", yard.checkpoint(BLOCKS));
    let lines = [window, checkpoint];

    let alone = Instant::now();
    let finished = yard.start("alone", &[&good], BLOCKS, &lines).wait();
    let alone = (alone.elapsed(), expect_synced(finished, BLOCKS).json());

    let peers: Vec<&Peer> = contradicting.iter().chain(&stalling).chain([&good]).collect();
    let among = Instant::now();
    let finished = yard.start("among", &peers, BLOCKS, &lines).wait();
    let among = among.elapsed();
    let finished = expect_synced(finished, BLOCKS);
    let record = finished.json();

    let state = yard.replayed_state();
    assert_eq!(alone.1["state"], state);
    assert_eq!(record["state"], state, "{finished}");
    let banned = yard.banned("among");
    assert!(!banned.contains(&good.id), "{finished}");
    for (number, liar) in contradicting.iter().enumerate() {
        assert!(
            banned.contains(&liar.id),
            "liar {number} is not banned\n{finished}"
        );
    }
    for peer in &stalling {
        assert!(!banned.contains(&peer.id), "a slow peer is banned\n{finished}");
    }
    let received = |record: &serde_json::Value| record["received_bytes"].as_u64().unwrap();
    let excess = received(&record).saturating_sub(received(&alone.1));
    println!(
        "{BLOCKS} blocks, {} bytes: alone {:?}, {} bytes received; among nine liars {among:?}, {excess} bytes more",
        honest.bytes(),
        alone.0,
        received(&alone.1),
    );
    assert!(
        excess <= WINDOW_MIB << 20,
        "{excess} bytes were wasted\n{finished}"
    );
}

#[test]
fn a_fork_is_left_for_the_checkpointed_chain() {
    let yard = Yard::new(400);
    let fork = yard.keep(Keeper::new(Stock::fork(400, 150)));
    let (finished, banned) = beside_an_honest_peer(&yard, &fork);
    assert!(banned, "{finished}");
}

#[test]
fn a_fork_alone_is_not_applied_and_nobody_is_banned_for_it() {
    let yard = Yard::new(400);
    let fork = yard.keep(Keeper::new(Stock::fork(400, 150)));
    let finished = yard.sync("node", &[&fork], 400).expect_code(3);
    assert_eq!(finished.json()["head"]["number"], 0, "{finished}");
    assert!(yard.banned("node").is_empty(), "{finished}");
}

#[test]
fn a_wrong_checkpoint_bans_nobody() {
    let yard = Yard::new(400);
    let honest: Vec<Peer> = (0..3).map(|_| yard.keep(Keeper::new(yard.honest()))).collect();
    let wrong = format!("checkpoint = [300,{:08x}ffffffffffffffffffffffffffffffff]", 300);
    let peers: Vec<&Peer> = honest.iter().collect();
    let finished = yard.start("node", &peers, 400, &[wrong]).wait().expect_code(3);
    assert!(
        finished.stderr.contains("3 of 3 peers disagree with checkpoint"),
        "{finished}"
    );
    assert!(
        finished.stderr.contains(&yard.honest().id(300).to_string()),
        "{finished}"
    );
    assert_eq!(
        finished.json()["head"]["number"],
        0,
        "nothing of the disputed range is applied\n{finished}"
    );
    assert!(yard.banned("node").is_empty(), "{finished}");
}

#[test]
fn liars_are_banned_and_the_chain_comes_from_the_honest_peer() {
    let yard = Yard::new(300);
    let honest = yard.honest();
    let liars = [
        (
            "altered bodies",
            Keeper::new(honest.clone().with_altered_bodies()),
        ),
        (
            "altered headers",
            Keeper::new(honest.clone().with_altered_headers()),
        ),
        (
            "swapped bodies",
            Keeper::new(honest.clone().with_swapped_bodies()),
        ),
        ("zip bombs", Keeper::new(honest.with_zip_bombs())),
    ];
    let good = yard.keep(Keeper::new(yard.honest()));
    for (name, keeper) in liars {
        let liar = yard.keep(keeper);
        let finished = expect_synced(yard.sync(name, &[&liar, &good], 300), 300);
        assert_eq!(yard.banned(name), [liar.id], "{name}\n{finished}");
    }
}

#[test]
fn a_flood_is_cut_off() {
    let yard = Yard::new(600);
    let flood = yard.let_loose(Raw::flooding(&yard.honest(), 500));
    let (finished, banned) = beside_an_honest_peer(&yard, &flood);
    assert!(banned, "{finished}");
    let received = finished.json()["received_bytes"].as_u64().unwrap();
    assert!(received < 2 * yard.honest().bytes(), "{received} bytes");
}

#[test]
fn a_block_that_never_comes_is_asked_for_elsewhere() {
    let yard = Yard::new(400);
    for raw in [
        Raw::never_sending(&yard.honest(), 137),
        Raw::truncating(&yard.honest()),
        Raw::dripping_bytes(&yard.honest(), 5, Duration::from_secs(1)),
        Raw::dripping_blocks(&yard.honest(), Duration::from_secs(3)),
    ] {
        let peer = yard.let_loose(raw);
        let (finished, banned) = beside_an_honest_peer(&yard, &peer);
        assert!(!banned, "who is slow is no enemy\n{finished}");
        std::fs::remove_dir_all(yard.path("node")).unwrap();
    }
}

#[test]
fn late_answers_are_used_and_cost_nothing() {
    let yard = Yard::new(200);
    // Longer than the shortest time that a request may bring nothing: the first ones are given up, and asked again.
    let late = Duration::from_secs(6);
    let peers = [
        yard.let_loose(Raw::late(&yard.honest(), late)),
        yard.let_loose(Raw::late(&yard.honest(), late)),
    ];
    let finished = expect_synced(yard.sync("node", &[&peers[0], &peers[1]], 200), 200);
    assert!(yard.banned("node").is_empty(), "{finished}");
}

#[test]
fn peers_on_a_slow_line_are_kept() {
    let yard = Yard::new(30);
    // Some 10 KB/s, a block in half a second.
    let slow = Duration::from_millis(2);
    let peers: Vec<Peer> = (0..3)
        .map(|_| yard.let_loose(Raw::dripping_bytes(&yard.honest(), 30, slow)))
        .collect();
    let peers: Vec<&Peer> = peers.iter().collect();
    let finished = expect_synced(yard.sync("node", &peers, 30), 30);
    assert!(yard.banned("node").is_empty(), "{finished}");
    assert!(!finished.stderr.contains("Refused peer"), "{finished}");
}

#[test]
fn a_head_that_a_peer_does_not_have_is_not_waited_for() {
    let yard = Yard::new(400);
    let claiming = yard.keep(Keeper::new(Stock::honest(100)).claiming(100_000));
    let (finished, banned) = beside_an_honest_peer(&yard, &claiming);
    assert!(!banned, "{finished}");
}

#[test]
fn a_peer_of_another_chain_is_turned_away_without_a_ban_on_disk() {
    let yard = Yard::new(200);
    let stranger = yard.keep_on(cairn_node::devnet::chain_id(2), Keeper::new(yard.honest()));
    let (finished, banned) = beside_an_honest_peer(&yard, &stranger);
    assert!(
        !banned && finished.stderr.contains("it is on chain"),
        "{finished}"
    );
}

#[test]
fn a_ban_outlives_the_node() {
    let yard = Yard::new(300);
    let liar = yard.keep(Keeper::new(yard.honest().with_altered_bodies()));
    let good = yard.keep(Keeper::new(yard.honest()));
    expect_synced(yard.sync("node", &[&liar, &good], 300), 300);
    assert!(yard.banned("node").contains(&liar.id));
    let folder = yard.configure("node", &[&liar], &[]);
    let mut again = Running::start(["run", "-d", &folder, "--json"]);
    again.wait_for_line("banned: block");
    again.terminate();
    let finished = again.wait().expect_code(0);
    assert_eq!(yard.banned("node"), [liar.id], "{finished}");
}

#[test]
fn when_all_seeds_are_banned_the_operator_is_told_what_to_do() {
    let yard = Yard::new(300);
    let liar = yard.keep(Keeper::new(yard.honest().with_altered_bodies()));
    let checkpoint = format!("checkpoint = {}", yard.checkpoint(300));
    let mut node = yard.start("node", &[&liar], 300, &[checkpoint]);
    node.wait_for_line(
        "all seed nodes (1) are banned and no other peer is connected. The first ban ends at 20",
    );
    node.wait_for_line("p2p/bans.json");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert_eq!(yard.banned("node"), [liar.id], "{finished}");
}

#[test]
fn a_wrong_checkpoint_is_told_and_waited_for_when_that_is_wanted() {
    let yard = Yard::new(300);
    let honest = yard.keep(Keeper::new(yard.honest()));
    let wrong = format!("checkpoint = [200,{:08x}ffffffffffffffffffffffffffffffff]", 200);
    let lines = [wrong, "checkpoint-mismatch = wait".to_owned()];
    let mut node = yard.start("node", &[&honest], 300, &lines);
    node.wait_for_line("1 of 1 peers disagree with checkpoint [200,");
    node.wait_for_line("Asking again (checkpoint-mismatch = wait)");
    assert!(!node.has_ended(), "it goes on asking");
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert_eq!(finished.json()["head"]["number"], 0, "{finished}");
    assert!(yard.banned("node").is_empty(), "{finished}");
    assert!(
        !finished.stderr.contains("No P2P data"),
        "it is told as soon as when the run ends with it\n{finished}"
    );
}

#[test]
fn a_first_block_that_no_peer_serves_is_told() {
    let yard = Yard::new(300);
    let pruned = yard.keep(Keeper::new(yard.honest()).pruned(201));
    let checkpoint = format!("checkpoint = {}", yard.checkpoint(300));
    let mut node = yard.start("node", &[&pruned], 300, &[checkpoint]);
    node.wait_for_line(
        "no peer serves block 1: the connected peers keep only later blocks (the lowest is 201)",
    );
    node.terminate();
    let finished = node.wait().expect_code(0);
    assert!(
        !finished.stderr.contains("No P2P data"),
        "it is told before the line about silence\n{finished}"
    );
}
