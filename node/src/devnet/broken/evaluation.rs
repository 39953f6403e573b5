//! Operations that contradict the state.

use cairn_chain::operations as op;
use cairn_chain::{AccountName, Asset, Authority, Operation, Text, Time};

use super::rule::Rule;
use super::stage::{Actor, Case, Level, Stage, Tx, creation, public};
use super::transactions::{set_url, witness_update};
use super::validity::{post, reply};

/// Witnesses that an account may vote for.
const MAX_VOTES: usize = 30;

fn witness_vote(account: &Actor, witness: AccountName, approve: bool) -> Operation<'static> {
    Operation::AccountWitnessVote(op::AccountWitnessVote {
        account: account.name(),
        witness,
        approve,
    })
}

fn votes(account: &Actor, witness: AccountName, approve: bool) -> Tx {
    Tx::of(&witness_vote(account, witness, approve)).by(account.active())
}

fn proxy(account: &Actor, proxy: AccountName) -> Tx {
    let set = op::AccountWitnessProxy {
        account: account.name(),
        proxy,
    };
    Tx::of(&Operation::AccountWitnessProxy(set)).by(account.active())
}

fn comment(author: &Actor, comment: op::Comment<'_>) -> Tx {
    Tx::of(&Operation::Comment(comment)).by(author.posting())
}

fn decline(account: &Actor, decline: bool) -> Tx {
    let operation = op::DeclineVotingRights {
        account: account.name(),
        decline,
    };
    Tx::of(&Operation::DeclineVotingRights(operation)).by(account.owner())
}

fn becomes_witness(account: &Actor) -> Tx {
    let update = witness_update(account.name(), public(&account.owner()));
    Tx::of(&Operation::WitnessUpdate(update)).by(account.active())
}

/// The transactions for this rule, if it is one of these.
pub(super) fn case(rule: Rule, stage: &Stage) -> Option<Case> {
    accounts(rule, stage)
        .or_else(|| governance(rule, stage))
        .or_else(|| comments(rule, stage))
        .or_else(|| proposals(rule, stage))
}

fn accounts(rule: Rule, stage: &Stage) -> Option<Case> {
    let initminer = Stage::initminer();
    let [ann, ben] = &stage.actors(["ann", "ben"]);
    let transfer = |to: &Actor| {
        let transfer = op::Transfer {
            from: initminer.name(),
            to: to.name(),
            amount: Asset::hive(1),
            memo: Text::default(),
        };
        Tx::of(&Operation::Transfer(transfer)).by(initminer.active())
    };
    let create_with = |posting| {
        let create = op::AccountCreate {
            posting,
            ..creation(ben)
        };
        Tx::of(&Operation::AccountCreate(create)).by(initminer.active())
    };
    let update = |account: AccountName| {
        Tx::of(&Operation::AccountUpdate(op::AccountUpdate {
            account,
            owner: None,
            active: None,
            posting: None,
            memo_key: public(&ann.owner()),
            json_metadata: Text::default(),
        }))
    };
    let claimed = || {
        let create = op::CreateClaimedAccount {
            creator: ann.name(),
            new_account_name: ben.name(),
            owner: ben.authority(Level::Owner),
            active: ben.authority(Level::Active),
            posting: ben.authority(Level::Posting),
            memo_key: public(&ben.owner()),
            json_metadata: Text::default(),
            extensions: Vec::new(),
        };
        Tx::of(&Operation::CreateClaimedAccount(create)).by(ann.active())
    };
    let claim = || {
        let claim = op::ClaimAccount {
            creator: ann.name(),
            fee: Asset::hive(1),
            extensions: Vec::new(),
        };
        Tx::of(&Operation::ClaimAccount(claim)).by(ann.active())
    };
    let created = [Stage::create(&[ann])];
    let case = match rule {
        Rule::AccountExists => Case::new(transfer(ann), transfer(ben)).after(created),
        Rule::MemberExists => Case::new(
            create_with(Authority::of_account(ann.name())),
            create_with(Authority::of_account(ben.name())),
        )
        .after(created),
        Rule::AccountIsNew => Case::new(Stage::create(&[ben]), Stage::create(&[ann])).after(created),
        // Whose authorities are open.
        Rule::TempIsFixed => Case::new(
            update(ann.name()).by(ann.active()),
            update(AccountName::from("temp")),
        )
        .after(created),
        Rule::ClaimedAccount => Case {
            setup: created.into(),
            good: vec![claim(), claimed()],
            bad: vec![claimed()],
        },
        Rule::DeclinesOnce => Case::new(decline(ann, false), decline(ann, true))
            .after(created)
            .after([decline(ann, true)]),
        Rule::Declining => Case::new(decline(ann, true), decline(ann, false)).after(created),
        _ => return None,
    };
    Some(case)
}

