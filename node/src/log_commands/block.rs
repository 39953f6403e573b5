//! From stored bytes to a block, with the place in the log in every error.

use cairn_block_log::{BlockDecoder, BlockFault, BlockLog, LogError, StoredBlock};
use cairn_chain::{DecodedBlock, Symbols, UnpackError, UnpackErrorKind};
use cairn_sync::block_error;

/// Decompresses and decodes a block, and checks that it is the one that belongs there.
pub(super) fn decode(
    log: &BlockLog,
    decoder: &mut BlockDecoder,
    stored: StoredBlock,
    symbols: Symbols,
) -> Result<DecodedBlock, LogError> {
    let number = stored.number;
    let with_place = |error| block_error(log, number, error);
    let raw = decoder
        .decode_owned(stored)
        .map_err(|error| with_place(error.into()))?;
    let block = DecodedBlock::decode(raw, symbols).map_err(|error| with_place(error.into()))?;
    check_number(number, block.number()).map_err(with_place)?;
    Ok(block)
}

fn check_number(expected: u32, found: u32) -> Result<(), BlockFault> {
    if expected == found {
        Ok(())
    } else {
        Err(BlockFault::Number { expected, found })
    }
}

/// What an operator can try when a log is not damaged but read wrongly.
pub(super) fn advice(error: &LogError) -> Option<&'static str> {
    let (LogError::Block { fault, .. } | LogError::TornTail { fault, .. }) = error else {
        return None;
    };
    match fault {
        BlockFault::Unpack(UnpackError {
            kind: UnpackErrorKind::UnknownSymbol { .. },
            ..
        }) => Some("Is the log another chain's? See --chain"),
        fault if !fault.is_damage() => {
            Some("The log may be whole: give the folder with the dictionaries, --zstd-dictionaries DIR")
        }
        _ => None,
    }
}

/// An error with its advice, for commands that say no more about it.
pub(super) fn with_advice(error: LogError) -> anyhow::Error {
    let advice = advice(&error);
    let error = anyhow::Error::from(error);
    match advice {
        Some(advice) => anyhow::anyhow!("{}. {advice}", crate::exit::full_text(error.as_ref())),
        None => error,
    }
}
