//! Proof of work: accounts, witnesses, the queue.

use cairn_chain::operations::{ChainProperties, HashPow, Pow, Pow2, Pow2Input, Pow2Work, PowWork};
use cairn_chain::{
    Authority, BlockId, ChainSpec, FeeAsset, Operation, PublicKey, Sha256Digest, Signature, Time,
};

use super::world::{START, World, key, name};
use crate::error::OperationFault;
use crate::registers::{ActiveAuthority, MinedWork, OwnerAuthority, Witness};

const PROPS: ChainProperties = ChainProperties {
    account_creation_fee: FeeAsset::hive(100_000),
    maximum_block_size: 131_072,
    hbd_interest_rate: 1_000,
};

/// Work that is hard enough while few miners are queued, different for each number.
fn work(number: u8) -> Sha256Digest {
    let mut bytes = [0; 32];
    bytes[31] = number;
    Sha256Digest(bytes)
}

fn pow(account: &str, worker: PublicKey, work: Sha256Digest, block_id: BlockId) -> Operation<'static> {
    Operation::Pow(Pow {
        worker_account: name(account),
        block_id,
        nonce: 0,
        work: PowWork {
            worker,
            input: Sha256Digest([0; 32]),
            signature: Signature([0; 65]),
            work,
        },
        props: PROPS,
    })
}

fn pow2(account: &str, new_owner_key: Option<PublicKey>, pow_summary: u32) -> Operation<'static> {
    Operation::Pow2(Pow2 {
        work: Pow2Work::Hash(HashPow {
            input: Pow2Input {
                worker_account: name(account),
                prev_block: BlockId::ZERO,
                nonce: 0,
            },
            pow_summary,
        }),
        new_owner_key,
        props: PROPS,
    })
}

fn queue_number(world: &mut World, account: &str) -> u64 {
    world.read::<Witness>(&name(account)).queue_number
}

#[test]
fn the_first_miner_is_not_queued() {
    let mut world = World::new(ChainSpec::hive(), 0);
    world.does(&pow("admin", key(5), work(1), BlockId::ZERO));
    assert_eq!(queue_number(&mut world, "admin"), 0);
    // So it may mine again at once, and then not a third time.
    world.does(&pow("admin", key(5), work(2), BlockId::ZERO));
    assert_eq!(queue_number(&mut world, "admin"), 1);
    let queued = OperationFault::Queued {
        witness: name("admin"),
        number: 1,
    };
    assert_eq!(
        world.run(&pow("admin", key(5), work(3), BlockId::ZERO)),
        Err(queued)
    );
    world.does(&pow("other", key(6), work(3), BlockId::ZERO));
    assert_eq!(queue_number(&mut world, "other"), 2);
    let mining = world.state.memory.mining;
    assert_eq!((mining.total, mining.queued, mining.waiting), (2, 3, 2));
}

#[test]
fn what_mining_makes() {
    let mut world = World::new(ChainSpec::hive(), 0);
    world.does(&pow("admin", key(5), work(1), BlockId::ZERO));
    let core = world.account("admin");
    assert_eq!(
        (core.mined, core.memo_key, core.recovery_account),
        (true, key(5), name("steem"))
    );
    assert_eq!(
        world.read::<OwnerAuthority>(&name("admin")).0,
        Authority::of_key(key(5))
    );
    let witness: Witness = world.read(&name("admin"));
    assert_eq!((witness.signing_key, witness.created), (key(5), Time(START)));
    assert_eq!(witness.account_creation_fee, 100_000);
    world.hardfork(12);
    world.does(&pow("later", key(6), work(2), BlockId::ZERO));
    assert_eq!(world.account("later").recovery_account, name(""));
}

#[test]
fn rules_of_work() {
    let mut world = World::mainnet(0);
    let other = BlockId([9; 20]);
    let for_other = OperationFault::WorkBlock {
        expected: BlockId::ZERO,
        found: other,
    };
    assert_eq!(world.run(&pow("admin", key(5), work(1), other)), Err(for_other));
    // alice's active key is 2.
    assert_eq!(
        world.run(&pow("alice", key(5), work(1), BlockId::ZERO)),
        Err(OperationFault::WorkerKey(name("alice")))
    );
    world.does(&pow("alice", key(2), work(1), BlockId::ZERO));
    world
        .state
        .tables
        .write(
            &name("bob"),
            &ActiveAuthority(Authority::of_account(name("carol"))),
        )
        .unwrap();
    assert_eq!(
        world.run(&pow("bob", key(2), work(2), BlockId::ZERO)),
        Err(OperationFault::WorkerKey(name("bob")))
    );
    // The work itself is unique since hardfork 5.
    world.does(&pow("carol", key(2), work(1), BlockId::ZERO));
    world.hardfork(5);
    assert_eq!(
        world.run(&pow("dan", key(2), work(1), BlockId::ZERO)),
        Err(OperationFault::SameWork(name("carol")))
    );
    let easy = Sha256Digest([0x0f; 32]);
    let mut too_easy = easy;
    too_easy.0[0] = 0x10;
    let queued = world.state.memory.mining.queued;
    assert_eq!(
        world.run(&pow("dan", key(2), too_easy, BlockId::ZERO)),
        Err(OperationFault::WorkTarget { queued })
    );
    world.does(&pow("dan", key(2), easy, BlockId::ZERO));
    assert_eq!(world.read::<MinedWork>(easy.as_bytes()).0, name("dan"));
}

#[test]
fn mining_with_a_key() {
    let mut world = World::mainnet(13);
    assert_eq!(
        world.run(&pow2("erin", None, 0)),
        Err(OperationFault::NewOwnerKey(name("erin")))
    );
    world.does(&pow2("erin", Some(key(7)), 0xfbff_ffff));
    assert!(world.account("erin").mined);
    assert_eq!(world.account("erin").recovery_account, name(""));
    assert_eq!(world.read::<Witness>(&name("erin")).signing_key, key(7));
    assert_eq!(
        world.run(&pow2("erin", Some(key(7)), 0)),
        Err(OperationFault::NewOwnerKey(name("erin")))
    );
    // An existing account must be a witness already.
    assert_eq!(
        world.run(&pow2("alice", None, 0)),
        Err(OperationFault::NoWitness(name("alice")))
    );
    let queued = world.state.memory.mining.queued;
    assert_eq!(queued, 1);
    let fault = world.run(&pow2("fred", Some(key(8)), 0xfbc0_0000));
    assert_eq!(fault, Err(OperationFault::WorkTarget { queued }));
    world.does(&pow2("fred", Some(key(8)), 0xfbbf_ffff));
    assert!(world.run(&pow2("fred", None, 0)).is_err(), "queued");
}
