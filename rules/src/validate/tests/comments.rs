//! Comments, votes, custom operations, proposals.

use cairn_chain::operations::*;
use cairn_chain::{
    Asset, Beneficiary, Bytes, CommentOption, CommentPayoutBeneficiaries, Operation, Text, Time,
};

use super::*;
use crate::validate::fields::is_new_permlink;

#[test]
fn votes() {
    let vote = |change: fn(&mut Vote<'static>)| {
        let mut op = Vote {
            voter: name("alice"),
            author: name("bob"),
            permlink: Text::from("post"),
            weight: 10_000,
        };
        change(&mut op);
        Operation::Vote(op)
    };
    accepted(vote(|_| {}));
    accepted(vote(|op| op.weight = -10_000));
    refused(vote(|op| op.weight = 10_001), "weight: -10000 to 10000");
    refused(vote(|op| op.weight = -10_001), "weight: -10000 to 10000");
    refused(vote(|op| op.weight = i16::MIN), "weight: -10000 to 10000");
    refused(vote(|op| op.voter = name("No")), "voter");
    refused(vote(|op| op.author = name("")), "author");
    // Votes may name comments of the time before the alphabet was set.
    accepted(vote(|op| op.permlink = Text::from("Any Länge")));
    accepted(vote(|op| op.permlink = Text::from("")));
    accepted(vote(|op| op.permlink = Text(letters(255))));
    refused(
        vote(|op| op.permlink = Text(letters(256))),
        "permlink: at most 255",
    );
    refused(vote(|op| op.permlink = Text(b"\xc0\x80")), "permlink: UTF-8");
}

#[test]
fn comments() {
    let comment = |change: fn(&mut Comment<'static>)| {
        let mut op = Comment {
            parent_author: name(""),
            parent_permlink: Text::from("category"),
            author: name("alice"),
            permlink: Text::from("post"),
            title: Text::from(""),
            body: Text::from("body"),
            json_metadata: Text::from(""),
        };
        change(&mut op);
        Operation::Comment(op)
    };
    accepted(comment(|_| {}));
    accepted(comment(|op| op.parent_author = name("bob")));
    refused(comment(|op| op.parent_author = name("No")), "parent_author");
    refused(comment(|op| op.author = name("")), "author");
    accepted(comment(|op| op.title = Text(letters(255))));
    refused(comment(|op| op.title = Text(letters(256))), "title: at most 255");
    refused(comment(|op| op.title = Text(b"\xff")), "title: UTF-8");
    refused(comment(|op| op.body = Text::from("")), "body is empty");
    refused(
        comment(|op| op.body = Text(b"text \xed\xa0\x80")),
        "body: UTF-8 expected, broken at byte 5",
    );
    refused(
        comment(|op| op.permlink = Text(letters(256))),
        "permlink: at most 255",
    );
    refused(
        comment(|op| op.parent_permlink = Text(letters(256))),
        "parent_permlink: at most 255",
    );
    refused(
        comment(|op| op.parent_permlink = Text(b"\xff")),
        "parent_permlink: UTF-8",
    );
    refused(comment(|op| op.json_metadata = Text::from("{")), "json_metadata");
    // What letters a new comment's permlink may have is for the state to ask.
    accepted(comment(|op| op.permlink = Text::from("Not New")));
}

#[test]
fn permlinks_of_new_comments() {
    for good in ["a", "a-b-0", "-", "0"] {
        assert!(is_new_permlink(good.as_bytes()), "{good}");
    }
    for bad in ["", "A", "a_b", "a b", "ä", "a.b"] {
        assert!(!is_new_permlink(bad.as_bytes()), "{bad}");
    }
    assert!(is_new_permlink(letters(255)));
    assert!(!is_new_permlink(letters(256)));
}

#[test]
fn deletion() {
    let delete = |author: &str, permlink: Text<'static>| {
        Operation::DeleteComment(DeleteComment {
            author: name(author),
            permlink,
        })
    };
    accepted(delete("alice", Text::from("post")));
    refused(delete("No", Text::from("post")), "author");
    refused(delete("alice", Text(letters(256))), "permlink");
}