fn governance(rule: Rule, stage: &Stage) -> Option<Case> {
    let initminer = Stage::initminer().name();
    let actors = stage.actors(["ann", "ben", "cat", "dan", "eve"]);
    let [ann, ben, cat, _, _] = &actors;
    let everybody = || Stage::create(&actors.each_ref());
    let nobody = AccountName::EMPTY;
    let feed = |publisher: &Actor| {
        let publish = op::FeedPublish {
            publisher: publisher.name(),
            exchange_rate: op::Price {
                base: Asset::hbd(1),
                quote: Asset::hive(3),
            },
        };
        Tx::of(&Operation::FeedPublish(publish)).by(publisher.active())
    };
    let case = match rule {
        Rule::IsWitness => Case::new(votes(ann, initminer, true), votes(ann, ben.name(), true)),
        Rule::PublisherIsWitness => Case::new(feed(&Stage::initminer()), feed(ann)),
        Rule::PresentSigningKey => {
            let set = |key| set_url(ann.name(), public(&key)).by(key);
            return Some(
                Case::new(set(ann.owner()), set(ann.posting())).after([everybody(), becomes_witness(ann)]),
            );
        }
        Rule::NoProxySet => {
            let mut case = Case::new(votes(cat, initminer, true), votes(ann, initminer, true));
            case.setup = vec![everybody(), proxy(ann, ben.name())];
            return Some(case);
        }
        Rule::VotesOnce => {
            let again = votes(ann, initminer, true);
            let mut case = Case::new(votes(ben, initminer, true), again.clone());
            case.setup = vec![everybody(), again];
            return Some(case);
        }
        Rule::HasVoted => Case::new(votes(ann, initminer, true), votes(ann, initminer, false)),
        Rule::VoteCount => return Some(vote_count(stage)),
        Rule::ProxyChanges => {
            let set = proxy(ann, ben.name());
            let mut case = Case::new(proxy(ann, cat.name()), set.clone());
            case.setup = vec![everybody(), set];
            return Some(case);
        }
        Rule::HasProxy => Case::new(proxy(ann, ben.name()), proxy(ann, nobody)),
        Rule::ProxyLoop => {
            let mut case = Case::new(proxy(ben, cat.name()), proxy(ben, ann.name()));
            case.setup = vec![everybody(), proxy(ann, ben.name())];
            return Some(case);
        }
        Rule::ProxyChain => {
            // From the top down: each account's proxy is the one behind it.
            let pair = |index: usize| proxy(&actors[index], actors[index + 1].name());
            let mut case = Case::new(proxy(&actors[0], actors[2].name()), pair(0));
            case.setup = vec![everybody(), pair(3), pair(2), pair(1)];
            return Some(case);
        }
        _ => return None,
    };
    Some(case.after([everybody()]))
}

/// Thirty accounts become witnesses, and get one account's votes; initminer would be the thirty-first.
fn vote_count(stage: &Stage) -> Case {
    let ann = stage.actor("ann");
    let witnesses: Vec<Actor> = (0..MAX_VOTES)
        .map(|index| stage.actor(&format!("w{index}x")))
        .collect();
    let mut all: Vec<&Actor> = witnesses.iter().collect();
    all.push(&ann);
    let updates = witnesses.iter().fold(Tx::default(), |tx, witness| {
        let update = witness_update(witness.name(), public(&witness.owner()));
        tx.and(&Operation::WitnessUpdate(update)).by(witness.active())
    });
    let voted = witnesses[1..].iter().fold(Tx::default(), |tx, witness| {
        tx.and(&witness_vote(&ann, witness.name(), true))
    });
    let last = witnesses[0].name();
    let initminer = Stage::initminer().name();
    Case {
        setup: vec![Stage::create(&all), updates, voted.by(ann.active())],
        good: vec![votes(&ann, last, true)],
        bad: vec![votes(&ann, last, true), votes(&ann, initminer, true)],
    }
}

