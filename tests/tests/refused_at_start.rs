//! What a node cannot work with is said at the start, with the reason, and nothing is changed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use cairn_tests::{Devnet, Finished, Running, binary, cairn, free_port};
use tempfile::TempDir;

/// A user without rights: the administrator may write everything.
const NOBODY: u32 = 65_534;

#[test]
fn a_second_process_on_a_folder_names_the_first() {
    let chain = Devnet::generate(60, &[]);
    let seed = chain.seed(free_port());
    let folder = chain.path("seed");
    let folder = folder.to_str().unwrap();
    let in_use = format!("in use by process {}", seed.id());
    for command in ["run", "replay"] {
        let refused = cairn([command, "-d", folder]).expect_code(1);
        assert!(
            refused.stderr.contains(&in_use) && refused.stderr.contains(folder),
            "{command}\n{refused}"
        );
    }
    // Those who only read are not in the way.
    let state = cairn(["state", "info", "-d", folder, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(state["head"]["number"], 60);
    seed.terminate();
    drop(seed.wait().expect_code(0));
    // The lock goes with its process, the file stays.
    assert!(chain.path("seed/lock").is_file());
    drop(
        cairn([
            "run",
            "-d",
            folder,
            "--exit-before-sync",
            "--block-log-split",
            "-1",
        ])
        .expect_code(0),
    );
}

/// Runs `cairn` from a shell that has set a limit.
fn limited(limit: &str, words: &[&str]) -> Finished {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(binary())
        .args(words);
    Running::spawn(command).wait()
}

#[test]
fn too_few_open_files_are_raised_or_refused_with_the_numbers() {
    let chain = Devnet::generate(60, &[]);
    let folder = chain.config("seed", "block-log-split = -1\n");
    let run = ["run", "-d", &folder, "--exit-before-sync", "--json"];
    let refused = limited("-n 64", &run).expect_code(1);
    for text in [
        "too few open files allowed: need ",
        "have 64",
        "ulimit -n ",
        "p2p-max-connections",
    ] {
        assert!(refused.stderr.contains(text), "{text} is missing\n{refused}");
    }
    assert!(!chain.path("seed/state").exists(), "nothing was begun");
    // The soft limit is the node's own to raise.
    let raised = limited("-S -n 64", &run).expect_code(0);
    assert_eq!(raised.json()["head"]["number"], 60, "{raised}");
    // What the message says is enough.
    let (_, rest) = refused.stderr.split_once("ulimit -n ").unwrap();
    let need = rest.split('`').next().unwrap();
    drop(limited(&format!("-n {need}"), &run).expect_code(0));
}

/// Runs `cairn` as a user without rights, if this one has them all. `program` lies where that user may run it: the build
/// folder may be in the administrator's home.
fn without_rights(program: &Path, words: &[&str]) -> Running {
    let mut command = Command::new(program);
    if is_administrator() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.args(words);
    Running::spawn(command)
}

fn is_administrator() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A folder of the user without rights.
fn own_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    if is_administrator() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    folder
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_the_reason() {
    let folder = own_folder();
    let data = folder.path().join("data");
    let (out, log) = (data.to_str().unwrap(), data.join("blockchain/block_log"));
    let program = folder.path().join("cairn");
    fs::copy(binary(), &program).unwrap();
    drop(
        without_rights(&program, &["devnet", "generate", "--blocks", "60", "--out", out])
            .wait()
            .expect_code(0),
    );
    let spec = data.join("chain.json");
    let run = [
        "run",
        "-d",
        out,
        "--chain",
        spec.to_str().unwrap(),
        "--block-log-split",
        "-1",
        "--exit-before-sync",
    ];
    drop(without_rights(&program, &run).wait().expect_code(0));
    let state = data.join("state");
    let registers = state.join("registers");
    let manifest = fs::read_dir(&registers)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().contains("MANIFEST"))
        .unwrap();
    for (path, mode) in [
        (data.join("lock"), 0o400),
        (data.join("blockchain"), 0o000),
        (log, 0o400),
        (state, 0o000),
        (registers, 0o500),
        (manifest, 0o000),
    ] {
        let before = fs::metadata(&path).unwrap().permissions().mode();
        set_mode(&path, mode);
        let refused = without_rights(&program, &run).wait();
        set_mode(&path, before);
        let refused = refused.expect_code(1);
        let name = path.to_str().unwrap();
        for text in ["Permission denied", name, "permissions"] {
            assert!(
                refused.stderr.contains(text),
                "{name}: {text} is missing\n{refused}"
            );
        }
        assert!(!refused.stderr.contains("panicked"), "{refused}");
    }
    drop(without_rights(&program, &run).wait().expect_code(0));
}
