//! The check against a slow twin that follows the written rules word by word, on random accounts and signatures.
//!
//! The twin shares no code with the check: maps instead of sorted lists, copies instead of references, the limits written
//! out. It cannot find a rule that is misread in both; `authority_cases.rs` is for that.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]

mod authority_support;

use std::collections::{BTreeMap, BTreeSet};

use authority_support::Accounts;
use cairn_chain::{AccountName, Authority, PublicKey};
use cairn_rules::authority::{AuthorityFailure, CheckError, Level, RuleSet, check};
use cairn_rules::registers::canonical_authority;
use cairn_rules::required::RequiredAuthorities;
use proptest::prelude::*;

type Failure = AuthorityFailure;

struct Twin<'a> {
    rules: RuleSet,
    accounts: &'a Accounts,
    lookup: Level,
    used: BTreeMap<PublicKey, bool>,
    approved: BTreeSet<AccountName>,
    count: u32,
}

impl Twin<'_> {
    fn find(&self, name: AccountName, level: Level) -> Result<Authority, Failure> {
        self.accounts
            .authorities
            .get(&(name, level))
            .cloned()
            .ok_or(Failure::UnknownAccount(name))
    }

    fn walk(&mut self, authority: &Authority, level: u32) -> Result<bool, Failure> {
        let mut total = 0u64;
        let mut members = 0;
        let threshold = u64::from(authority.weight_threshold);
        for (key, weight) in &authority.key_auths {
            if let Some(used) = self.used.get_mut(key) {
                *used = true;
                total += u64::from(*weight);
                if total >= threshold {
                    return Ok(true);
                }
            }
            members += 1;
            if self.rules.members != 0 && members == self.rules.members {
                return Ok(false);
            }
        }
        for (name, weight) in &authority.account_auths {
            let mut counts = self.approved.contains(name);
            if !counts {
                if level == self.rules.depth {
                    continue;
                }
                if self.rules.accounts != 0 && self.count >= self.rules.accounts {
                    return Ok(false);
                }
                self.count += 1;
                let own = self.find(*name, self.lookup)?;
                if self.walk(&own, level + 1)? {
                    self.approved.insert(*name);
                    counts = true;
                }
            }
            if counts {
                total += u64::from(*weight);
                if total >= threshold {
                    return Ok(true);
                }
            }
            members += 1;
            if self.rules.members != 0 && members == self.rules.members {
                return Ok(false);
            }
        }
        Ok(total >= threshold)
    }

    /// An authority of a required account that the phase looks at.
    fn own(&mut self, name: AccountName, level: Level) -> Result<bool, Failure> {
        let authority = self.find(name, level)?;
        if self.approved.contains(&name) {
            return Ok(true);
        }
        self.count = if self.rules.strict_and_mixed {
            self.count + 1
        } else {
            1
        };
        self.walk(&authority, 0)
    }

    /// An explicit, an owner, or a fallback authority.
    fn always(&mut self, authority: &Authority) -> Result<bool, Failure> {
        if !self.rules.strict_and_mixed {
            self.count = 0;
        }
        self.walk(authority, 0)
    }

    fn unused(&self) -> Result<(), Failure> {
        match self.used.iter().find(|(_, used)| !**used) {
            Some((key, _)) if !self.rules.redundant_signatures => Err(Failure::UnusedSignature(*key)),
            _ => Ok(()),
        }
    }

    fn check(&mut self, required: &Required) -> Result<(), Failure> {
        let strict = self.rules.strict_and_mixed;
        if !required.posting.is_empty() {
            let alone = required.owner.is_empty()
                && required.active.is_empty()
                && required.witness.is_empty()
                && required.other.is_empty();
            if !strict && !alone {
                return Err(Failure::MixedWithPosting);
            }
            for name in &required.posting {
                let mut good = self.own(*name, Level::Posting)?;
                if !strict && !good {
                    let active = self.find(*name, Level::Active)?;
                    good = self.always(&active)?;
                }
                if !strict && !good {
                    let owner = self.find(*name, Level::Owner)?;
                    good = self.always(&owner)?;
                }
                if !good {
                    return Err(Failure::MissingPosting(*name));
                }
            }
            if !strict {
                return self.unused();
            }
        }
        self.approved.clear();
        self.lookup = Level::Active;
        for (index, authority) in required.other.iter().enumerate() {
            if !self.always(authority)? {
                return Err(Failure::MissingOther { index });
            }
        }
        for name in &required.active {
            let mut good = self.own(*name, Level::Active)?;
            if !strict && !good {
                let owner = self.find(*name, Level::Owner)?;
                good = self.always(&owner)?;
            }
            if !good {
                return Err(Failure::MissingActive(*name));
            }
        }
        for name in &required.owner {
            let owner = self.find(*name, Level::Owner)?;
            if !self.always(&owner)? {
                return Err(Failure::MissingOwner(*name));
            }
        }
        for name in &required.witness {
            let key = self.accounts.witnesses.get(name).copied();
            match key.and_then(|key| self.used.get_mut(&key)) {
                Some(used) => *used = true,
                None => return Err(Failure::MissingWitness(*name)),
            }
        }
        self.unused()
    }
}

#[derive(Debug, Clone)]
struct Required {
    owner: BTreeSet<AccountName>,
    active: BTreeSet<AccountName>,
    posting: BTreeSet<AccountName>,
    witness: BTreeSet<AccountName>,
    other: Vec<Authority>,
}

#[derive(Debug, Clone)]
struct World {
    accounts: Accounts,
    required: Required,
    keys: Vec<PublicKey>,
    rules: RuleSet,
}

