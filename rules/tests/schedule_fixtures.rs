//! The schedule over real chains: every block of each fixture log in its slot, as far as the schedule is known.
//!
//! A few lines keep the facts about witnesses here; nothing of the state is used.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

#[path = "authority_support/data.rs"]
mod data;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use cairn_block_log::{BlockDecoder, BlockLog, Dictionaries};
use cairn_chain::{AccountName, ChainSpec, DecodedBlock, Operation, Time};
use cairn_rules::schedule::{RoundInput, ScheduleState, SlotCheck, SlotError, WitnessCounts, WitnessFact};
use cairn_rules::validate::witness_properties;

/// Witnesses and votes of a chain without mining.
#[derive(Default)]
struct Facts {
    witnesses: BTreeMap<AccountName, WitnessFact>,
    votes: BTreeSet<(AccountName, AccountName)>,
}

impl Facts {
    fn set(&mut self, name: AccountName, enabled: bool) {
        let index = u32::try_from(self.witnesses.len()).unwrap();
        let fact = WitnessFact {
            name,
            index,
            enabled,
            queue_number: 0,
        };
        self.witnesses.entry(name).or_insert(fact).enabled = enabled;
    }

    /// Applies an operation; says whether votes changed.
    fn apply(&mut self, operation: &Operation<'_>, spec: &ChainSpec) -> bool {
        match operation {
            Operation::WitnessUpdate(op) => self.set(op.owner, !op.block_signing_key.is_null()),
            Operation::WitnessSetProperties(op) => {
                let set = witness_properties::read(op, 28, spec.symbols).unwrap();
                if let Some(key) = set.new_signing_key {
                    self.set(op.owner, !key.is_null());
                }
            }
            Operation::AccountWitnessVote(op) => {
                let vote = (op.account, op.witness);
                assert!(if op.approve {
                    self.votes.insert(vote)
                } else {
                    self.votes.remove(&vote)
                });
                return true;
            }
            Operation::AccountWitnessProxy(op) if !op.proxy.is_empty() => {
                let before = self.votes.len();
                self.votes.retain(|(account, _)| *account != op.account);
                return self.votes.len() != before;
            }
            Operation::Pow(_) | Operation::Pow2(_) => panic!("no fixture log has mining"),
            _ => {}
        }
        false
    }

    fn counts(&self) -> WitnessCounts {
        WitnessCounts {
            total: self.witnesses.len(),
            enabled: self.witnesses.values().filter(|fact| fact.enabled).count(),
            mining_counter: 0,
            queue_is_empty: true,
            queue_is_known: true,
        }
    }
}

fn spec_of(expected: &serde_json::Value) -> ChainSpec {
    let base = match expected["profile"].as_str().unwrap() {
        "mainnet" => return ChainSpec::hive(),
        "mirrornet" => return ChainSpec::hive_mirrornet(),
        "steem_testnet" => "steem-testnet",
        "testnet" => "hive-testnet",
        other => panic!("{other}"),
    };
    let genesis = expected["genesis_time"].as_u64().unwrap();
    ChainSpec::from_json(&format!("{{\"base\":\"{base}\",\"genesis_time\":{genesis}}}")).unwrap()
}

struct Replay {
    spec: ChainSpec,
    hardfork: u8,
    facts: Facts,
    state: ScheduleState,
    scheduled: u64,
    consistent: u64,
}

impl Replay {
    fn new(spec: ChainSpec, hardfork: u8) -> Self {
        let initminer = AccountName::from("initminer");
        let mut facts = Facts::default();
        facts.set(initminer, true);
        let mut state = ScheduleState::genesis(initminer);
        (1..=hardfork).for_each(|hardfork| state.note_hardfork(hardfork));
        Self {
            spec,
            hardfork,
            facts,
            state,
            scheduled: 0,
            consistent: 0,
        }
    }

