//! `cairn log decode`: one raw block from outside any log.
//!
//! The input is the block's bytes or their hex digits, with blanks and line ends between them. A block starts with the id
//! of the block before, whose first bytes are a block number, so raw bytes never look like hex.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use cairn_chain::{ChainSpec, DecodedBlock, MAX_BLOCK_SIZE, block_json};
use serde_json::{Map, Value, json};

use crate::chain_choice;
use crate::cli::DecodeArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;

/// Most bytes that are read: the largest block in hex with a line end after every two digits.
const MAX_INPUT: u64 = 4 * MAX_BLOCK_SIZE as u64;

/// Prints the decoded block.
///
/// # Errors
/// Input that cannot be read or is not a block.
pub fn execute(args: &DecodeArgs) -> Result<ExitCode, CommandError> {
    let chain = chain_choice::load(&args.chain.chain)?;
    let input = read(&args.file).with_context(|| format!("{} cannot be read", args.file.display()))?;
    let object = decode(&input, &chain)?;
    output::json(&object, args.json)?;
    Ok(ExitCode::Done)
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    let mut reader: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file)?)
    };
    reader.by_ref().take(MAX_INPUT + 1).read_to_end(&mut input)?;
    if input.len() as u64 > MAX_INPUT {
        return Err(io::Error::other(format!(
            "it has more than {MAX_INPUT} bytes, more than any block"
        )));
    }
    Ok(input)
}

/// The block's bytes: the input itself, or what its hex digits say.
fn raw_bytes(input: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = input
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    hex::decode(&digits)
        .ok()
        .filter(|bytes| !bytes.is_empty())
        .unwrap_or_else(|| input.to_vec())
}

/// Decodes a block from bytes or hex: number and id first, then the fields of hived's `block_api`, then what was computed.
///
/// # Errors
/// Input that is not a block of the chain.
pub fn decode(input: &[u8], chain: &ChainSpec) -> anyhow::Result<Value> {
    let bytes = raw_bytes(input);
    if bytes.len() > MAX_BLOCK_SIZE {
        return Err(anyhow!(
            "{} bytes found, a block has at most {MAX_BLOCK_SIZE}",
            bytes.len()
        ));
    }
    let length = bytes.len();
    let block = DecodedBlock::decode(bytes, chain.symbols).with_context(|| {
        format!(
            "not a block of the chain {} ({length} bytes; is it another chain's? see --chain)",
            chain.name
        )
    })?;
    let mut object = Map::new();
    object.insert("number".into(), json!(block.number()));
    object.insert("id".into(), json!(block.id().to_string()));
    match block_json(&block) {
        Ok(json) => {
            if let Value::Object(fields) = serde_json::to_value(&json)? {
                object.extend(fields);
            }
        }
        // A witness signature that gives no key is a fact about the block, not a reason not to show it.
        Err(error) => {
            if let Value::Object(fields) = serde_json::to_value(&block.block().header)? {
                object.extend(fields);
            }
            object.insert(
                "transactions".into(),
                serde_json::to_value(&block.block().transactions)?,
            );
            object.insert("signing_key_error".into(), json!(error.to_string()));
        }
    }
    object.insert(
        "computed_merkle_root".into(),
        json!(block.block().compute_merkle_root().to_string()),
    );
    object.insert("merkle_ok".into(), json!(block.check_merkle_root(chain).is_ok()));
    object.insert("size".into(), json!(length));
    Ok(Value::Object(object))
}
