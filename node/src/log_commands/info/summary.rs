//! Adding up the facts of all blocks, in their order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cairn_block_log::{BlockFault, Compression};
use cairn_chain::{AccountName, BlockId, ChainId, ChainSpec, Packing, PublicKey, Time};

use super::digests::{ListDigest, UncompressedDigest};
use super::facts::{BlockFacts, SignatureFacts, TransactionFacts};
use super::recent::{Recent, Reference};

/// Counters by name, in the order of the names.
pub(super) type Counts<K> = BTreeMap<K, u64>;

/// All sums. The fields are called as in the report.
pub(super) struct Summary {
    pub(super) first: Option<BlockId>,
    pub(super) head: BlockId,
    pub(super) first_block_previous: BlockId,
    pub(super) block_ids: Vec<BlockId>,
    pub(super) ids: ListDigest,
    pub(super) block_count: u64,
    pub(super) transaction_count: u64,
    pub(super) transaction_ids: ListDigest,
    pub(super) duplicate_transaction_ids: u64,
    pub(super) signature_count: u64,
    pub(super) operation_count: u64,
    pub(super) operation_counts: Counts<&'static str>,
    pub(super) transaction_pack_counts: Counts<&'static str>,
    pub(super) blocks_by_transaction_count: Counts<usize>,
    pub(super) storage: Counts<&'static str>,
    pub(super) dictionary_numbers: Counts<u8>,
    pub(super) stored_block_bytes: u64,
    pub(super) uncompressed_block_bytes: u64,
    pub(super) first_timestamp: Time,
    pub(super) last_timestamp: Time,
    pub(super) timestamp_steps: Counts<i64>,
    pub(super) witness_names: Counts<AccountName>,
    pub(super) witness_signing_keys: HashMap<PublicKey, u64>,
    pub(super) header_extensions: Counts<&'static str>,
    pub(super) header_extension_values: Counts<String>,
    pub(super) uncompressed_log: UncompressedDigest,
    pub(super) tapos: [u64; 3],
    pub(super) signature_forms: Counts<&'static str>,
    pub(super) notes: Counts<&'static str>,
    pub(super) transactions_without_signature: u64,
    pub(super) chain_id: ChainId,
    pub(super) transaction_keys: ListDigest,
    pub(super) transaction_signing_keys: HashMap<PublicKey, u64>,
    heights: BTreeSet<u32>,
    recent: Recent,
    chain: ChainSpec,
}

/// Blocks whose ids the report shows: the first three, the last two, the quarters, and some round places, all
/// counted from the log's first block.
fn heights(first: u32, head: u32) -> BTreeSet<u32> {
    let count = u64::from(head - first) + 1;
    let quarters = [count / 4, count / 2, count * 3 / 4];
    let ends = [0, 1, 2, count.saturating_sub(2), count - 1];
    let round = [9, 99, 399, 400, 999];
    [quarters.as_slice(), &ends, &round]
        .concat()
        .into_iter()
        .filter(|index| *index < count)
        .map(|index| first + index as u32)
        .collect()
}

impl Summary {
    /// Nothing yet, of a log that holds blocks `first` to `head`.
    pub(super) fn new(chain: &ChainSpec, first: u32, head: u32) -> Self {
        Self {
            first: None,
            head: BlockId::ZERO,
            first_block_previous: BlockId::ZERO,
            block_ids: Vec::new(),
            ids: ListDigest::default(),
            block_count: 0,
            transaction_count: 0,
            transaction_ids: ListDigest::default(),
            duplicate_transaction_ids: 0,
            signature_count: 0,
            operation_count: 0,
            operation_counts: Counts::new(),
            transaction_pack_counts: Counts::new(),
            blocks_by_transaction_count: Counts::new(),
            storage: Counts::new(),
            dictionary_numbers: Counts::new(),
            stored_block_bytes: 0,
            uncompressed_block_bytes: 0,
            first_timestamp: Time(0),
            last_timestamp: Time(0),
            timestamp_steps: Counts::new(),
            witness_names: Counts::new(),
            witness_signing_keys: HashMap::new(),
            header_extensions: Counts::new(),
            header_extension_values: Counts::new(),
            uncompressed_log: UncompressedDigest::default(),
            tapos: [0; 3],
            signature_forms: Counts::new(),
            notes: Counts::new(),
            transactions_without_signature: 0,
            chain_id: chain.chain_id_at(Time(0)),
            transaction_keys: ListDigest::default(),
            transaction_signing_keys: HashMap::new(),
            heights: heights(first, head),
            recent: Recent::new(first),
            chain: chain.clone(),
        }
    }

    /// Blocks added so far.
    pub(super) const fn blocks(&self) -> u64 {
        self.block_count
    }

