//! The table of options that have an effect. Everything that Cairn says about an option is said here.

use super::option::{Group, Kind, OptionSpec, Source};

/// Block numbers are 32-bit and start at 1.
const BLOCK_NUMBER: Kind = Kind::Number {
    min: 1,
    max: u32::MAX as i64,
};

use Group::{BlockLog, Checkpoints, Data, Network, Output, Processing, Run};

/// Every option with an effect, in the order of `config.ini.example`.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "data-dir",
        Data,
        Kind::Path,
        "Folder with config.ini, the block log (blockchain/) and the state. Default: .cairn in the home folder.",
    )
    .short('d')
    .value_name("DIR")
    .example("/var/lib/cairn")
    .in_replay(),
    OptionSpec::new(
        "chain",
        Data,
        Kind::Text,
        "The chain: hive, hive-testnet, hive-mirrornet, steem-testnet, or a chain specification file (JSON).",
    )
    .value_name("NAME|FILE")
    .default("hive")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "alternate-chain-spec",
        Data,
        Kind::Path,
        "hived's name for a chain specification file; the same as chain = FILE. Not together with chain.",
    )
    .value_name("FILE")
    .in_replay(),
    OptionSpec::new(
        "checkpoint",
        Checkpoints,
        Kind::Json,
        "A trusted pair [BLOCK_NUM,BLOCK_ID], copied from a node of your own. May be repeated. Blocks up to the \
         last checkpoint are subject to reduced validation; a block that contradicts one ends the run with exit code 3.",
    )
    .short('c')
    .repeatable()
    .value_name("[N,ID]")
    .example("[1000000,000f4240e8f91385f7bff8f5aeebddc9b14e4281]")
    .in_replay(),
    OptionSpec::new(
        "checkpoint-file",
        Checkpoints,
        Kind::Path,
        "A file with one checkpoint a line, in the same spelling; lines that begin with # are comments.",
    )
    .value_name("FILE")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "checkpoint-mismatch",
        Checkpoints,
        Kind::Text,
        "What run does when every peer that has a checkpoint's block has another one: exit ends with exit code 3, wait \
         keeps asking, as a peer that agrees may come. No disputed block is applied either way.",
    )
    .value_name("exit|wait")
    .default("exit")
    .source(Source::Cairn),
    OptionSpec::new(
        "block-log-split",
        BlockLog,
        Kind::Number { min: i64::MIN, max: i64::MAX },
        "How the block log is kept: -1 in a single file, 0 not at all (only the head block in memory), 1 to 9999 \
         in parts of a million blocks each (400 on a testnet), of which the newest N full ones are kept beside the \
         one that grows: an older one is removed once the state is durable beyond it. 9999, the default, keeps all.",
    )
    .default("9999")
    .in_replay(),
    OptionSpec::new(
        "enable-block-log-compression",
        BlockLog,
        Kind::Bool,
        "Compress blocks with zstd when they are appended to the block log.",
    )
    .default("1")
    .in_replay(),
    OptionSpec::new(
        "block-log-compression-level",
        BlockLog,
        Kind::Number { min: 0, max: 22 },
        "zstd level, 0 (fast) to 22 (small). hived names 15 as its default and compresses with 3 whatever is set; \
         with 3 both nodes write the same bytes.",
    )
    .value_name("LEVEL")
    .default("3")
    .in_replay(),
    OptionSpec::new(
        "enable-block-log-auto-fixing",
        BlockLog,
        Kind::Bool,
        "Cut a torn end off the block log at start and say what was cut. With 0, a torn log ends the run with the \
         place and the remedy.",
    )
    .default("1")
    .in_replay(),
    OptionSpec::new(
        "zstd-dictionaries",
        BlockLog,
        Kind::Path,
        "Folder with Hive's compression dictionaries (000M.dict.zst and so on). Needed to read blocks that were \
         compressed with one; blocks are written with one only if the folder is given.",
    )
    .value_name("DIR")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "p2p-endpoint",
        Network,
        Kind::Text,
        "The local IP address and port to listen on for peers, over TCP and QUIC. Without it, Cairn only dials out.",
    )
    .value_name("ADDRESS:PORT")
    .implicit("127.0.0.1:9876")
    .example("0.0.0.0:2001"),
    OptionSpec::new(
        "p2p-seed-node",
        Network,
        Kind::Text,
        "A peer to sync from: NAME:PORT, IPv4:PORT, [IPv6]:PORT, or a libp2p address that begins with a slash. May \
         be repeated, and one value may hold several, separated by blanks.",
    )
    .repeatable()
    .value_name("HOST:PORT")
    .example("seed.example.org:2001"),
    OptionSpec::new(
        "p2p-max-connections",
        Network,
        Kind::Number { min: 1, max: 65_535 },
        "Largest number of connections, both directions together; overrides maximum_number_of_connections of \
         p2p-parameters.",
    )
    .example("200"),
    OptionSpec::new(
        "p2p-parameters",
        Network,
        Kind::Json,
        "Network parameters as one JSON object; what it leaves out has its default.",
    )
    .example(
        "{\"desired_number_of_connections\":20,\"maximum_number_of_connections\":200,\
         \"peer_connection_retry_timeout\":30,\"peer_inactivity_timeout\":5,\
         \"maximum_number_of_blocks_to_handle_at_one_time\":200,\
         \"maximum_number_of_sync_blocks_to_prefetch\":20000,\
         \"maximum_blocks_per_peer_during_syncing\":200,\
         \"active_ignored_request_timeout_microseconds\":6000000}",
    ),
    OptionSpec::new(
        "sync-window-size",
        Network,
        Kind::Number { min: 8, max: 65_536 },
        "Memory for blocks that were downloaded or read ahead and not yet applied, in MiB.",
    )
    .value_name("MIB")
    .default("256")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "blockchain-thread-pool-size",
        Processing,
        Kind::Number { min: 1, max: 1024 },
        "Number of threads that check blocks before they are applied. Default: the number of processors.",
    )
    .value_name("SIZE")
    .example("8")
    .in_replay(),
    OptionSpec::new(
        "flush-state-interval",
        Processing,
        Kind::Number { min: 0, max: u32::MAX as i64 },
        "Commit the state to disk every N blocks. 0: no limit in blocks, only the two limits below hold.",
    )
    .value_name("BLOCKS")
    .default("10000")
    .in_replay(),
    OptionSpec::new(
        "flush-state-size",
        Processing,
        Kind::Number { min: 1, max: 65_536 },
        "Commit the state when its changes since the last commit take this much memory, in MiB.",
    )
    .value_name("MIB")
    .default("256")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "flush-state-seconds",
        Processing,
        Kind::Number { min: 1, max: 86_400 },
        "Commit the state when the last commit is this many seconds ago: the most work that a crash can lose.",
    )
    .value_name("SECONDS")
    .default("30")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "state-trie",
        Processing,
        Kind::Bool,
        "Keep the register trie in memory, about 150 bytes a register, so that the root of each committed state is known; \
         a file of it is written at the end. With 0, `cairn state root` reads all registers instead.",
    )
    .default("1")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "replay-blockchain",
        Run,
        Kind::Bool,
        "Replay the block log before syncing. It resumes after the last block of the state.",
    )
    .flag()
    .source(Source::HivedCommandLine),
    OptionSpec::new(
        "force-replay",
        Run,
        Kind::Bool,
        "Remove the state first and replay the block log from its first block.",
    )
    .flag()
    .source(Source::HivedCommandLine)
    .command_line_only("it would remove the state at every start")
    .in_replay(),
    OptionSpec::new(
        "validate-during-replay",
        Run,
        Kind::Bool,
        "Check everything during a replay: witness signatures, transaction signatures and authorities, TaPoS, \
         expiration, duplicates.",
    )
    .flag()
    .source(Source::HivedCommandLine)
    .in_replay(),
    OptionSpec::new(
        "undo-below-checkpoint",
        Run,
        Kind::Bool,
        "Open an undo session for every block, as hived does, and keep those of the last 21 blocks. Nothing is taken back: \
         only for measuring what that costs.",
    )
    .flag()
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "no-preverify",
        Run,
        Kind::Bool,
        "Apply a block log without reading it twice: by default its headers are first compared with the checkpoints, so \
         that nothing of a log of another chain is applied.",
    )
    .flag()
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new("exit-before-sync", Run, Kind::Bool, "End the run after the replay, before connecting to peers.")
        .flag()
        .source(Source::HivedCommandLine),
    OptionSpec::new(
        "stop-at-block",
        Run,
        BLOCK_NUMBER,
        "Apply blocks up to this one, then stop syncing and keep serving peers. Not together with exit-at-block.",
    )
    .example("1000000")
    .source(Source::HivedCommandLine),
    OptionSpec::new(
        "exit-at-block",
        Run,
        BLOCK_NUMBER,
        "Apply blocks up to this one, then end the run. Above the last checkpoint those are kept that are irreversible by \
         then. Not together with stop-at-block.",
    )
    .example("1000000")
    .source(Source::HivedCommandLine)
    .in_replay(),
    OptionSpec::new(
        "stats-interval",
        Output,
        Kind::Number { min: 1, max: 86_400 },
        "Seconds between two lines of writer statistics.",
    )
    .value_name("SECONDS")
    .default("30")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "stats-file",
        Output,
        Kind::Path,
        "Append one JSON record an interval to this file.",
    )
    .value_name("FILE")
    .source(Source::Cairn)
    .in_replay(),
    OptionSpec::new(
        "log-level",
        Output,
        Kind::Text,
        "Least level of the log lines: error, warn, info, debug or trace; also by target, like \
         info,cairn_p2p=debug. The environment variable RUST_LOG goes before config.ini, the command line before both.",
    )
    .value_name("LEVEL")
    .default("info")
    .source(Source::Cairn),
    OptionSpec::new(
        "json",
        Output,
        Kind::Bool,
        "Print one JSON object with the result as the last line on standard output. `validation` in it counts checks that \
         were done, including those for blocks that a switch to another fork took back later.",
    )
    .flag()
    .source(Source::Cairn)
    .in_replay(),
];

/// The entry with this name.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|option| option.name == name)
}
