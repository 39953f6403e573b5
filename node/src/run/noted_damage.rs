//! A block that was found damaged while it was served, below the state's head: what is cut off there is fetched again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use cairn_block_log::{LogError, verify};

use super::block_log::{OwnLog, tell_set_aside};
use crate::config::Settings;

/// Bytes of a number and a line break.
const LONGEST_NOTE: u64 = 16;

/// Cuts the log before the block that the file `note` names, if it is still damaged, and removes the note. The bytes are
/// kept beside the log.
///
/// # Errors
/// When the note cannot be read or removed, or the log cannot be read or cut.
pub fn cut_noted_damage(own: &mut OwnLog, settings: &Settings, note: &Path) -> anyhow::Result<()> {
    let text = match read_note(note) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", note.display())),
    };
    let first = own.reader.first_number().unwrap_or(1);
    let head = own.reader.head_number().unwrap_or(0);
    // The very first block is rather one of another chain, and a block that is not there needs no cut.
    let number = String::from_utf8_lossy(&text)
        .trim()
        .parse()
        .ok()
        .filter(|number| *number > first && *number <= head);
    if let Some(number) = number {
        match verify(&own.reader, number, Some(number), &settings.chain, |_| {}) {
            Err(error @ LogError::Block { .. }) if settings.block_log.auto_fixing => {
                if let Some(kept) = own.writer.set_aside_after(number - 1)? {
                    tracing::warn!(
                        target: "reconcile",
                        "the block log is damaged and was cut behind block {}: {error}",
                        number - 1
                    );
                    tell_set_aside(&kept);
                }
            }
            Err(error @ LogError::Block { .. }) => {
                tracing::error!(
                    target: "reconcile",
                    "the block log is damaged: {error}. Peers ban a node that serves it. It is not cut, because \
                     enable-block-log-auto-fixing is 0"
                );
                return Ok(());
            }
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
    }
    fs::remove_file(note).with_context(|| format!("cannot remove {}", note.display()))
}

/// What a note of this program can hold, and no more.
fn read_note(note: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(note)?.take(LONGEST_NOTE).read_to_end(&mut text)?;
    Ok(text)
}