fn options(shares: Option<Vec<(&str, u16)>>, change: fn(&mut CommentOptions<'static>)) -> Operation<'static> {
    let beneficiary = |(account, weight): (&str, u16)| Beneficiary {
        account: name(account),
        weight,
    };
    let shares = shares.map(|shares| {
        let beneficiaries = shares.into_iter().map(beneficiary).collect();
        CommentOption::Beneficiaries(CommentPayoutBeneficiaries { beneficiaries })
    });
    let mut op = CommentOptions {
        author: name("alice"),
        permlink: Text::from("post"),
        max_accepted_payout: Asset::hbd(0),
        percent_hbd: 10_000,
        allow_votes: true,
        allow_curation_rewards: true,
        extensions: shares.into_iter().collect(),
    };
    change(&mut op);
    Operation::CommentOptions(op)
}

#[test]
fn options_of_comments() {
    accepted(options(None, |_| {}));
    refused(options(None, |op| op.author = name("No")), "author");
    refused(options(None, |op| op.percent_hbd = 10_001), "percent_hbd");
    refused(
        options(None, |op| op.max_accepted_payout = Asset::hive(0)),
        "max_accepted_payout: HBD",
    );
    refused(
        options(None, |op| op.max_accepted_payout = Asset::hbd(-1)),
        "max_accepted_payout: 0 to",
    );
    refused(options(None, |op| op.permlink = Text(letters(256))), "permlink");
}

#[test]
fn beneficiaries() {
    let shares = |shares: Vec<(&str, u16)>| options(Some(shares), |_| {});
    accepted(shares(vec![("bob", 10_000)]));
    accepted(shares(vec![("bob", 4_000), ("carol", 6_000)]));
    refused(shares(vec![]), "beneficiaries is empty");
    refused(shares(vec![("No", 1)]), "beneficiaries: \"No\"");
    refused(shares(vec![("bob", 10_001)]), "beneficiaries: 0 to 10000");
    refused(
        shares(vec![("bob", 4_001), ("carol", 6_000)]),
        "beneficiaries: 0 to 10000 expected, 10001 found",
    );
    refused(shares(vec![("carol", 1), ("bob", 1)]), "names must ascend");
    refused(shares(vec![("bob", 1), ("bob", 1)]), "names must ascend");
    let many: Vec<String> = (0..128).map(|number| format!("name-{number:03}")).collect();
    let some = |count: usize| {
        many[..count]
            .iter()
            .map(|name| (name.as_str(), 1))
            .collect::<Vec<_>>()
    };
    accepted(shares(some(127)));
    refused(shares(some(128)), "beneficiaries: at most 127");
}

fn many_names(count: usize) -> Vec<AccountName> {
    (0..count)
        .map(|number| name(&format!("name-{number:03}")))
        .collect()
}

#[test]
fn custom() {
    let custom = |names: Vec<AccountName>, data: &'static [u8]| {
        Operation::Custom(Custom {
            required_auths: names,
            id: 7,
            data: Bytes(data),
        })
    };
    accepted(custom(many_names(1), b"\xff"));
    accepted(custom(many_names(40), b""));
    refused(custom(many_names(0), b""), "required_auths is empty");
    refused(custom(many_names(41), b""), "required_auths: at most 40");
    // Names need not have the form of names: they must exist.
    accepted(custom(vec![name("UPPER")], b""));
    accepted_at(custom(many_names(1), letters(8_193)), 25);
    accepted_at(custom(many_names(1), letters(8_192)), 26);
    refused_at(custom(many_names(1), letters(8_193)), 26, "data: at most 8192");
    // A name that is listed twice is one name.
    let twice = [many_names(40), many_names(1)].concat();
    accepted(custom(twice, b""));
}

#[test]
fn custom_json() {
    let json = |active: usize, posting: usize, json: &'static [u8]| {
        Operation::CustomJson(CustomJson {
            required_auths: many_names(active),
            required_posting_auths: many_names(posting),
            id: "follow".into(),
            json: Text(json),
        })
    };
    accepted(json(1, 0, b"{}"));
    accepted(json(0, 1, b"[]"));
    accepted(json(20, 20, b"0"));
    refused(json(0, 0, b"{}"), "required_posting_auths is empty");
    refused(json(20, 21, b"{}"), "at most 40 expected, 41 found");
    refused(json(1, 0, b""), "json: JSON expected");
    refused(json(1, 0, b"{"), "json: JSON expected");
    refused(json(1, 0, b"\"\xff\""), "json: UTF-8");
    const LONG: [u8; 8_193] = {
        let mut text = [b'1'; 8_193];
        text[0] = b'"';
        text[8_192] = b'"';
        text
    };
    accepted_at(json(1, 0, &LONG), 25);
    refused_at(json(1, 0, &LONG), 26, "json: at most 8192");
}

