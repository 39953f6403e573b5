//! Whole configurations: what is accepted, and what is said about the others.

use std::fs;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::config::table;

const ID_1: &str = "00000001b4526fe07016da612214ea6a8572d28b";
const ID_2: &str = "000000020e3aa3a15ade98f53c301997fd3b1b51";

/// Loads a config.ini in a data folder of its own, with arguments.
fn load_with(
    text: impl AsRef<[u8]>,
    arguments: &[(&str, &str)],
) -> (TempDir, Result<Settings, ConfigProblems>) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.ini"), text).unwrap();
    let mut values = OptionValues::default();
    values.add("data-dir", dir.path().to_str().unwrap());
    for (name, value) in arguments {
        values.add(name, *value);
    }
    let settings = Settings::load(&values, None, Path::new("/nonexistent"));
    (dir, settings)
}

fn settings(text: &str) -> Settings {
    load_with(text, &[])
        .1
        .unwrap_or_else(|problems| panic!("{text}: {problems}"))
}

/// Messages, with the name of the folder cut out.
fn texts<T: ToString>(dir: &TempDir, list: &[T]) -> Vec<String> {
    let folder = format!("{}/", dir.path().display());
    list.iter()
        .map(|item| item.to_string().replace(&folder, ""))
        .collect()
}

fn problems(text: &str) -> Vec<String> {
    let (dir, result) = load_with(text, &[]);
    let problems = result.map(|_| panic!("{text:?} is accepted")).unwrap_err();
    texts(&dir, &problems.0)
}

fn warnings(text: &str) -> Vec<String> {
    let (dir, result) = load_with(text, &[]);
    texts(
        &dir,
        &result
            .unwrap_or_else(|problems| panic!("{text}: {problems}"))
            .warnings,
    )
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let (dir, result) = load_with("", &[]);
    let settings = result.unwrap();
    assert_eq!(settings.data_dir, dir.path());
    assert_eq!(settings.config_file, Some(dir.path().join("config.ini")));
    assert_eq!(settings.chain.name, "hive");
    assert!(settings.chain_choice.is_none() && settings.checkpoints.is_empty());
    let block_log = BlockLogSettings {
        split: BlockLogSplit::Parts(9999),
        compress: true,
        compression_level: 3,
        auto_fixing: true,
        dictionaries: None,
    };
    assert_eq!(settings.block_log, block_log);
    let p2p = P2pSettings {
        endpoint: None,
        seed_nodes: vec![],
        seed_nodes_configured: 0,
        parameters: P2pParameters::default(),
    };
    assert_eq!(settings.p2p, p2p);
    assert!(settings.threads >= 1);
    assert_eq!(settings.window_bytes, 256 << 20);
    let commit = CommitSettings {
        blocks: NonZeroU32::new(10_000),
        bytes: 256 << 20,
        interval: Duration::from_secs(30),
    };
    assert_eq!(settings.commit, commit);
    assert!(!(settings.replay_blockchain || settings.force_replay || settings.validate_during_replay));
    assert!(!settings.exit_before_sync && !settings.json);
    assert_eq!((settings.stop, settings.log_level), (None, None));
    assert_eq!(
        settings.stats,
        StatsSettings {
            interval: Duration::from_secs(30),
            file: None
        }
    );
    assert!(settings.warnings.is_empty());
}

#[test]
fn without_a_file_and_without_arguments_the_home_folder_counts() {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings::load(&OptionValues::default(), None, home.path()).unwrap();
    assert_eq!(settings.data_dir, home.path().join(".cairn"));
    assert_eq!(settings.config_file, None);
}

