//! `cairn state identity`: counts and digests of the canonical identity state.

use std::io;

use cairn_rules::identity::{Section, canonical_with};
use serde_json::{Map, Value, json};

use crate::cli::StateIdentityArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;

/// Fields of an account's line, counted from 0.
const PROXY: usize = 6;
/// Fields of a witness's line.
const SIGNING_KEY: usize = 1;

/// Prints the identity state in short.
///
/// # Errors
/// When there is no state, or it cannot be read.
pub fn execute(args: &StateIdentityArgs) -> Result<ExitCode, CommandError> {
    let report = report(&DataDir::new(&args.data_dir))?;
    if args.json {
        output::json_line(&report)?;
    } else {
        output::json_pretty(&report)?;
    }
    Ok(ExitCode::Done)
}

fn report(data_dir: &DataDir) -> anyhow::Result<Value> {
    let store = data_dir.read_state()?;
    let (mut proxies, mut signing_keys) = (Map::new(), Map::new());
    let report = canonical_with(&store, |section, line| {
        match section {
            Section::Accounts => note(&mut proxies, line, PROXY),
            Section::Witnesses => note(&mut signing_keys, line, SIGNING_KEY),
            _ => {}
        }
        io::Result::Ok(())
    })?;
    let mut out = Map::new();
    out.insert("head_block_num".into(), report.head_number.into());
    out.insert("head_block_id".into(), report.head_id.to_string().into());
    out.insert("head_block_time".into(), report.head_time.0.into());
    out.insert("hardfork".into(), report.hardfork.into());
    for section in Section::ALL {
        let digest = report.section(section);
        let value = json!({ "count": digest.count, "sha256": hex::encode(digest.sha256) });
        out.insert(section.name().into(), value);
    }
    out.insert(
        "identity_sha256".into(),
        hex::encode(report.identity_sha256).into(),
    );
    out.insert("proxies".into(), proxies.into());
    out.insert("accounts_mined".into(), report.accounts_mined.into());
    out.insert("signing_keys".into(), signing_keys.into());
    out.insert(
        "tapos_ring_sha256".into(),
        hex::encode(report.tapos_ring_sha256).into(),
    );
    out.insert("known_transactions".into(), report.known_transactions.into());
    out.insert("comments_undecided".into(), report.comments_undecided.into());
    Ok(out.into())
}

/// Keeps a field of a line under the line's name, unless it is empty.
fn note(map: &mut Map<String, Value>, line: &[u8], field: usize) {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split('|');
    let Some(name) = fields.next() else { return };
    if let Some(value) = fields.nth(field - 1).filter(|value| !value.is_empty()) {
        map.insert(name.to_owned(), value.into());
    }
}
