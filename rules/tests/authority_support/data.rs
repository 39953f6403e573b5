//! Where the fixtures are.

use std::path::PathBuf;

/// A fixture file: below `CAIRN_HIVE_DATA`, or beside the workspace. `None`, with a line that says so, if it is missing.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CAIRN_HIVE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/hive"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!(
        "skipped: {} is missing (CAIRN_HIVE_DATA names the folder of the fixtures)",
        path.display()
    );
    None
}

/// A fixture that is JSON.
pub(crate) fn json(name: &str) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(file(name)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}
