//! What a journal proves to be durable, from the bytes that were synced, without asking Cairn.

use std::collections::BTreeMap;

use super::disk::Disk;
use super::journal::Operation;

/// The blocks that must be found after a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// Head of the newest commit of the state whose sync has returned.
    pub state: u32,
    /// Last block that lies whole in the synced bytes of the block log.
    pub log: u32,
}

/// Where the blocks of a log's files end, by file name.
#[derive(Clone, Debug, Default)]
pub struct BlockEnds(BTreeMap<String, (u32, Vec<u64>)>);

impl BlockEnds {
    /// Adds a file whose first block is `first`: a whole file of a log that is known to be right.
    ///
    /// # Panics
    /// When it is not one.
    pub fn add(&mut self, name: &str, first: u32, file: &[u8]) {
        let mut ends = Vec::new();
        let mut end = file.len();
        while end > 0 {
            ends.push(end as u64);
            let trailer: [u8; 8] = file[end - 8..end].try_into().expect("8 bytes");
            let start = (u64::from_le_bytes(trailer) & ((1 << 48) - 1)) as usize;
            assert!(
                start < end - 8,
                "{name} has a trailer at {} that leads to {start}",
                end - 8
            );
            end = start;
        }
        ends.reverse();
        self.0.insert(name.to_owned(), (first, ends));
    }

    /// The last block that lies whole in the first bytes of a file.
    fn last_within(&self, name: &str, length: u64) -> u32 {
        let Some((first, ends)) = self.0.get(name) else {
            return 0;
        };
        match ends.partition_point(|end| *end <= length) {
            0 => 0,
            whole => first + whole as u32 - 1,
        }
    }
}

/// What is durable before the first operation, after it, after the second, and so on.
#[must_use]
pub fn timeline<'a>(
    start: &Disk<'a>,
    before: Durable,
    operations: &[Operation<'a>],
    ends: &BlockEnds,
) -> Vec<Durable> {
    let (mut disk, mut durable) = (start.clone(), before);
    let mut timeline = vec![before];
    for operation in operations {
        disk.apply(operation);
        if let Operation::Sync { inode } = operation
            && let (Some(path), file) = disk.file(*inode)
        {
            let synced = Disk::synced(file);
            if path.starts_with("state/registers/") && path.ends_with(".log") {
                durable.state = durable.state.max(last_head(&records(synced)).unwrap_or(0));
            } else if let Some(name) = path.strip_prefix("blockchain/") {
                durable.log = durable.log.max(ends.last_within(name, synced.len() as u64));
            }
        }
        timeline.push(durable);
    }
    timeline
}

/// What RocksDB's write-ahead log holds, its own framing taken out: blocks of 32 KiB, in each block pieces that begin with a
/// checksum (4 bytes), a length (2) and a kind (1), and for some kinds the number of the log (4).
fn records(log: &[u8]) -> Vec<u8> {
    let mut held = Vec::new();
    for block in log.chunks(32 << 10) {
        let mut rest = block;
        while let [_, _, _, _, low, high, kind, ..] = *rest {
            let header = if (5..=8).contains(&kind) { 11 } else { 7 };
            let length = usize::from(u16::from_le_bytes([low, high]));
            let (Some(piece), 1..=8) = (rest.get(header..header + length), kind) else {
                // Not a piece of a batch, or the end.
                match rest.get(header + length..) {
                    Some(behind) if kind != 0 => rest = behind,
                    _ => break,
                }
                continue;
            };
            held.extend_from_slice(piece);
            rest = &rest[header + length..];
        }
    }
    held
}

/// Head number in the last metadata record (docs/formats.md, State) that a stretch of bytes holds.
fn last_head(bytes: &[u8]) -> Option<u32> {
    const MAGIC: &[u8] = b"cairn-st";
    const HAS_HEAD: usize = 44;
    const END: usize = 85;
    let at = bytes.windows(MAGIC.len()).rposition(|window| window == MAGIC)?;
    let record = bytes.get(at..at + END)?;
    let number = record[HAS_HEAD + 1..HAS_HEAD + 5].try_into().expect("4 bytes");
    (record[HAS_HEAD] == 1).then(|| u32::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_found_across_the_blocks_of_a_write_ahead_log() {
        let mut record = b"cairn-st".to_vec();
        record.resize(85, 7);
        record[44] = 1;
        record[45..49].copy_from_slice(&4711_u32.to_le_bytes());
        // The record begins 20 bytes before the end of the first block.
        let mut log = vec![0; 4];
        let first = (32 << 10) - 7 - 20;
        log.extend_from_slice(&(first as u16 + 20).to_le_bytes());
        log.push(2);
        log.resize(log.len() + first, b'x');
        log.extend_from_slice(&record[..20]);
        assert_eq!(log.len(), 32 << 10);
        assert_eq!(last_head(&records(&log)), None);
        log.extend_from_slice(&[0, 0, 0, 0, 65, 0, 4]);
        log.extend_from_slice(&record[20..]);
        assert_eq!(last_head(&records(&log)), Some(4711));
        log.resize(log.len() + 100, 0);
        assert_eq!(
            last_head(&records(&log)),
            Some(4711),
            "room that was never written is no record"
        );
    }

    #[test]
    fn blocks_end_behind_their_trailers() {
        let mut file = b"first".to_vec();
        file.extend_from_slice(&0_u64.to_le_bytes());
        file.extend_from_slice(b"second!");
        file.extend_from_slice(&(13_u64 | 1 << 63).to_le_bytes());
        let mut ends = BlockEnds::default();
        ends.add("block_log_part.0003", 21, &file);
        let within = |length| ends.last_within("block_log_part.0003", length);
        assert_eq!([12, 13, 27, 28, 99].map(within), [0, 21, 21, 22, 22]);
        assert_eq!(ends.last_within("block_log", 99), 0);
    }
}
