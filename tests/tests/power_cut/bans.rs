//! The ban list: a ban that was written is not forgotten, whatever a cut leaves of the next one.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cairn_tests::power_cut::{Disk, Entry, Rng, Shim, Tree, cut};
use cairn_tests::zoo::{Peer, Raw, Yard};
use cairn_tests::{PATIENCE, Running};
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::{Attempt, Failure, hold};
use crate::tape::Tape;
use crate::world::text;

const LIST: &str = "p2p/bans.json";

/// Runs in which one peer after the other is banned.
pub(crate) struct Bans {
    yard: Yard,
    tape: Tape,
}

/// The peers in the ban list of a folder; an error says why it is none.
fn peers(tree: &Tree) -> Result<BTreeSet<String>, String> {
    match tree.0.get(LIST) {
        None => Ok(BTreeSet::new()),
        Some(Entry::File(bytes)) => parse(bytes),
        Some(Entry::Folder) => Err(format!("{LIST} is a folder")),
    }
}

fn parse(bytes: &[u8]) -> Result<BTreeSet<String>, String> {
    let list: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("{LIST} of {} bytes is no JSON: {error}", bytes.len()))?;
    let bans = list["bans"].as_array().ok_or("it has no list")?;
    let peer = |ban: &Value| {
        ban["peer"]
            .as_str()
            .map(str::to_owned)
            .ok_or("a ban without peer")
    };
    Ok(bans.iter().map(peer).collect::<Result<_, _>>()?)
}

/// The same of a running node, which puts a whole list in the place of the one before.
fn peers_now(folder: &Path) -> Result<BTreeSet<String>, String> {
    fs::read(folder.join(LIST)).map_or_else(|_| Ok(BTreeSet::new()), |bytes| parse(&bytes))
}

/// A peer that breaks the protocol at the first question.
fn liar(yard: &Yard) -> Peer {
    yard.let_loose(Raw::flooding(&yard.honest(), 500))
}

/// The configuration of a node that knows these peers. Nothing else than the ban list is written that would make names
/// durable.
fn lines(yard: &Yard, peers: &[Peer]) -> String {
    let mut lines = format!(
        "chain = {}\ncheckpoint = {}\nstate-trie = 0\nblock-log-split = 0\n",
        yard.path("chain.json").display(),
        yard.checkpoint(200)
    );
    for peer in peers {
        lines += &format!("p2p-seed-node = 127.0.0.1:{}\n", peer.port);
    }
    lines
}

impl Bans {
    /// Records two runs of a node among peers that flood it, so many in each.
    pub(crate) fn record(liars: usize) -> Self {
        let yard = Yard::new(200);
        let tools = TempDir::new().unwrap();
        let shim = Shim::build(tools.path());
        let journal = tools.path().join("journal");
        let folder = yard.configure("node", &[], &[]);
        let start = Disk::read(Path::new(&folder));
        let config = yard.path("node.ini");
        let mut banned = 0;
        for _ in 0..2 {
            let liars: Vec<Peer> = (0..liars).map(|_| liar(&yard)).collect();
            fs::write(&config, lines(&yard, &liars)).unwrap();
            let words = ["run", "-d", &folder, "--config", text(&config)];
            let node = Running::start_with(words, shim.environment(Path::new(&folder), &journal, None));
            banned += liars.len();
            let started = Instant::now();
            while yard.banned("node").len() < banned {
                assert!(started.elapsed() < PATIENCE, "{}", node.log().join("\n"));
                thread::sleep(Duration::from_millis(5));
            }
            node.terminate();
            drop(node.wait().expect_code(0));
        }
        let tape = Tape::read(start, &journal, Path::new(&folder));
        let sure = peers(&tape.disk_after(tape.length(), None).surely());
        assert_eq!(
            sure.map(|peers| peers.len()),
            Ok(banned),
            "a list that was written is not durable"
        );
        assert!(
            tape.renames(|name| name == LIST) > 2,
            "the list was not written ban by ban"
        );
        Self { yard, tape }
    }
}

pub(crate) struct BanCase<'a> {
    pub(crate) bans: &'a Bans,
    pub(crate) seed: u64,
    /// See `Case`.
    pub(crate) forgetful: Option<&'static str>,
}

impl fmt::Display for BanCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bans, seed {}", self.seed)
    }
}

impl Attempt for BanCase<'_> {
    fn run(&self) -> Result<(), Failure> {
        let mut rng = Rng::new(self.seed);
        let tape = &self.bans.tape;
        let disk = tape.disk_after(tape.moment(&mut rng), self.forgetful);
        let before = cut(&disk, &mut rng);
        let place = TempDir::new_in(self.bans.yard.path(".")).unwrap();
        let folder = place.path().join("node");
        before.write(&folder);
        self.start(&disk, &before, &folder).map_err(|reason| Failure {
            reason,
            before,
            after: Tree::read(&folder),
            journal: tape.bytes,
            config: String::new(),
        })
    }
}

impl BanCase<'_> {
    fn start(&self, disk: &Disk<'_>, before: &Tree, folder: &Path) -> Result<(), String> {
        let durable = peers(&disk.surely())?;
        let found = peers(before)?;
        hold!(
            found.is_superset(&durable),
            "{durable:?} were banned durably, found {found:?}"
        );
        // A liar that is new here makes the node write what it has read.
        let liar = liar(&self.bans.yard);
        let file = folder.with_file_name("config.ini");
        fs::write(&file, lines(&self.bans.yard, std::slice::from_ref(&liar))).unwrap();
        let node = Running::start(["run", "-d", text(folder), "--config", text(&file), "--json"]);
        let started = Instant::now();
        while !peers_now(folder)?.contains(&liar.id) {
            hold!(
                started.elapsed() < PATIENCE,
                "no new ban\n{}",
                node.log().join("\n")
            );
            thread::sleep(Duration::from_millis(5));
        }
        node.terminate();
        let finished = node.wait();
        hold!(finished.code() == 0, "{finished}");
        hold!(
            !finished.stderr.contains("ban list"),
            "the list was not read in silence\n{finished}"
        );
        let after = peers(&Tree::read(folder))?;
        hold!(
            after.is_superset(&found),
            "{found:?} were banned, {after:?} are left\n{finished}"
        );
        Ok(())
    }
}
