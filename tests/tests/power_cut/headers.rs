//! The header file of a node that serves: what a cut leaves of it is made whole again, and no wrong header is served
//! meanwhile.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cairn_block_log::{BlockLog, Dictionaries, LogHeaders};
use cairn_tests::power_cut::{Disk, Entry, Rng, Tree, cut};
use cairn_tests::zoo::{Watcher, Yard};
use cairn_tests::{PATIENCE, Running, free_port};
use tempfile::TempDir;

use crate::cases::{Attempt, Failure, hold};
use crate::goal::SyncPlan;
use crate::tape::Tape;
use crate::world::{World, text};

const FILE: &str = "p2p/headers";
/// Bytes before the first segment, and before the headers of each (docs/formats.md, Header file).
const HEAD: usize = 56;
const SEGMENT_HEAD: usize = 16;

/// Two runs of a node that has a log and makes the header file.
pub(crate) struct HeaderRuns<'w> {
    world: &'w World,
    yard: Yard,
    tape: Tape,
    /// The file when nothing is left to do.
    whole: Vec<u8>,
    /// All headers of the log, and where each one ends.
    headers: Vec<u8>,
    ends: Vec<usize>,
}

/// Whole segments in a file, as their heads tell.
fn segments(file: &[u8]) -> usize {
    let (mut at, mut count) = (HEAD, 0);
    while let Some(length) = file.get(at + 4..at + 8) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        at += SEGMENT_HEAD + length;
        count += usize::from(at <= file.len());
    }
    count
}

fn read(folder: &Path) -> Vec<u8> {
    fs::read(folder.join(FILE)).unwrap_or_default()
}

impl<'w> HeaderRuns<'w> {
    pub(crate) fn record(world: &'w World, plan: &SyncPlan) -> Self {
        let folder = world.path("recorded-headers");
        fs::create_dir(&folder).unwrap();
        let config = world.path("headers.ini");
        let common = plan.form.config() + &world.config(&plan.checkpoints, plan.interval);
        fs::write(&config, &common).unwrap();
        drop(world.sync(&folder, &config).wait().expect_code(0));
        let start = Disk::read(&folder);
        let journal = world.path("headers.journal");
        for wanted in [1, world.blocks as usize / 1024] {
            let port = free_port();
            fs::write(&config, format!("{common}p2p-endpoint = 127.0.0.1:{port}\n")).unwrap();
            let words = ["run", "-d", text(&folder), "--config", text(&config)];
            let mut node = Running::start_with(words, world.shim.environment(&folder, &journal, None));
            node.wait_for_line("Listening on");
            let started = Instant::now();
            while segments(&read(&folder)) < wanted {
                assert!(started.elapsed() < PATIENCE, "{}", node.log().join("\n"));
                thread::sleep(Duration::from_millis(5));
            }
            node.terminate();
            drop(node.wait().expect_code(0));
        }
        let tape = Tape::read(start, &journal, &folder);
        let (mut headers, mut ends) = (Vec::new(), Vec::new());
        let log = BlockLog::open(&world.foreign_log(), 60, Arc::new(Dictionaries::none())).unwrap();
        let mut taken = LogHeaders::new(&log, 1);
        while let Some(header) = taken.take(&mut headers) {
            header.unwrap();
            ends.push(headers.len());
        }
        assert_eq!(ends.len(), world.blocks as usize);
        let whole = read(&folder);
        assert!(segments(&whole) == world.blocks as usize / 1024, "it is whole");
        Self {
            world,
            yard: Yard::new(1),
            tape,
            whole,
            headers,
            ends,
        }
    }
}

pub(crate) struct HeaderCase<'a> {
    pub(crate) runs: &'a HeaderRuns<'a>,
    pub(crate) seed: u64,
}

impl fmt::Display for HeaderCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header file, seed {}", self.seed)
    }
}

impl Attempt for HeaderCase<'_> {
    fn run(&self) -> Result<(), Failure> {
        let mut rng = Rng::new(self.seed);
        let tape = &self.runs.tape;
        let before = cut(&tape.disk_after(tape.moment(&mut rng), None), &mut rng);
        let place = TempDir::new_in(self.runs.world.cases.path()).unwrap();
        let folder = place.path().join("node");
        before.write(&folder);
        let found = match before.0.get(FILE) {
            Some(Entry::File(bytes)) => bytes.as_slice(),
            _ => &[],
        };
        self.serve(&folder, found).map_err(|reason| Failure {
            reason,
            after: Tree::read(&folder),
            before,
            journal: tape.bytes,
            config: String::new(),
        })
    }
}

impl HeaderCase<'_> {
    /// Starts a server on the folder and asks it for all headers, at once and when its file is whole.
    fn serve(&self, folder: &Path, found: &[u8]) -> Result<(), String> {
        let (world, port) = (self.runs.world, free_port());
        let file = folder.with_file_name("config.ini");
        let config = format!(
            "chain = {}\nblock-log-split = -1\np2p-endpoint = 127.0.0.1:{port}\n",
            world.chain().display()
        );
        fs::write(&file, config).unwrap();
        let node = Running::start(["run", "-d", text(folder), "--config", text(&file)]);
        let watcher = self.runs.yard.watch(port);
        watcher.until_connected(&node);
        let started = Instant::now();
        loop {
            self.ask(&watcher)?;
            if read(folder) == self.runs.whole {
                break;
            }
            hold!(
                started.elapsed() < PATIENCE,
                "the file is not made whole\n{}",
                node.log().join("\n")
            );
        }
        self.ask(&watcher)?;
        node.terminate();
        let finished = node.wait();
        hold!(finished.code() == 0, "{finished}");
        let lines = finished
            .stderr
            .lines()
            .filter(|line| line.contains("/p2p/headers"));
        // The end is missed when the file is opened, what is damaged before it when it is asked for.
        let (lines, most) = (lines.count(), 2);
        let is_good =
            found.len() <= HEAD || (self.runs.whole.starts_with(found) && self.ends_whole(found.len()));
        hold!(
            if is_good {
                lines == 0
            } else {
                (1..=most).contains(&lines)
            },
            "{lines} lines about {} bytes\n{finished}",
            found.len()
        );
        Ok(())
    }

    /// Whether a file of this length ends where a segment does.
    fn ends_whole(&self, length: usize) -> bool {
        let whole = &self.runs.whole;
        segments(&whole[..length]) > segments(&whole[..length - 1])
    }

    fn ask(&self, watcher: &Watcher) -> Result<(), String> {
        let (headers, ends) = (&self.runs.headers, &self.runs.ends);
        let mut had = 0;
        while had < ends.len() {
            let answer = watcher.headers(&self.runs.yard, had as u32 + 1, (ends.len() - had) as u32);
            let from = if had == 0 { 0 } else { ends[had - 1] };
            hold!(
                !answer.is_empty() && headers[from..].starts_with(&answer),
                "the headers from block {} on are not the log's ({} bytes)",
                had + 1,
                answer.len()
            );
            had = ends.partition_point(|end| *end <= from + answer.len());
        }
        Ok(())
    }
}