fn comments(rule: Rule, stage: &Stage) -> Option<Case> {
    let [ann, ben, cat] = &stage.actors(["ann", "ben", "cat"]);
    let vote = |author: &Actor| {
        let vote = op::Vote {
            voter: ann.name(),
            author: author.name(),
            permlink: Text::from("post"),
            weight: 100,
        };
        Tx::of(&Operation::Vote(vote)).by(ann.posting())
    };
    let options = |author: &Actor| {
        let options = op::CommentOptions {
            author: author.name(),
            permlink: Text::from("post"),
            max_accepted_payout: Asset::hbd(1),
            percent_hbd: 0,
            allow_votes: true,
            allow_curation_rewards: true,
            extensions: Vec::new(),
        };
        Tx::of(&Operation::CommentOptions(options)).by(author.posting())
    };
    let reply_to = |author: &Actor, to: &Actor, permlink: &'static [u8]| {
        let reply = op::Comment {
            permlink: Text(permlink),
            ..reply(author, to, "text")
        };
        comment(author, reply)
    };
    let delete = |author: &Actor, permlink: &'static str| {
        let delete = op::DeleteComment {
            author: author.name(),
            permlink: Text::from(permlink),
        };
        Tx::of(&Operation::DeleteComment(delete)).by(author.posting())
    };
    let first = || comment(ann, post(ann, b"post", "text"));
    let case = match rule {
        Rule::RootPostRate => Case::new(
            comment(ben, post(ben, b"other", "text")),
            comment(ann, post(ann, b"other", "text")),
        ),
        // Since the block before no time passes: a post and a reply in one block are too close.
        Rule::ReplyRate => Case::new(reply_to(ben, ann, b"reply"), reply_to(ann, ann, b"reply")),
        Rule::EditRate => Case::new(
            comment(ben, post(ben, b"post", "text")),
            comment(ann, post(ann, b"post", "edited")),
        ),
        Rule::PostExists => Case::new(vote(ann), vote(ben)),
        Rule::ParentExists => Case::new(reply_to(ben, ann, b"reply"), reply_to(ben, ben, b"reply")),
        Rule::OptionsPostExists => Case::new(options(ann), options(ben)),
        Rule::Permlink => Case::new(
            comment(ben, post(ben, b"other", "text")),
            comment(ben, post(ben, b"Other", "text")),
        ),
        // The second post exists, and has no parent.
        Rule::ParentKept => Case::new(reply_to(cat, ann, b"post"), reply_to(ann, ben, b"post")),
        Rule::NoReplies => Case::new(delete(ben, "reply"), delete(ann, "post")),
        _ => return None,
    };
    let mut setup = vec![Stage::create(&[ann, ben, cat]), first()];
    match rule {
        Rule::NoReplies => setup.push(reply_to(ben, ann, b"reply")),
        Rule::ParentKept => setup.push(comment(ben, post(ben, b"post", "text"))),
        _ => {}
    }
    Some(Case { setup, ..case })
}

fn proposals(rule: Rule, stage: &Stage) -> Option<Case> {
    let [ann, ben] = &stage.actors(["ann", "ben"]);
    let create = |permlink: &'static str| {
        let create = op::CreateProposal {
            creator: ann.name(),
            receiver: ann.name(),
            start_date: Time(stage.now + 86_400),
            end_date: Time(stage.now + 864_000),
            daily_pay: Asset::hbd(1),
            subject: Text::from("A rule"),
            permlink: Text::from(permlink),
            extensions: Vec::new(),
        };
        Tx::of(&Operation::CreateProposal(create)).by(ann.active())
    };
    // The first proposal of the chain, which generated transactions never make.
    let vote = |id| {
        let vote = op::UpdateProposalVotes {
            voter: ben.name(),
            proposal_ids: vec![id],
            approve: true,
            extensions: Vec::new(),
        };
        Tx::of(&Operation::UpdateProposalVotes(vote)).by(ben.active())
    };
    let update = |creator: &Actor| {
        let update = op::UpdateProposal {
            proposal_id: 0,
            creator: creator.name(),
            daily_pay: Asset::hbd(1),
            subject: Text::from("A rule"),
            permlink: Text::from("post"),
            extensions: Vec::new(),
        };
        Tx::of(&Operation::UpdateProposal(update)).by(creator.active())
    };
    let case = match rule {
        Rule::ProposalPost => Case::new(create("post"), create("other")),
        Rule::ProposalExists if stage.hardfork >= 28 => Case::new(vote(0), vote(1)),
        Rule::ProposalCreator => Case::new(update(ann), update(ben)),
        _ => return None,
    };
    let mut setup = vec![
        Stage::create(&[ann, ben]),
        comment(ann, post(ann, b"post", "text")),
    ];
    if rule != Rule::ProposalPost {
        setup.push(create("post"));
    }
    Some(Case { setup, ..case })
}
