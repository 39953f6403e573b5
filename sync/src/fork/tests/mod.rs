//! The fork database without states: ids and parents.

mod bounds;
mod branches;
mod cost;
mod finality;
mod twin;

use std::cell::Cell;
use std::collections::BTreeSet;

use cairn_chain::{AccountName, BlockId};
use cairn_rules::Finality;

use super::*;

thread_local! {
    /// How often a block was asked for something.
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

fn looked() {
    LOOKS.set(LOOKS.get() + 1);
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    id: BlockId,
    previous: BlockId,
    witness: AccountName,
    bytes: usize,
}

impl ForkBlock for Block {
    fn id(&self) -> BlockId {
        looked();
        self.id
    }

    fn previous(&self) -> BlockId {
        looked();
        self.previous
    }

    fn witness(&self) -> AccountName {
        looked();
        self.witness
    }

    fn bytes(&self) -> usize {
        looked();
        self.bytes
    }
}

fn id(number: u32, tail: u32) -> BlockId {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes[4..8].copy_from_slice(&tail.to_le_bytes());
    BlockId(bytes)
}

fn witness(n: usize) -> AccountName {
    AccountName::from(format!("witness{n}").as_str())
}

fn root() -> BlockId {
    id(100, 0)
}

fn child(parent: BlockId, tail: u32, by: usize) -> Block {
    Block {
        id: id(parent.number() + 1, tail),
        previous: parent,
        witness: witness(by),
        bytes: 10 + tail as usize,
    }
}

/// Goes to the highest block as the writer does; `invalid` are those that cannot be applied.
fn follow(database: &mut ForkDatabase<Block>, invalid: &BTreeSet<BlockId>) {
    let before = database.head();
    loop {
        let target = match database.longer() {
            Some(longer) if longer.number() > before.number() => longer,
            _ if database.head() != before && database.head().number() <= before.number() => before,
            _ => return,
        };
        let route = database.route(&target).unwrap();
        while database.head().number() > route.fork_point {
            database.taken_back();
        }
        for id in route.branch {
            if invalid.contains(&id) {
                assert!(database.refuse(&id, "invalid").is_some());
                break;
            }
            database.applied(&id, true);
        }
    }
}

fn line(
    database: &mut ForkDatabase<Block>,
    from: BlockId,
    count: u32,
    tail: u32,
    by: impl Fn(u32) -> usize,
) -> BlockId {
    let mut at = from;
    for n in 0..count {
        let block = child(at, tail, by(n));
        at = block.id;
        assert_eq!(database.push(block), Push::Linked);
    }
    at
}
