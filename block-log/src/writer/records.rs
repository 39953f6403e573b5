//! Artifacts records out of the blocks themselves.

use std::sync::Arc;

use cairn_chain::BlockId;

use crate::artifacts::ArtifactsWriter;
use crate::facts::Facts;
use crate::part::{Part, facts_of};
use crate::{
    Artifacts, ArtifactsVersion, BlockDecoder, BlockFault, BlockLog, Dictionaries, LogError, Place, Record,
    artifacts_path,
};

/// Id of a block of the log, from its bytes.
pub(super) fn id_of(log: &BlockLog, number: u32) -> Result<BlockId, LogError> {
    let part = log.part_of(number)?;
    Ok(facts(&part, number, log.dictionaries())?.id)
}

fn facts(part: &Part, number: u32, dictionaries: &Arc<Dictionaries>) -> Result<Facts, LogError> {
    let block = part.read(number, dictionaries)?;
    let mut decoder = BlockDecoder::new(dictionaries.clone());
    let facts = facts_of(block.compression, &block.bytes, &mut decoder);
    let fault = match facts.and_then(|facts| in_place(facts, number)) {
        Ok(facts) => return Ok(facts),
        Err(fault) => fault,
    };
    let offset = part.locate(number, dictionaries)?.attributes.offset();
    Err(LogError::Block {
        place: Place {
            file: part.path().to_owned(),
            offset,
            block: Some(number),
        },
        fault,
    })
}

fn in_place(facts: Facts, number: u32) -> Result<Facts, BlockFault> {
    if facts.number == number {
        Ok(facts)
    } else {
        Err(BlockFault::Number {
            expected: number,
            found: facts.number,
        })
    }
}

/// Whether the record of block `head` is the right one.
pub(super) fn fit(
    part: &Part,
    artifacts: &Artifacts,
    head: u32,
    dictionaries: &Arc<Dictionaries>,
) -> Result<bool, LogError> {
    let position = head - part.first();
    let Ok(records) = artifacts.records(position..position.saturating_add(1)) else {
        return Ok(false);
    };
    let trailer = part.locate(head, dictionaries)?.attributes.pack();
    let id = facts(part, head, dictionaries)?.id;
    Ok(records == [Record::new(trailer, &id)])
}

/// Whether a full part has artifacts that hived would take.
pub(super) fn are_complete(part: &Part, dictionaries: &Arc<Dictionaries>) -> Result<bool, LogError> {
    let Some((first, last)) = part.range() else {
        return Ok(true);
    };
    let Ok(artifacts) = Artifacts::open(&artifacts_path(part.path())) else {
        return Ok(false);
    };
    let header = artifacts.header();
    let complete = header.version == ArtifactsVersion::V1_1
        && header.is_complete()
        && !header.dirty
        && header.tail_block == first
        && header.head_block == last;
    Ok(complete && fit(part, &artifacts, last, dictionaries)?)
}

/// Makes the artifacts of a full part and closes them.
pub(super) fn make(part: &Part, dictionaries: &Arc<Dictionaries>) -> Result<(), LogError> {
    let path = artifacts_path(part.path());
    let mut writer = ArtifactsWriter::create(&path, part.first())?;
    write_missing(part, &mut writer, dictionaries)?;
    writer.publish(&path)?;
    writer.close()
}

/// Adds the records from behind the last one up to the part's last block.
pub(super) fn write_missing(
    part: &Part,
    writer: &mut ArtifactsWriter,
    dictionaries: &Arc<Dictionaries>,
) -> Result<(), LogError> {
    let Some((first, last)) = part.range() else {
        return Ok(());
    };
    let mut decoder = BlockDecoder::new(dictionaries.clone());
    let mut next = writer.head_block().saturating_add(1).max(first);
    while next <= last {
        let batch = part.batch(next, dictionaries)?;
        let mut records = Vec::with_capacity(batch.spans.len());
        for span in &batch.spans {
            let facts = facts_of(span.attributes.compression(), batch.stored(span), &mut decoder)
                .and_then(|facts| in_place(facts, next))
                .map_err(|fault| LogError::Block {
                    place: Place {
                        file: part.path().to_owned(),
                        offset: span.attributes.offset(),
                        block: Some(next),
                    },
                    fault,
                })?;
            records.push(Record::new(span.attributes.pack(), &facts.id));
            next = next.saturating_add(1);
        }
        writer.append(&records)?;
    }
    Ok(())
}
