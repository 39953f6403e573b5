//! What the end-to-end tests share: the built binary, the data of the Hive project, folders and processes.

pub mod chains;
mod clock;
mod devnet;
mod preload;
mod small_disk;
pub mod zoo;

pub use clock::TurnedClock;
pub use devnet::{Devnet, free_port};
pub use small_disk::SmallDisk;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

pub mod power_cut;

/// Longest time that a test waits for a process or a line.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The `cairn` binary beside the test's own executable.
///
/// # Panics
/// When it has not been built: `make test` does that first.
#[must_use]
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in PROFILE/deps");
    let binary = profile.join("cairn");
    assert!(
        binary.is_file(),
        "{} is missing: run `make build` first",
        binary.display()
    );
    binary
}

/// The folder with real Hive data, or `None` with a line that says what was skipped.
#[must_use]
pub fn hive_data(test: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive");
    let path = std::env::var_os("CAIRN_HIVE_DATA").map_or(default, PathBuf::from);
    if path.join("logs").is_dir() {
        return Some(path);
    }
    eprintln!(
        "skipped: {test}: no Hive data at {} (set CAIRN_HIVE_DATA)",
        path.display()
    );
    None
}

/// What a process printed and how it ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error: the log.
    pub stderr: String,
}

impl Finished {
    /// The exit code; -1 when a signal ended the process.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// The JSON object on the last line of standard output.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last)
            .unwrap_or_else(|error| panic!("last line is no JSON ({error}): {last:?}\n{self}"))
    }

    /// Panics with everything that was printed unless the exit code is the one expected.
    ///
    /// # Panics
    /// See above.
    pub fn expect_code(self, code: i32) -> Self {
        assert!(self.code() == code, "exit code {code} expected\n{self}");
        self
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}\n--- stdout\n{}\n--- stderr\n{}",
            self.status, self.stdout, self.stderr
        )
    }
}

/// Runs `cairn` with these arguments to its end.
///
/// # Panics
/// When it cannot be started or does not end in time.
pub fn cairn<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Finished {
    Running::start(arguments).wait()
}

/// A running `cairn`; killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<()>>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Running {
    /// Starts the binary; its log lines are collected.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        Self::start_with(arguments, [])
    }

    /// The same with variables of the environment.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_with<'a, S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        environment: impl IntoIterator<Item = (&'a str, OsString)>,
    ) -> Self {
        let mut command = Command::new(binary());
        command.args(arguments).envs(environment);
        Self::spawn(command)
    }

    /// Starts a command that ends in the binary, like a shell that sets limits first.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdout = child.stdout.take().expect("piped");
        let stderr = child.stderr.take().expect("piped");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&lines);
        Self {
            child,
            stdout: Some(thread::spawn(move || {
                let mut text = Vec::new();
                stdout
                    .read_to_end(&mut text)
                    .expect("standard output is readable");
                String::from_utf8_lossy(&text).into_owned()
            })),
            stderr: Some(thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    collected.lock().expect("no panic while locked").push(line);
                }
            })),
            lines,
        }
    }

    /// The log so far.
    ///
    /// # Panics
    /// Never, unless the collecting thread panicked.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.lines.lock().expect("no panic while locked").clone()
    }

    /// Waits for a log line that contains `text`, and gives it.
    ///
    /// # Panics
    /// When it does not come in time, or the process ends without it.
    pub fn wait_for_line(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let ended = self.child.try_wait().expect("the process can be asked").is_some();
            if ended {
                thread::sleep(Duration::from_millis(50)); // Let the collector read what is left.
            }
            if let Some(line) = self.log().into_iter().find(|line| line.contains(text)) {
                return line;
            }
            let waited = started.elapsed();
            assert!(
                !ended && waited < PATIENCE,
                "no line with {text:?} after {waited:?}:\n{}",
                self.log().join("\n")
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// kill -9.
    ///
    /// # Panics
    /// When the process cannot be waited for.
    pub fn kill(mut self) -> Finished {
        // It may have ended by itself an instant before.
        let _ = self.child.kill();
        self.finish()
    }

    /// kill -9 after so many milliseconds.
    ///
    /// # Panics
    /// As [`kill`](Self::kill).
    pub fn kill_after(self, milliseconds: u64) -> Finished {
        thread::sleep(Duration::from_millis(milliseconds));
        self.kill()
    }

    /// SIGTERM.
    ///
    /// # Panics
    /// When `kill` cannot be run.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// A signal by its name, like INT.
    ///
    /// # Panics
    /// When `kill` cannot be run.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args(["-s", name])
            .arg(self.child.id().to_string())
            .status()
            .expect("kill runs");
        assert!(status.success(), "the process was there to be told");
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// When the process cannot be asked.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the process can be asked").is_some()
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// When it does not come in time; the process is killed then.
    #[must_use]
    pub fn wait(mut self) -> Finished {
        let started = Instant::now();
        while !self.has_ended() {
            assert!(
                started.elapsed() < PATIENCE,
                "no end after {PATIENCE:?}:\n{}",
                self.log().join("\n")
            );
            thread::sleep(Duration::from_millis(2));
        }
        self.finish()
    }

    fn finish(&mut self) -> Finished {
        let status = self.child.wait().expect("the process can be waited for");
        let stdout = self
            .stdout
            .take()
            .map(|thread| thread.join().expect("the reader ends"))
            .unwrap_or_default();
        if let Some(thread) = self.stderr.take() {
            thread.join().expect("the reader ends");
        }
        Finished {
            status,
            stdout,
            stderr: self.log().join("\n"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A JSON file.
///
/// # Panics
/// When it is missing or no JSON.
#[must_use]
pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies the files of a folder, not those of folders in it.
///
/// # Panics
/// When something cannot be copied.
pub fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        if entry.file_type().expect("it has a type").is_file() {
            let target = to.join(entry.file_name());
            fs::copy(entry.path(), &target).expect("the file can be copied");
            // The originals may be read-only; a copy is for changing.
            let mut permissions = fs::metadata(&target).expect("it is there").permissions();
            #[allow(clippy::permissions_set_readonly_false, reason = "a test's own copy")]
            permissions.set_readonly(false);
            fs::set_permissions(&target, permissions).expect("it is ours");
        }
    }
}
