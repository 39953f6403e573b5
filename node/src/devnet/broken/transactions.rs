//! Transactions that break a rule of transactions as a whole: times, references, signatures.

use cairn_chain::operations as op;
use cairn_chain::{AccountName, Authority, Bytes, ChainId, CustomId, Operation, PublicKey, Text};

use super::super::keys::KeySeed;
use super::super::sign;
use super::rule::Rule;
use super::stage::{Actor, Case, Level, Stage, Tx, creation, public, sign_with_no_key};

/// How far ahead a transaction may expire: before hardfork 28 and since, in seconds.
const FARTHEST: [u32; 2] = [3_600, 86_400];

/// Something that needs the active authority of an account.
fn needs_active(actor: &Actor) -> Tx {
    Tx::of(&Operation::Custom(op::Custom {
        required_auths: vec![actor.name()],
        id: 1,
        data: Bytes(&[]),
    }))
}

/// Something that needs the posting authority of an account.
fn needs_posting(actor: &Actor) -> Tx {
    Tx::of(&posting_json(actor.name()))
}

fn posting_json(name: AccountName) -> Operation<'static> {
    Operation::CustomJson(op::CustomJson {
        required_auths: Vec::new(),
        required_posting_auths: vec![name],
        id: CustomId::from("rule"),
        json: Text::from("{}"),
    })
}

/// Something that needs the owner authority of an account.
fn needs_owner(actor: &Actor) -> Tx {
    Tx::of(&Operation::ChangeRecoveryAccount(op::ChangeRecoveryAccount {
        account_to_recover: actor.name(),
        new_recovery_account: AccountName::from("initminer"),
        extensions: Vec::new(),
    }))
}

fn stranger() -> KeySeed {
    KeySeed::stranger()
}

/// The transactions for this rule, if it is one of these. `earlier`: a transaction of an earlier block.
pub(super) fn case(rule: Rule, stage: &Stage) -> Option<Case> {
    let initminer = Stage::initminer();
    let plain = || needs_active(&initminer).by(initminer.active());
    let [ann, ben] = &stage.actors(["ann", "ben"]);
    let two = [Stage::create(&[ann, ben])];
    let case = match rule {
        Rule::TransactionSignatureForm => Case::new(
            plain(),
            Tx {
                sign: Some(sign::sign_other_of_pair),
                ..plain()
            },
        ),
        Rule::TransactionSignatureKey => Case::new(
            plain(),
            Tx {
                sign: Some(sign_with_no_key),
                ..plain()
            },
        ),
        Rule::NotExpired => Case::new(expiring(plain(), stage.now + 1), expiring(plain(), stage.now)),
        Rule::ExpiresInTime => {
            let last = stage.now + FARTHEST[usize::from(stage.hardfork >= 28)];
            Case::new(expiring(plain(), last), expiring(plain(), last + 1))
        }
        Rule::NotRepeated => {
            let time = stage.now + 300;
            let one = || expiring(plain(), time);
            Case::new(expiring(plain(), time + 1), one()).after([one()])
        }
        Rule::ReferenceBlock => {
            let (number, prefix) = (stage.parent.number() as u16, stage.parent.reference_prefix());
            referring(&plain(), (number, prefix), (number, prefix ^ 1))
        }
        Rule::ReferenceNumber => {
            let (number, prefix) = (stage.parent.number() as u16, stage.parent.reference_prefix());
            referring(&plain(), (number, prefix), (number.wrapping_add(1), prefix))
        }
        Rule::HasOperations => Case::new(plain(), Tx::default().by(initminer.active())),
        Rule::SignedOnce => Case::new(plain(), plain().by(initminer.active())),
        Rule::PostingAuthority => Case::new(
            needs_posting(ann).by(ann.posting()),
            needs_posting(ann).by(stranger()),
        )
        .after(two),
        Rule::ActiveAuthority => Case::new(
            needs_active(ann).by(ann.active()),
            needs_active(ann).by(stranger()),
        )
        .after(two),
        Rule::OwnerAuthority => {
            Case::new(needs_owner(ann).by(ann.owner()), needs_owner(ann).by(stranger())).after(two)
        }
        Rule::PostingIsNotActive => Case::new(
            needs_active(ann).by(ann.active()),
            needs_active(ann).by(ann.posting()),
        )
        .after(two),
        Rule::ActiveIsNotOwner => Case::new(
            needs_owner(ann).by(ann.owner()),
            needs_owner(ann).by(ann.active()),
        )
        .after(two),
        Rule::ActiveIsNotPosting if stage.hardfork >= 28 => Case::new(
            needs_posting(ann).by(ann.posting()),
            needs_posting(ann).by(ann.active()),
        )
        .after(two),
        Rule::EnoughWeight => {
            let both = needs_active(ann).by(ann.active()).by(ben.active());
            let [one, other] = [ann, ben].map(|actor| public(&actor.active()));
            let joint = Authority {
                weight_threshold: 2,
                account_auths: Vec::new(),
                key_auths: if one < other {
                    vec![(one, 1), (other, 1)]
                } else {
                    vec![(other, 1), (one, 1)]
                },
            };
            Case::new(both, needs_active(ann).by(ann.active()))
                .after([Stage::create(&[ben]), owned(ann, joint)])
        }
        Rule::Signed => Case::new(plain(), needs_active(&initminer)),
        Rule::SignedForThisChain => Case::new(
            plain(),
            Tx {
                chain_id: Some(ChainId([7; 32])),
                ..plain()
            },
        ),
        Rule::Depth => depth(stage),
        Rule::ExplicitAuthority => {
            let set = |key: &KeySeed| set_url(ann.name(), public(&ann.owner())).by(key.clone());
            Case::new(set(&ann.owner()), set(&stranger())).after([
                Stage::create(&[ann]),
                Tx::of(&Operation::WitnessUpdate(witness_update(
                    ann.name(),
                    public(&ann.owner()),
                )))
                .by(ann.active()),
            ])
        }
        Rule::BothOwnerKeys => {
            let recover =
                super::recovery::recovery(ann, &ben.authority(Level::Owner), &ann.authority(Level::Owner));
            Case::new(
                recover.clone().by(ben.owner()).by(ann.owner()),
                recover.by(ben.owner()),
            )
            .after(super::recovery::lost_key(ann, &ben.authority(Level::Owner)))
        }
        Rule::SignerExists => Case::new(
            needs_posting(ann).by(ann.posting()),
            needs_posting(ben).by(ann.posting()),
        )
        .after([Stage::create(&[ann])]),
        Rule::NotMixed if stage.hardfork < 28 => {
            let keys = |tx: Tx| tx.by(ann.active()).by(ann.posting());
            let mixed = keys(needs_active(ann).and(&posting_json(ann.name())));
            let mut case =
                Case::new(needs_posting(ann).by(ann.posting()), mixed).after([Stage::create(&[ann])]);
            case.good.push(needs_active(ann).by(ann.active()));
            case
        }
        Rule::NothingUnused if stage.hardfork < 28 => Case::new(
            needs_active(ann).by(ann.active()),
            needs_active(ann).by(ann.active()).by(stranger()),
        )
        .after([Stage::create(&[ann])]),
        _ => return None,
    };
    Some(case)
}

