//! Reading blocks of one file: one by number, or many with one large read.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::{Index, Part, Span, State};
use crate::attributes::TRAILER_LEN;
use crate::facts::Facts;
use crate::trailers::{WalkError, check_trailer, collect, trailer_of};
use crate::{
    Artifacts, ArtifactsError, BlockDecoder, BlockFault, Dictionaries, LogError, StoredBlock, artifacts_path,
};

/// Most bytes of one read in sequence (a single larger block is read whole).
const BATCH_BYTES: u64 = 4 << 20;
/// Most blocks of one read in sequence.
const BATCH_BLOCKS: u32 = 16 << 10;

/// Blocks that were read together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Their bytes, trailers included.
    pub(crate) bytes: Vec<u8>,
    /// Offset of `bytes` in the file.
    pub(crate) start: u64,
    /// Each block, in order.
    pub(crate) spans: Vec<Span>,
}

impl Batch {
    /// Stored bytes of one of the blocks.
    pub(crate) fn stored(&self, span: &Span) -> &[u8] {
        let from = (span.attributes.offset() - self.start) as usize;
        let to = (span.end - self.start) as usize;
        &self.bytes[from..to]
    }
}

/// Why a read by index gave nothing.
enum Miss {
    /// The index and the log disagree.
    Disagrees {
        offset: u64,
        number: u32,
        fault: BlockFault,
    },
    /// The artifacts file under the index cannot be read.
    Artifacts(ArtifactsError),
    /// The log cannot be read.
    Log(LogError),
}

impl Part {
    /// A block of this part, which must hold it.
    pub(crate) fn read(
        &self,
        number: u32,
        dictionaries: &Arc<Dictionaries>,
    ) -> Result<StoredBlock, LogError> {
        self.by_index(dictionaries, |part, state| {
            let span = part.spans(state, number, 1)?[0];
            let mut bytes = part.read_spans(number, &[span])?;
            bytes.truncate(bytes.len() - TRAILER_LEN);
            Ok(StoredBlock {
                number,
                compression: span.attributes.compression(),
                bytes,
            })
        })
    }

    /// Where a block of this part is.
    pub(crate) fn locate(&self, number: u32, dictionaries: &Arc<Dictionaries>) -> Result<Span, LogError> {
        self.by_index(dictionaries, |part, state| {
            let span = part.spans(state, number, 1)?[0];
            // Only a span whose trailer says the same is told to anybody.
            part.read_spans(number, &[span])?;
            Ok(span)
        })
    }

    /// Blocks from `number` on, as many as one read should take, at least one.
    pub(crate) fn batch(&self, number: u32, dictionaries: &Arc<Dictionaries>) -> Result<Batch, LogError> {
        self.by_index(dictionaries, |part, state| {
            let mut spans = part.spans(state, number, BATCH_BLOCKS)?;
            let start = spans[0].attributes.offset();
            let fits = spans.partition_point(|span| span.end - start <= BATCH_BYTES);
            spans.truncate(fits.max(1));
            let bytes = part.read_spans(number, &spans)?;
            Ok(Batch { bytes, start, spans })
        })
    }

    /// Runs `read` with an index, and once more with a fresh one if it finds that the artifacts file is wrong.
    fn by_index<T>(
        &self,
        dictionaries: &Arc<Dictionaries>,
        read: impl Fn(&Self, &State) -> Result<T, Miss>,
    ) -> Result<T, LogError> {
        loop {
            let state = self.state();
            let Some(index) = &state.index else {
                drop(state);
                self.build_index(dictionaries)?;
                continue;
            };
            let doubtful = index.uses_artifacts();
            let miss = match read(self, &state) {
                Ok(result) => return Ok(result),
                Err(miss) => miss,
            };
            drop(state);
            match miss {
                Miss::Log(error) => return Err(error),
                Miss::Disagrees {
                    offset,
                    number,
                    fault,
                } if !doubtful => {
                    return Err(self.fault(offset, Some(number), fault));
                }
                Miss::Artifacts(error) if !doubtful => return Err(error.into()),
                Miss::Disagrees {
                    offset,
                    number,
                    fault,
                } => {
                    self.distrust(&format_args!("block {number}, offset {offset}: {fault}"));
                }
                Miss::Artifacts(error) => self.distrust(&error),
            }
            let mut state = self.state_mut();
            // Another thread may have been faster.
            if state.index.as_ref().is_some_and(Index::uses_artifacts) {
                let index = self.walked_index(&state, dictionaries)?;
                state.index = Some(index);
            }
        }
    }

    fn distrust(&self, reason: &dyn std::fmt::Display) {
        tracing::warn!(
            "the artifacts of {} do not fit it ({reason}); they are not used any more, the log is indexed from \
             its own trailers",
            self.path.display()
        );
    }

