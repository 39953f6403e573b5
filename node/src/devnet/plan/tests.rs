//! Plans against the rules, checked by a model that is told nothing but the planned operations.

use std::collections::{HashMap, HashSet};

use super::super::accounts::Shape;
use super::*;

const SEED: u64 = 11;

fn plans(blocks: u32) -> Vec<BlockPlan> {
    let mut planner = Planner::new(ChainShape::new(SEED));
    (0..blocks).map(|_| planner.next_block()).collect()
}

/// Each planned operation with the time that it sees.
fn operations(plans: &[BlockPlan]) -> impl Iterator<Item = (u32, Planned)> {
    plans.iter().flat_map(|plan| {
        let now = spec::block_time(plan.number - 1);
        plan.transactions
            .iter()
            .flat_map(move |t| t.operations.iter().map(move |operation| (now, *operation)))
    })
}

#[test]
fn references_lie_in_the_past_and_never_go_back() {
    let mut last = 0;
    for number in 2..1000 {
        let reference = reference(number, LAG);
        assert!(
            (1..number).contains(&reference) && reference >= last,
            "block {number}"
        );
        assert!(number - reference <= LAG);
        last = reference;
    }
    assert_eq!(reference(1000, LAG), 1000 - LAG);
}

#[test]
fn no_two_transactions_share_reference_and_expiration() {
    let mut seen = HashSet::new();
    for plan in plans(600) {
        for transaction in &plan.transactions {
            let now = spec::block_time(plan.number - 1);
            assert!(transaction.expiration > now && transaction.expiration <= now + 3600);
            assert!(seen.insert((reference(plan.number, LAG), transaction.expiration)));
            assert!(!transaction.operations.is_empty());
        }
    }
    assert!(seen.len() > 20_000);
}

#[test]
fn every_block_after_the_start_up_holds_30_to_60_transactions() {
    let plans = plans(300);
    let start = plans.iter().position(|plan| {
        plan.transactions.iter().any(|t| {
            t.operations
                .iter()
                .any(|operation| matches!(operation, Planned::CustomJson { .. }))
        })
    });
    let start = start.expect("the start-up ends");
    assert!(start <= 6, "the start-up takes {start} blocks");
    for plan in &plans[start..] {
        assert!(
            (30..=60).contains(&plan.transactions.len()),
            "block {}",
            plan.number
        );
    }
}

#[test]
fn accounts_exist_before_anything_names_them_and_are_created_once() {
    let mut exists = HashSet::from([INITMINER]);
    for (_, operation) in operations(&plans(400)) {
        let named: Vec<u32> = match operation {
            Planned::AccountCreate { creator, account, .. } => {
                assert!(exists.contains(&creator) && exists.insert(account));
                vec![]
            }
            Planned::AccountUpdate { account, changes, .. }
            | Planned::AccountUpdate2 { account, changes, .. } => {
                let mut named = vec![account];
                if let AuthorityChange::Set(held) = changes.posting
                    && let Shape::OneKeyOr(other) = held.shape
                {
                    named.push(other);
                }
                named
            }
            Planned::ChangeRecoveryAccount { account, to } => vec![account, to],
            Planned::Comment { post, parent, .. } => [Some(post), parent]
                .into_iter()
                .flatten()
                .map(|post| post.author)
                .collect(),
            Planned::CommentOptions { post, beneficiary } => {
                [Some(post.author), beneficiary].into_iter().flatten().collect()
            }
            Planned::Custom { account }
            | Planned::CustomJson { account, .. }
            | Planned::LargeJson { account } => vec![account],
            Planned::FeedPublish { witness }
            | Planned::WitnessUpdate { witness, .. }
            | Planned::WantLargeBlocks { witness, .. } => vec![witness],
            Planned::WitnessSetProperties { witness, .. } => vec![witness],
            Planned::Proxy { account, to } => [Some(account), to].into_iter().flatten().collect(),
            Planned::RecoverAccount { account, .. } => vec![account],
            Planned::RequestRecovery { by, account, .. } => vec![by, account],
            Planned::TransferTbd { from, to, .. }
            | Planned::TransferTests { from, to, .. }
            | Planned::TransferToVesting { from, to, .. } => vec![from, to],
            Planned::Vote { voter, post, .. } => vec![voter, post.author],
        };
        assert!(
            named.iter().all(|account| exists.contains(account)),
            "{operation:?}"
        );
    }
    assert!(exists.len() > 500);
}

