//! Headers as a peer sends them.

use cairn_chain::{BlockId, SignedHeader};

/// Most headers in a request; the protocol's own limit is not below it.
pub const MAX_HEADERS: u32 = 2048;

/// A run of headers that continue each other: what a peer says of consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderRun {
    first: u32,
    /// Ids, ascending. Not empty.
    ids: Vec<BlockId>,
    /// The id that the first header names as the block before.
    pub(in crate::download) previous: BlockId,
}

impl HeaderRun {
    /// Reads consecutive headers, the first of block `first`: at least one and at most `count`, as the protocol allows.
    ///
    /// # Errors
    /// In words; the sender's fault in every case.
    pub fn read(bytes: &[u8], first: u32, count: u32) -> Result<Self, String> {
        let mut run = Self {
            first,
            ids: Vec::with_capacity(count.min(MAX_HEADERS) as usize),
            previous: BlockId::ZERO,
        };
        let mut rest = bytes;
        for number in first..first.saturating_add(count) {
            if rest.is_empty() {
                break;
            }
            let (header, len) = SignedHeader::unpack_prefix(rest)
                .map_err(|error| format!("the header of block {number} cannot be read: {error}"))?;
            if header.number() != number {
                return Err(format!(
                    "header of block {} where block {number} was due",
                    header.number()
                ));
            }
            match run.ids.last() {
                None => run.previous = header.previous,
                Some(before) if *before == header.previous => {}
                Some(before) => {
                    return Err(format!(
                        "block {number} names {} as the block before, whose id is {before}",
                        header.previous
                    ));
                }
            }
            run.ids.push(header.id());
            rest = &rest[len..];
        }
        match (rest.len(), run.ids.is_empty()) {
            (0, false) => Ok(run),
            (0, true) => Err("no header came".to_owned()),
            (more, _) => Err(format!("{more} bytes behind the last header that was asked for")),
        }
    }

    /// Number of the first header's block.
    pub(in crate::download) fn first(&self) -> u32 {
        self.first
    }

    /// Number of the last header's block.
    pub(in crate::download) fn last(&self) -> u32 {
        self.first + (self.ids.len() as u32).saturating_sub(1)
    }

    /// The id of the last header.
    pub(in crate::download) fn last_id(&self) -> Option<BlockId> {
        self.ids.last().copied()
    }

    /// The ids below the last one, descending, down to that of the block before the first header.
    pub(in crate::download) fn below_last(&self) -> impl Iterator<Item = BlockId> + '_ {
        let names = self.ids.iter().rev().skip(1).copied();
        names.chain(std::iter::once(self.previous))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::chain_for_tests::HeaderChain;
    use super::*;

    #[test]
    fn reads_a_run_and_refuses_what_does_not_continue() {
        let chain = HeaderChain::new(20, 0);
        let run = HeaderRun::read(&chain.bytes(5, 10), 5, 10).unwrap();
        assert_eq!(run.last_id(), Some(chain.id(14)));
        assert_eq!(run.previous, chain.id(4));
        let below: Vec<_> = run.below_last().collect();
        assert_eq!(below, (4..14).rev().map(|n| chain.id(n)).collect::<Vec<_>>());
        let short = HeaderRun::read(&chain.bytes(5, 9), 5, 10).unwrap();
        assert_eq!((short.first(), short.last()), (5, 13));
        let whole = chain.bytes(5, 10);
        let torn = HeaderRun::read(&whole[..whole.len() - 1], 5, 10).unwrap_err();
        assert!(
            torn.starts_with("the header of block 14 cannot be read"),
            "{torn}"
        );
        let nothing = HeaderRun::read(&[], 5, 10).unwrap_err();
        assert_eq!(nothing, "no header came");
        let long = HeaderRun::read(&chain.bytes(5, 11), 5, 10).unwrap_err();
        assert!(long.contains("behind the last header"), "{long}");
        let shifted = HeaderRun::read(&chain.bytes(6, 10), 5, 10).unwrap_err();
        assert!(shifted.contains("where block 5 was due"), "{shifted}");
        let other = HeaderChain::new(20, 9);
        let mixed = [chain.bytes(5, 3), other.bytes(8, 2)].concat();
        let broken = HeaderRun::read(&mixed, 5, 5).unwrap_err();
        assert!(broken.starts_with("block 8 names"), "{broken}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            first in 1u32..,
            count in 0u32..,
        ) {
            let _ = HeaderRun::read(&bytes, first, count);
        }
    }
}
