//! Authorities made to cost as much as they can: the check looks at a bounded number of accounts and members, whatever
//! they are. What is counted is work, not time.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

use std::collections::HashMap;
use std::convert::Infallible;

use cairn_chain::{AccountName, Authority, ChainKind, PublicKey};
use cairn_rules::authority::{
    AuthorityFailure, AuthorityRef, AuthoritySource, CheckError, Level, RuleSet, Satisfied, check,
};
use cairn_rules::registers::canonical_authority;
use cairn_rules::required::RequiredAuthorities;
use proptest::prelude::*;

/// Members that an authority may have, and accounts that a walk may visit.
const MEMBERS: usize = 40;
const VISITED: usize = 125;

/// Accounts by number, each with one authority for all levels.
#[derive(Debug, Clone)]
struct Graph {
    authorities: HashMap<AccountName, Authority>,
    /// Authorities that were looked up, and the members that they had.
    lookups: usize,
    members: usize,
}

impl Graph {
    fn new(authorities: impl IntoIterator<Item = Authority>) -> Self {
        let named = authorities.into_iter().enumerate();
        Self {
            authorities: named
                .map(|(index, authority)| (name(index), canonical_authority(authority)))
                .collect(),
            lookups: 0,
            members: 0,
        }
    }

    fn check(
        &mut self,
        hardfork: u8,
        required: &RequiredAuthorities,
    ) -> Result<Satisfied, CheckError<Infallible>> {
        (self.lookups, self.members) = (0, 0);
        check(
            &RuleSet::at(hardfork, ChainKind::Testnet),
            required,
            &[key(0)],
            self,
        )
    }
}

impl AuthoritySource for Graph {
    type Error = Infallible;

    fn authority(&mut self, name: AccountName, _: Level) -> Result<Option<AuthorityRef<'_>>, Infallible> {
        let authority = self.authorities.get(&name);
        self.lookups += 1;
        self.members += authority.map_or(0, Authority::members);
        Ok(authority.map(AuthorityRef::from))
    }

    fn witness_key(&mut self, _: AccountName) -> Result<Option<PublicKey>, Infallible> {
        Ok(None)
    }
}

fn name(index: usize) -> AccountName {
    AccountName::new(format!("n{index:05}").as_bytes())
}

fn key(number: u16) -> PublicKey {
    let mut bytes = [2; 33];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    PublicKey(bytes)
}

/// An authority of these accounts and of so many keys that do not sign.
fn authority(threshold: u32, accounts: impl IntoIterator<Item = usize>, keys: u16, weight: u16) -> Authority {
    Authority {
        weight_threshold: threshold,
        account_auths: accounts.into_iter().map(|index| (name(index), weight)).collect(),
        key_auths: (1..=keys).map(|number| (key(number), weight)).collect(),
    }
}

fn active(names: &[AccountName]) -> RequiredAuthorities {
    RequiredAuthorities::new(&[], names, &[], &[], &[])
}

fn posting(names: &[AccountName]) -> RequiredAuthorities {
    RequiredAuthorities::new(&[], &[], names, &[], &[])
}

/// Look-ups that one required name may cost: its own authority, and what each walk may visit. Before hardfork 28 the
/// higher authorities are tried after it: the first walk has counted the name itself, the others start at 0.
fn most_lookups(hardfork: u8, required: &RequiredAuthorities) -> usize {
    let (active, posting) = (required.active().len(), required.posting().len());
    if hardfork >= 28 {
        // One count for the whole transaction, in which each name is one.
        return active + posting + VISITED;
    }
    let (own, fallback) = (VISITED, 1 + VISITED);
    active * (own + fallback) + posting * (own + 2 * fallback)
}

fn assert_bounded(hardfork: u8, graph: &Graph, required: &RequiredAuthorities) {
    let most = most_lookups(hardfork, required);
    assert!(
        graph.lookups <= most && graph.members <= most * MEMBERS,
        "hardfork {hardfork}: {} look-ups of at most {most}, {} members",
        graph.lookups,
        graph.members
    );
}

/// Each account has forty others as members, and these forty others: 64,000 ways from the first.
fn wide_and_deep(threshold: u32, weight: u16) -> Graph {
    let children = |index: usize| (0..MEMBERS).map(move |child| index * MEMBERS + child + 1);
    Graph::new((0..2_000).map(|index| authority(threshold, children(index), 0, weight)))
}

#[test]
fn a_wide_and_deep_authority_is_given_up_at_the_limit_of_accounts() {
    let mut graph = wide_and_deep(1, 1);
    let result = graph.check(28, &active(&[name(0)]));
    assert!(matches!(
        result,
        Err(CheckError::Refused(AuthorityFailure::MissingActive(_)))
    ));
    // The name itself counts as one.
    assert_eq!(graph.lookups, VISITED);
    for (hardfork, required, most) in [
        (20, active(&[name(0)]), VISITED + VISITED + 1),
        (27, posting(&[name(0)]), VISITED + 2 * (VISITED + 1)),
    ] {
        assert!(graph.check(hardfork, &required).is_err());
        assert_eq!(graph.lookups, most, "hardfork {hardfork}");
        assert_bounded(hardfork, &graph, &required);
    }
}