fn expiring(tx: Tx, time: u32) -> Tx {
    Tx {
        expiration: Some(time),
        ..tx
    }
}

fn referring(tx: &Tx, good: (u16, u32), bad: (u16, u32)) -> Case {
    let with = |reference| Tx {
        reference: Some(reference),
        ..tx.clone()
    };
    Case::new(with(good), with(bad))
}

/// The creation of an account with this active authority.
fn owned(actor: &Actor, active: Authority) -> Tx {
    let create = op::AccountCreate {
        active,
        ..creation(actor)
    };
    Tx::of(&Operation::AccountCreate(create)).by(Stage::initminer().active())
}

/// Each of the accounts has the one before as its only active member; the first has a key. The third still reaches that
/// key, two accounts deep, and the fourth does not.
fn depth(stage: &Stage) -> Case {
    let actors = stage.actors(["ann", "ben", "cat", "dan"]);
    let key = actors[0].active();
    let mut setup = vec![Stage::create(&[&actors[0]])];
    for pair in actors.windows(2) {
        setup.push(owned(&pair[1], Authority::of_account(pair[0].name())));
    }
    Case::new(
        needs_active(&actors[2]).by(key.clone()),
        needs_active(&actors[3]).by(key),
    )
    .after(setup)
}

/// A new url for a witness.
pub(super) fn set_url(witness: AccountName, key: PublicKey) -> Tx {
    Tx::of(&Operation::WitnessSetProperties(op::WitnessSetProperties {
        owner: witness,
        props: vec![
            (Text::from("key"), Bytes(key.as_bytes())),
            (Text::from("url"), Bytes(b"\x08hive.xyz")),
        ],
        extensions: Vec::new(),
    }))
}

/// An account becomes a witness with this key, or gets it.
pub(super) fn witness_update(owner: AccountName, key: PublicKey) -> op::WitnessUpdate<'static> {
    op::WitnessUpdate {
        owner,
        url: Text::from("https://example.com"),
        block_signing_key: key,
        props: op::ChainProperties {
            account_creation_fee: cairn_chain::FeeAsset::hive(0),
            maximum_block_size: 131_072,
            hbd_interest_rate: 0,
        },
        fee: cairn_chain::Asset::hive(0),
    }
}