#[test]
fn every_option_reaches_its_setting() {
    let text = format!(
        "chain = hive-testnet\ncheckpoint = [1,{ID_1}]\ncheckpoint = [\"2\",\"{ID_2}\"]\n\
         block-log-split = -1\nenable-block-log-compression = no\nblock-log-compression-level = 15\n\
         enable-block-log-auto-fixing = 0\nzstd-dictionaries = \"/with blanks/d\"\n\
         p2p-endpoint = 0.0.0.0:2001\np2p-seed-node = [::1]:2001 localhost:2001\np2p-seed-node = a.example:1\n\
         p2p-max-connections = 7\np2p-parameters = {{\"peer_connection_retry_timeout\":11}}\n\
         sync-window-size = 64\nblockchain-thread-pool-size = 3\nflush-state-interval = 0\n\
         flush-state-size = 16\nflush-state-seconds = 5\nreplay-blockchain\nvalidate-during-replay = 1\n\
         exit-before-sync = yes\nstop-at-block = 100\nstats-interval = 2\nstats-file = s.jsonl\n\
         log-level = debug\njson = 1\n"
    );
    let settings = settings(&text);
    assert_eq!(settings.chain.name, "hive-testnet");
    let numbers: Vec<_> = settings
        .checkpoints
        .iter()
        .map(|checkpoint| checkpoint.number)
        .collect();
    assert_eq!(numbers, [1, 2]);
    assert!(settings.checkpoints.origin(2).unwrap().ends_with("config.ini:3"));
    assert_eq!(settings.block_log.split, BlockLogSplit::Single);
    assert!(!settings.block_log.compress && !settings.block_log.auto_fixing);
    assert_eq!(settings.block_log.compression_level, 15);
    assert_eq!(settings.block_log.dictionaries, Some("/with blanks/d".into()));
    assert_eq!(settings.p2p.endpoint, Some("0.0.0.0:2001".parse().unwrap()));
    let seeds: Vec<_> = settings.p2p.seed_nodes.iter().map(ToString::to_string).collect();
    assert_eq!(seeds, ["[::1]:2001", "localhost:2001", "a.example:1"]);
    assert_eq!(settings.p2p.parameters.maximum_number_of_connections, 7);
    assert_eq!(settings.p2p.parameters.desired_number_of_connections, 7);
    assert_eq!(settings.p2p.parameters.peer_connection_retry_timeout, 11);
    assert_eq!((settings.window_bytes, settings.threads), (64 << 20, 3));
    let commit = CommitSettings {
        blocks: None,
        bytes: 16 << 20,
        interval: Duration::from_secs(5),
    };
    assert_eq!(settings.commit, commit);
    assert!(settings.replay_blockchain && settings.validate_during_replay && settings.exit_before_sync);
    assert_eq!(settings.stop, Some(StopAt::Stop(100)));
    assert_eq!(
        settings.stats,
        StatsSettings {
            interval: Duration::from_secs(2),
            file: Some("s.jsonl".into())
        }
    );
    assert_eq!(settings.log_level.as_deref(), Some("debug"));
    assert!(settings.json && settings.warnings.is_empty());
}

#[test]
fn the_command_line_has_precedence_and_lists_add_up() {
    let text = format!("stats-interval = 7\ncheckpoint = [1,{ID_1}]\nexit-at-block = 5\n");
    let checkpoint = format!("[2,{ID_2}]");
    let arguments = [
        ("stats-interval", "9"),
        ("checkpoint", checkpoint.as_str()),
        ("force-replay", "1"),
    ];
    let settings = load_with(&text, &arguments).1.unwrap();
    assert_eq!(settings.stats.interval, Duration::from_secs(9));
    assert_eq!(settings.checkpoints.len(), 2);
    assert_eq!(settings.checkpoints.origin(2), Some("command line"));
    assert!(settings.force_replay && settings.replay_blockchain);
}

/// Case S09: options that hived takes on its command line only work in the file.
#[test]
fn options_of_the_command_line_work_in_the_file() {
    assert_eq!(settings("exit-at-block = 100").stop, Some(StopAt::Exit(100)));
    assert_eq!(settings("stop-at-block = 100").stop, Some(StopAt::Stop(100)));
    assert!(settings("validate-during-replay = 1").validate_during_replay);
    assert!(!settings("validate-during-replay = 0").validate_during_replay);
    assert!(
        settings("undo-below-checkpoint = 1").undo_below_checkpoint && !settings("").undo_below_checkpoint
    );
    assert!(settings("").state_trie && !settings("state-trie = 0").state_trie);
    assert_eq!(
        problems("force-replay = 1"),
        [
            "config.ini:1: option `force-replay` is accepted on the command line only: it would remove the state at every start"
        ]
    );
}

/// Case S08: a scalar given twice.
#[test]
fn a_repeated_scalar_names_both_lines() {
    assert_eq!(
        problems("block-log-split = 9999\n# x\nblock-log-split = -1"),
        [
            "config.ini:3: option `block-log-split` may be given only once; it is given at config.ini:1 too. Remove one of the two"
        ]
    );
}

#[test]
fn a_mismatch_ends_the_run_or_waits() {
    assert_eq!(settings("").on_mismatch, OnMismatch::Exit);
    assert_eq!(
        settings("checkpoint-mismatch = wait").on_mismatch,
        OnMismatch::Wait
    );
    assert_eq!(
        problems("checkpoint-mismatch = ignore"),
        ["config.ini:1: option `checkpoint-mismatch`: \"ignore\" is not exit or wait"]
    );
}

/// Case S02: a checkpoint with the number of another block.
#[test]
fn a_checkpoint_of_another_block_names_line_and_numbers() {
    assert_eq!(
        problems("\ncheckpoint = [20000000,02625a000d8be8b1085b94d25e0c20daf1e9be56]"),
        [
            "config.ini:2: checkpoint [20000000,02625a000d8be8b1085b94d25e0c20daf1e9be56]: Invalid checkpoint specification, \
          block number (20000000) does not match number embedded in block id (40000000)"
        ]
    );
}

