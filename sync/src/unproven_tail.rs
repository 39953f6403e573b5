//! The end of a log that no checkpoint of the log vouches for.

use cairn_block_log::BlockLog;

use crate::writer::{ChainWriter, WriterError};

/// A log may end below the next checkpoint. Its last blocks are then applied before anything vouches for them, and may
/// turn out to be of another chain when peers have the blocks up to the checkpoint. Says so, and sees to it that the
/// state is kept at the last checkpoint below them. `last`: the last block that is applied; `reduced_through`: the last
/// one that is not validated.
///
/// # Errors
/// When the head cannot be made durable.
pub(crate) fn prepare_for_unproven(
    chain: &mut ChainWriter,
    log: &BlockLog,
    last: u32,
    reduced_through: u32,
) -> Result<(), WriterError> {
    let head = chain.head().number;
    let checkpoints = chain.checkpoints();
    let below = checkpoints
        .iter()
        .rev()
        .find(|checkpoint| checkpoint.number <= last)
        .map_or(0, |checkpoint| checkpoint.number);
    let first = below.max(head) + 1;
    let unreached = checkpoints
        .next_after(last)
        .filter(|ahead| ahead.number <= reduced_through && log.head_number() < Some(ahead.number));
    let Some(ahead) = unreached.filter(|_| first <= last) else {
        return Ok(());
    };
    let way_back = match below {
        0 => {
            "should they turn out to be of another chain, `cairn state restore --to 0 --cut-log` begins anew"
                .to_owned()
        }
        below => format!("the state of block {below} is kept"),
    };
    tracing::warn!(
        target: "replay",
        "Blocks {first} to {last} of {} are below checkpoint [{},{}], which the log does not reach: nobody vouches for \
         them until a later run reaches it; {way_back}",
        log.path().display(),
        ahead.number,
        ahead.id
    );
    // A head between two checkpoints is not proven either: what is kept below it stays.
    if below > 0 && below >= head {
        chain.keep_vouched(below)?;
    }
    Ok(())
}