const ACCOUNTS: u8 = 9;
const KEYS: u8 = 14;

fn name(number: u8) -> AccountName {
    AccountName::from(format!("account-{number}").as_str())
}

fn key(number: u8) -> PublicKey {
    let mut bytes = [number; 33];
    bytes[0] = 2;
    PublicKey(bytes)
}

/// Small pools make shared members, loops and repeated names frequent; few weights make thresholds decide.
fn authority() -> impl Strategy<Value = Authority> {
    let accounts = prop::collection::vec((0..ACCOUNTS, 0..3u16), 0..5);
    let keys = prop::collection::vec((0..KEYS, 0..3u16), 0..4);
    (0..4u32, accounts, keys).prop_map(|(weight_threshold, accounts, keys)| {
        canonical_authority(Authority {
            weight_threshold,
            account_auths: accounts
                .into_iter()
                .map(|(number, weight)| (name(number), weight))
                .collect(),
            key_auths: keys
                .into_iter()
                .map(|(number, weight)| (key(number), weight))
                .collect(),
        })
    })
}

fn names(most: usize) -> impl Strategy<Value = BTreeSet<AccountName>> {
    prop::collection::btree_set((0..ACCOUNTS).prop_map(name), 0..=most)
}

fn rules() -> impl Strategy<Value = RuleSet> {
    let limits = prop_oneof![
        3 => Just((2, 0, 0)),
        3 => Just((2, 40, 125)),
        // Limits small enough to be met.
        4 => (0..4u32, 1..6u32, 1..8u32),
    ];
    (limits, any::<bool>(), any::<bool>()).prop_map(
        |((depth, members, accounts), strict_and_mixed, redundant_signatures)| RuleSet {
            depth,
            members,
            accounts,
            strict_and_mixed,
            redundant_signatures,
        },
    )
}

fn required() -> impl Strategy<Value = Required> {
    let nothing = BTreeSet::new;
    let posting_alone = names(3).prop_map(move |posting| Required {
        owner: nothing(),
        active: nothing(),
        posting,
        witness: nothing(),
        other: Vec::new(),
    });
    let other = || prop::collection::vec(authority(), 0..2);
    let no_posting =
        (names(1), names(3), names(1), other()).prop_map(move |(owner, active, witness, other)| Required {
            owner,
            active,
            posting: nothing(),
            witness,
            other,
        });
    let mixed = (names(1), names(2), names(2), names(1), other()).prop_map(
        |(owner, active, posting, witness, other)| Required {
            owner,
            active,
            posting,
            witness,
            other,
        },
    );
    prop_oneof![2 => posting_alone, 2 => no_posting, 2 => mixed]
}

fn world() -> impl Strategy<Value = World> {
    let three = [authority(), authority(), authority()];
    // One account of the pool does not exist.
    let accounts = prop::collection::vec(three, usize::from(ACCOUNTS) - 1);
    let signers = prop::collection::btree_set(0..KEYS, 0..=usize::from(KEYS));
    (accounts, required(), signers, rules(), any::<bool>()).prop_map(
        |(authorities, required, signers, rules, reversed)| {
            let mut accounts = Accounts::default();
            for (number, [owner, active, posting]) in (0..).zip(authorities) {
                accounts.authorities.insert((name(number), Level::Owner), owner);
                accounts.authorities.insert((name(number), Level::Active), active);
                accounts
                    .authorities
                    .insert((name(number), Level::Posting), posting);
                accounts.witnesses.insert(name(number), key(number));
            }
            let mut keys: Vec<_> = signers.into_iter().map(key).collect();
            if reversed {
                keys.reverse();
            }
            World {
                accounts,
                required,
                keys,
                rules,
            }
        },
    )
}

fn verdict(world: &World) -> Result<(), Failure> {
    let Required {
        owner,
        active,
        posting,
        witness,
        other,
    } = &world.required;
    let list = |names: &BTreeSet<AccountName>| names.iter().rev().copied().collect::<Vec<_>>();
    let required =
        RequiredAuthorities::new(&list(owner), &list(active), &list(posting), &list(witness), other);
    match check(&world.rules, &required, &world.keys, &mut world.accounts.clone()) {
        Ok(_) => Ok(()),
        Err(CheckError::Refused(failure)) => Err(failure),
        Err(other) => panic!("{other}"),
    }
}

fn expected(world: &World) -> Result<(), Failure> {
    let mut twin = Twin {
        rules: world.rules,
        accounts: &world.accounts,
        lookup: Level::Posting,
        used: world.keys.iter().map(|key| (*key, false)).collect(),
        approved: BTreeSet::new(),
        count: 0,
    };
    twin.check(&world.required)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60_000))]

    #[test]
    fn check_and_twin_agree(world in world()) {
        prop_assert_eq!(verdict(&world), expected(&world));
    }
}

/// The random worlds are of use only if they bring about every outcome.
#[test]
fn random_worlds_have_every_outcome() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..20_000 {
        let world = world().new_tree(&mut runner).unwrap().current();
        let outcome = expected(&world).map_or_else(|failure| failure.kind(), |()| "ok");
        *outcomes.entry(outcome).or_default() += 1;
    }
    println!("{outcomes:?}");
    for outcome in [
        "ok",
        "missing_posting",
        "missing_active",
        "missing_owner",
        "missing_witness",
        "missing_other",
        "mixed_with_posting",
        "unused_signature",
        "unknown_account",
    ] {
        assert!(
            outcomes.get(outcome).is_some_and(|count| *count > 50),
            "{outcome}: {outcomes:?}"
        );
    }
}
