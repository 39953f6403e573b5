//! The frequent case allocates nothing; the worst case ends.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on shall stop"
)]
#![allow(unsafe_code, reason = "an allocator that counts cannot be written without")]

mod authority_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;

use authority_support::Accounts;
use cairn_chain::{AccountName, Authority, ChainKind, PublicKey};
use cairn_rules::authority::{
    AuthorityFailure, AuthorityRef, AuthoritySource, CheckError, Level, RuleSet, WORK_LIMIT, check,
};
use cairn_rules::required::RequiredAuthorities;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

fn name(text: &str) -> AccountName {
    AccountName::from(text)
}

fn key(number: u8) -> PublicKey {
    let mut bytes = [number; 33];
    bytes[0] = 2;
    PublicKey(bytes)
}

#[test]
fn one_key_and_one_posting_authority_allocate_nothing() {
    let mut accounts = Accounts::default();
    accounts
        .authorities
        .insert((name("alice"), Level::Posting), Authority::of_key(key(1)));
    accounts.authorities.insert(
        (name("bob"), Level::Posting),
        Authority::of_account(name("alice")),
    );
    let keys = [key(1)];
    for hardfork in [0, 20, 28] {
        let rules = RuleSet::at(hardfork, ChainKind::Mainnet);
        let required = RequiredAuthorities::new(&[], &[], &[name("alice")], &[], &[]);
        let count = allocations(|| {
            check(&rules, &required, &keys, &mut accounts).unwrap();
        });
        assert_eq!(count, 0, "hardfork {hardfork}");
        // The counter counts: a member account needs room.
        let required = RequiredAuthorities::new(&[], &[], &[name("bob")], &[], &[]);
        let count = allocations(|| {
            check(&rules, &required, &keys, &mut accounts).unwrap();
        });
        assert!(count > 0, "hardfork {hardfork}");
    }
}

#[test]
fn packed_and_decoded_authorities_are_the_same_to_the_check() {
    let authority = Authority {
        weight_threshold: 3,
        account_auths: vec![(name("alice"), 1), (name("bob"), u16::MAX)],
        key_auths: vec![(key(1), 7), (key(2), 0)],
    };
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&3u32.to_le_bytes());
    bytes.extend_from_slice(&2u32.to_le_bytes());
    bytes.extend_from_slice(&2u32.to_le_bytes());
    for (name, weight) in &authority.account_auths {
        bytes.extend_from_slice(name.padded());
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
    for (key, weight) in &authority.key_auths {
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
    let packed = AuthorityRef::from_packed(&bytes).unwrap();
    assert_eq!(packed.to_authority(), authority);
    assert_eq!(AuthorityRef::from(&authority).to_authority(), authority);
    // Nothing else is an authority.
    for length in 0..bytes.len() {
        assert!(AuthorityRef::from_packed(&bytes[..length]).is_none(), "{length}");
    }
    bytes.push(0);
    assert!(AuthorityRef::from_packed(&bytes).is_none());
    assert!(AuthorityRef::from_packed(&[0xff; 12]).is_none());
    assert!(AuthorityRef::from_packed(&[0xff; 4096]).is_none());
}

#[test]
fn repeated_keys_are_found_among_few_and_many() {
    let mut accounts = Accounts::default();
    let rules = RuleSet::at(28, ChainKind::Mainnet);
    let nothing = RequiredAuthorities::default();
    for count in [2u8, 8, 9, 200] {
        let mut keys: Vec<_> = (0..count).map(key).collect();
        assert!(check(&rules, &nothing, &keys, &mut accounts).is_ok(), "{count}");
        *keys.last_mut().unwrap() = key(0);
        let expected = AuthorityFailure::DuplicateSignature {
            first: 0,
            second: usize::from(count) - 1,
            key: key(0),
        };
        let found = check(&rules, &nothing, &keys, &mut accounts);
        assert_eq!(found, Err(CheckError::Refused(expected)), "{count}");
    }
}

/// Every account has the same authority: as many accounts as a block can name.
struct Crowd(Authority);

impl AuthoritySource for Crowd {
    type Error = Infallible;

    fn authority(&mut self, _: AccountName, _: Level) -> Result<Option<AuthorityRef<'_>>, Infallible> {
        Ok(Some((&self.0).into()))
    }

    fn witness_key(&mut self, _: AccountName) -> Result<Option<PublicKey>, Infallible> {
        Ok(None)
    }
}

#[test]
fn the_walk_ends_whatever_the_accounts_are() {
    let members = (0..20_000)
        .map(|number| (name(&format!("n{number:05}")), 1))
        .collect();
    let authority = Authority {
        weight_threshold: 1,
        account_auths: members,
        key_auths: Vec::new(),
    };
    let mut crowd = Crowd(authority);
    let required = RequiredAuthorities::new(&[], &[name("alice")], &[], &[], &[]);
    let found = check(&RuleSet::at(0, ChainKind::Mainnet), &required, &[], &mut crowd);
    assert_eq!(
        found,
        Err(CheckError::TooMuchWork {
            steps: WORK_LIMIT + 1
        })
    );
    // With limits the same crowd costs next to nothing.
    for hardfork in [20, 28] {
        let found = check(
            &RuleSet::at(hardfork, ChainKind::Mainnet),
            &required,
            &[],
            &mut crowd,
        );
        assert_eq!(
            found,
            Err(CheckError::Refused(AuthorityFailure::MissingActive(name(
                "alice"
            ))))
        );
    }
}
