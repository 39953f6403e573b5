//! What each operation requires.

mod one_name;

use cairn_chain::operations::*;
use cairn_chain::{Authority, BlockId, Bytes, FeeAsset, PublicKey, Sha256Digest, Signature, Text};

use super::*;

fn name(text: &str) -> AccountName {
    AccountName::from(text)
}

fn key(number: u8) -> PublicKey {
    let mut bytes = [number; 33];
    bytes[0] = 2;
    PublicKey(bytes)
}

fn of(operation: &Operation<'_>) -> RequiredAuthorities {
    authorities(operation).unwrap()
}

fn owner(names: &[&str]) -> RequiredAuthorities {
    let names: Vec<_> = names.iter().map(|text| name(text)).collect();
    RequiredAuthorities::new(&names, &[], &[], &[], &[])
}

fn active(names: &[&str]) -> RequiredAuthorities {
    let names: Vec<_> = names.iter().map(|text| name(text)).collect();
    RequiredAuthorities::new(&[], &names, &[], &[], &[])
}

fn posting(names: &[&str]) -> RequiredAuthorities {
    let names: Vec<_> = names.iter().map(|text| name(text)).collect();
    RequiredAuthorities::new(&[], &[], &names, &[], &[])
}

fn other(list: &[Authority]) -> RequiredAuthorities {
    RequiredAuthorities::new(&[], &[], &[], &[], list)
}

fn props() -> ChainProperties {
    ChainProperties {
        account_creation_fee: FeeAsset::hive(1),
        maximum_block_size: 131_072,
        hbd_interest_rate: 0,
    }
}

#[test]
fn updates_require_what_they_change() {
    let update = |given: Option<Authority>| {
        Operation::AccountUpdate(AccountUpdate {
            account: name("alice"),
            owner: given,
            active: Some(Authority::open()),
            posting: None,
            memo_key: PublicKey::NULL,
            json_metadata: Text::from("{}"),
        })
    };
    assert_eq!(of(&update(Some(Authority::open()))), owner(&["alice"]));
    assert_eq!(of(&update(None)), active(&["alice"]));

    let update2 = |change: fn(&mut AccountUpdate2<'static>)| {
        let mut op = AccountUpdate2 {
            account: name("alice"),
            owner: None,
            active: None,
            posting: None,
            memo_key: None,
            json_metadata: Text::from(""),
            posting_json_metadata: Text::from("{}"),
            extensions: Vec::new(),
        };
        change(&mut op);
        of(&Operation::AccountUpdate2(op))
    };
    assert_eq!(update2(|_| {}), posting(&["alice"]));
    assert_eq!(
        update2(|op| op.json_metadata = Text::from("{}")),
        active(&["alice"])
    );
    assert_eq!(
        update2(|op| op.memo_key = Some(PublicKey::NULL)),
        active(&["alice"])
    );
    assert_eq!(
        update2(|op| op.posting = Some(Authority::open())),
        active(&["alice"])
    );
    assert_eq!(
        update2(|op| op.active = Some(Authority::open())),
        active(&["alice"])
    );
    let all = update2(|op| {
        op.owner = Some(Authority::open());
        op.active = Some(Authority::open());
    });
    assert_eq!(all, owner(&["alice"]));
}

#[test]
fn recovery_requires_both_authorities() {
    let (new, recent) = (Authority::of_key(key(1)), Authority::of_key(key(2)));
    let recover = Operation::RecoverAccount(RecoverAccount {
        account_to_recover: name("alice"),
        new_owner_authority: new.clone(),
        recent_owner_authority: recent.clone(),
        extensions: Vec::new(),
    });
    assert_eq!(of(&recover), other(&[new, recent]));

    // As hived keeps them: sorted, of two equal members the first.
    let written = Authority {
        weight_threshold: 2,
        account_auths: vec![(name("bob"), 1), (name("alice"), 2), (name("bob"), 3)],
        key_auths: vec![(key(2), 1), (key(1), 2), (key(2), 3)],
    };
    let kept = Authority {
        weight_threshold: 2,
        account_auths: vec![(name("alice"), 2), (name("bob"), 1)],
        key_auths: vec![(key(1), 2), (key(2), 1)],
    };
    let recover = Operation::RecoverAccount(RecoverAccount {
        account_to_recover: name("alice"),
        new_owner_authority: written,
        recent_owner_authority: Authority::open(),
        extensions: Vec::new(),
    });
    assert_eq!(of(&recover).other(), [kept, Authority::open()]);
}