/// Cases S20 and S21: seeds that cannot be used are named, the others are used, each once.
#[test]
fn unusable_seeds_are_warnings() {
    let (dir, result) = load_with(
        "p2p-seed-node = [::1]:2001\np2p-seed-node = localhost:2001 bad::\np2p-seed-node = LOCALHOST:2001\n",
        &[],
    );
    let settings = result.unwrap();
    assert_eq!(settings.p2p.seed_nodes.len(), 2);
    assert_eq!(settings.p2p.seed_nodes_configured, 3);
    assert_eq!(
        texts(&dir, &settings.warnings),
        [
            "config.ini:2: seed node \"bad::\" is not usable: an IPv6 address needs brackets: [ADDRESS]:PORT",
            "config.ini:3: seed node \"LOCALHOST:2001\" is given more than once",
        ]
    );
    assert!(
        super::tests::settings("p2p-seed-node =\n")
            .p2p
            .seed_nodes
            .is_empty()
    );
}

#[test]
fn misspelt_names_are_faults_with_the_right_name() {
    for (text, suggestion) in [
        ("chekpoint = [1,x]", "checkpoint"),
        ("checkpoints = [1,x]", "checkpoint"),
        ("p2p_seed_node = a:1", "p2p-seed-node"),
        ("p2p-seed-nodes = a:1", "p2p-seed-node"),
        ("Exit-At-Block = 1", "exit-at-block"),
        ("block-log-spilt = 1", "block-log-split"),
    ] {
        let name = text.split(' ').next().unwrap();
        let expected = format!("config.ini:1: unknown option `{name}`; did you mean `{suggestion}`?");
        assert_eq!(problems(text), [expected]);
    }
    assert_eq!(
        problems("seed-node = a:1"),
        ["config.ini:1: option `seed-node` is called `p2p-seed-node` in Hive"]
    );
}

#[test]
fn names_without_effect_are_one_warning_each() {
    assert_eq!(
        warnings(
            "plugin = witness\nshared-file-size = 1G\nplugin = p2p\nshared-file-siez = 1\nfrobnicate = 1\npsql-new = 1\n[log]\n"
        ),
        [
            "config.ini:7: section [log] is ignored; the options below it are read as if it were not there",
            "config.ini:1, config.ini:3: `plugin` is an option of hived without effect in Cairn: Cairn has no plugins",
            "config.ini:2: `shared-file-size` is an option of hived without effect in Cairn: Cairn keeps its state in a database of its own, not in shared memory",
            "config.ini:4: unknown option `shared-file-siez` is ignored; did you mean `shared-file-size`?",
            "config.ini:5: unknown option `frobnicate` is ignored",
            "config.ini:6: `psql-new` is an option of hived without effect in Cairn: it belongs to a plugin that Cairn does not have",
        ]
    );
}

/// The configuration that a real node ran with.
#[test]
fn a_config_ini_of_another_node_is_accepted() {
    let path = std::env::var_os("CAIRN_HIVE_DATA")
        .map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
            PathBuf::from,
        )
        .join("logs/steemd_live/config.ini");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return;
    };
    let (dir, result) = load_with(&text, &[]);
    let settings = result.unwrap();
    assert_eq!(settings.p2p.endpoint, Some("127.0.0.1:12001".parse().unwrap()));
    let warnings = texts(&dir, &settings.warnings);
    assert!(
        !warnings.iter().any(|warning| warning.contains("5JNHfZYK")),
        "a private key is printed"
    );
    assert!(
        warnings.iter().all(|warning| warning.contains("without effect")),
        "{warnings:#?}"
    );
    assert_eq!(warnings.len(), 13, "{warnings:#?}");
}

#[test]
fn hiveds_sentences_are_kept() {
    for value in ["-2", "10000", "99999999999"] {
        let expected =
            format!("config.ini:1: Not supported block log split value {value}; -1, 0 and 1 to 9999 are");
        assert_eq!(problems(&format!("block-log-split = {value}")), [expected]);
    }
    assert_eq!(
        problems("stop-at-block = 1\nexit-at-block = 2"),
        [
            "--exit-at-block and --stop-at-block cannot be used together (they stand at config.ini:2 and config.ini:1)"
        ]
    );
    assert_eq!(
        settings("block-log-split = 0").block_log.split,
        BlockLogSplit::HeadOnly
    );
    assert_eq!(
        settings("block-log-split = 12").block_log.split,
        BlockLogSplit::Parts(12)
    );
}

