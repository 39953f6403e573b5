//! Accounts, authorities, recovery.

use cairn_chain::operations::*;
use cairn_chain::{Asset, Authority, ChainSpec, FutureExtension, Operation, PublicKey, Text, Void};

use super::*;

fn create() -> AccountCreate<'static> {
    AccountCreate {
        fee: Asset::hive(3_000),
        creator: name("alice"),
        new_account_name: name("bob"),
        owner: authority_of(1),
        active: authority_of(1),
        posting: authority_of(1),
        memo_key: PublicKey::NULL,
        json_metadata: Text::from(""),
    }
}

fn created(change: impl FnOnce(&mut AccountCreate<'static>)) -> Operation<'static> {
    let mut op = create();
    change(&mut op);
    Operation::AccountCreate(op)
}

fn void() -> Vec<FutureExtension> {
    vec![FutureExtension::Void(Void {})]
}

#[test]
fn names_have_the_form_of_names() {
    for good in [
        "bob",
        "null",
        "temp",
        "miners",
        "a-b",
        "abc.def",
        "abc-9",
        "a23456789012345b",
        "abc.d-e.f00",
    ] {
        accepted(created(|op| op.new_account_name = name(good)));
    }
    let bad = [
        "", "ab", "a.b", "abc.", "abc..def", "abc-", "-abc", "1abc", "abc_d", "abc.1de", "abc.de", ".abc",
        "UPPER", "abc.-de", "a b",
    ];
    for bad in bad {
        refused(created(|op| op.new_account_name = name(bad)), "new_account_name");
    }
    // The creator must exist, and need not have the form of a name.
    accepted(created(|op| op.creator = name("UPPER")));
}

#[test]
fn fee_of_creation_is_hive_in_range() {
    accepted(created(|op| op.fee = Asset::hive(0)));
    accepted(created(|op| op.fee = Asset::hive(1_000_000_000)));
    refused(created(|op| op.fee = Asset::hive(-1)), "fee: 0 to 1000000000");
    refused(
        created(|op| op.fee = Asset::hive(1_000_000_001)),
        "fee: 0 to 1000000000",
    );
    refused(created(|op| op.fee = Asset::hbd(1)), "fee: HIVE expected");
    refused(created(|op| op.fee = Asset::vests(1)), "fee: HIVE expected");
}

#[test]
fn new_authorities_have_names_and_at_most_forty_members() {
    accepted(created(|op| op.owner = authority_of(40)));
    refused(created(|op| op.owner = authority_of(41)), "owner: at most 40");
    refused(created(|op| op.active = authority_of(41)), "active: at most 40");
    refused(created(|op| op.posting = authority_of(41)), "posting: at most 40");
    let nobody = |text: &str| Authority::of_account(name(text));
    refused(created(|op| op.owner = nobody("No")), "owner: member");
    refused(created(|op| op.active = nobody("No")), "active: member");
    refused(created(|op| op.posting = nobody("No")), "posting: member");
    // Accounts and keys count together; a member that is listed twice counts once.
    let mut both = authority_of(39);
    both.account_auths = vec![(name("alice"), 1), (name("alice"), 2)];
    accepted(created(|op| op.owner = both.clone()));
    both.account_auths.push((name("carol"), 1));
    refused(
        created(|op| op.owner = both),
        "owner: at most 40, 41 found"
            .replace(", 41", " expected, 41")
            .as_str(),
    );
    // Impossible and open ones are allowed.
    accepted(created(|op| op.owner = Authority::closed()));
    accepted(created(|op| op.posting = Authority::open()));
    // The converter of mirrornet adds one member.
    let op = created(|op| op.owner = authority_of(41));
    assert_eq!(verdict(&op, TODAY, &ChainSpec::hive_mirrornet()), Ok(()));
    let op = created(|op| op.owner = authority_of(42));
    assert!(verdict(&op, TODAY, &ChainSpec::hive_mirrornet()).is_err());
}

#[test]
fn metadata_is_empty_or_json() {
    accepted(created(|op| op.json_metadata = Text::from("{\"a\":[1,null]}")));
    refused(
        created(|op| op.json_metadata = Text::from("{")),
        "json_metadata: JSON expected",
    );
    refused(
        created(|op| op.json_metadata = Text(b"\"\xff\"")),
        "json_metadata: UTF-8 expected, broken at byte 1",
    );
}

#[test]
fn creation_with_delegation() {
    let base = || AccountCreateWithDelegation {
        fee: Asset::hive(0),
        delegation: Asset::vests(0),
        creator: name("alice"),
        new_account_name: name("bob"),
        owner: authority_of(1),
        active: authority_of(1),
        posting: authority_of(1),
        memo_key: PublicKey::NULL,
        json_metadata: Text::from(""),
        extensions: Vec::new(),
    };
    let with = |change: fn(&mut AccountCreateWithDelegation<'static>)| {
        let mut op = base();
        change(&mut op);
        Operation::AccountCreateWithDelegation(op)
    };
    exists_until(with(|_| {}), 20);
    refused_at(with(|op| op.creator = name("No")), 19, "creator");
    refused_at(
        with(|op| op.new_account_name = name("No")),
        19,
        "new_account_name",
    );
    refused_at(with(|op| op.fee = Asset::hbd(0)), 19, "fee");
    refused_at(
        with(|op| op.delegation = Asset::vests(-1)),
        19,
        "delegation: 0 to",
    );
    refused_at(with(|op| op.delegation = Asset::hive(1)), 19, "delegation: VESTS");
    refused_at(
        with(|op| op.posting = authority_of(41)),
        19,
        "posting: at most 40",
    );
    refused_at(with(|op| op.json_metadata = Text::from("]")), 19, "json_metadata");
}

#[test]
fn claims() {
    let claim = |change: fn(&mut ClaimAccount)| {
        let mut op = ClaimAccount {
            creator: name("alice"),
            fee: Asset::hive(0),
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::ClaimAccount(op)
    };
    exists_since(claim(|_| {}), 20);
    refused(claim(|op| op.creator = name("No")), "creator");
    refused(claim(|op| op.fee = Asset::hive(-1)), "fee");
    refused(claim(|op| op.fee = Asset::hive(1_000_000_001)), "fee");
    refused(claim(|op| op.fee = Asset::vests(0)), "fee");
    refused(claim(|op| op.extensions = void()), "extensions");

    let create = |change: fn(&mut CreateClaimedAccount<'static>)| {
        let mut op = CreateClaimedAccount {
            creator: name("alice"),
            new_account_name: name("bob"),
            owner: authority_of(1),
            active: authority_of(1),
            posting: authority_of(1),
            memo_key: PublicKey::NULL,
            json_metadata: Text::from(""),
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::CreateClaimedAccount(op)
    };
    exists_since(create(|_| {}), 20);
    refused(create(|op| op.creator = name("No")), "creator");
    refused(create(|op| op.new_account_name = name("No")), "new_account_name");
    refused(create(|op| op.active = authority_of(41)), "active: at most 40");
    refused(
        create(|op| op.owner = Authority::of_account(name("x"))),
        "owner: member",
    );
    refused(create(|op| op.json_metadata = Text::from("{]")), "json_metadata");
    refused(create(|op| op.extensions = void()), "extensions");
}

#[test]
fn updates() {
    let update = |change: fn(&mut AccountUpdate<'static>)| {
        let mut op = AccountUpdate {
            account: name("alice"),
            owner: None,
            active: None,
            posting: None,
            memo_key: PublicKey::NULL,
            json_metadata: Text::from(""),
        };
        change(&mut op);
        Operation::AccountUpdate(op)
    };
    accepted_at(update(|_| {}), 0);
    refused(update(|op| op.account = name("No")), "account");
    refused(update(|op| op.json_metadata = Text::from("{")), "json_metadata");
    // History holds large authorities, and names that are none.
    accepted_at(update(|op| op.active = Some(authority_of(200))), 19);
    refused_at(
        update(|op| op.owner = Some(authority_of(41))),
        20,
        "owner: at most 40",
    );
    refused_at(
        update(|op| op.active = Some(authority_of(41))),
        20,
        "active: at most 40",
    );
    refused_at(
        update(|op| op.posting = Some(authority_of(41))),
        20,
        "posting: at most 40",
    );
    accepted(update(|op| op.posting = Some(Authority::of_account(name("No")))));

    let update2 = |change: fn(&mut AccountUpdate2<'static>)| {
        let mut op = AccountUpdate2 {
            account: name("alice"),
            owner: None,
            active: None,
            posting: None,
            memo_key: None,
            json_metadata: Text::from(""),
            posting_json_metadata: Text::from(""),
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::AccountUpdate2(op)
    };
    exists_since(update2(|_| {}), 21);
    refused(update2(|op| op.account = name("No")), "account");
    refused(
        update2(|op| op.owner = Some(authority_of(41))),
        "owner: at most 40",
    );
    refused(
        update2(|op| op.active = Some(authority_of(41))),
        "active: at most 40",
    );
    refused(
        update2(|op| op.posting = Some(authority_of(41))),
        "posting: at most 40",
    );
    refused(update2(|op| op.json_metadata = Text::from("{")), "json_metadata");
    refused(
        update2(|op| op.posting_json_metadata = Text::from("{")),
        "posting_json_metadata",
    );
}

#[test]
fn recovery() {
    let request = |authority: Authority| {
        Operation::RequestAccountRecovery(RequestAccountRecovery {
            recovery_account: name("alice"),
            account_to_recover: name("bob"),
            new_owner_authority: authority,
            extensions: Vec::new(),
        })
    };
    accepted(request(authority_of(1)));
    accepted(request(authority_of(41)));
    accepted(request(Authority::open()));
    refused(
        request(Authority::closed()),
        "the weights sum up to 0, the threshold is 1",
    );
    refused(
        request(Authority::of_account(name("No"))),
        "new_owner_authority: member",
    );

    let recover = |new: Authority, recent: Authority| {
        Operation::RecoverAccount(RecoverAccount {
            account_to_recover: name("bob"),
            new_owner_authority: new,
            recent_owner_authority: recent,
            extensions: Vec::new(),
        })
    };
    accepted(recover(authority_of(2), authority_of(1)));
    accepted(recover(authority_of(2), Authority::open()));
    refused(recover(authority_of(1), authority_of(1)), "must differ");
    // Equal as hived keeps them, though written in another order.
    let mut reversed = authority_of(2);
    reversed.key_auths.reverse();
    refused(recover(authority_of(2), reversed), "must differ");
    refused(
        recover(Authority::closed(), authority_of(1)),
        "new_owner_authority: the weights",
    );
    refused(
        recover(authority_of(1), Authority::closed()),
        "recent_owner_authority: the weights",
    );
    refused(
        recover(Authority::open(), authority_of(1)),
        "new_owner_authority: threshold above 0",
    );
    refused(
        recover(Authority::of_account(name("No")), authority_of(1)),
        "new_owner_authority: member",
    );
    refused(
        recover(authority_of(1), Authority::of_account(name("No"))),
        "recent_owner_authority: member",
    );
    // Of two entries for one key the first weight counts: 1 of 2.
    let mut twice = authority_of(1);
    twice.weight_threshold = 2;
    twice.key_auths.push((key(0), 5));
    refused(
        recover(twice, authority_of(1)),
        "the weights sum up to 1, the threshold is 2",
    );

    let change = |who: &str, new: &str| {
        Operation::ChangeRecoveryAccount(ChangeRecoveryAccount {
            account_to_recover: name(who),
            new_recovery_account: name(new),
            extensions: Vec::new(),
        })
    };
    accepted(change("bob", "alice"));
    refused(change("No", "alice"), "account_to_recover");
    refused(change("bob", ""), "new_recovery_account");
}

#[test]
fn never_valid() {
    let authority = authority_of(1);
    let reset = ResetAccount {
        reset_account: name("alice"),
        account_to_reset: name("bob"),
        new_owner_authority: authority,
    };
    refused(Operation::ResetAccount(reset), "never valid");
    let set = SetResetAccount {
        account: name("alice"),
        current_reset_account: name("bob"),
        reset_account: name("carol"),
    };
    refused(Operation::SetResetAccount(set), "never valid");
    let binary = CustomBinary {
        required_owner_auths: Vec::new(),
        required_active_auths: vec![name("alice")],
        required_posting_auths: Vec::new(),
        required_auths: Vec::new(),
        id: "id".into(),
        data: Default::default(),
    };
    refused(Operation::CustomBinary(binary), "never valid");
    let approve = WitnessBlockApprove {
        witness: name("alice"),
        block_id: cairn_chain::BlockId::ZERO,
    };
    refused(Operation::WitnessBlockApprove(approve), "never valid");
}

#[test]
fn declining_votes() {
    let decline = |account: &str| {
        Operation::DeclineVotingRights(DeclineVotingRights {
            account: name(account),
            decline: true,
        })
    };
    exists_since(decline("alice"), 14);
    refused(decline("No"), "account");
}