    fn block(&mut self, block: &DecodedBlock) -> Result<(), SlotError> {
        let header = &block.block().header;
        let slot = self.state.slot(self.spec.genesis_time, header.timestamp)?;
        match self.state.check(slot, header.witness)? {
            SlotCheck::Scheduled => self.scheduled += 1,
            SlotCheck::Consistent => self.consistent += 1,
        }
        for operation in block
            .block()
            .transactions
            .iter()
            .flat_map(|transaction| &transaction.operations)
        {
            if self.facts.apply(operation, &self.spec) {
                self.state.note_vote();
            }
        }
        self.state
            .advance(block.number(), header.timestamp, slot, header.witness);
        let round = RoundInput {
            hardfork: self.hardfork,
            miner_voting_block: self.spec.limits.early_chain_blocks,
            votes_exist: !self.facts.votes.is_empty(),
            counts: self.facts.counts(),
        };
        let facts = || Ok::<_, Infallible>(self.facts.witnesses.values().copied().collect());
        let Ok(_) = self.state.end_of_block(&round, facts);
        // Kept in a register between blocks.
        assert_eq!(
            ScheduleState::from_bytes(&self.state.to_bytes()).as_ref(),
            Ok(&self.state)
        );
        Ok(())
    }
}

fn replay(log: &str) {
    let Some(expected) = data::json(&format!("expected/identity_{log}.json")) else {
        return;
    };
    let (Some(path), Some(dictionaries)) = (data::file(&format!("logs/{log}")), data::file("dictionaries"))
    else {
        return;
    };
    let mut spec = spec_of(&expected);
    spec.genesis_time = Time(u32::try_from(expected["genesis_time"].as_u64().unwrap()).unwrap());
    let hardfork = u8::try_from(expected["hardfork"].as_u64().unwrap()).unwrap();
    let dictionaries = Arc::new(Dictionaries::load(&dictionaries).unwrap());
    let log_file = BlockLog::open(&path, spec.blocks_per_log_part, Arc::clone(&dictionaries)).unwrap();
    let mut decoder = BlockDecoder::new(dictionaries);
    let mut replay = Replay::new(spec, hardfork);
    for stored in log_file.sequential(1) {
        let bytes = decoder.decode_owned(stored.unwrap()).unwrap();
        let block = DecodedBlock::decode(bytes, replay.spec.symbols).unwrap();
        if let Err(error) = replay.block(&block) {
            panic!("{log}, block {}: {error}", block.number());
        }
    }
    let checked = expected["checks"]["slots_checked_against_schedule"]
        .as_u64()
        .unwrap();
    println!(
        "{log}: {} blocks in their own slot ({checked} in the fixture), {} consistent within their rounds",
        replay.scheduled, replay.consistent
    );
    assert_eq!(
        expected["head_block_num"].as_u64().unwrap(),
        replay.scheduled + replay.consistent
    );
    assert!(
        replay.scheduled >= checked,
        "{log}: {} of {checked}",
        replay.scheduled
    );
    if expected["checks"]["slots_not_checkable"] == 0 {
        assert_eq!(replay.scheduled, checked, "{log}");
    }
}

#[test]
fn every_block_of_every_log_is_in_its_slot() {
    for log in [
        "derived_mainnet_700",
        "derived_mixed",
        "derived_split",
        "hf28_tests",
        "hf28_upvoting",
        "hived",
        "mirrornet_1k",
        "op_account_witness_proxy",
        "op_account_witness_vote",
        "op_update_proposal_votes",
        "output_formatter",
        "steemd_generated",
        "steemd_identity",
        "steemd_live",
        "testnet_pattern",
        "transaction_pattern",
    ] {
        replay(log);
    }
}

