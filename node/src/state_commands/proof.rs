//! `cairn state get --proof` and `cairn state verify-proof`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use cairn_state::proof::RegisterProof;
use cairn_state::trie::NodeHash;
use cairn_state::{StateError, Store};
use serde_json::{Value, json};

use crate::cli::StateVerifyProofArgs;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

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
    let bytes: Vec<&Vec<u8>> = keys.iter().map(|(_, key)| key).collect();
    let (root, proofs) = prove(store, trie_file, &bytes)?;
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
        "head": { "number": number, "id": hex::encode(id) },
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

/// Verifies proofs against a root.
///
/// # Errors
/// When an argument is no root or no proof (usage), or one cannot be read. A proof that does not hold is no error but
/// exit code 3.
pub fn verify(args: &StateVerifyProofArgs) -> Result<ExitCode, CommandError> {
    let root = parse_root(&args.root).map_err(CommandError::Usage)?;
    let mut verified = Vec::new();
    for argument in &args.proofs {
        let read = proofs_in(argument).with_context(|| shortened(argument));
        for proof in read.map_err(CommandError::Usage)? {
            verified.push((proof.verify(&root), proof));
        }
    }
    let all = verified.iter().all(|(result, _)| result.is_ok());
    if args.json {
        let proofs: Vec<Value> = verified
            .iter()
            .map(|(result, proof)| {
                json!({
                    "key": hex::encode(&proof.key),
                    "value": proof.value.as_ref().map(hex::encode),
                    "holds": result.is_ok(),
                    "reason": result.as_ref().err().map(ToString::to_string),
                })
            })
            .collect();
        output::json_line(&json!({ "root": root.to_string(), "holds": all, "proofs": proofs }))?;
    } else {
        for (result, proof) in &verified {
            let key = hex::encode(&proof.key);
            let said = match &proof.value {
                Some(value) => format!("register {key} has value {}", hex::encode(value)),
                None => format!("register {key} does not exist"),
            };
            output::text(&match result {
                Ok(()) => format!("holds: {said}\n"),
                Err(reason) => format!("does not hold: {said}: {reason}\n"),
            })?;
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

/// The proofs that an argument names.
fn proofs_in(argument: &str) -> anyhow::Result<Vec<RegisterProof>> {
    if argument == "-" {
        return proofs_in_text(&read(io::stdin().lock())?);
    }
    let path = Path::new(argument);
    match path.is_file() {
        true => proofs_in_text(&read(File::open(path)?)?),
        false => proofs_in_text(argument),
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

/// Hex, or what [`print`] printed.
fn proofs_in_text(text: &str) -> anyhow::Result<Vec<RegisterProof>> {
    let text = text.trim();
    if !text.starts_with('{') {
        return Ok(vec![decode(text)?]);
    }
    let value: Value = serde_json::from_str(text).context("not JSON")?;
    let registers = value["registers"]
        .as_array()
        .context("the JSON has no list `registers`")?;
    let proofs = registers.iter().enumerate().map(|(at, register)| {
        let hex = register["proof"]
            .as_str()
            .with_context(|| format!("register {at} has no `proof`"))?;
        decode(hex).with_context(|| format!("register {at}"))
    });
    let proofs: Vec<_> = proofs.collect::<anyhow::Result<_>>()?;
    anyhow::ensure!(!proofs.is_empty(), "there are no registers in it");
    Ok(proofs)
}

fn decode(text: &str) -> anyhow::Result<RegisterProof> {
    let bytes = hex::decode(text).context("neither a file nor a proof in hex")?;
    Ok(RegisterProof::decode(&bytes)?)
}

/// An argument as it can be shown.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