#[test]
fn values_out_of_range_or_of_another_type_are_faults() {
    for (text, expected) in [
        (
            "stats-interval = 0",
            "option `stats-interval`: \"0\" is not a whole number from 1 to 86400",
        ),
        (
            "exit-at-block = 0",
            "option `exit-at-block`: \"0\" is not a whole number from 1 to 4294967295",
        ),
        (
            "exit-at-block = 4294967296",
            "option `exit-at-block`: \"4294967296\" is not a whole number from 1 to 4294967295",
        ),
        (
            "block-log-split = x",
            "option `block-log-split`: \"x\" is not a whole number",
        ),
        (
            "blockchain-thread-pool-size = -1",
            "option `blockchain-thread-pool-size`: \"-1\" is not a whole number from 1 to 1024",
        ),
        (
            "validate-during-replay = maybe",
            "option `validate-during-replay`: \"maybe\" is not 1 or 0 (yes/no, on/off, true/false)",
        ),
        (
            "stats-file =",
            "option `stats-file` needs a value: stats-file = FILE",
        ),
        (
            "stats-file",
            "option `stats-file` needs a value: stats-file = FILE",
        ),
        (
            "checkpoint",
            "option `checkpoint` needs a value: checkpoint = [N,ID]",
        ),
        (
            "p2p-endpoint = example.org:1",
            "option `p2p-endpoint`: \"example.org:1\": expected an IP address to listen on, found a name",
        ),
        (
            "chain = nowhere",
            "option `chain`: chain \"nowhere\" is neither built in (hive, hive-testnet, hive-mirrornet, steem-testnet) nor a chain specification file",
        ),
        (
            "checkpoint-file = /nonexistent/c",
            "checkpoint file /nonexistent/c cannot be read: No such file or directory (os error 2)",
        ),
        (
            "= 1",
            "no option before the equals sign; expected `option = value`",
        ),
        (
            "stats interval = 1",
            "blanks inside the option's name; expected `option = value`",
        ),
    ] {
        assert_eq!(problems(text), [format!("config.ini:1: {expected}")], "{text}");
    }
    assert_eq!(
        problems("chain = hive\nalternate-chain-spec = x"),
        ["options `chain` (config.ini:1) and `alternate-chain-spec` (config.ini:2) cannot be used together"]
    );
}

#[test]
fn all_faults_are_shown_at_once() {
    let text =
        "chekpoint = 1\nstats-interval = 0\ncheckpoint = [7\nblock-log-split = 1\nblock-log-split = 2\n";
    let (dir, result) = load_with(text, &[]);
    let problems = result.unwrap_err();
    let shown = texts(&dir, &[problems.to_string()]).remove(0);
    assert!(shown.starts_with("4 faults in the configuration:\n  "), "{shown}");
    for line in 1..=3 {
        assert!(shown.contains(&format!("config.ini:{line}: ")), "{line}: {shown}");
    }
    assert!(
        shown.contains("config.ini:5: option `block-log-split`"),
        "{shown}"
    );
}

#[test]
fn a_bad_value_in_the_file_is_a_fault_though_overridden() {
    let (_dir, result) = load_with("stats-interval = x", &[("stats-interval", "5")]);
    assert_eq!(result.unwrap_err().0.len(), 1);
}

#[test]
fn a_named_file_must_exist_and_may_lie_in_the_data_folder() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("other.ini"), "stats-interval = 4").unwrap();
    let mut values = OptionValues::default();
    values.add("data-dir", dir.path().to_str().unwrap());
    let load = |name: &str| Settings::load(&values, Some(Path::new(name)), Path::new("/nonexistent"));
    assert_eq!(load("other.ini").unwrap().stats.interval, Duration::from_secs(4));
    let missing = load("missing.ini").unwrap_err().to_string();
    assert_eq!(
        missing,
        "configuration file missing.ini cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn checkpoints_come_from_a_file_too() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list");
    fs::write(&list, format!("# mine\n[1,{ID_1}]\n")).unwrap();
    let text = format!(
        "checkpoint-file = {}\ncheckpoint = [2,{ID_2}]\ncheckpoint = [1,{ID_1}]",
        list.display()
    );
    let (_dir, result) = load_with(&text, &[]);
    let settings = result.unwrap();
    assert_eq!(settings.checkpoints.len(), 2);
    let notice = settings.warnings[0].to_string();
    assert!(
        notice.starts_with(&format!("Duplicate checkpoint specification [1,{ID_1}]")),
        "{notice}"
    );
}

proptest! {
    #[test]
    fn any_file_is_accepted_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = load_with(bytes, &[]);
    }

    #[test]
    fn any_value_of_any_option_is_accepted_or_refused(
        index in 0..table::OPTIONS.len(),
        value in "[^#\\r\\n]{0,40}",
    ) {
        let name = table::OPTIONS[index].name;
        let (_dir, result) = load_with(format!("{name} = {value}"), &[]);
        if let Err(problems) = result {
            prop_assert!(!problems.0.is_empty());
        }
    }
}
