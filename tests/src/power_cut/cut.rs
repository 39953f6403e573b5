//! The power goes: what is on the disk afterwards.

use super::disk::{Change, Disk, File};
use super::journal::Operation;
use super::rng::Rng;
use super::tree::Tree;

/// A disk writes such pieces whole.
const SECTOR: usize = 512;
/// A system hands such pieces to the disk.
const PAGE: usize = 4096;

/// Picks a moment for the cut: so many operations have happened. Two of three are near an operation that syncs, names
/// or cuts something, because that is where the order matters.
///
/// # Panics
/// When there are no operations.
#[must_use]
pub fn moment(operations: &[Operation<'_>], rng: &mut Rng) -> usize {
    let turning: Vec<usize> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| {
            operation.is_sync() || operation.changes_names() || matches!(operation, Operation::Length { .. })
        })
        .map(|(at, _)| at)
        .collect();
    if turning.is_empty() || rng.percent(33) {
        return rng.between(0, operations.len());
    }
    let near = turning[rng.below(turning.len())] + rng.between(0, 4);
    near.saturating_sub(2).min(operations.len())
}

/// How much of what was not synced reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Nothing,
    Everything,
    /// Each file fares as it will.
    Mixed,
}

/// What is on the disk after the power was cut. The module's text says which outcomes there are.
#[must_use]
pub fn cut(disk: &Disk<'_>, rng: &mut Rng) -> Tree {
    let (durable, done) = disk.name_changes();
    let changes = match rng.below(5) {
        0 | 1 => durable,
        2 => done,
        _ => rng.between(durable, done),
    };
    let luck = match rng.below(8) {
        0 | 1 => Luck::Nothing,
        2 => Luck::Everything,
        _ => Luck::Mixed,
    };
    disk.tree_of(&disk.names_after(changes), |file| content(file, luck, rng))
}

fn content(file: &File<'_>, luck: Luck, rng: &mut Rng) -> Vec<u8> {
    match luck {
        Luck::Nothing => file.synced.clone(),
        Luck::Everything => file.content(),
        Luck::Mixed if file.pending.is_empty() => file.synced.clone(),
        Luck::Mixed => match rng.below(6) {
            0 => file.synced.clone(),
            1 => file.content(),
            2 | 3 => torn_prefix(file, rng),
            4 => pieces(file, SECTOR, rng),
            _ => pieces(file, PAGE, rng),
        },
    }
}

/// The first changes, and a part of the next one.
fn torn_prefix(file: &File<'_>, rng: &mut Rng) -> Vec<u8> {
    let whole = rng.below(file.pending.len());
    let mut content = file.synced.clone();
    for change in &file.pending[..whole] {
        change.apply(&mut content);
    }
    if let Change::Write { offset, data } = file.pending[whole] {
        let mut end = offset as usize + rng.between(0, data.len());
        if end < content.len() {
            // In place, a disk writes a sector or leaves it.
            end = (end - end % SECTOR).max(offset as usize);
        }
        let data = &data[..end - offset as usize];
        if !data.is_empty() {
            Change::Write { offset, data }.apply(&mut content);
        }
    }
    content
}

/// Each piece of the file as it was at a moment of its own since the last sync, and the length of yet another moment.
/// What was never written is zero.
fn pieces(file: &File<'_>, size: usize, rng: &mut Rng) -> Vec<u8> {
    let mut versions = vec![file.synced.clone()];
    // Each one costs memory; the moments between are not more interesting than those kept.
    let step = file.pending.len().div_ceil(16);
    let mut content = file.synced.clone();
    for (at, change) in file.pending.iter().enumerate() {
        change.apply(&mut content);
        if (at + 1) % step == 0 || at + 1 == file.pending.len() {
            versions.push(content.clone());
        }
    }
    let length = versions[rng.below(versions.len())].len();
    let lost = rng.between(1, 90);
    let mut outcome = vec![0; length];
    for (at, piece) in outcome.chunks_mut(size).enumerate() {
        let version = match rng.percent(lost) {
            true => rng.below(versions.len()),
            false => versions.len() - 1,
        };
        let from = versions[version].get(at * size..).unwrap_or_default();
        let len = from.len().min(piece.len());
        piece[..len].copy_from_slice(&from[..len]);
    }
    outcome
}
