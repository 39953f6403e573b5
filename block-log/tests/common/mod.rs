//! Fixtures: hived's logs and what they must give.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    reason = "shared by tests"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, Compression, Dictionaries, StoredBlock};
use cairn_chain::{BlockId, ChainSpec, SignedHeader};
use serde_json::Value;

/// Blocks in each part of a testnet's split log.
pub const TESTNET_PART: u32 = 400;

/// Folders with one `block_log`, and the chain that each is of.
pub const SINGLE_LOGS: [(&str, Chain); 15] = [
    ("derived_mainnet_700", Chain::Mainnet),
    ("derived_mixed", Chain::Testnet),
    ("hf28_tests", Chain::Testnet),
    ("hf28_upvoting", Chain::Testnet),
    ("hived", Chain::Testnet),
    ("mirrornet_1k", Chain::Mirrornet),
    ("op_account_witness_proxy", Chain::Testnet),
    ("op_account_witness_vote", Chain::Testnet),
    ("op_update_proposal_votes", Chain::Testnet),
    ("output_formatter", Chain::Testnet),
    ("steemd_generated", Chain::SteemTestnet),
    ("steemd_identity", Chain::SteemTestnet),
    ("steemd_live", Chain::SteemTestnet),
    ("testnet_pattern", Chain::Testnet),
    ("transaction_pattern", Chain::Testnet),
];

/// A built-in chain.
#[derive(Clone, Copy, Debug)]
pub enum Chain {
    Mainnet,
    Mirrornet,
    Testnet,
    SteemTestnet,
}

impl Chain {
    pub fn spec(self) -> ChainSpec {
        match self {
            Self::Mainnet => ChainSpec::hive(),
            Self::Mirrornet => ChainSpec::hive_mirrornet(),
            Self::Testnet => ChainSpec::hive_testnet(),
            Self::SteemTestnet => ChainSpec::steem_testnet(),
        }
    }
}

/// The folder with the fixtures: `CAIRN_HIVE_DATA`, else `../shared/hive` beside the workspace.
pub fn hive() -> Option<PathBuf> {
    let folder = match std::env::var_os("CAIRN_HIVE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no Hive data at {} (set CAIRN_HIVE_DATA)",
        folder.display()
    );
    None
}

/// A folder for a test's files: in memory where there is such a place, since these tests sync thousands of times.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

/// The file of a single log.
pub fn log_file(hive: &Path, name: &str) -> PathBuf {
    hive.join("logs").join(name).join("block_log")
}

/// The dictionaries of the fixtures, shared.
pub fn dictionaries(hive: &Path) -> Arc<Dictionaries> {
    Arc::new(Dictionaries::load(&hive.join("dictionaries")).unwrap())
}

/// What a log must give.
pub fn expected(hive: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(hive.join("expected").join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Opens a log for reading with the fixtures' dictionaries.
pub fn open(hive: &Path, path: &Path) -> BlockLog {
    BlockLog::open(path, TESTNET_PART, dictionaries(hive)).unwrap()
}

/// All stored blocks of a log with their ids, computed from the bytes.
pub fn blocks(log: &BlockLog) -> Vec<(StoredBlock, BlockId)> {
    let mut decoder = BlockDecoder::new(log.dictionaries().clone());
    log.sequential(log.first_number().unwrap())
        .map(|block| {
            let block = block.unwrap();
            let id = id_of(&block, &mut decoder);
            (block, id)
        })
        .collect()
}

pub fn id_of(block: &StoredBlock, decoder: &mut BlockDecoder) -> BlockId {
    let raw = decoder.view(block.compression, &block.bytes).unwrap();
    SignedHeader::unpack_prefix(raw).unwrap().0.id()
}

/// Writes blocks in hived's framing by the plainest means: the twin of the writer under test.
pub fn plain_log(blocks: &[(StoredBlock, BlockId)]) -> Vec<u8> {
    let mut file = Vec::new();
    for (block, _) in blocks {
        let offset = file.len() as u64;
        let flags = match block.compression {
            Compression::None => 0,
            Compression::Zstd { dictionary: None } => 0x80 << 56,
            Compression::Zstd { dictionary: Some(n) } => (0x81 << 56) | (u64::from(n) << 48),
        };
        file.extend_from_slice(&block.bytes);
        file.extend_from_slice(&(offset | flags).to_le_bytes());
    }
    file
}
