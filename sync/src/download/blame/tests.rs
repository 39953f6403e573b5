use std::sync::Mutex;
use std::time::Duration;

use cairn_block_log::StoredBlock;
use cairn_chain::{UnpackError, UnpackErrorKind};
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use super::*;
use crate::ChainView;
use crate::checkpoint::Checkpoints;
use crate::download::proof::ProofOptions;
use crate::download::{BlockRange, HeaderRange, RequestError, Scheduler, SchedulerOptions};

/// Peers that can be named and accused.
#[derive(Debug)]
struct Peers {
    names: Vec<&'static str>,
    accused: Mutex<Vec<String>>,
}

impl BlockNetwork for Peers {
    fn peers(&self) -> Vec<PeerOffer> {
        let offer = |name: &&str| PeerOffer {
            peer: Arc::from(*name),
            first: 1,
            head: 100,
            head_id: BlockId::ZERO,
        };
        self.names.iter().map(offer).collect()
    }

    fn request(&self, _: &str, _: BlockRange) -> BoxStream<'static, Result<StoredBlock, RequestError>> {
        unreachable!("nothing is asked for here")
    }

    fn request_headers(&self, _: &str, _: HeaderRange) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        unreachable!("nothing is asked for here")
    }

    fn misbehaved(&self, peer: &str, _: &Misbehavior) {
        self.accused.lock().unwrap().push(peer.to_owned());
    }
}

fn blame(names: &[&'static str], proven_through: u32) -> (Blame, Arc<Peers>) {
    let peers = Arc::new(Peers {
        names: names.to_vec(),
        accused: Mutex::default(),
    });
    let proof = ProofOptions {
        checkpoints: Checkpoints::default(),
        head: (0, BlockId::ZERO),
        folder: "/nonexistent".into(),
        patience: Duration::ZERO,
        wait_on_mismatch: false,
    };
    let shared = Arc::new(Shared::new(Scheduler::new(SchedulerOptions::default(), proof)));
    let network: Arc<dyn BlockNetwork> = Arc::clone(&peers) as _;
    let ours = Arc::new(ChainView::default());
    (Blame::new(shared, network, ours, proven_through), peers)
}

/// A block 7 that does not link, from a peer; `tail` tells its id from others'.
fn unlinked(blame: &mut Blame, peer: &str, tail: u8) -> bool {
    unlinked_at(blame, 7, peer, tail)
}

fn unlinked_at(blame: &mut Blame, number: u32, peer: &str, tail: u8) -> bool {
    let fault = BlockFault::Link {
        expected: BlockId([1; 20]),
        found: BlockId([2; 20]),
    };
    blame.rejected(&Rejection {
        number,
        id: Some(BlockId([tail; 20])),
        origin: &Origin::Peer(Arc::from(peer)),
        fault: &fault,
        next_of_head: true,
    })
}

#[test]
fn who_sent_another_block_than_the_accepted_one_is_accused_then() {
    let (mut blame, peers) = blame(&["a", "b", "c"], 0);
    assert!(unlinked(&mut blame, "a", 1));
    blame.applied(6);
    assert!(
        peers.accused.lock().unwrap().is_empty(),
        "c may have the same block"
    );
    assert!(unlinked(&mut blame, "b", 2));
    blame.applied(7);
    assert_eq!(*peers.accused.lock().unwrap(), ["a", "b"]);
    blame.applied(8);
    assert_eq!(peers.accused.lock().unwrap().len(), 2);
}

#[test]
fn three_that_agree_and_nobody_else_end_the_sync_unblamed() {
    let (mut blame, peers) = blame(&["a", "b", "c"], 0);
    assert!(unlinked(&mut blame, "a", 1));
    assert!(unlinked(&mut blame, "b", 1));
    assert!(!unlinked(&mut blame, "c", 1));
    assert!(peers.accused.lock().unwrap().is_empty());
}

#[test]
fn three_that_agree_at_the_head_end_nothing_while_another_peer_is_there() {
    // All peers are at block 100: the fourth one may have another block 101 in a moment.
    let (mut blame, peers) = blame(&["a", "b", "c", "d"], 0);
    for peer in ["a", "b", "c"] {
        assert!(unlinked_at(&mut blame, 101, peer, 1));
    }
    assert!(peers.accused.lock().unwrap().is_empty());
    blame.applied(101);
    assert_eq!(*peers.accused.lock().unwrap(), ["a", "b", "c"]);
}

#[test]
fn three_that_do_not_agree_end_nothing() {
    let (mut blame, peers) = blame(&["a", "b", "c"], 0);
    for (peer, tail) in [("a", 1), ("b", 2), ("c", 3)] {
        assert!(unlinked(&mut blame, peer, tail));
    }
    assert_eq!(peers.accused.lock().unwrap().len(), 3);
}

#[test]
fn a_proven_block_that_cannot_be_applied_is_nobodys_fault_but_ours() {
    let (mut blame, peers) = blame(&["a", "b"], 10);
    assert!(!unlinked(&mut blame, "a", 1));
    assert!(peers.accused.lock().unwrap().is_empty());
}

#[test]
fn a_block_that_is_another_is_the_senders_fault() {
    let (mut blame, peers) = blame(&["a", "b"], 10);
    let fault = BlockFault::Prepare(PrepareError::Number {
        expected: 7,
        found: 8,
    });
    assert!(blame.rejected(&Rejection {
        number: 7,
        id: None,
        origin: &Origin::Peer(Arc::from("a")),
        fault: &fault,
        next_of_head: true,
    }));
    assert_eq!(*peers.accused.lock().unwrap(), ["a"]);
}

#[test]
fn a_branch_that_breaks_a_rule_is_an_offence_once_the_network_goes_on_without_it() {
    let (mut blame, peers) = blame(&["a", "b", "c"], 0);
    let fault = BlockFault::Link {
        expected: BlockId([1; 20]),
        found: BlockId([2; 20]),
    };
    // If the rule is wrong here, all peers have this block, and this node alone sits on its fork.
    for peer in ["a", "b", "c"] {
        assert!(!blame.rejected(&Rejection {
            number: 7,
            id: Some(BlockId([3; 20])),
            origin: &Origin::Peer(Arc::from(peer)),
            fault: &fault,
            next_of_head: false,
        }));
    }
    blame.applied(7);
    assert!(peers.accused.lock().unwrap().is_empty());
    blame.applied(8);
    assert_eq!(*peers.accused.lock().unwrap(), ["a", "b", "c"]);
    blame.applied(9);
    assert_eq!(peers.accused.lock().unwrap().len(), 3, "once");
}

#[test]
fn garbage_of_several_peers_is_not_the_same_block() {
    let (mut blame, peers) = blame(&["a", "b", "c"], 0);
    let fault = BlockFault::Prepare(PrepareError::Decode(UnpackError {
        offset: 0,
        kind: UnpackErrorKind::UnexpectedEnd {
            needed: 1,
            remaining: 0,
        },
    }));
    for peer in ["a", "b", "c"] {
        assert!(blame.rejected(&Rejection {
            number: 7,
            id: None,
            origin: &Origin::Peer(Arc::from(peer)),
            fault: &fault,
            next_of_head: true,
        }));
    }
    assert_eq!(*peers.accused.lock().unwrap(), ["a", "b", "c"]);
}
