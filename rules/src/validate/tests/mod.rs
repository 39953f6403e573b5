//! A table of operations for each rule: one that keeps it, one that breaks it just so.

#![allow(clippy::needless_pass_by_value, reason = "the tables are written with values")]

mod accounts;
mod assets;
mod comments;
mod json;
mod mining;
mod witnesses;

use cairn_chain::{AccountName, Authority, ChainSpec, Operation, PublicKey};

use super::operation;

/// The last hardfork.
const TODAY: u8 = 28;

fn name(text: &str) -> AccountName {
    AccountName::from(text)
}

fn key(number: u8) -> PublicKey {
    let mut bytes = [number; 33];
    bytes[0] = 2;
    PublicKey(bytes)
}

/// An authority of so many keys, each with weight 1.
fn authority_of(keys: u8) -> Authority {
    Authority {
        weight_threshold: 1,
        account_auths: Vec::new(),
        key_auths: (0..keys).map(|number| (key(number), 1)).collect(),
    }
}

fn verdict(op: &Operation<'_>, hardfork: u8, spec: &ChainSpec) -> Result<(), String> {
    operation(op, hardfork, spec).map_err(|error| error.to_string())
}

fn accepted_at(op: Operation<'static>, hardfork: u8) {
    assert_eq!(verdict(&op, hardfork, &ChainSpec::hive()), Ok(()), "{op:?}");
}

fn accepted(op: Operation<'static>) {
    accepted_at(op, TODAY);
}

/// The message of a refusal names what is wrong.
fn refused_at(op: Operation<'static>, hardfork: u8, message: &str) {
    let error = verdict(&op, hardfork, &ChainSpec::hive()).expect_err(&format!("{message}: accepted {op:?}"));
    assert!(error.contains(message), "{message:?} expected, {error:?} found");
}

fn refused(op: Operation<'static>, message: &str) {
    refused_at(op, TODAY, message);
}

/// An operation exists from one hardfork on, or until another.
fn exists_since(op: Operation<'static>, hardfork: u8) {
    refused_at(op.clone(), hardfork - 1, &format!("before hardfork {hardfork}"));
    accepted_at(op, hardfork);
}

fn exists_until(op: Operation<'static>, hardfork: u8) {
    accepted_at(op.clone(), hardfork - 1);
    refused_at(op, hardfork, &format!("since hardfork {hardfork}"));
}

/// Text of so many letters.
fn letters(count: usize) -> &'static [u8] {
    const LETTERS: [u8; 10_000] = [b'a'; 10_000];
    &LETTERS[..count]
}
