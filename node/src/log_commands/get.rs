//! `cairn log get`: one block as JSON or as raw bytes.

use std::sync::Arc;

use cairn_block_log::BlockDecoder;
use cairn_chain::block_json;

use crate::cli::GetArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;

use super::block;
use super::source::LogSource;

/// Prints the block.
///
/// # Errors
/// A number outside the log, a block that cannot be read.
pub fn execute(args: &GetArgs) -> Result<ExitCode, CommandError> {
    let source = LogSource::open(&args.log)?;
    let stored = source.log.read(args.number).map_err(anyhow::Error::from)?;
    let mut decoder = BlockDecoder::new(Arc::clone(source.log.dictionaries()));
    let block =
        block::decode(&source.log, &mut decoder, stored, source.chain.symbols).map_err(block::with_advice)?;
    if args.raw {
        output::text(&(hex::encode(block.bytes()) + "\n"))?;
        return Ok(ExitCode::Done);
    }
    let json = block_json(&block).map_err(anyhow::Error::from)?;
    output::json(&json, args.json)?;
    Ok(ExitCode::Done)
}
