//! The figures as a table.

use serde_json::Value;

pub(super) fn of(result: &Value) -> String {
    let mut text = format!(
        "{} registers, {} batches of {} operations, {} thread{} for the trie\n",
        result["registers"],
        result["rounds"],
        result["batch"],
        result["threads"],
        if result["threads"] == 1 { "" } else { "s" },
    );
    for (name, what, unit, digits) in ROWS {
        let value = result[name].as_f64().unwrap_or_default();
        text += &format!("  {what:<60}{value:>12.digits$} {unit}\n");
    }
    text
}

/// Key of the JSON object, what it is, unit, digits behind the point.
const ROWS: [(&str, &str, &str, usize); 21] = [
    ("load_s", "load", "s", 2),
    ("apply_ms", "a batch: set the registers, one by one", "ms", 2),
    ("root_ms", "a batch: root", "ms", 2),
    ("commit_ms", "a batch: commit, on the disk", "ms", 2),
    ("apart_total_ms", "a batch: all, one after the other", "ms", 2),
    ("batch_apply_ms", "a batch, as a node: read at once, set", "ms", 2),
    (
        "durable_ms",
        "a batch, as a node: on the disk and root known",
        "ms",
        2,
    ),
    ("total_ms", "a batch, as a node: all", "ms", 2),
    ("updates_per_s", "operations, as a node", "/s", 0),
    ("reads_per_s", "reads, from the register cache", "/s", 0),
    (
        "batch_reads_per_s",
        "reads, from the register cache, 100 at once",
        "/s",
        0,
    ),
    ("store_reads_per_s", "reads, from RocksDB", "/s", 0),
    (
        "store_batch_reads_per_s",
        "reads, from RocksDB, 100 at once",
        "/s",
        0,
    ),
    ("trie_bytes_per_register", "trie, a register", "bytes", 1),
    (
        "cache_bytes_per_register",
        "register cache, a register",
        "bytes",
        1,
    ),
    ("trie_rebuild_s", "start: trie made from the registers", "s", 3),
    ("trie_file_load_s", "start: trie from its file", "s", 3),
    ("trie_file_speedup", "start: file against registers", "times", 2),
    ("trie_file_mib", "trie file", "MiB", 1),
    ("disk_mib", "files of the registers", "MiB", 1),
    ("peak_rss_mib", "most memory", "MiB", 1),
];
