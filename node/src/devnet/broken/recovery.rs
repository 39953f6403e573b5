//! Recovery of stolen accounts, broken.

use cairn_chain::operations as op;
use cairn_chain::{Authority, Operation};

use super::rule::Rule;
use super::stage::{Actor, Case, Level, Stage, Tx, public};

/// The owner authority changes to `lost`, signed with the present one.
fn change_owner(actor: &Actor, new: &Authority) -> Operation<'static> {
    Operation::AccountUpdate(op::AccountUpdate {
        account: actor.name(),
        owner: Some(new.clone()),
        active: None,
        posting: None,
        memo_key: public(&actor.posting()),
        json_metadata: cairn_chain::Text::default(),
    })
}

fn request(by: &Actor, actor: &Actor, new: &Authority) -> Tx {
    let request = op::RequestAccountRecovery {
        recovery_account: by.name(),
        account_to_recover: actor.name(),
        new_owner_authority: new.clone(),
        extensions: Vec::new(),
    };
    Tx::of(&Operation::RequestAccountRecovery(request)).by(by.active())
}

/// A recovery without signatures.
pub(super) fn recovery(actor: &Actor, new: &Authority, recent: &Authority) -> Tx {
    Tx::of(&Operation::RecoverAccount(op::RecoverAccount {
        account_to_recover: actor.name(),
        new_owner_authority: new.clone(),
        recent_owner_authority: recent.clone(),
        extensions: Vec::new(),
    }))
}

/// A thief's owner authority.
fn thiefs(actor: &Actor) -> Authority {
    actor.authority(Level::Posting)
}

/// An account is created, its owner key is stolen and changed, and its recovery account asks for another one.
pub(super) fn lost_key(actor: &Actor, new: &Authority) -> Vec<Tx> {
    vec![
        Stage::create(&[actor]),
        Tx::of(&change_owner(actor, &thiefs(actor))).by(actor.owner()),
        request(&Stage::initminer(), actor, new),
    ]
}

/// The transactions for this rule, if it is one of these.
pub(super) fn case(rule: Rule, stage: &Stage) -> Option<Case> {
    let initminer = Stage::initminer();
    let [ann, ben, cat] = &stage.actors(["ann", "ben", "cat"]);
    let [own, new, other] = [ann, ben, cat].map(|actor| actor.authority(Level::Owner));
    let lost = || lost_key(ann, &new);
    let recovered = || recovery(ann, &new, &own).by(ben.owner()).by(ann.owner());
    let case = match rule {
        Rule::OwnerChangeRate => {
            let change = |to: &Authority, by: &Actor| Tx::of(&change_owner(ann, to)).by(by.owner());
            // Twice within the limit is allowed since hardfork 26.
            Case {
                setup: vec![Stage::create(&[ann]), change(&own, ann)],
                good: vec![change(&new, ann)],
                bad: vec![change(&new, ann), change(&other, ben)],
            }
        }
        Rule::Possible => {
            let impossible = Authority {
                weight_threshold: 2,
                ..new.clone()
            };
            Case::new(
                request(&initminer, ann, &new),
                request(&initminer, ann, &impossible),
            )
            .after([Stage::create(&[ann])])
        }
        Rule::NotOpen => Case::new(
            recovered(),
            recovery(ann, &Authority::open(), &own)
                .by(ben.owner())
                .by(ann.owner()),
        )
        .after(lost()),
        Rule::RecoveryRate => {
            let again = recovery(ann, &other, &own).by(cat.owner()).by(ann.owner());
            let mut setup = lost();
            setup.push(recovered());
            Case::new(request(&initminer, ann, &new), again)
                .after(setup)
                .after([request(&initminer, ann, &other)])
        }
        Rule::RecoveryAccount => Case::new(request(&initminer, ann, &new), request(ben, ann, &new))
            .after([Stage::create(&[ann, ben])]),
        Rule::RecoveryIsNotOpen => Case::new(
            request(&initminer, ann, &new),
            request(&initminer, ann, &Authority::open()),
        )
        .after([Stage::create(&[ann])]),
        Rule::RecoverySize => Case::new(
            request(&initminer, ann, &super::validity::large_authority(stage, 40)),
            request(&initminer, ann, &super::validity::large_authority(stage, 41)),
        )
        .after([Stage::create(&[ann])]),
        Rule::RecoveryRequested => {
            let mut setup = lost();
            let asked = setup.pop()?;
            let mut case = Case::new(recovered(), recovered()).after(setup);
            case.good.insert(0, asked);
            case
        }
        Rule::RecoveryAsRequested => Case::new(
            recovered(),
            recovery(ann, &other, &own).by(cat.owner()).by(ann.owner()),
        )
        .after(lost()),
        Rule::RecentOwner => Case::new(
            recovered(),
            recovery(ann, &new, &other).by(ben.owner()).by(cat.owner()),
        )
        .after(lost()),
        _ => return None,
    };
    Some(case)
}