#[test]
fn proposals() {
    let create = |change: fn(&mut CreateProposal<'static>)| {
        let mut op = CreateProposal {
            creator: name("alice"),
            receiver: name("bob"),
            start_date: Time(1),
            end_date: Time(2),
            daily_pay: Asset::hbd(0),
            subject: Text::from("subject"),
            permlink: Text::from("post"),
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::CreateProposal(op)
    };
    exists_since(create(|_| {}), 21);
    refused(create(|op| op.creator = name("No")), "creator");
    refused(create(|op| op.receiver = name("No")), "receiver");
    refused(create(|op| op.end_date = Time(1)), "end_date: must be after");
    refused(create(|op| op.daily_pay = Asset::hive(0)), "daily_pay: HBD");
    refused(create(|op| op.daily_pay = Asset::hbd(-1)), "daily_pay: 0 to");
    refused(create(|op| op.subject = Text::from("")), "subject is empty");
    accepted(create(|op| op.subject = Text(letters(80))));
    refused(create(|op| op.subject = Text(letters(81))), "subject: at most 80");
    refused(create(|op| op.subject = Text(b"\xff")), "subject: UTF-8");
    refused(create(|op| op.permlink = Text::from("")), "permlink is empty");
    refused(
        create(|op| op.permlink = Text(letters(256))),
        "permlink: at most 255",
    );

    let update = |change: fn(&mut UpdateProposal<'static>)| {
        let mut op = UpdateProposal {
            proposal_id: 0,
            creator: name("alice"),
            daily_pay: Asset::hbd(0),
            subject: Text::from("subject"),
            permlink: Text::from("post"),
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::UpdateProposal(op)
    };
    exists_since(update(|_| {}), 24);
    refused(update(|op| op.proposal_id = -1), "proposal_id");
    refused(update(|op| op.creator = name("No")), "creator");
    refused(update(|op| op.daily_pay = Asset::vests(0)), "daily_pay");
    refused(update(|op| op.subject = Text::from("")), "subject");

    let votes = |voter: &str, ids: Vec<i64>| {
        Operation::UpdateProposalVotes(UpdateProposalVotes {
            voter: name(voter),
            proposal_ids: ids,
            approve: true,
            extensions: Vec::new(),
        })
    };
    exists_since(votes("alice", vec![0]), 21);
    accepted(votes("alice", vec![5, 4, 3, 2, 1]));
    accepted(votes("alice", vec![1, 2, 3, 4, 5, 5]));
    refused(votes("alice", vec![]), "proposal_ids is empty");
    refused(votes("alice", vec![1, 2, 3, 4, 5, 6]), "proposal_ids: at most 5");
    refused(votes("No", vec![1]), "voter");

    let remove = |owner: &str, ids: Vec<i64>| {
        Operation::RemoveProposal(RemoveProposal {
            proposal_owner: name(owner),
            proposal_ids: ids,
            extensions: Vec::new(),
        })
    };
    exists_since(remove("alice", vec![0]), 21);
    refused(remove("No", vec![1]), "proposal_owner");
    refused(remove("alice", vec![]), "proposal_ids is empty");
    refused(remove("alice", (0..6).collect()), "proposal_ids: at most 5");
}
