//! Branches with a block that breaks a rule.

use std::sync::Arc;

use cairn_chain::BlockId;
use cairn_node::devnet::{Rule, Step, Tree};
use cairn_sync::writer::Taken;

use crate::world::{Dice, Forward, Library, Node, SEAL, TRUNK, shape};

/// The rules are of all kinds: signature, turn, reference, authority.
const BROKEN: [Rule; 4] = [
    Rule::WitnessKey,
    Rule::WitnessTurn,
    Rule::ReferenceBlock,
    Rule::ActiveAuthority,
];

#[test]
fn a_longer_branch_with_a_block_that_breaks_a_rule_is_left_for_the_old_head() {
    let shape = shape(11);
    let mut library = Library::new(&shape);
    let mut tree = Tree::new(shape);
    let spec = Arc::clone(&library.spec);
    let mut node = Node::new(&spec);
    let mut judge = Forward::new(&spec);
    let mut dice = Dice(11);
    let mut base = BlockId::ZERO;
    let mut whole = Vec::new();
    for raw in tree.grow(BlockId::ZERO, TRUNK) {
        base = library.add(raw);
        whole.push(base);
        node.take(&library, &base);
    }
    for rule in BROKEN {
        for place in [0, 3, 6, 8] {
            // Seven blocks of the main branch against nine, of which one is broken.
            let main: Vec<BlockId> = tree
                .grow(base, 7)
                .into_iter()
                .map(|raw| library.add(raw))
                .collect();
            main.iter().for_each(|id| drop(node.take(&library, id)));
            let mut branch = Vec::new();
            let mut at = base;
            for position in 0..9 {
                let raw = match position == place {
                    true => tree.break_rule(at, rule),
                    false => tree.sibling(at, 0, &Step::default()),
                };
                at = library.add(raw.unwrap_or_else(|| panic!("{rule} at {place}")));
                branch.push(at);
            }
            let broken = branch[place];
            let mut order = branch.clone();
            dice.shuffle(&mut order);
            let mut refused = None;
            for id in &order {
                if let Taken::Refused(found) = node.take(&library, id) {
                    let first = refused.get_or_insert((found.id, found.fault.to_string()));
                    assert!(found.id == broken || found.fault.to_string().contains(&first.1));
                }
            }
            let (culprit, reason) = refused.unwrap_or_else(|| panic!("{rule} at {place} was not noticed"));
            assert_eq!(culprit, broken, "{rule} at {place}: {reason}");
            // Eight good blocks are more than seven; before that the old head is back.
            let (winner, loser) = match place {
                8 => (&branch[..8], &main[..]),
                _ => (&main[..], &branch[..place]),
            };
            assert_eq!(node.chain.head().id, *winner.last().unwrap(), "{rule} at {place}");
            for id in branch[place..].iter().rev() {
                let again = node.take(&library, id);
                assert!(
                    matches!(&again, Taken::Refused(_)),
                    "{rule} at {place}: {again:?}"
                );
            }
            for id in winner.iter().chain(loser) {
                let again = node.take(&library, id);
                assert!(matches!(again, Taken::Known), "{rule} at {place}: {again:?}");
            }
            whole.extend(winner);
            let seal = tree.grow(*winner.last().unwrap(), SEAL);
            for raw in seal {
                base = library.add(raw);
                whole.push(base);
                let taken = node.take(&library, &base);
                assert!(matches!(taken, Taken::Applied), "{rule} at {place}: {taken:?}");
            }
            node.chain.commit().unwrap();
            let kept = node.chain.kept_head();
            assert!(kept.number > winner.last().unwrap().number());
            let done = judge.state.head().number as usize;
            whole[done..kept.number as usize]
                .iter()
                .for_each(|id| judge.apply(&library, id));
            assert_eq!((kept, node.durable_digest()), judge.digest(), "{rule} at {place}");
            node.check_log(&whole, kept.number);
            node.check_view(&whole);
        }
    }
}
