//! Many cases side by side, and what is kept of those that fail.

use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use cairn_tests::power_cut::Tree;

/// One cut and what comes after it. Its text names it.
pub(crate) trait Attempt: Display + Sync {
    fn run(&self) -> Result<(), Failure>;
}

/// A case that did not end as it must.
pub(crate) struct Failure {
    pub(crate) reason: String,
    /// The folder as the cut left it.
    pub(crate) before: Tree,
    /// The folder in the end.
    pub(crate) after: Tree,
    pub(crate) journal: &'static [u8],
    pub(crate) config: String,
}

/// Leaves a case with a reason unless something holds.
macro_rules! hold {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}
pub(crate) use hold;

/// Folders of failed cases that are kept.
const KEPT: usize = 5;

/// Runs all cases, as many at a time as there are processors; gives what failed. Without `keep` nothing stays of it.
pub(crate) fn run_all<A: Attempt>(cases: &[A], keep: bool) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
                    let Err(failure) = case.run() else { continue };
                    let mut failures = failures.lock().unwrap();
                    let kept = (keep && failures.len() < KEPT).then(|| keep_folders(case, &failure));
                    let place = kept.map_or_else(String::new, |kept| format!("\nkept in {}", kept.display()));
                    failures.push(format!("{case}: {}{place}", failure.reason));
                }
            });
        }
    });
    failures.into_inner().unwrap()
}

/// As [`run_all`]; fails with all reasons when a case does.
pub(crate) fn expect_all<A: Attempt>(cases: &[A]) {
    let failures = run_all(cases, true);
    assert!(
        failures.is_empty(),
        "{} of {} cases failed:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n\n")
    );
}

/// Keeps what is needed to look into a failed case: the folder as the cut left it, as it is now, and the log so far.
fn keep_folders(case: &impl Attempt, failure: &Failure) -> PathBuf {
    let name: String = case
        .to_string()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    let name = format!("cairn-power-cut-{}-{name}", std::process::id());
    let kept = std::env::temp_dir().join(name);
    fs::create_dir_all(&kept).unwrap();
    failure.before.write(&kept.join("before"));
    failure.after.write(&kept.join("after"));
    fs::write(kept.join("reason"), &failure.reason).unwrap();
    fs::write(kept.join("config.ini"), &failure.config).unwrap();
    fs::write(kept.join("journal"), failure.journal).unwrap();
    kept
}
