//! The summary as JSON and for people.

use std::collections::HashMap;
use std::fmt::Write as _;

use cairn_chain::PublicKey;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::digests::FilesDigest;
use super::summary::{Counts, Summary};

/// Most transaction keys that are listed; with more, only their number and digest are shown.
const MAX_LISTED_KEYS: usize = 100;

/// The JSON object, keys in their documented order.
pub(super) fn report(summary: &Summary, files: &FilesDigest) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("block_count", json!(summary.block_count));
    put(
        "first_block_num",
        json!(summary.first.map_or(0, |id| id.number())),
    );
    put("head_block_num", json!(summary.head.number()));
    put("head_block_id", json!(summary.head.to_string()));
    put(
        "first_block_previous",
        json!(summary.first_block_previous.to_string()),
    );
    let ids = summary
        .block_ids
        .iter()
        .map(|id| (id.number().to_string(), json!(id.to_string())));
    put("block_ids", Value::Object(ids.collect()));
    put("id_list_sha256", json!(summary.ids.hex()));
    put("transaction_count", json!(summary.transaction_count));
    put("transaction_id_list_sha256", json!(summary.transaction_ids.hex()));
    put(
        "duplicate_transaction_ids",
        json!(summary.duplicate_transaction_ids),
    );
    put("signature_count", json!(summary.signature_count));
    put("operation_count", json!(summary.operation_count));
    put("operation_counts", counts(&summary.operation_counts));
    put(
        "transaction_pack_counts",
        counts(&summary.transaction_pack_counts),
    );
    let empty = summary.blocks_by_transaction_count.get(&0).copied().unwrap_or(0);
    put("blocks_with_transactions", json!(summary.block_count - empty));
    let most = summary.blocks_by_transaction_count.last_key_value();
    put(
        "max_transactions_in_block",
        json!(most.map_or(0, |(count, _)| *count)),
    );
    put(
        "blocks_by_transaction_count",
        counts(&summary.blocks_by_transaction_count),
    );
    put("storage", counts(&summary.storage));
    put("dictionary_numbers", counts(&summary.dictionary_numbers));
    let uncompressed = summary.storage.get("uncompressed").copied().unwrap_or(0);
    put("compressed_blocks", json!(summary.block_count - uncompressed));
    put("file_size", json!(files.size));
    put("stored_block_bytes", json!(summary.stored_block_bytes));
    put(
        "uncompressed_block_bytes",
        json!(summary.uncompressed_block_bytes),
    );
    put("first_timestamp", json!(summary.first_timestamp.to_string()));
    put("last_timestamp", json!(summary.last_timestamp.to_string()));
    put("timestamp_steps_seconds", counts(&summary.timestamp_steps));
    put("witness_names", counts(&summary.witness_names));
    put("witness_signing_keys", by_count(&summary.witness_signing_keys));
    put("header_extensions", counts(&summary.header_extensions));
    put(
        "header_extension_values",
        counts(&summary.header_extension_values),
    );
    put("uncompressed_log_sha256", json!(summary.uncompressed_log.hex()));
    put("file_sha256", json!(files.sha256));
    let [matching, outside_log, mismatch] = summary.tapos;
    put(
        "tapos",
        json!({ "match": matching, "outside_log": outside_log, "mismatch": mismatch }),
    );
    put("signature_forms", counts(&summary.signature_forms));
    put("notes", counts(&summary.notes));
    put(
        "transactions_without_signature",
        json!(summary.transactions_without_signature),
    );
    put("chain_id", json!(summary.chain_id.to_string()));
    put(
        "distinct_transaction_signing_keys",
        json!(summary.transaction_signing_keys.len()),
    );
    put(
        "transaction_signing_key_list_sha256",
        json!(summary.transaction_keys.hex()),
    );
    if summary.transaction_signing_keys.len() <= MAX_LISTED_KEYS {
        put(
            "transaction_signing_keys",
            by_count(&summary.transaction_signing_keys),
        );
    }
    Value::Object(map)
}

fn counts<K: ToString>(counts: &Counts<K>) -> Value {
    Value::Object(
        counts
            .iter()
            .map(|(key, count)| (key.to_string(), json!(count)))
            .collect(),
    )
}

/// Highest count first, equal counts by the keys' text.
fn by_count(counts: &HashMap<PublicKey, u64>) -> Value {
    let mut list: Vec<_> = counts
        .iter()
        .map(|(key, count)| (key.to_string(), *count))
        .collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Value::Object(list.into_iter().map(|(key, count)| (key, json!(count))).collect())
}

/// The same for people: one line a key, lists shortened.
pub(super) fn for_people(report: &Value) -> String {
    /// Entries of a list that are shown.
    const SHOWN: usize = 12;
    let mut out = String::new();
    for (key, value) in report.as_object().into_iter().flatten() {
        let title = key.replace('_', " ");
        match value {
            Value::Object(entries) if entries.is_empty() => {
                let _ = writeln!(out, "{title:<36} none");
            }
            Value::Object(entries) => {
                let _ = writeln!(out, "{title}");
                for (name, value) in entries.iter().take(SHOWN) {
                    let _ = writeln!(out, "  {:<34} {}", name, plain(value));
                }
                if entries.len() > SHOWN {
                    let _ = writeln!(out, "  ... and {} more (see --json)", entries.len() - SHOWN);
                }
            }
            value => {
                let _ = writeln!(out, "{title:<36} {}", plain(value));
            }
        }
    }
    out
}

fn plain(value: &(impl Serialize + ToString)) -> String {
    value.to_string().trim_matches('"').to_owned()
}