    fn build_index(&self, dictionaries: &Arc<Dictionaries>) -> Result<(), LogError> {
        let mut state = self.state_mut();
        if state.index.is_none() {
            state.index = Some(self.index_for(&state, dictionaries)?);
        }
        Ok(())
    }

    /// The artifacts file if it fits the log at both ends, else the trailers.
    fn index_for(&self, state: &State, dictionaries: &Arc<Dictionaries>) -> Result<Index, LogError> {
        if let Some(index) = self.artifacts_index(state) {
            let with_index = State {
                count: state.count,
                end: state.end,
                index: Some(index),
            };
            match self.check_first(&with_index, dictionaries) {
                Ok(()) => return Ok(with_index.index.unwrap_or_default()),
                Err(Miss::Log(error)) => return Err(error),
                Err(Miss::Artifacts(error)) => self.distrust(&error),
                Err(Miss::Disagrees {
                    offset,
                    number,
                    fault,
                }) => {
                    self.distrust(&format_args!("block {number}, offset {offset}: {fault}"));
                }
            }
        }
        self.walked_index(state, dictionaries)
    }

    fn artifacts_index(&self, state: &State) -> Option<Index> {
        let artifacts = match Artifacts::open(&artifacts_path(&self.path)) {
            Ok(artifacts) => artifacts,
            Err(ArtifactsError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return None;
            }
            Err(error) => {
                self.distrust(&error);
                return None;
            }
        };
        let header = artifacts.header();
        let last = self.first.checked_add(state.count.checked_sub(1)?)?;
        // A head above ours is fine: the log may have grown since it was opened here.
        if !header.is_complete() || header.tail_block != self.first || header.head_block < last {
            tracing::info!(
                "{} does not cover blocks {} to {last}; the log is indexed from its own trailers",
                artifacts.path().display(),
                self.first
            );
            return None;
        }
        let index = Index::from_artifacts(artifacts, state.count);
        let claimed = index.trailers(state.count - 1..state.count).ok()?;
        let found = self
            .read_trailer(state.end.checked_sub(TRAILER_LEN as u64)?)
            .ok()?;
        if claimed != [found] {
            self.distrust(&"another trailer of the head block");
            return None;
        }
        Some(index)
    }

    fn walked_index(&self, state: &State, dictionaries: &Arc<Dictionaries>) -> Result<Index, LogError> {
        let trailers = match collect(&self.file, state.end, state.count) {
            Ok(trailers) => trailers,
            Err(WalkError::Io(source)) => return Err(LogError::io("read", &self.path)(source)),
            Err(WalkError::Fault(offset, fault)) => return Err(self.fault(offset, None, fault)),
        };
        let count = trailers.len() as u32;
        let walked = State {
            count,
            end: state.end,
            index: Some(Index::from_trailers(trailers)),
        };
        if count != state.count {
            return Err(self.first_misnumbered(&walked, dictionaries));
        }
        match self.check_first(&walked, dictionaries) {
            Ok(()) => Ok(walked.index.unwrap_or_default()),
            Err(Miss::Log(error)) => Err(error),
            Err(Miss::Artifacts(error)) => Err(error.into()),
            Err(Miss::Disagrees {
                offset,
                number,
                fault,
            }) => Err(self.fault(offset, Some(number), fault)),
        }
    }

    /// Checks that the part starts with the block that it must start with.
    fn check_first(&self, state: &State, dictionaries: &Arc<Dictionaries>) -> Result<(), Miss> {
        if state.count == 0 {
            return Ok(());
        }
        let facts = self.facts(state, self.first, &mut BlockDecoder::new(dictionaries.clone()))?;
        let disagrees = |fault| Miss::Disagrees {
            offset: 0,
            number: self.first,
            fault,
        };
        if facts.number != self.first {
            return Err(disagrees(BlockFault::Number {
                expected: self.first,
                found: facts.number,
            }));
        }
        match self.previous {
            Some(expected) if expected != facts.previous => Err(disagrees(BlockFault::Link {
                expected,
                found: facts.previous,
            })),
            _ => Ok(()),
        }
    }

