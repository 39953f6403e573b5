//! The ban list on disk, as JSON that people can read and edit while the node is not running.
//!
//! ```text
//! { "version": 1, "bans": [ { "peer": "12D3KooW...", "until": 1764518400, "seconds": 600, "offences": 1, "reason": "..." } ] }
//! ```
//!
//! `until` is in seconds since 1970, `seconds` the length of the ban.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use libp2p::PeerId;
use serde_json::{Value, json};

use super::record::{Entry, MOST_ENTRIES, Record};

const VERSION: u64 = 1;

/// More than the longest list takes: see the limits in `record`.
const LONGEST_FILE: u64 = 4 << 20;

/// Seconds since 1970, rounded up: a ban is not shortened by being written.
fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs() + u64::from(since.subsec_nanos() > 0)
}

/// The file's text; forgotten entries leave the list. Those without an offence are not written: a peer that was
/// turned away for its chain is asked again after a restart, when this node's own settings may have changed.
pub(super) fn text(record: &mut Record, now: SystemTime) -> String {
    record.sweep(now);
    let mut entries: Vec<_> = record.iter().filter(|(_, entry)| entry.offences > 0).collect();
    entries.sort_by_key(|(peer, entry)| (entry.until, **peer));
    let bans: Vec<Value> = entries
        .into_iter()
        .map(|(peer, entry)| {
            json!({
                "peer": peer.to_string(),
                "until": seconds(entry.until),
                "seconds": entry.length.as_secs() + u64::from(entry.length.subsec_nanos() > 0),
                "offences": entry.offences,
                "reason": entry.reason,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "version": VERSION, "bans": bans }))
}

/// Writes beside the file and puts that in its place when it is on disk.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let new = beside(path, ".new");
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Reads the file. One that is damaged is moved aside with a warning; then, and when there is none, the list is empty.
pub(super) fn load(path: &Path, now: SystemTime) -> Record {
    let text = match read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Record::default(),
        Err(error) => {
            set_aside(path, now, &error.to_string());
            return Record::default();
        }
    };
    match parse(&text, now) {
        Ok((record, unusable)) => {
            if unusable > 0 {
                tracing::warn!(
                    target: "p2p",
                    "{} of the ban list {} cannot be read and are left out",
                    if unusable == 1 { "1 entry".to_owned() } else { format!("{unusable} entries") },
                    path.display()
                );
            }
            record
        }
        Err(reason) => {
            set_aside(path, now, &reason);
            Record::default()
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(LONGEST_FILE + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other(format!(
            "it is longer than {LONGEST_FILE} bytes"
        )));
    }
    Ok(text)
}

/// The list and how many entries make no sense, or why the whole is no ban list.
pub(super) fn parse(text: &str, now: SystemTime) -> Result<(Record, usize), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value["version"] != json!(VERSION) {
        return Err(format!("version {VERSION} expected, {} found", value["version"]));
    }
    let Some(bans) = value["bans"].as_array() else {
        return Err("there is no list `bans` in it".to_owned());
    };
    let mut record = Record::default();
    let mut unusable = bans.len().saturating_sub(MOST_ENTRIES);
    // The last ones end last.
    for ban in bans.iter().rev().take(MOST_ENTRIES) {
        match entry(ban) {
            Some((peer, entry)) => record.insert(peer, entry, now),
            None => unusable += 1,
        }
    }
    Ok((record, unusable))
}

fn entry(ban: &Value) -> Option<(PeerId, Entry)> {
    let peer = ban["peer"].as_str()?.parse().ok()?;
    let until = UNIX_EPOCH.checked_add(Duration::from_secs(ban["until"].as_u64()?))?;
    let entry = Entry {
        until,
        length: Duration::from_secs(ban["seconds"].as_u64()?),
        offences: u32::try_from(ban["offences"].as_u64()?)
            .ok()
            .filter(|count| *count > 0)?,
        reason: ban["reason"].as_str()?.to_owned(),
    };
    Some((peer, entry))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn set_aside(path: &Path, now: SystemTime, reason: &str) {
    let kept = beside(path, &format!(".damaged-{}", seconds(now)));
    let aside = match fs::rename(path, &kept) {
        Ok(()) => format!("it is kept as {}", kept.display()),
        Err(error) => format!("it cannot be moved to {}: {error}", kept.display()),
    };
    tracing::warn!(
        target: "p2p",
        "the ban list {} cannot be read: {reason}; {aside}, and nobody is banned",
        path.display()
    );
}