/// Mainnet blocks 1000000 to 1000669: accounts vote, so only the rule within a round is left. Every round is checked from its
/// beginning, and a block by another witness than its own is refused.
#[test]
fn mainnet_rounds_are_consistent() {
    let Some(blocks) = data::json("mainnet/blocks.json") else {
        return;
    };
    let spec = ChainSpec::hive();
    let mut turns: BTreeMap<u64, AccountName> = BTreeMap::new();
    let mut parent: Option<Time> = None;
    let (mut counter, mut rounds, mut checked, mut repeated) = (0u64, 0, 0, 0);
    for entry in blocks.as_array().unwrap() {
        let number = entry["number"].as_u64().unwrap();
        if !(1_000_000..=1_000_669).contains(&number) {
            continue;
        }
        let bytes = hex::decode(entry["hex"].as_str().unwrap()).unwrap();
        let block = DecodedBlock::decode(bytes, spec.symbols).unwrap();
        let header = &block.block().header;
        if let Some(parent) = parent {
            let slot =
                cairn_rules::schedule::slots::slot_at(Some(parent), spec.genesis_time, header.timestamp);
            assert!(slot > 0);
            counter += u64::from(slot);
        }
        parent = Some(header.timestamp);
        if number % 21 == 1 {
            turns.clear();
            rounds += 1;
        }
        let turn = counter % 21;
        if let Some(witness) = turns.insert(turn, header.witness) {
            assert_eq!(witness, header.witness, "block {number}");
            repeated += 1;
        }
        let distinct: BTreeSet<_> = turns.values().collect();
        assert_eq!(distinct.len(), turns.len(), "block {number}");
        checked += 1;
    }
    println!("{checked} blocks in {rounds} whole or begun rounds, {repeated} turns met twice");
    assert_eq!(checked, 670);
}

/// The same blocks through the state, as a chain whose accounts vote: all consistent; with two witnesses exchanged not.
#[test]
fn the_state_refuses_what_a_round_contradicts() {
    let Some(blocks) = data::json("mainnet/blocks.json") else {
        return;
    };
    let spec = ChainSpec::hive();
    let counts = WitnessCounts {
        total: 100,
        enabled: 100,
        mining_counter: 0,
        queue_is_empty: true,
        queue_is_known: true,
    };
    let round = RoundInput {
        hardfork: 19,
        miner_voting_block: 864_000,
        votes_exist: true,
        counts,
    };
    let headers: Vec<_> = blocks
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| (1_000_000..=1_000_669).contains(&entry["number"].as_u64().unwrap()))
        .map(|entry| {
            let bytes = hex::decode(entry["hex"].as_str().unwrap()).unwrap();
            let block = DecodedBlock::decode(bytes, spec.symbols).unwrap();
            (
                block.number(),
                block.block().header.timestamp,
                block.block().header.witness,
            )
        })
        .collect();
    fn facts() -> Result<Vec<WitnessFact>, Infallible> {
        panic!("votes decide, so that witnesses are not asked for")
    }
    let run = |headers: &[(u32, Time, AccountName)]| -> Result<u32, (u32, SlotError)> {
        let mut state = ScheduleState::genesis(AccountName::from("initminer"));
        let mut consistent = 0;
        // Block 1000020 ends a round; what comes before has another list.
        for (number, time, witness) in headers {
            let slot = state
                .slot(spec.genesis_time, *time)
                .map_err(|error| (*number, error))?;
            if *number > 1_000_020 {
                let check = state.check(slot, *witness).map_err(|error| (*number, error))?;
                assert_eq!(check, SlotCheck::Consistent);
                consistent += 1;
            }
            state.advance(*number, *time, slot, *witness);
            let Ok(_) = state.end_of_block(&round, facts);
            state = ScheduleState::from_bytes(&state.to_bytes()).unwrap();
        }
        Ok(consistent)
    };
    // 1000020 is divisible by 21.
    assert_eq!(1_000_020 % 21, 0);
    assert_eq!(run(&headers), Ok(649));

    // A witness takes another one's place in the same round.
    let mut exchanged = headers.clone();
    exchanged[45].2 = exchanged[44].2;
    let (number, error) = run(&exchanged).unwrap_err();
    println!("block {number}: {error}");
    assert_eq!(number, exchanged[45].0);
    assert!(matches!(error, SlotError::NotOwnTurn { .. }));

    // A gap of 21 slots less one makes a turn come round again within the round.
    let mut late = headers;
    for (_, time, _) in &mut late[45..] {
        *time = Time(time.seconds() + 3 * 20);
    }
    let (number, error) = run(&late).unwrap_err();
    println!("block {number}: {error}");
    assert_eq!(number, late[45].0);
    assert!(matches!(error, SlotError::OthersTurn { .. }));
}