#[test]
fn posts_keep_the_intervals_and_only_existing_ones_are_named() {
    #[derive(Default)]
    struct Author {
        root: Option<u32>,
        post: Option<u32>,
    }
    let mut authors: HashMap<u32, Author> = HashMap::new();
    let mut posts: HashSet<Post> = HashSet::new();
    let mut edits = 0;
    for (now, operation) in operations(&plans(600)) {
        match operation {
            Planned::Comment { post, parent, edit } => {
                let author = authors.entry(post.author).or_default();
                assert!(author.post.is_none_or(|last| last + 3 <= now), "{operation:?}");
                author.post = Some(now);
                if edit {
                    edits += 1;
                    assert!(posts.contains(&post) && parent.is_none() && post.depth == 0);
                    continue;
                }
                assert!(posts.insert(post));
                match parent {
                    Some(parent) => {
                        assert_eq!(post.depth, parent.depth + 1);
                        assert!(posts.contains(&parent));
                    }
                    None => {
                        assert!(author.root.is_none_or(|last| last + 300 < now), "{operation:?}");
                        author.root = Some(now);
                        assert_eq!(post.depth, 0);
                    }
                }
            }
            Planned::Vote { post, weight, .. } => {
                assert!(weight != 0 && weight.unsigned_abs() <= 10_000);
                assert!(posts.contains(&post));
            }
            Planned::CommentOptions { post, .. } => assert!(posts.contains(&post)),
            _ => {}
        }
    }
    assert!(edits > 10, "{edits} edits");
}

#[test]
fn nobody_spends_what_they_have_not() {
    let mut tests = HashMap::from([(INITMINER, 250_000_000_000_i64)]);
    let mut tbd = HashMap::from([(INITMINER, 7_000_000_000_i64)]);
    for (_, operation) in operations(&plans(800)) {
        let (funds, from, to, amount) = match operation {
            Planned::TransferTests { from, to, amount } => (&mut tests, from, Some(to), amount),
            Planned::TransferTbd { from, to, amount } => (&mut tbd, from, Some(to), amount),
            Planned::TransferToVesting { from, amount, .. } => (&mut tests, from, None, amount),
            _ => continue,
        };
        assert!(amount > 0);
        let left = funds.entry(from).or_default();
        *left -= amount;
        assert!(*left >= 0, "{operation:?}");
        if let Some(to) = to {
            *funds.entry(to).or_default() += amount;
        }
    }
}

#[test]
fn witnesses_take_over_in_block_43_and_sign_with_the_key_registered_before() {
    let mut keys: HashMap<u32, u32> = HashMap::from([(INITMINER, 0)]);
    let mut produced = HashSet::new();
    let mut rotations = 0;
    for plan in plans(1200) {
        assert_eq!(
            plan.producer_key,
            KeyName::new(plan.producer, Role::Block, keys[&plan.producer])
        );
        assert_eq!(plan.first_of_producer, produced.insert(plan.producer));
        if plan.number <= 42 {
            assert_eq!(plan.producer, INITMINER);
        }
        for operation in plan.transactions.iter().flat_map(|t| &t.operations) {
            let (witness, new) = match *operation {
                Planned::WitnessUpdate { witness, key } => (witness, key),
                Planned::WitnessSetProperties {
                    witness,
                    key,
                    new_key,
                } => {
                    assert_eq!(keys[&witness], key);
                    (witness, new_key)
                }
                _ => continue,
            };
            rotations += u32::from(keys.insert(witness, new).is_some_and(|old| old != new));
        }
    }
    assert_eq!(produced.len(), 21);
    assert!(rotations > 20, "{rotations} rotations");
}

#[test]
fn a_round_has_every_witness_once() {
    for round in plans(210)[42..].chunks(21) {
        let producers: HashSet<u32> = round.iter().map(|plan| plan.producer).collect();
        assert_eq!(producers.len(), round.len());
    }
}
