//! What a file of `cairn state get --proof` says, held against what its proofs show.
//!
//! Whoever reads such a file reads its fields, not the hex of its proofs. So a field that says something else than the
//! proof beside it is a lie like a proof that does not hold.

use std::fmt;

use anyhow::Context;
use cairn_rules::registers::{Fields, Globals, Record};
use cairn_state::proof::RegisterProof;
use cairn_state::trie::NodeHash;
use serde_json::{Value, json};

use crate::state_commands::get::{key_of, kind_of};

/// A proof, and the fields beside it.
#[derive(Debug)]
struct Claim {
    proof: RegisterProof,
    /// `register`, `key` and `value`, of the ones that are there.
    fields: Value,
}

/// All that one argument holds.
#[derive(Debug)]
pub(super) struct Claims {
    claims: Vec<Claim>,
    /// `root` and `head`; null for a proof in hex.
    whole: Value,
}

/// One thing that was verified.
#[derive(Debug)]
pub(super) struct Held {
    what: What,
    /// Why it does not hold; `None`: it does.
    pub(super) reason: Option<String>,
}

#[derive(Debug)]
enum What {
    Register(RegisterProof),
    /// The text of a field of the whole file.
    Field(&'static str, String),
}

impl Claims {
    /// Reads a proof in hex, or what `cairn state get --proof` printed.
    ///
    /// # Errors
    /// When it is neither.
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        if !text.starts_with('{') {
            let (proof, fields) = (decode(text)?, Value::Null);
            return Ok(Self {
                claims: vec![Claim { proof, fields }],
                whole: Value::Null,
            });
        }
        let whole: Value = serde_json::from_str(text).context("not JSON")?;
        let registers = whole["registers"]
            .as_array()
            .context("the JSON has no list `registers`")?;
        let claims = registers.iter().enumerate().map(|(at, register)| {
            let hex = register["proof"]
                .as_str()
                .with_context(|| format!("register {at} has no `proof`"))?;
            let proof = decode(hex).with_context(|| format!("register {at}"))?;
            let fields = register.clone();
            Ok(Claim { proof, fields })
        });
        let claims: Vec<_> = claims.collect::<anyhow::Result<_>>()?;
        anyhow::ensure!(!claims.is_empty(), "there are no registers in it");
        Ok(Self { claims, whole })
    }

    /// Verifies everything against a root.
    pub(super) fn check(self, root: &NodeHash) -> Vec<Held> {
        let mut held = Vec::new();
        if let Some(said) = self.whole.get("root") {
            let reason =
                (!same_text(said, &root.to_string())).then(|| format!("the root to verify is {root}"));
            let what = What::Field("root", shown(said));
            held.push(Held { what, reason });
        }
        if let Some(said) = self.whole.get("head") {
            let what = What::Field("head", format!("{} {}", said["number"], shown(&said["id"])));
            let reason = head_fault(said, root).err();
            held.push(Held { what, reason });
        }
        held.extend(self.claims.into_iter().map(|claim| claim.check(root)));
        held
    }
}

impl Claim {
    fn check(self, root: &NodeHash) -> Held {
        let reason = match self.proof.verify(root) {
            Err(error) => Some(error.to_string()),
            Ok(()) => self.false_field(),
        };
        let what = What::Register(self.proof);
        Held { what, reason }
    }

    /// The first field that says something else than the proof.
    fn false_field(&self) -> Option<String> {
        let RegisterProof { key, value, .. } = &self.proof;
        let proven = [
            ("key", json!(hex::encode(key))),
            ("value", json!(value.as_ref().map(hex::encode))),
            ("register", json!(kind_of(key))),
        ];
        proven.into_iter().find_map(|(name, proven)| {
            let said = self.fields.get(name)?;
            // A register that was asked for by its key is called just that.
            let unnamed = name == "register" && said == "register";
            (*said != proven && !unnamed).then(|| {
                format!(
                    "the file says {name} {}, the proof is of {}",
                    shown(said),
                    shown(&proven)
                )
            })
        })
    }
}

/// The head is proven by the chain's global properties.
fn head_fault(said: &Value, root: &NodeHash) -> Result<(), String> {
    let hex = said["proof"].as_str().ok_or("there is no proof of it")?;
    let proof = decode(hex).map_err(|error| format!("{error:#}"))?;
    proof.verify(root).map_err(|error| error.to_string())?;
    if proof.key != key_of::<Globals>(()).1 {
        return Err("its proof is of another register than the chain's global properties".to_owned());
    }
    let value = proof.value.unwrap_or_default();
    let globals = Globals::decode(&mut Fields::new(&value)).map_err(|error| error.to_string())?;
    let same = said["number"] == globals.head_number && same_text(&said["id"], &globals.head_id.to_string());
    match same {
        true => Ok(()),
        false => Err(format!(
            "the proof is of head {} {}",
            globals.head_number, globals.head_id
        )),
    }
}

impl Held {
    /// Whether it is a register, and not a field of the whole file.
    pub(super) const fn is_register(&self) -> bool {
        matches!(self.what, What::Register(_))
    }

    /// One element of the list in the output.
    pub(super) fn to_json(&self) -> Value {
        let (holds, reason) = (self.reason.is_none(), self.reason.as_deref());
        match &self.what {
            What::Register(proof) => json!({
                "key": hex::encode(&proof.key),
                "value": proof.value.as_ref().map(hex::encode),
                "holds": holds,
                "reason": reason,
            }),
            What::Field(name, text) => {
                json!({ "field": name, "text": text, "holds": holds, "reason": reason })
            }
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reason.is_none() {
            "holds: "
        } else {
            "does not hold: "
        })?;
        match &self.what {
            What::Register(proof) => {
                let key = hex::encode(&proof.key);
                match &proof.value {
                    Some(value) => write!(f, "register {key} has value {}", hex::encode(value)),
                    None => write!(f, "register {key} does not exist"),
                }
            }
            What::Field(name, text) => write!(f, "{name} {text}"),
        }?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

fn decode(text: &str) -> anyhow::Result<RegisterProof> {
    let bytes = hex::decode(text).context("neither a file nor a proof in hex")?;
    Ok(RegisterProof::decode(&bytes)?)
}

fn same_text(said: &Value, proven: &str) -> bool {
    said.as_str().is_some_and(|said| said == proven)
}

/// A text without its quotation marks, anything else as JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
