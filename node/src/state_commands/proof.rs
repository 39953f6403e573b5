//! `cairn state get --proof` and `cairn state verify-proof`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use cairn_rules::registers::Globals;
use cairn_state::proof::RegisterProof;
use cairn_state::trie::NodeHash;
use cairn_state::{StateError, Store};
use serde_json::{Value, json};

use crate::cli::StateVerifyProofArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;
use crate::state_commands::claims::{Claims, Held};
use crate::state_commands::get::key_of;

/// What is read of a file or of standard input at most: two proofs of the largest values, in hex.
const LONGEST_INPUT: u64 = 4 * RegisterProof::LONGEST as u64;

/// Prints registers with their proofs.
///
/// # Errors
/// When the state cannot be read.
pub(crate) fn print(
    store: &Store,
    trie_file: &Path,
    keys: &[(&'static str, Vec<u8>)],
    one_line: bool,
) -> Result<ExitCode, CommandError> {
    // The head is one of the chain's global properties: their proof is the head's.
    let (_, globals) = key_of::<Globals>(());
    let bytes: Vec<&Vec<u8>> = keys.iter().map(|(_, key)| key).chain([&globals]).collect();
    let (root, mut proofs) = prove(store, trie_file, &bytes)?;
    if let Some((proof, lie)) = proofs
        .iter()
        .find_map(|proof| Some((proof, proof.verify(&root).err()?)))
    {
        return Err(CommandError::Failed(anyhow::anyhow!(
            "the state in {} is damaged: the proof of register {} does not hold: {lie}; `cairn state check` tells more",
            store.dir().display(),
            hex::encode(&proof.key),
        )));
    }
    let head_proof = proofs.pop().context("no proof of the head was made")?;
    let registers: Vec<Value> = keys
        .iter()
        .zip(&proofs)
        .map(|((name, _), proof)| {
            json!({
                "register": name,
                "key": hex::encode(&proof.key),
                "value": proof.value.as_ref().map(hex::encode),
                "proof": hex::encode(proof.encode()),
            })
        })
        .collect();
    let head = store.head();
    let (number, id) = head.map_or((0, [0; 20]), |head| (head.number, head.id));
    let value = json!({
        "head": { "number": number, "id": hex::encode(id), "proof": hex::encode(head_proof.encode()) },
        "root": root.to_string(),
        "registers": registers,
    });
    output::json(&value, one_line)?;
    Ok(ExitCode::Done)
}

/// The root with a proof for each key: by the trie file, or else by reading all registers.
fn prove(
    store: &Store,
    trie_file: &Path,
    keys: &[&Vec<u8>],
) -> anyhow::Result<(NodeHash, Vec<RegisterProof>)> {
    let mut proofs = Vec::new();
    match store.prove_all_by_trie_file(trie_file, keys, |proof| proofs.push(proof)) {
        Ok(root) => return Ok((root, proofs)),
        Err(StateError::TrieFile { path, source }) => tracing::info!(
            target: "trie",
            "{}: the trie file is not used: {source}; the proofs are made from {} registers",
            path.display(),
            store.counts().registers
        ),
        Err(error) => return Err(error.into()),
    }
    let mut progress = Progress::start("reading", "registers", store.counts().registers);
    let root = store.prove_all(keys, |proof| proofs.push(proof), |done| progress.set(done))?;
    Ok((root, proofs))
}

/// Verifies proofs against a root, and what a file with proofs says beside them.
///
/// # Errors
/// When an argument is no root or no proof (usage), or one cannot be read. A proof that does not hold, or does not show
/// what the file says of it, is no error but exit code 3.
pub fn verify(args: &StateVerifyProofArgs) -> Result<ExitCode, CommandError> {
    let root = parse_root(&args.root).map_err(CommandError::Usage)?;
    let mut held = Vec::new();
    for argument in &args.proofs {
        let read = claims_in(argument).with_context(|| shortened(argument));
        held.extend(read.map_err(CommandError::Usage)?.check(&root));
    }
    let all = held.iter().all(|held| held.reason.is_none());
    if args.json {
        let list = |registers| -> Vec<Value> {
            let kept = held.iter().filter(|held| held.is_register() == registers);
            kept.map(Held::to_json).collect()
        };
        let (proofs, fields) = (list(true), list(false));
        output::json_line(
            &json!({ "root": root.to_string(), "holds": all, "proofs": proofs, "fields": fields }),
        )?;
    } else {
        for held in &held {
            output::text(&format!("{held}\n"))?;
        }
    }
    Ok(match all {
        true => ExitCode::Done,
        false => ExitCode::Contradiction,
    })
}

fn parse_root(text: &str) -> anyhow::Result<NodeHash> {
    let mut root = [0; 32];
    hex::decode_to_slice(text, &mut root)
        .with_context(|| format!("`{}` is not a root: 64 hex digits are expected", shortened(text)))?;
    Ok(NodeHash::from_bytes(root))
}

/// The proofs that an argument names, and what it says about them.
fn claims_in(argument: &str) -> anyhow::Result<Claims> {
    if argument == "-" {
        return Claims::read(&read(io::stdin().lock())?);
    }
    let path = Path::new(argument);
    match path.is_file() {
        true => Claims::read(&read(File::open(path)?)?),
        false => Claims::read(argument),
    }
}

fn read(input: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    input
        .take(LONGEST_INPUT + 1)
        .read_to_string(&mut text)
        .context("cannot be read as text")?;
    anyhow::ensure!(
        text.len() as u64 <= LONGEST_INPUT,
        "more than {LONGEST_INPUT} bytes: no proof is so long"
    );
    Ok(text)
}

/// An argument as it can be shown.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
