//! What the tests share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use cairn_state::{Registers, Store, StoreOptions};

pub(crate) const CHAIN: [u8; 32] = [0xc4; 32];

/// Options with small buffers, so that flushes, compactions and evictions happen in short tests.
pub(crate) fn small() -> StoreOptions {
    StoreOptions {
        register_cache_bytes: 8 << 10,
        block_cache_bytes: 1 << 20,
        write_buffer_bytes: 64 << 10,
        ..StoreOptions::new(CHAIN)
    }
}

pub(crate) fn open(dir: &Path) -> Registers {
    Registers::new(Store::open(dir, &small()).unwrap()).unwrap()
}

/// Says what a copy of this test binary is to do, instead of testing.
pub(crate) const ROLE: &str = "CAIRN_STATE_TEST_ROLE";
/// The directory that the copy works in.
pub(crate) const DIR: &str = "CAIRN_STATE_TEST_DIR";

/// A command that runs this test binary again with one test, the one that plays the role.
pub(crate) fn role(test: &str, role: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir);
    command
}

/// A process that is killed at the latest when its test ends, however that ends.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Nothing can be done about a process that is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The directory, when this process is to play a role.
pub(crate) fn plays(role: &str) -> Option<std::path::PathBuf> {
    (std::env::var(ROLE).ok()? == role).then(|| std::env::var_os(DIR).unwrap().into())
}

/// Name and bytes of each file in a directory.
pub(crate) fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                fs::read(&path).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

/// A chain of states in which every register says which commit it belongs to.
pub(crate) mod whole {
    use cairn_state::{CommitStats, Counts, Head, Registers, StateError, Store};

    /// Registers that every commit writes.
    const ALWAYS: u32 = 60;
    /// Registers of which a commit has only some.
    const SOMETIMES: u32 = 20;

    fn id(number: u32) -> [u8; 20] {
        let mut id = [0xab; 20];
        id[..4].copy_from_slice(&number.to_be_bytes());
        id
    }

    pub(crate) fn head(number: u32) -> Head {
        Head {
            number,
            id: id(number),
        }
    }

    fn key(register: u32) -> Vec<u8> {
        format!("register/{register}").into_bytes()
    }

    /// The value of a register after a commit, a function of both; its length changes too.
    fn value(number: u32, register: u32) -> Vec<u8> {
        if register >= ALWAYS && (number + register).is_multiple_of(3) {
            return Vec::new();
        }
        let unit = u64::from(number) << 32 | u64::from(register);
        unit.to_le_bytes()
            .repeat(((number * 7 + register) % 40 + 1) as usize)
    }

    /// Goes from any of these states to the one of a number.
    pub(crate) fn advance(registers: &mut Registers, number: u32) -> Result<CommitStats, StateError> {
        for register in 0..ALWAYS + SOMETIMES {
            registers.set(&key(register), &value(number, register))?;
        }
        registers.local_put(b"number", &number.to_le_bytes())?;
        registers.commit(head(number))
    }

    /// Checks that a store has one of these states as a whole, and gives its number; 0 for an empty store.
    pub(crate) fn check(store: &Store) -> u32 {
        let number = store.head().map_or(0, |head| head.number);
        let mut expected = Counts::default();
        if number > 0 {
            assert_eq!(store.head(), Some(head(number)));
            for register in 0..ALWAYS + SOMETIMES {
                let (key, value) = (key(register), value(number, register));
                assert_eq!(
                    store.get(&key).unwrap().unwrap_or_default(),
                    value,
                    "register {register} is not as commit {number} left it"
                );
                if !value.is_empty() {
                    expected.registers += 1;
                    expected.bytes += (key.len() + value.len()) as u64;
                }
            }
            let mut local = Vec::new();
            store
                .scan_local(b"", |key, value| local.push((key.to_vec(), value.to_vec())))
                .unwrap();
            assert_eq!(local, [(b"number".to_vec(), number.to_le_bytes().to_vec())]);
        }
        assert_eq!(store.counts(), expected, "counts of commit {number}");
        let digest = store.digest().unwrap();
        assert_eq!(
            (digest.registers, digest.bytes),
            (expected.registers, expected.bytes)
        );
        number
    }
}
