//! Whose fault a refused block is.
//!
//! Some faults are the sender's for certain: bytes that are no block, transactions that are not the header's. Others may be
//! this node's (an operation that it does not know, a rule that it has wrong): then the block is asked of others
//! before anybody is blamed. If somebody's block is accepted, those who sent another one were wrong. If nobody else is
//! left and several have sent the very same block, the fault is taken to be on this side, and the sync ends.
//!
//! A block that is old, early, or has no parent here is nobody's fault: the driver is told, and fetches what is missing.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use super::follow::OurChain;
use super::network::{BlockNetwork, Misbehavior, PeerOffer};
use super::shared::{Shared, Unused};
use crate::log_limit::{LogLimit, grouped};
use crate::pipeline::{Origin, PrepareError};
use crate::writer::{AsideBlock, BlockFault, Rejected, Rejection, SetAside};

/// Peers that must have sent the same block before the fault is taken to be on this side.
const AGREEING_PEERS: usize = 3;
/// Time in which lines about blocks that were not used are written a few times at most: a peer can send thousands.
const LINES: Duration = Duration::from_secs(60);
const MOST_REFUSED: u32 = 20;
const MOST_ASIDE: u32 = 3;
/// Branches beside the main one that are remembered as refused. Names cost a peer nothing.
const MOST_BESIDE: usize = 256;

/// A peer whose block was refused, and may be right.
#[derive(Debug)]
struct Suspect {
    /// The block's id; `None` when it could not be decoded.
    id: Option<BlockId>,
    reason: String,
}

/// A peer whose branch has a block that was refused. If the rule is wrong here, every honest peer has it.
#[derive(Debug)]
struct Beside {
    /// The block's number.
    number: u32,
    /// A head above this one says that the network goes on without the branch.
    until: u32,
    reason: String,
}

/// The writer's way to say that a block was refused.
#[derive(Debug)]
pub(super) struct Blame {
    shared: Arc<Shared>,
    network: Arc<dyn BlockNetwork>,
    ours: Arc<dyn OurChain>,
    /// Blocks up to this one were proven before they reached the writer.
    proven_through: u32,
    /// The block in dispute; 0 none.
    disputed: u32,
    suspects: BTreeMap<Arc<str>, Suspect>,
    /// Peers whose branch beside the main one breaks a rule.
    beside: BTreeMap<Arc<str>, Beside>,
    refused_lines: LogLimit,
    aside_lines: LogLimit,
}

/// What a fault says of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Guilty,
    Nothing,
    /// The fault is this node's.
    Innocent,
}

impl Blame {
    pub(super) fn new(
        shared: Arc<Shared>,
        network: Arc<dyn BlockNetwork>,
        ours: Arc<dyn OurChain>,
        proven_through: u32,
    ) -> Self {
        Self {
            shared,
            network,
            ours,
            proven_through,
            disputed: 0,
            suspects: BTreeMap::new(),
            beside: BTreeMap::new(),
            refused_lines: LogLimit::new(LINES, MOST_REFUSED),
            aside_lines: LogLimit::new(LINES, MOST_ASIDE),
        }
    }

    fn judge(&self, number: u32, fault: &BlockFault) -> Says {
        match fault {
            BlockFault::Prepare(PrepareError::Pack(_)) => Says::Innocent,
            BlockFault::Prepare(PrepareError::Unpack(error)) if !error.is_damage() => Says::Innocent,
            // What cannot be decoded may be an operation that this version does not know.
            BlockFault::Prepare(PrepareError::Decode(_)) => Says::Nothing,
            BlockFault::Prepare(_) => Says::Guilty,
            BlockFault::Link { .. } | BlockFault::Rule(_) if number <= self.proven_through => Says::Innocent,
            BlockFault::Link { .. } | BlockFault::Rule(_) | BlockFault::Remembered(_) => Says::Nothing,
        }
    }

    fn accuse(&self, peer: &str, number: u32, reason: String) {
        self.network
            .misbehaved(peer, &Misbehavior::BadBlock { number, reason });
    }

    fn accuse_suspects(&mut self) {
        for (peer, Suspect { reason, .. }) in std::mem::take(&mut self.suspects) {
            self.accuse(&peer, self.disputed, reason);
        }
        self.disputed = 0;
    }

    /// The head has grown on the branch that this node is on: those who sent another one with a fault in it were wrong.
    fn accuse_beside(&mut self, head: u32) {
        let beside = std::mem::take(&mut self.beside);
        let (wrong, open) = beside.into_iter().partition(|(_, beside)| head > beside.until);
        self.beside = open;
        for (peer, Beside { number, reason, .. }) in wrong {
            self.accuse(&peer, number, reason);
        }
    }

    /// Most peers that sent one and the same block. Of one that cannot be decoded, nobody knows whether it is the same.
    fn agreeing(&self) -> usize {
        let same = |id: Option<BlockId>| match id {
            Some(_) => self.suspects.values().filter(|suspect| suspect.id == id).count(),
            None => 1,
        };
        self.suspects
            .values()
            .map(|suspect| same(suspect.id))
            .max()
            .unwrap_or(0)
    }

