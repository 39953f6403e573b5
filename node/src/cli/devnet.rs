//! `cairn devnet ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::devnet::{BrokenAt, ForkAt, MAX_MISSED_SLOTS, MAX_WITNESSES, Rule};

/// Commands on local chains.
#[derive(Clone, Debug, Subcommand)]
pub enum DevnetCommand {
    /// Write a valid chain in Hive's format: real keys, real signatures, several witnesses.
    ///
    /// The same seed, profile and number of blocks give the same chain, byte for byte.
    Generate(GenerateArgs),
}

/// Arguments of `cairn devnet generate`.
#[derive(Clone, Debug, Args)]
pub struct GenerateArgs {
    /// Number of blocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: u32,

    /// Folder to write to; made if it does not exist. A block log that is there already is not overwritten.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Seed of everything random.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// What the blocks hold: mixed (30 to 60 transactions a block: custom_json, votes, comments, transfers,
    /// account operations), large (blocks of nearly 2 MiB, custom_json only) or empty (no transactions).
    #[arg(long, value_name = "NAME", default_value = "mixed")]
    pub profile: String,

    /// Witnesses that register, initminer included, 1 to 21; all of them produce from block 43 on.
    #[arg(long, value_name = "N", default_value_t = MAX_WITNESSES,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WITNESSES)))]
    pub witnesses: u32,

    /// Chance of each slot to be missed, in percent, 0 to 75.
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_MISSED_SLOTS)))]
    pub missed_slots: u32,

    /// Also write a fork into OUT/fork-AT: the chain up to block AT, and DEPTH other blocks behind it. May be given several
    /// times.
    #[arg(long, value_name = "AT:DEPTH")]
    pub fork: Vec<ForkAt>,

    /// Let block BLOCK (3 or later) break a rule of full validation, and nothing else; --help lists the rules.
    #[arg(long = "break", value_name = "RULE@BLOCK", long_help = rules_help())]
    pub broken: Option<BrokenAt>,

    /// Compress the blocks with zstd.
    #[arg(long)]
    pub compress: bool,

    /// Print one JSON object as the last line.
    #[arg(long)]
    pub json: bool,
}

/// The rules that a block can break.
fn rules_help() -> String {
    let mut text = "Let block BLOCK (3 or later) break a rule of full validation, and nothing else. The chain goes on behind it \
                    as a careless witness would make it. Rules:"
        .to_owned();
    for rule in Rule::ALL {
        text.push_str(&format!("\n  {}: {}", rule.name(), rule.breach()));
    }
    text
}
