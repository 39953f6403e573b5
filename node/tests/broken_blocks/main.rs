//! Blocks that break one rule each: full validation refuses each of them with the error that names the rule, keeps the
//! like block that differs in that rule alone, and leaves no trace of the refused one.
//!
//! `docs/validation.md` has the table that this test makes.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod naming;
mod node;
mod refusal;

use std::path::Path;

use cairn_node::devnet::{ChainShape, Rule, Step, Tip};

use crate::naming::names;
use crate::node::Node;
use crate::refusal::Refusal;

/// What each rule of the table is refused with, by the rules of this hardfork.
fn refusals(hardfork: u8) -> Vec<(Rule, Option<Refusal>)> {
    let mut node = Node::new(hardfork);
    let rules = Rule::ALL.iter();
    rules.map(|rule| (*rule, node.try_rule(*rule))).collect()
}

/// Rules that do not exist under a hardfork.
fn missing(refusals: &[(Rule, Option<Refusal>)]) -> Vec<Rule> {
    let missing = refusals.iter().filter(|(_, refusal)| refusal.is_none());
    missing.map(|(rule, _)| *rule).collect()
}

#[test]
fn each_rule_is_refused_by_its_own_name() {
    for (hardfork, without) in [
        (28, vec![Rule::NotMixed, Rule::NothingUnused]),
        (27, vec![Rule::ActiveIsNotPosting, Rule::ProposalExists]),
    ] {
        let refusals = refusals(hardfork);
        assert_eq!(missing(&refusals), without);
        let mut wrong = Vec::new();
        for (rule, refusal) in &refusals {
            let Some(refusal) = refusal else { continue };
            println!("{rule}: {}: {}", refusal.name(), refusal.text());
            if !names(refusal, *rule) {
                wrong.push(format!("{rule}: {refusal:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn the_documentation_has_every_rule_with_its_error() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/validation.md");
    let documented: Vec<String> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(str::to_owned)
        .collect();
    let mut found = refusals(28);
    for (rule, refusal) in refusals(27) {
        let entry = found.iter_mut().find(|(known, _)| *known == rule).unwrap();
        if entry.1.is_none() {
            entry.1 = refusal;
        }
    }
    let rows: Vec<String> = found
        .iter()
        .map(|(rule, refusal)| {
            let name = refusal.as_ref().unwrap().name();
            format!("| `{rule}` | {} | `{name}` |", rule.breach())
        })
        .collect();
    assert_eq!(documented, rows, "the table should be:\n{}", rows.join("\n"));
}

#[test]
fn first_blocks_break_nothing() {
    let mut tip = Tip::genesis(ChainShape::small(5));
    for _ in 0..2 {
        for rule in Rule::ALL {
            let before = tip.id();
            assert!(tip.break_rule(*rule).is_err() && tip.keep_rule(*rule).is_err());
            assert_eq!(tip.id(), before);
        }
        tip.grow(&Step::default());
    }
    assert!(tip.break_rule(Rule::Name).is_ok());
}
