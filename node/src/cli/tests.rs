//! What the command line accepts and refuses.

use clap::{CommandFactory, Parser};

use super::config_options::{ReplayOptions, RunOptions, names};
use super::*;
use crate::config::table;

fn parse(line: &str) -> Result<Command, clap::Error> {
    Cli::try_parse_from(line.split_whitespace()).map(|cli| cli.command)
}

fn run_values(line: &str) -> OptionArgs<RunOptions> {
    match parse(line) {
        Ok(Command::Run(args)) => args.options,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}

#[test]
fn run_takes_every_option_of_the_table() {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").unwrap();
    for option in table::OPTIONS {
        let found = [run, &cli].iter().any(|command| {
            command
                .get_arguments()
                .any(|argument| argument.get_long() == Some(option.name))
        });
        assert!(found, "{}", option.name);
        assert!(!option.help.is_empty());
    }
    assert!(names::<RunOptions>().len() > names::<ReplayOptions>().len());
}

#[test]
fn values_reach_the_table() {
    let args = run_values(
        "cairn run -d /x -c [1,00000001] --checkpoint [2,00000002] --block-log-split -1 \
         --enable-block-log-compression 0 --json --validate-during-replay=off --p2p-endpoint",
    );
    let first = |name| args.values.first(name);
    assert_eq!(first("data-dir"), Some("/x"));
    assert_eq!(first("checkpoint"), Some("[1,00000001]"));
    assert_eq!(first("block-log-split"), Some("-1"));
    assert_eq!(first("enable-block-log-compression"), Some("0"));
    assert_eq!(first("json"), Some("1"));
    assert_eq!(first("validate-during-replay"), Some("off"));
    assert_eq!(first("p2p-endpoint"), Some("127.0.0.1:9876"));
    assert_eq!(first("stats-interval"), None);
}

#[test]
fn the_contract_is_accepted() {
    for line in [
        "cairn run",
        "cairn run -d D --config F --exit-at-block 5 --json",
        "cairn replay --block-log P",
        "cairn replay -d D --block-log P --chain hive-testnet -c [1,00000001] --checkpoint-file F \
         --validate-during-replay --exit-at-block 100 --stats-interval 5 --json --zstd-dictionaries Z",
        "cairn log info P --json --chain C --zstd-dictionaries Z",
        "cairn log verify P --checkpoint [1,00000001] -c [2,00000002] --checkpoint-file F --json",
        "cairn log ids P --from 1 --to 3",
        "cairn log get P 7 --json",
        "cairn log get P 7 --raw",
        "cairn log decode - --chain hive-testnet --json",
        "cairn log decode F",
        "cairn state info -d D --json",
        "cairn state get -d D account initminer",
        "cairn state get -d D --key 00ff",
        "cairn state identity -d D --json",
        "cairn devnet generate --blocks 10 --out D --seed 7 --profile mixed --compress",
        "cairn demo",
        "cairn demo --blocks 100",
        "cairn --log-level debug demo",
        "cairn demo --log-level debug",
    ] {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    for line in [
        "cairn run --chekpoint [1,00000001]",
        "cairn run --block-log-split 1 --block-log-split 2",
        "cairn run surplus",
        "cairn replay --p2p-endpoint 127.0.0.1:1",
        "cairn log get P",
        "cairn log get P x",
        "cairn log get P 1 --raw --json",
        "cairn log info",
        "cairn state info",
        "cairn state get -d D",
        "cairn devnet generate --blocks 0 --out D",
        "cairn nonsense",
        "cairn",
    ] {
        let error = parse(line)
            .map(|command| panic!("{line}: {command:?}"))
            .unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
    }
    let error = parse("cairn run --chekpoint [1,00000001]")
        .unwrap_err()
        .to_string();
    assert!(error.contains("--checkpoint"), "{error}");
}

#[test]
fn help_and_version_are_no_errors() {
    for line in [
        "cairn --help",
        "cairn --version",
        "cairn run --help",
        "cairn log info --help",
    ] {
        assert_eq!(parse(line).unwrap_err().exit_code(), 0, "{line}");
    }
}

#[test]
fn the_help_says_what_the_program_is_for() {
    let help = parse("cairn --help").unwrap_err().to_string();
    assert!(
        help.starts_with("Gets a Hive node's blocks, verified against your checkpoints"),
        "{help}"
    );
    assert!(help.contains("Exit codes: 0 done, 1 failed"), "{help}");
}
