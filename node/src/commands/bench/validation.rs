//! `cairn bench validation`: full validation on all processors against one, and against the signatures alone.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use cairn_block_log::{BlockDecoder, Dictionaries};
use cairn_chain::{ChainSpec, DecodedBlock, PublicKey, Sha256Digest, Signature};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::median;
use super::sync::can_pin;
use crate::cli::BenchValidationArgs;
use crate::exit::CommandError;
use crate::local_nodes::{self, NodeProcess, text};
use crate::output;
use crate::run::open_foreign_log;

/// Runs `cairn bench validation`.
///
/// # Errors
/// [`CommandError`].
pub(super) fn execute(args: &BenchValidationArgs) -> Result<(), CommandError> {
    let folder = TempDir::with_prefix("cairn-bench-").context("cannot make a temporary folder")?;
    let result = validation(args, folder.path())?;
    if args.json {
        output::json_line(&result)
    } else {
        output::text(&table(&result))
    }
}

fn validation(args: &BenchValidationArgs, folder: &Path) -> anyhow::Result<Value> {
    let seed = folder.join("seed");
    let spec = local_nodes::generate(&seed, args.blocks, false)?;
    let log = seed.join("blockchain");
    let signatures = signatures(&log, &spec)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (all, one_core) = (threads.to_string(), can_pin().then_some(0));
    let (mut ones, mut alls) = (Vec::new(), Vec::new());
    let (mut bare_ones, mut bares) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        let replay = |threads: &str, core: Option<u32>| {
            let own = folder.join(format!("{round}-{threads}"));
            local_nodes::write_config(&own, &format!("chain = {}\n", spec.display()))?;
            let words = ["replay", "-d", text(&own)?, "--block-log", text(&log)?, "--json"];
            let words = [
                &words[..],
                &[
                    "--validate-during-replay",
                    "--blockchain-thread-pool-size",
                    threads,
                ],
            ]
            .concat();
            let record = NodeProcess::start(None, core, &words)?.finish()?;
            std::fs::remove_dir_all(&own)?;
            record["seconds"].as_f64().context("a record without seconds")
        };
        ones.push(replay("1", one_core)?);
        alls.push(replay(&all, None)?);
        bare_ones.push(recover_all(&signatures, 1)?);
        bares.push(recover_all(&signatures, threads)?);
    }
    let (one, all, bare) = (median(ones), median(alls), median(bares));
    let bare_one = median(bare_ones);
    let count = signatures.len() as f64;
    Ok(json!({
        "blocks": args.blocks,
        "rounds": args.rounds,
        "signatures": signatures.len(),
        "processors": threads,
        "pinned": one_core.is_some(),
        "one_processor_s": one,
        "all_processors_s": all,
        "bare_recovery_one_s": bare_one,
        "bare_recovery_s": bare,
        "signatures_per_s": count / all.max(1e-9),
        "bare_signatures_per_s": count / bare.max(1e-9),
        "speedup": one / all.max(1e-9),
        "bare_speedup": bare_one / bare.max(1e-9),
        "of_bare_recovery": bare / all.max(1e-9),
    }))
}

/// All signatures of a log, with what they sign.
fn signatures(log: &Path, spec: &Path) -> anyhow::Result<Vec<(Signature, Sha256Digest)>> {
    let chain: Arc<ChainSpec> = crate::chain_choice::load(text(spec)?)?;
    let dictionaries = Arc::new(Dictionaries::none());
    let log = open_foreign_log(log, &chain, &dictionaries, false)?;
    let mut decoder = BlockDecoder::new(dictionaries);
    let mut signatures = Vec::new();
    for stored in log.sequential(1) {
        let block = DecodedBlock::decode(decoder.decode(&stored?)?, chain.symbols)?;
        let block = block.block();
        signatures.push((block.header.witness_signature, block.header.witness_digest()));
        let chain_id = chain.chain_id_at(block.header.timestamp);
        for transaction in &block.transactions {
            let digest = transaction.signature_digest(&chain_id);
            signatures.extend(
                transaction
                    .signatures
                    .iter()
                    .map(|signature| (*signature, digest)),
            );
        }
    }
    Ok(signatures)
}

/// Seconds to recover all keys and to do nothing with them, on so many threads.
fn recover_all(signatures: &[(Signature, Sha256Digest)], threads: usize) -> anyhow::Result<f64> {
    let started = Instant::now();
    let recovered: anyhow::Result<usize> = thread::scope(|scope| {
        let share = signatures.len().div_ceil(threads).max(1);
        let workers: Vec<_> = signatures
            .chunks(share)
            .map(|chunk| {
                scope.spawn(move || {
                    let key = |(signature, digest): &(Signature, Sha256Digest)| signature.recover(digest);
                    let keys: Result<Vec<PublicKey>, _> = chunk.iter().map(key).collect();
                    keys.map(|keys| std::hint::black_box(keys).len())
                })
            })
            .collect();
        let mut sum = 0;
        for worker in workers {
            let Ok(count) = worker.join() else {
                anyhow::bail!("a thread has ended before its time")
            };
            sum += count?;
        }
        Ok(sum)
    });
    anyhow::ensure!(recovered? == signatures.len(), "not every signature gave a key");
    Ok(started.elapsed().as_secs_f64())
}

fn table(result: &Value) -> String {
    let number = |name: &str| result[name].as_f64().unwrap_or_default();
    let blocks = number("blocks");
    let row = |what: &str, name: &str| {
        let seconds = number(name);
        format!(
            "  {what:<34}{seconds:>8.2} s  {:>8.0} blocks/s  {:>8.0} signatures/s\n",
            blocks / seconds.max(1e-9),
            number("signatures") / seconds.max(1e-9)
        )
    };
    format!(
        "{} blocks with {} signatures, medians of {} rounds, {} processors\n{}{}{}{}  speed-up {:.2}, of the signatures alone {:.2}; {:.0}% of what the signatures alone allow\n",
        result["blocks"],
        result["signatures"],
        result["rounds"],
        result["processors"],
        row("full validation, one processor", "one_processor_s"),
        row("full validation, all processors", "all_processors_s"),
        row("signatures alone, one thread", "bare_recovery_one_s"),
        row("signatures alone, all processors", "bare_recovery_s"),
        number("speedup"),
        number("bare_speedup"),
        100.0 * number("of_bare_recovery")
    )
}