    fn tell_suppressed(&mut self, count: impl Fn(&mut LogLimit) -> Option<u64>) {
        for (limit, what) in [
            (&mut self.refused_lines, "refused blocks"),
            (&mut self.aside_lines, "blocks that are not used"),
        ] {
            if let Some(count) = count(limit) {
                tracing::warn!(target: "sync", "suppressed {} lines about {what}", grouped(count));
            }
        }
    }

    fn is_asked_of_others(&self, number: u32) -> bool {
        // A peer that is not asked for anything any more will not send another block either.
        let offers = self.network.peers();
        let offers = self.shared.lock().trusted(&offers);
        // At the head of the network the one who announces a block is the first to have it, and the others are not late.
        let may_have =
            |offer: &PeerOffer| offer.serves(number) || (number > self.proven_through && offer.head < number);
        offers
            .iter()
            .any(|offer| may_have(offer) && !self.suspects.contains_key(&offer.peer))
    }
}

impl Rejected for Blame {
    fn rejected(&mut self, rejection: &Rejection<'_>) -> bool {
        let &Rejection {
            number, id, fault, ..
        } = rejection;
        let Origin::Peer(peer) = rejection.origin else {
            return false;
        };
        let reason = fault.to_string();
        let says = self.judge(number, fault);
        let again = matches!(fault, BlockFault::Remembered(_)) && self.suspects.contains_key(peer);
        self.shared.note_unused(Unused {
            peer: Arc::clone(peer),
            number,
            id,
            missing: None,
            refused: true,
            early: false,
        });
        if again && !rejection.next_of_head {
            return false; // What it had sent behind the block in dispute.
        }
        if self.refused_lines.admit(Instant::now()) {
            tracing::warn!(target: "sync", "block {number} from {peer} was refused: {reason}");
        }
        if !rejection.next_of_head {
            // Whoever sends a branch has applied it: no honest peer has one that breaks a rule, unless the rule is wrong here.
            // Then all of them have it, and the network will not go on with the branch that this node is on. One that
            // cannot be read may be of a newer version.
            match says {
                Says::Innocent => return false,
                Says::Guilty => self.accuse(peer, number, reason),
                Says::Nothing if matches!(fault, BlockFault::Prepare(PrepareError::Decode(_))) => {}
                Says::Nothing => {
                    let until = number.max(self.ours.head().number());
                    let beside = Beside {
                        number,
                        until,
                        reason,
                    };
                    if self.beside.len() < MOST_BESIDE {
                        self.beside.insert(Arc::clone(peer), beside);
                    }
                }
            }
            self.shared.lock().expel(peer);
            return false;
        }
        match says {
            Says::Innocent => {
                tracing::error!(
                    target: "sync",
                    "block {number} is the right one and cannot be applied: the fault is this node's, no peer is blamed"
                );
                return false;
            }
            Says::Guilty => self.accuse(peer, number, reason),
            Says::Nothing => {
                if self.disputed != number {
                    self.accuse_suspects();
                    self.disputed = number;
                }
                self.suspects.insert(Arc::clone(peer), Suspect { id, reason });
                if !self.is_asked_of_others(number) {
                    let agreeing = self.agreeing();
                    if agreeing >= AGREEING_PEERS {
                        tracing::error!(
                            target: "sync",
                            "{agreeing} peers have the same block {number}, nobody has another one, and this node refuses \
                             it: a newer version may know better. No peer is blamed"
                        );
                        return false;
                    }
                    self.accuse_suspects();
                }
            }
        }
        self.shared.lock().rewind(number, peer, self.ours.head());
        self.shared.changed.notify_one();
        true
    }

    fn set_aside(&mut self, block: &AsideBlock<'_>) {
        let &AsideBlock {
            number, id, ref why, ..
        } = block;
        let Origin::Peer(peer) = block.origin else {
            return;
        };
        let text = reason_text(why);
        let missing = match *why {
            SetAside::Unlinked { previous } => Some(previous),
            SetAside::DeadFork { .. } | SetAside::FromTheFuture { .. } => None,
        };
        if self.aside_lines.admit(Instant::now()) {
            tracing::warn!(target: "sync", "block {number} from {peer} is not used: {text}");
        }
        self.shared.note_unused(Unused {
            peer: Arc::clone(peer),
            number,
            id: Some(id),
            missing,
            refused: false,
            early: matches!(why, SetAside::FromTheFuture { .. }),
        });
    }

    fn applied(&mut self, number: u32) {
        if self.disputed != 0 && number >= self.disputed {
            self.accuse_suspects();
        }
        self.accuse_beside(number);
        let now = Instant::now();
        self.tell_suppressed(|limit| limit.suppressed(now));
    }
}

impl Drop for Blame {
    fn drop(&mut self) {
        self.tell_suppressed(LogLimit::held_back);
    }
}

fn reason_text(why: &SetAside) -> String {
    match why {
        SetAside::Unlinked { previous } => {
            format!("the block before it, {previous}, is not here. Its sender is asked for it")
        }
        SetAside::DeadFork { irreversible } => {
            format!("it is not above the last irreversible block {irreversible}")
        }
        SetAside::FromTheFuture { time, now } => {
            format!("its time {time} has not come, it is {now} by this machine's clock")
        }
    }
}