#[test]
fn properties_require_the_signing_key_they_name() {
    let bytes = key(1).0;
    let set = |properties: Vec<(&'static str, Vec<u8>)>| {
        let props = properties
            .into_iter()
            .map(|(name, value)| (Text::from(name), Bytes(value.leak())))
            .collect();
        Operation::WitnessSetProperties(WitnessSetProperties {
            owner: name("alice"),
            props,
            extensions: Vec::new(),
        })
    };
    let one = set(vec![
        ("new_signing_key", key(2).0.to_vec()),
        ("key", bytes.to_vec()),
    ]);
    assert_eq!(of(&one), other(&[Authority::of_key(key(1))]));
    // Of two the first counts; without one nobody can sign.
    let two = set(vec![("key", bytes.to_vec()), ("key", key(3).0.to_vec())]);
    assert_eq!(of(&two), other(&[Authority::of_key(key(1))]));
    assert_eq!(of(&set(vec![])), other(&[Authority::of_account(name("null"))]));
    let short = set(vec![("key", vec![2; 32])]);
    assert_eq!(
        authorities(&short),
        Err(RequiredError::SigningKeyProperty { index: 0 })
    );
}

#[test]
fn lists_of_names() {
    let names = |list: &[&str]| list.iter().map(|text| name(text)).collect::<Vec<_>>();
    let custom = Custom {
        required_auths: names(&["bob", "alice", "bob"]),
        id: 1,
        data: Bytes(b""),
    };
    assert_eq!(of(&Operation::Custom(custom)), active(&["alice", "bob"]));
    let json = CustomJson {
        required_auths: names(&["carol"]),
        required_posting_auths: names(&["bob", "alice"]),
        id: "id".into(),
        json: Text::from("{}"),
    };
    let required = of(&Operation::CustomJson(json));
    assert_eq!(
        (required.active(), required.posting()),
        (&names(&["carol"])[..], &names(&["alice", "bob"])[..])
    );
    let binary = CustomBinary {
        required_owner_auths: names(&["alice"]),
        required_active_auths: names(&["bob"]),
        required_posting_auths: names(&["carol"]),
        required_auths: vec![Authority::open()],
        id: "id".into(),
        data: Bytes(b""),
    };
    let required = of(&Operation::CustomBinary(binary));
    assert_eq!(required.owner(), names(&["alice"]));
    assert_eq!(required.active(), names(&["bob"]));
    assert_eq!(required.posting(), names(&["carol"]));
    assert_eq!(required.other(), [Authority::open()]);
}

#[test]
fn mining_and_witness_keys() {
    let input = Pow2Input {
        worker_account: name("miner"),
        prev_block: BlockId::ZERO,
        nonce: 1,
    };
    let hash = || {
        Pow2Work::Hash(HashPow {
            input,
            pow_summary: 0,
        })
    };
    let equihash = Pow2Work::Equihash(EquihashPow {
        input,
        proof: EquihashProof {
            n: 140,
            k: 6,
            seed: Sha256Digest::ZERO,
            inputs: Vec::new(),
        },
        prev_block: BlockId::ZERO,
        pow_summary: 0,
    });
    let pow2 = |work, new_owner_key| {
        of(&Operation::Pow2(Pow2 {
            work,
            new_owner_key,
            props: props(),
        }))
    };
    assert_eq!(pow2(hash(), None), active(&["miner"]));
    assert_eq!(pow2(equihash, None), active(&["miner"]));
    assert_eq!(pow2(hash(), Some(key(1))), other(&[Authority::of_key(key(1))]));
    let work = PowWork {
        worker: key(1),
        input: Sha256Digest::ZERO,
        signature: Signature([0; 65]),
        work: Sha256Digest::ZERO,
    };
    let pow = Pow {
        worker_account: name("miner"),
        block_id: BlockId::ZERO,
        nonce: 1,
        work,
        props: props(),
    };
    assert!(of(&Operation::Pow(pow)).is_empty());

    let approve = WitnessBlockApprove {
        witness: name("alice"),
        block_id: BlockId::ZERO,
    };
    let required = of(&Operation::WitnessBlockApprove(approve));
    assert_eq!(
        required,
        RequiredAuthorities::new(&[], &[], &[], &[name("alice")], &[])
    );
    assert!(required.has_more_than_posting());

    let reset = |current: &str| {
        of(&Operation::SetResetAccount(SetResetAccount {
            account: name("alice"),
            current_reset_account: name(current),
            reset_account: name("bob"),
        }))
    };
    assert_eq!(reset("carol"), owner(&["alice"]));
    assert_eq!(reset(""), posting(&["alice"]));
    assert!(RequiredAuthorities::default().is_empty());
}