    /// The error for a file with too many or too few blocks: the first one that has another number than its place.
    fn first_misnumbered(&self, state: &State, dictionaries: &Arc<Dictionaries>) -> LogError {
        let mut decoder = BlockDecoder::new(dictionaries.clone());
        let last = self.first.saturating_add(state.count.saturating_sub(1));
        for number in self.first..=last {
            match self.facts(state, number, &mut decoder) {
                Ok(facts) if facts.number == number => {}
                Ok(facts) => {
                    let offset = self
                        .spans(state, number, 1)
                        .map_or(0, |spans| spans[0].attributes.offset());
                    let fault = BlockFault::Number {
                        expected: number,
                        found: facts.number,
                    };
                    return self.fault(offset, Some(number), fault);
                }
                Err(Miss::Log(error)) => return error,
                Err(Miss::Artifacts(error)) => return error.into(),
                Err(Miss::Disagrees {
                    offset,
                    number,
                    fault,
                }) => {
                    return self.fault(offset, Some(number), fault);
                }
            }
        }
        self.fault(state.end, None, BlockFault::NoBlock)
    }

    fn facts(&self, state: &State, number: u32, decoder: &mut BlockDecoder) -> Result<Facts, Miss> {
        let span = self.spans(state, number, 1)?[0];
        let bytes = self.read_spans(number, &[span])?;
        let stored = &bytes[..bytes.len() - TRAILER_LEN];
        let offset = span.attributes.offset();
        let facts = match decoder.view(span.attributes.compression(), stored) {
            Ok(raw) => Facts::of(raw).map_err(BlockFault::Unpack),
            Err(error) => Err(BlockFault::Decode(error)),
        };
        facts.map_err(|fault| {
            if fault.is_damage() {
                Miss::Disagrees {
                    offset,
                    number,
                    fault,
                }
            } else {
                Miss::Log(self.fault(offset, Some(number), fault))
            }
        })
    }

    /// Places of up to `most` blocks from `number` on; at least one. Every extent is checked against the file.
    fn spans(&self, state: &State, number: u32, most: u32) -> Result<Vec<Span>, Miss> {
        let index = state.index.as_ref();
        let from = number.wrapping_sub(self.first);
        if from >= state.count {
            let range = (state.count > 0).then(|| (self.first, self.first + (state.count - 1)));
            return Err(Miss::Log(LogError::OutOfRange { block: number, range }));
        }
        // One more than asked: the next block's start is where a block's trailer ends.
        let range: Range<u32> = from..from.saturating_add(most).saturating_add(1).min(state.count);
        let trailers = match index {
            Some(index) => index.trailers(range.clone()).map_err(Miss::Artifacts)?,
            None => Vec::new(),
        };
        let reached = range.start + trailers.len() as u32;
        let mut spans = Vec::with_capacity(trailers.len());
        let disagrees = |position: usize, offset, fault| Miss::Disagrees {
            offset,
            number: number.wrapping_add(position as u32),
            fault,
        };
        let mut check = |position: usize, trailer: u64, behind: u64| {
            let end = behind
                .checked_sub(TRAILER_LEN as u64)
                .filter(|_| behind <= state.end)
                .ok_or_else(|| disagrees(position, behind, BlockFault::NoBlock))?;
            let attributes = check_trailer(trailer, end).map_err(|fault| disagrees(position, end, fault))?;
            spans.push(Span { attributes, end });
            Ok(())
        };
        for (position, pair) in trailers.windows(2).enumerate() {
            let next = crate::Attributes::unpack(pair[1])
                .map_err(|error| disagrees(position + 1, state.end, error.into()))?;
            check(position, pair[0], next.offset())?;
        }
        if let Some(last) = trailers.last().filter(|_| reached == state.count) {
            check(trailers.len() - 1, *last, state.end)?;
        }
        spans.truncate(most as usize);
        if spans.is_empty() {
            return Err(disagrees(0, state.end, BlockFault::NoBlock));
        }
        Ok(spans)
    }

    /// Reads blocks that lie one behind the other, with their trailers, which must be those of the index.
    fn read_spans(&self, number: u32, spans: &[Span]) -> Result<Vec<u8>, Miss> {
        let start = spans.first().map_or(0, |span| span.attributes.offset());
        let behind = spans.last().map_or(start, |span| span.end + TRAILER_LEN as u64);
        let mut bytes = vec![0; (behind - start) as usize];
        self.file
            .read_exact_at(&mut bytes, start)
            .map_err(|source| Miss::Log(LogError::io("read", &self.path)(source)))?;
        for (position, span) in spans.iter().enumerate() {
            let at = (span.end - start) as usize;
            let found = trailer_of(&bytes[at..at + TRAILER_LEN]);
            let expected = span.attributes.pack();
            if found != expected {
                let fault = BlockFault::TrailerChanged { expected, found };
                let number = number.wrapping_add(position as u32);
                return Err(Miss::Disagrees {
                    offset: span.end,
                    number,
                    fault,
                });
            }
        }
        Ok(bytes)
    }

    fn read_trailer(&self, at: u64) -> std::io::Result<u64> {
        let mut bytes = [0; TRAILER_LEN];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