#[test]
fn accounts_that_approve_and_weigh_nothing_are_no_way_around_it() {
    // Everybody at the end is satisfied by anybody, and gives no weight: the walk must go on, and ends all the same.
    let children = |index: usize| (0..MEMBERS).map(move |child| index * MEMBERS + child + 1);
    let mut graph = Graph::new((0..2_000).map(|index| match index {
        0..=40 => authority(1, children(index), 0, 0),
        _ => Authority::open(),
    }));
    for hardfork in [20, 27, 28] {
        for required in [active(&[name(0)]), posting(&[name(0)])] {
            assert!(graph.check(hardfork, &required).is_err());
            assert_bounded(hardfork, &graph, &required);
            assert!(graph.lookups >= VISITED);
        }
    }
}

#[test]
fn circles_end() {
    for length in [1, 2, 3, 7, 40] {
        // Everybody names everybody of the circle, the account itself included.
        let mut graph = Graph::new((0..length).map(|_| authority(1, 0..length, 0, 1)));
        for hardfork in [0, 20, 27, 28] {
            let required = active(&[name(0)]);
            assert!(graph.check(hardfork, &required).is_err());
            if hardfork >= 20 {
                assert_bounded(hardfork, &graph, &required);
            } else {
                // Without limits the depth alone ends it: an account, its members, and theirs; twice.
                assert_eq!(graph.lookups, 2 * (1 + length + length * length));
            }
        }
    }
}

#[test]
fn many_required_names_share_one_limit_since_hardfork_28() {
    // Each name is satisfied by the last of its forty members, which is the second of two that sign.
    let signer = 1_000;
    let mut all: Vec<Authority> = (0..=signer)
        .map(|index| {
            let members = (0..MEMBERS - 1).map(move |member| 100 + (index * 39 + member) % 800);
            authority(1, members.chain([signer]), 0, 1)
        })
        .collect();
    for member in &mut all[100..signer] {
        *member = Authority::closed();
    }
    all[signer] = Authority::of_key(key(0));
    let mut graph = Graph::new(all);
    let names: Vec<AccountName> = (0..20).map(name).collect();
    // 20 names of 40 members each are too much for one transaction, and were not before.
    let required = active(&names);
    assert!(graph.check(28, &required).is_err());
    assert_bounded(28, &graph, &required);
    assert!(graph.check(27, &required).is_ok());
    assert_bounded(27, &graph, &required);
    assert!(graph.lookups > 5 * VISITED);
    assert!(graph.check(28, &active(&names[..2])).is_ok());
}

#[test]
fn of_an_authority_with_too_many_members_forty_are_looked_at() {
    // As history holds some. The key that signs is the last.
    for keys in [39, 40, 1_000] {
        let mut one = authority(1, [], keys, 1);
        one.key_auths.push((key(0), 1));
        one.key_auths.sort_unstable_by_key(|(key, _)| *key);
        // key(0) sorts first; a threshold that needs the last one, too.
        one.weight_threshold = 2;
        let last = key(keys);
        let mut graph = Graph::new([one]);
        let rules = RuleSet::at(28, ChainKind::Testnet);
        let result = check(&rules, &active(&[name(0)]), &[key(0), last], &mut graph);
        assert_eq!(result.is_ok(), keys < 40, "{keys} keys and one more");
    }
}

fn any_authority(accounts: usize) -> impl Strategy<Value = Authority> {
    let members = proptest::collection::vec(0..accounts, 0..MEMBERS);
    let threshold = prop_oneof![Just(0u32), Just(1), Just(2), Just(u32::MAX)];
    (threshold, members, 0u16..=40, 0u16..=1, any::<bool>()).prop_map(
        |(threshold, members, keys, weight, signs)| {
            let keys = keys.min((MEMBERS - members.len()) as u16);
            let mut authority = authority(threshold, members, keys, weight);
            if signs && keys > 0 {
                authority.key_auths[0].0 = key(0);
            }
            authority
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn no_graph_costs_more_than_the_limits(
        authorities in proptest::collection::vec(any_authority(300), 300),
        names in proptest::collection::btree_set(0usize..300, 1..8),
        hardfork in prop_oneof![Just(20u8), Just(27), Just(28)],
        by_posting in any::<bool>(),
    ) {
        let mut graph = Graph::new(authorities);
        let names: Vec<AccountName> = names.into_iter().map(name).collect();
        let required = if by_posting { posting(&names) } else { active(&names) };
        let _verdict = graph.check(hardfork, &required);
        assert_bounded(hardfork, &graph, &required);
    }
}