    /// Adds the next block.
    ///
    /// # Errors
    /// It does not follow the block before.
    pub(super) fn add(&mut self, block: &BlockFacts) -> Result<(), BlockFault> {
        if self.first.is_none() {
            self.first = Some(block.id);
            self.first_block_previous = block.previous;
            self.first_timestamp = block.timestamp;
        } else {
            if block.previous != self.head {
                return Err(BlockFault::Link {
                    expected: self.head,
                    found: block.previous,
                });
            }
            let step = i64::from(block.timestamp.0) - i64::from(self.last_timestamp.0);
            *self.timestamp_steps.entry(step).or_default() += 1;
        }
        self.head = block.id;
        self.last_timestamp = block.timestamp;
        self.chain_id = self.chain.chain_id_at(block.timestamp);
        self.block_count += 1;
        self.ids.add(block.id.as_bytes());
        if self.heights.contains(&block.id.number()) {
            self.block_ids.push(block.id);
        }
        self.add_storage(block);
        self.add_header(block);
        *self
            .blocks_by_transaction_count
            .entry(block.transactions.len())
            .or_default() += 1;
        for transaction in &block.transactions {
            self.add_transaction(block.id.number(), transaction);
        }
        let transactions = block
            .transactions
            .iter()
            .map(|transaction| transaction.id)
            .collect();
        self.duplicate_transaction_ids += self.recent.add(&block.id, transactions);
        Ok(())
    }

    fn add_storage(&mut self, block: &BlockFacts) {
        let form = match block.compression {
            Compression::None => "uncompressed",
            Compression::Zstd { dictionary: None } => "zstd",
            Compression::Zstd {
                dictionary: Some(number),
            } => {
                *self.dictionary_numbers.entry(number).or_default() += 1;
                "zstd_dict"
            }
        };
        *self.storage.entry(form).or_default() += 1;
        self.stored_block_bytes += block.stored_len;
        self.uncompressed_block_bytes += block.raw.len() as u64;
        self.uncompressed_log.add(&block.raw);
    }

    fn add_header(&mut self, block: &BlockFacts) {
        *self.witness_names.entry(block.witness).or_default() += 1;
        match block.witness_signature.key {
            Some(key) => *self.witness_signing_keys.entry(key).or_default() += 1,
            None => self.note("witness_signature_without_key", 1),
        }
        self.add_forms(
            &block.witness_signature,
            ["witness_hived", "witness_low_s", "witness_fc"],
        );
        for (kind, value) in &block.extensions {
            *self.header_extensions.entry(kind).or_default() += 1;
            *self.header_extension_values.entry(value.clone()).or_default() += 1;
        }
    }

    fn add_transaction(&mut self, number: u32, transaction: &TransactionFacts) {
        self.transaction_count += 1;
        self.transaction_ids.add(transaction.id.as_bytes());
        self.operation_count += transaction.operations.len() as u64;
        for operation in &transaction.operations {
            *self.operation_counts.entry(operation.name()).or_default() += 1;
        }
        let packing = match transaction.packing {
            Packing::None | Packing::Legacy => "legacy",
            Packing::Hf26 => "hf26",
            Packing::Mixed => "mixed",
        };
        *self.transaction_pack_counts.entry(packing).or_default() += 1;
        let symbols = &transaction.symbols;
        self.note("sym8", symbols.legacy_mainnet);
        self.note("sym8_test", symbols.legacy_testnet);
        self.note("sym8_vests", symbols.legacy_vests);
        self.note("sym4", symbols.hf26);
        self.note("sym4_other", symbols.hf26_other);
        self.note("historical_fee_symbol", symbols.historical_fee);
        let reference =
            self.recent
                .reference(number, transaction.ref_block_num, transaction.ref_block_prefix);
        self.tapos[match reference {
            Reference::Match => 0,
            Reference::OutsideLog => 1,
            Reference::Mismatch => 2,
        }] += 1;
        self.signature_count += transaction.signatures.len() as u64;
        self.transactions_without_signature += u64::from(transaction.signatures.is_empty());
        for signature in &transaction.signatures {
            self.add_forms(signature, ["tx_hived", "tx_low_s", "tx_fc"]);
            match signature.key {
                Some(key) => {
                    self.transaction_keys.add(key.as_bytes());
                    *self.transaction_signing_keys.entry(key).or_default() += 1;
                }
                None => self.note("transaction_signature_without_key", 1),
            }
        }
    }

    fn add_forms(&mut self, signature: &SignatureFacts, names: [&'static str; 3]) {
        for (name, holds) in names
            .into_iter()
            .zip([signature.hived, signature.low_s, signature.fc])
        {
            if holds {
                *self.signature_forms.entry(name).or_default() += 1;
            }
        }
    }

    /// A count that is shown only when it is not zero.
    fn note(&mut self, name: &'static str, count: u32) {
        if count > 0 {
            *self.notes.entry(name).or_default() += u64::from(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_counted_from_the_first_block() {
        let list = |first, head| heights(first, head).into_iter().collect::<Vec<_>>();
        assert_eq!(list(1, 1), [1]);
        assert_eq!(list(5, 6), [5, 6]);
        assert_eq!(list(401, 800), [401, 402, 403, 410, 500, 501, 601, 701, 799, 800]);
        assert_eq!(
            list(1, 1311),
            [1, 2, 3, 10, 100, 328, 400, 401, 656, 984, 1000, 1310, 1311]
        );
        assert_eq!(list(u32::MAX, u32::MAX), [u32::MAX]);
        assert_eq!(heights(0, u32::MAX).last(), Some(&u32::MAX));
    }
}
