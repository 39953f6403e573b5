//! `cairn demo`

use std::path::PathBuf;

use clap::Args;

/// Arguments of `cairn demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Length of the generated chain, in blocks.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub blocks: u32,

    /// Folder for the chain and both nodes, kept afterwards [default: a temporary one, removed at the end]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
