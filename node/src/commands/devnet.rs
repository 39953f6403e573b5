//! `cairn devnet`.

use std::cell::RefCell;
use std::time::Instant;

use serde_json::json;

use crate::cli::{DevnetCommand, GenerateArgs};
use crate::devnet::{self, ChainShape, GenerateError, GenerateOptions, Profile};
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

/// Generates a chain.
///
/// # Errors
/// [`CommandError`].
pub fn execute(command: &DevnetCommand) -> Result<ExitCode, CommandError> {
    match command {
        DevnetCommand::Generate(args) => generate(args),
    }
}

fn generate(args: &GenerateArgs) -> Result<ExitCode, CommandError> {
    let options = GenerateOptions {
        blocks: args.blocks,
        out: args.out.clone(),
        shape: ChainShape {
            profile: args.profile.parse::<Profile>().map_err(CommandError::usage)?,
            witnesses: args.witnesses,
            missed_slots: args.missed_slots,
            ..ChainShape::new(args.seed)
        },
        compress: args.compress,
        threads: 0,
        faults: Vec::new(),
        broken: args.broken,
        forks: args.fork.clone(),
    };
    let started = Instant::now();
    let bar = RefCell::new(Progress::start("generating", "blocks", u64::from(args.blocks)));
    let generated = devnet::generate(&options, &|step| bar.borrow_mut().set(u64::from(step.blocks)));
    drop(bar);
    let generated = generated.map_err(|error| match error {
        GenerateError::BlockCount { .. }
        | GenerateError::ForkStart { .. }
        | GenerateError::BrokenBlock { .. }
        | GenerateError::CannotBreak(_) => CommandError::usage(error),
        other => CommandError::Failed(other.into()),
    })?;
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        output::json_line(&json!({
            "head": { "number": generated.head.number(), "id": generated.head.to_string(), "time": generated.head_time.to_string() },
            "chain": generated.chain_name,
            "chain_id": generated.chain_id.to_string(),
            "chain_spec": generated.chain_spec_path,
            "block_log": generated.block_log_path,
            "blocks": args.blocks,
            "transactions": generated.transactions,
            "operations": generated.operations,
            "bytes": generated.bytes,
            "forks": generated.forks.iter().map(|fork| json!({
                "at": fork.fork.at,
                "head": { "number": fork.head.number(), "id": fork.head.to_string() },
                "block_log": fork.block_log_path,
            })).collect::<Vec<_>>(),
            "seconds": seconds,
        }))?;
    } else {
        output::text(&format!(
            "{} blocks with {} transactions, {} bytes, in {seconds:.2} s\nblock log   {}\nchain       {}\nhead        {} {}\n",
            args.blocks,
            generated.transactions,
            generated.bytes,
            generated.block_log_path.display(),
            generated.chain_spec_path.display(),
            generated.head.number(),
            generated.head,
        ))?;
        for fork in &generated.forks {
            output::text(&format!(
                "fork        {} {}, behind block {}, in {}\n",
                fork.head.number(),
                fork.head,
                fork.fork.at,
                fork.block_log_path.display(),
            ))?;
        }
    }
    Ok(ExitCode::Done)
}
