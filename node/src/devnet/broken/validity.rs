//! Operations that break a rule of their own, which needs no state.

use cairn_chain::operations as op;
use cairn_chain::{
    AccountName, Asset, Authority, Beneficiary, Bytes, CommentOption, CommentPayoutBeneficiaries, CustomId,
    FeeAsset, FeeSymbol, FutureExtension, HISTORICAL_FEE_SYMBOLS, Operation, Text, Time, Void,
};

use super::rule::Rule;
use super::stage::{Actor, Case, Level, Stage, Tx, creation, public};
use super::transactions::{set_url, witness_update};

/// As much text as any of these needs.
const TEXT: &[u8] = &[b'1'; 8_193];

/// The operation in both forms, signed by initminer.
fn both(make: impl Fn(bool) -> Operation<'static>) -> Case {
    let tx = |broken| Tx::of(&make(broken)).by(Stage::initminer().active());
    Case::new(tx(false), tx(true))
}

fn transfer(to: AccountName, amount: Asset, memo: &'static [u8]) -> Operation<'static> {
    Operation::Transfer(op::Transfer {
        from: Stage::initminer().name(),
        to,
        amount,
        memo: Text(memo),
    })
}

fn json(text: &'static [u8]) -> Operation<'static> {
    Operation::CustomJson(op::CustomJson {
        required_auths: vec![Stage::initminer().name()],
        required_posting_auths: Vec::new(),
        id: CustomId::from("rule"),
        json: Text(text),
    })
}

/// A root post.
pub(super) fn post(author: &Actor, permlink: &'static [u8], body: &'static str) -> op::Comment<'static> {
    op::Comment {
        parent_author: AccountName::EMPTY,
        parent_permlink: Text::from("rules"),
        author: author.name(),
        permlink: Text(permlink),
        title: Text::default(),
        body: Text::from(body),
        json_metadata: Text::default(),
    }
}

/// An authority of so many keys.
pub(super) fn large_authority(stage: &Stage, members: u32) -> Authority {
    let key = |index| public(&stage.actor(&format!("k{index}x")).owner());
    let mut keys: Vec<_> = (0..members).map(|index| (key(index), 1)).collect();
    keys.sort_unstable();
    Authority {
        weight_threshold: 1,
        account_auths: Vec::new(),
        key_auths: keys,
    }
}

/// The options of a post with these beneficiaries.
fn options(author: &Actor, shares: [(AccountName, u16); 2]) -> Operation<'static> {
    let beneficiaries = shares
        .map(|(account, weight)| Beneficiary { account, weight })
        .into();
    Operation::CommentOptions(op::CommentOptions {
        author: author.name(),
        permlink: Text::from("post"),
        max_accepted_payout: Asset::hbd(1_000),
        percent_hbd: 10_000,
        allow_votes: true,
        allow_curation_rewards: true,
        extensions: vec![CommentOption::Beneficiaries(CommentPayoutBeneficiaries {
            beneficiaries,
        })],
    })
}

