//! Whether there are whole blocks behind a fault.
//!
//! Two blocks, one behind the other, the second of which names the id that the first one's bytes give, do not come about
//! by chance or by a crash that lost the end of a file. If there are such, the fault is damage inside the log, or the log
//! is read with the specification of another chain. Every place is tried where a trailer could end.

use super::Subject;
use crate::facts::Facts;
use crate::part::facts_of;
use crate::trailers::{Step, Trailers, WalkError};
use crate::{BlockDecoder, LogError};

/// Most blocks that are decoded in vain. In garbage, one position in some millions looks like a trailer; the bound is
/// against made-up files, and reaching it counts as a find, so that nothing is cut.
const MOST_TRIED: u32 = 10_000;

/// Looks for such a pair from the end of the file down to `from`.
pub(super) fn exist(subject: &Subject<'_>, from: u64, decoder: &mut BlockDecoder) -> Result<bool, LogError> {
    let mut trailers = Trailers::new(subject.file);
    let mut tried = 0;
    let mut end = subject.len;
    while end > from {
        if let Some(upper) = block_before(subject, &mut trailers, end, from)?
            && let Some(lower) = block_before(subject, &mut trailers, upper.attributes.offset(), from)?
        {
            let pair = facts(subject, upper, decoder)?.zip(facts(subject, lower, decoder)?);
            if pair.is_some_and(|(upper, lower)| upper.previous == lower.id) {
                return Ok(true);
            }
            tried += 1;
            if tried == MOST_TRIED {
                return Ok(true);
            }
        }
        end -= 1;
    }
    Ok(false)
}

/// What could be a block that ends at `end` and starts at `from` or later.
fn block_before(
    subject: &Subject<'_>,
    trailers: &mut Trailers<'_>,
    end: u64,
    from: u64,
) -> Result<Option<Step>, LogError> {
    match trailers.block_before(end) {
        Ok(step) => Ok((step.attributes.offset() >= from).then_some(step)),
        Err(WalkError::Fault(..)) => Ok(None),
        Err(WalkError::Io(source)) => Err(LogError::io("read", subject.path)(source)),
    }
}

fn facts(subject: &Subject<'_>, step: Step, decoder: &mut BlockDecoder) -> Result<Option<Facts>, LogError> {
    let stored = step
        .read(subject.file)
        .map_err(LogError::io("read", subject.path))?;
    Ok(facts_of(step.attributes.compression(), &stored, decoder).ok())
}