/// The transactions for this rule, if it is one of these.
pub(super) fn case(rule: Rule, stage: &Stage) -> Option<Case> {
    let initminer = Stage::initminer();
    let me = initminer.name();
    let [ann, ben] = &stage.actors(["ann", "ben"]);
    let null = AccountName::from("null");
    let posted = || {
        [
            Stage::create(&[ann, ben]),
            Tx::of(&Operation::Comment(post(ann, b"post", "text"))).by(ann.posting()),
        ]
    };
    let by_ann = |good: Operation<'_>, bad: Operation<'_>| {
        Case::new(Tx::of(&good).by(ann.posting()), Tx::of(&bad).by(ann.posting())).after(posted())
    };
    let create = |change: &dyn Fn(&mut op::AccountCreate<'static>)| {
        let mut broken = creation(ann);
        change(&mut broken);
        both(|is_broken| Operation::AccountCreate(if is_broken { broken.clone() } else { creation(ann) }))
    };
    let witness = |change: &dyn Fn(&mut op::ChainProperties)| {
        let good = witness_update(ann.name(), public(&ann.owner()));
        let mut bad = good.clone();
        change(&mut bad.props);
        let [good, bad] =
            [good, bad].map(|update| Tx::of(&Operation::WitnessUpdate(update)).by(ann.active()));
        Case::new(good, bad).after([Stage::create(&[ann])])
    };
    let vote = |weight| {
        Operation::Vote(op::Vote {
            voter: ann.name(),
            author: ann.name(),
            permlink: Text::from("post"),
            weight,
        })
    };
    let claim = |extensions| {
        Operation::ClaimAccount(op::ClaimAccount {
            creator: me,
            fee: Asset::hive(1),
            extensions,
        })
    };
    let case = match rule {
        Rule::InUse => {
            let old = op::AccountCreateWithDelegation {
                fee: Asset::hive(0),
                delegation: Asset::vests(0),
                creator: me,
                new_account_name: ann.name(),
                owner: ann.authority(Level::Owner),
                active: ann.authority(Level::Active),
                posting: ann.authority(Level::Posting),
                memo_key: public(&ann.owner()),
                json_metadata: Text::default(),
                extensions: Vec::new(),
            };
            both(|broken| match broken {
                true => Operation::AccountCreateWithDelegation(old.clone()),
                false => Operation::AccountCreate(creation(ann)),
            })
        }
        Rule::ValidInBlocks => both(|broken| match broken {
            true => Operation::ResetAccount(op::ResetAccount {
                reset_account: me,
                account_to_reset: null,
                new_owner_authority: ann.authority(Level::Owner),
            }),
            false => json(b"{}"),
        }),
        Rule::Name => create(&|creation| creation.new_account_name = AccountName::from("NotAName")),
        Rule::NotEmpty => {
            let reply = |body| Tx::of(&Operation::Comment(reply(ben, ann, body))).by(ben.posting());
            Case::new(reply("text"), reply("")).after(posted())
        }
        Rule::TextLength => both(|broken| {
            let memo = if broken { &TEXT[..2_048] } else { &TEXT[..2_047] };
            transfer(null, Asset::hive(1), memo)
        }),
        Rule::ContentLength => both(|broken| json(if broken { &TEXT[..8_193] } else { b"1" })),
        Rule::Utf8 => by_ann(
            vote(1),
            Operation::Vote(op::Vote {
                voter: ann.name(),
                author: ann.name(),
                permlink: Text(b"post\xff"),
                weight: 1,
            }),
        ),
        Rule::Json => both(|broken| json(if broken { b"{\"a\":" } else { b"{\"a\":1}" })),
        Rule::Symbol => both(|broken| {
            let amount = if broken { Asset::vests(1) } else { Asset::hive(1) };
            transfer(null, amount, b"")
        }),
        Rule::FeeSymbol => witness(&|props| {
            props.account_creation_fee = FeeAsset {
                amount: 0,
                symbol: FeeSymbol::Historical(HISTORICAL_FEE_SYMBOLS[0]),
            };
        }),
        Rule::AmountPositive => both(|broken| transfer(null, Asset::hive(if broken { -1 } else { 1 }), b"")),
        Rule::WeightRange => by_ann(vote(10_000), vote(10_001)),
        Rule::BlockSizeRange => witness(&|props| props.maximum_block_size = 65_535),
        Rule::SomethingMoved => both(|broken| {
            Operation::ClaimRewardBalance(op::ClaimRewardBalance {
                account: me,
                reward_hive: Asset::hive(0),
                reward_hbd: Asset::hbd(0),
                reward_vests: Asset::vests(i64::from(!broken)),
            })
        }),
        Rule::Price => both(|broken| {
            Operation::LimitOrderCreate2(op::LimitOrderCreate2 {
                owner: me,
                orderid: stage.number,
                amount_to_sell: Asset::hive(1),
                exchange_rate: op::Price {
                    base: Asset::hive(1),
                    quote: if broken { Asset::hive(2) } else { Asset::hbd(2) },
                },
                fill_or_kill: false,
                expiration: Time(stage.now + 600),
            })
        }),
        Rule::Relation => {
            let proxy = |proxy| {
                let set = op::AccountWitnessProxy {
                    account: ann.name(),
                    proxy,
                };
                Tx::of(&Operation::AccountWitnessProxy(set)).by(ann.active())
            };
            Case::new(proxy(ben.name()), proxy(ann.name())).after([Stage::create(&[ann, ben])])
        }
        Rule::Sorted => by_ann(
            options(ann, [(ann.name(), 1), (ben.name(), 1)]),
            options(ann, [(ben.name(), 1), (ann.name(), 1)]),
        ),
        Rule::SharesSum => by_ann(
            options(ann, [(ann.name(), 5_000), (ben.name(), 5_000)]),
            options(ann, [(ann.name(), 5_000), (ben.name(), 5_001)]),
        ),
        Rule::MemberCount => {
            let [good, bad] = [40, 41].map(|members| {
                Operation::AccountCreate(op::AccountCreate {
                    posting: large_authority(stage, members),
                    ..creation(ann)
                })
            });
            both(|broken| if broken { bad.clone() } else { good.clone() })
        }
        Rule::SignerCount => signer_count(stage),
        Rule::MemberName => create(&|creation| {
            creation.posting = Authority::of_account(AccountName::from("-"));
        }),
        Rule::Property => {
            let key = public(&ann.owner());
            let good = set_url(ann.name(), key).by(ann.owner());
            let size = op::WitnessSetProperties {
                owner: ann.name(),
                props: vec![
                    (Text::from("key"), Bytes(key.as_bytes())),
                    (Text::from("maximum_block_size"), Bytes(&[0, 0, 2])),
                ],
                extensions: Vec::new(),
            };
            let bad = Tx::of(&Operation::WitnessSetProperties(size)).by(ann.owner());
            let update = Operation::WitnessUpdate(witness_update(ann.name(), key));
            Case::new(good, bad).after([Stage::create(&[ann]), Tx::of(&update).by(ann.active())])
        }
        Rule::NoExtensions => both(|broken| {
            claim(if broken {
                vec![FutureExtension::Void(Void {})]
            } else {
                Vec::new()
            })
        }),
        _ => return None,
    };
    Some(case)
}

/// A reply to the other author's post.
pub(super) fn reply(author: &Actor, to: &Actor, body: &'static str) -> op::Comment<'static> {
    op::Comment {
        parent_author: to.name(),
        parent_permlink: Text::from("post"),
        ..post(author, b"reply", body)
    }
}

/// Forty accounts may be needed together, and forty-one not.
fn signer_count(stage: &Stage) -> Case {
    let actors: Vec<Actor> = (0..41).map(|index| stage.actor(&format!("s{index}x"))).collect();
    let tx = |count: usize| {
        let mut names: Vec<AccountName> = actors[..count].iter().map(Actor::name).collect();
        names.sort_unstable();
        let custom = Operation::Custom(op::Custom {
            required_auths: names,
            id: 1,
            data: Bytes(b""),
        });
        let signers = actors[..count].iter();
        signers.fold(Tx::of(&custom), |tx, actor| tx.by(actor.active()))
    };
    let all: Vec<&Actor> = actors.iter().collect();
    Case::new(tx(40), tx(41)).after([Stage::create(&all)])
}
