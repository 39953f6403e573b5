//! Whom to follow, without a clock and without a network.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_chain::BlockId;

use super::ours::Known;
use super::pursuit::{Outcome, Pursuit};
use crate::download::network::PeerOffer;

/// A peer whose head is at most so many blocks above this node's is followed block by block; what is missing more comes
/// in large ranges from all peers. A round of witnesses and a half: a minute and a half.
pub(in crate::download) const NEAR: u32 = 32;
/// Peers that are fetched from at the same time.
const MOST_PURSUITS: usize = 8;
/// Those of them that may have disappointed before: who takes places and brings nothing leaves some to the others.
const MOST_AFTER_FAILURES: usize = 4;
/// A second peer is asked for the same head when the first has not brought it after this time.
const TURN: Duration = Duration::from_millis(400);
/// Peers that are asked for one head at the same time.
const MOST_FOR_ONE_HEAD: usize = 3;
/// How long a peer may bring nothing; twice as long after each failure, so that a slow line is not taken for a bad peer.
const PATIENCE: Duration = Duration::from_secs(4);
const LONGEST_PATIENCE: Duration = Duration::from_secs(64);
/// Rest after a first failure; doubles with every further one.
const REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(64);
/// The same for a peer whose chain contradicts this node's last irreversible block: it seldom comes back.
const DEAD_FORK_REST: Duration = Duration::from_secs(30);
const LONGEST_DEAD_FORK_REST: Duration = Duration::from_secs(600);
/// Peers that are remembered although they are gone.
const REMEMBERED: usize = 512;

/// What is known of a peer whose blocks do not continue those that the large ranges bring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Branch {
    /// Nothing: it seems to be on the common chain.
    #[default]
    Common,
    /// Its branch is to be fetched.
    Wanted,
    /// Its branch was fetched as far as it is near this node's head.
    Fetched,
}

#[derive(Clone, Debug, Default)]
struct Record {
    /// What is being fetched, and since when.
    pursuit: Option<(BlockId, Instant)>,
    branch: Branch,
    /// Its chain contradicts the last irreversible block.
    dead: bool,
    /// The last block that came from it.
    last: Option<BlockId>,
    failures: u32,
    /// How often the writer could not use what came from it, since its head was applied here.
    setbacks: u32,
    rests_until: Option<Instant>,
}

/// `first`, doubled for each time before.
fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    (first * 2u32.saturating_pow(times.min(10))).min(longest)
}

impl Record {
    fn rests(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| now < until)
    }

    fn failed(&mut self, now: Instant, first: Duration, longest: Duration) {
        let rest = doubled(first, self.failures, longest);
        self.failures = self.failures.saturating_add(1);
        self.rests_until = Some(now + rest);
    }
}

/// Follows the heads of peers that are not known here.
#[derive(Debug)]
pub(in crate::download) struct Follower {
    known: Known,
    records: HashMap<Arc<str>, Record>,
}

impl Follower {
    pub(in crate::download) fn new(known: Known) -> Self {
        Self {
            known,
            records: HashMap::new(),
        }
    }

    /// Branches to fetch now. `bulk`: large ranges are being fetched, so that what lies above this node's head comes that way
    /// from those whose chain continues it.
    pub(in crate::download) fn plan(
        &mut self,
        now: Instant,
        offers: &[PeerOffer],
        bulk: bool,
    ) -> Vec<Pursuit> {
        self.forget_gone(offers);
        self.known.tidy(now);
        for offer in offers
            .iter()
            .filter(|offer| self.known.ours().has(&offer.head_id))
        {
            if let Some(record) = self.records.get_mut(&offer.peer) {
                (record.setbacks, record.dead) = (0, false);
            }
        }
        let (head, irreversible) = {
            let ours = self.known.ours();
            (ours.head().number(), ours.irreversible().number())
        };
        let mut wanted: Vec<&PeerOffer> = offers
            .iter()
            .filter(|offer| self.is_wanted(now, offer, head, irreversible, bulk))
            .collect();
        // Those who have not disappointed first, the highest first.
        let failures = |records: &HashMap<Arc<str>, Record>, offer: &PeerOffer| {
            records.get(&offer.peer).map_or(0, |record| record.failures)
        };
        wanted.sort_by_key(|offer| (failures(&self.records, offer), std::cmp::Reverse(offer.head)));
        let mut pursuits = Vec::new();
        for offer in wanted {
            let running = self.records.values().filter_map(|record| record.pursuit);
            let places = match failures(&self.records, offer) {
                0 => MOST_PURSUITS,
                _ => MOST_AFTER_FAILURES,
            };
            if running.clone().count() >= places {
                break;
            }
            let same: Vec<_> = running.filter(|(target, _)| *target == offer.head_id).collect();
            let in_time = |since: &Instant| now.saturating_duration_since(*since) < TURN;
            if same.len() >= MOST_FOR_ONE_HEAD || same.iter().any(|(_, since)| in_time(since)) {
                continue;
            }
            pursuits.push(self.pursue(now, offer, head));
        }
        pursuits
    }

    fn is_wanted(&self, now: Instant, offer: &PeerOffer, head: u32, irreversible: u32, bulk: bool) -> bool {
        let record = self.records.get(&offer.peer);
        let idle = record.is_none_or(|record| record.pursuit.is_none() && !record.rests(now));
        let own_branch = record.is_some_and(|record| record.branch == Branch::Wanted);
        let near = match bulk {
            true => offer.head <= head,
            false => offer.head <= head.saturating_add(NEAR),
        };
        // At or below the last irreversible block nothing can be won.
        idle && (near || own_branch)
            && offer.head > irreversible
            && offer.head_id.number() == offer.head
            && !self.known.has(&offer.head_id)
    }

    fn pursue(&mut self, now: Instant, offer: &PeerOffer, head: u32) -> Pursuit {
        let record = self.records.entry(Arc::clone(&offer.peer)).or_default();
        record.pursuit = Some((offer.head_id, now));
        let last = offer.head.min(head.saturating_add(NEAR));
        // Behind what came from it before, or else behind this node's head.
        let before = record
            .last
            .filter(|id| (head..last).contains(&id.number()) && self.known.has(id));
        let first = before.map_or(head, |id| id.number()) + 1;
        let patience = doubled(PATIENCE, record.failures, LONGEST_PATIENCE);
        Pursuit {
            peer: Arc::clone(&offer.peer),
            first: first.min(last),
            last,
            patience,
        }
    }

    /// A pursuit has ended.
    pub(in crate::download) fn ended(&mut self, now: Instant, peer: &Arc<str>, outcome: &Outcome) {
        let record = self.records.entry(Arc::clone(peer)).or_default();
        let Some((target, _)) = record.pursuit.take() else {
            return;
        };
        record.dead = matches!(outcome, Outcome::DeadFork { .. });
        match outcome {
            Outcome::Fetched(last) => {
                if record.branch == Branch::Wanted {
                    record.branch = Branch::Fetched;
                }
                let new = *last != record.last;
                record.last = *last;
                // A head that it said and does not send is not asked for again and again.
                if new || self.known.has(&target) {
                    (record.failures, record.rests_until) = (0, None);
                } else {
                    record.failed(now, REST, LONGEST_REST);
                }
            }
            Outcome::DeadFork { .. } => {
                record.branch = Branch::Wanted;
                record.failed(now, DEAD_FORK_REST, LONGEST_DEAD_FORK_REST);
            }
            Outcome::Failed(_) | Outcome::Misbehaved(_) | Outcome::Unreadable(..) | Outcome::Closed => {
                record.failed(now, REST, LONGEST_REST);
            }
        }
    }

    /// The blocks of this peer do not continue the chain that the large ranges bring.
    pub(in crate::download) fn strayed(&mut self, peer: &Arc<str>) {
        self.records.entry(Arc::clone(peer)).or_default().branch = Branch::Wanted;
    }

    /// A block of this peer could not be used: its branch is looked at again, after a moment.
    pub(in crate::download) fn not_used(&mut self, now: Instant, peer: &Arc<str>) {
        let record = self.records.entry(Arc::clone(peer)).or_default();
        record.last = None;
        if record.rests(now) {
            return; // Of the same fetch, as a rule.
        }
        let rest = doubled(REST, record.setbacks, LONGEST_REST);
        record.setbacks = record.setbacks.saturating_add(1);
        record.rests_until = Some(now + rest);
    }

    /// Whether large ranges may be asked of a peer.
    pub(in crate::download) fn is_common(&self, peer: &str) -> bool {
        let record = self.records.get(peer);
        record.is_none_or(|record| record.branch == Branch::Common)
    }

    /// Whether a peer that is far ahead is a reason to begin with large ranges again.
    pub(in crate::download) fn may_lead(&self, now: Instant, peer: &str) -> bool {
        self.records.get(peer).is_none_or(|record| {
            record.pursuit.is_none() && record.branch != Branch::Wanted && !record.rests(now)
        })
    }

    /// Large ranges are fetched from here on, behind a new head: those whose branches were fetched may be on it.
    pub(in crate::download) fn begin_bulk(&mut self) {
        for record in self.records.values_mut() {
            if record.branch == Branch::Fetched {
                record.branch = Branch::Common;
            }
        }
    }

    /// Whether there are peers and all of them are on chains that contradict the last irreversible block.
    pub(in crate::download) fn all_dead(&self, offers: &[PeerOffer]) -> bool {
        let dead = |offer: &PeerOffer| self.records.get(&offer.peer).is_some_and(|record| record.dead);
        !offers.is_empty() && offers.iter().all(dead)
    }

    fn forget_gone(&mut self, offers: &[PeerOffer]) {
        if self.records.len() <= REMEMBERED {
            return;
        }
        let connected = |peer: &Arc<str>| offers.iter().any(|offer| offer.peer == *peer);
        self.records
            .retain(|peer, record| record.pursuit.is_some() || connected(peer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::download::follow::ours::OurChain;
    use crate::download::network::RequestError;

    #[derive(Debug)]
    struct AtTheStart;

    impl OurChain for AtTheStart {
        fn head(&self) -> BlockId {
            BlockId::ZERO
        }

        fn irreversible(&self) -> BlockId {
            BlockId::ZERO
        }

        fn has(&self, id: &BlockId) -> bool {
            *id == BlockId::ZERO
        }
    }

    /// A peer with a head of its own.
    fn offer(index: u8) -> PeerOffer {
        let mut id = [index; 20];
        id[..4].copy_from_slice(&5u32.to_be_bytes());
        PeerOffer {
            peer: format!("peer {index}").into(),
            first: 1,
            head: 5,
            head_id: BlockId(id),
        }
    }

    #[test]
    fn who_has_brought_nothing_leaves_places_to_others() {
        let mut now = Instant::now();
        let mut follower = Follower::new(Known::new(Arc::new(AtTheStart)));
        let idle: Vec<_> = (1..=10).map(offer).collect();
        let first = follower.plan(now, &idle, false);
        assert_eq!(first.len(), MOST_PURSUITS);
        let late = Outcome::Failed(RequestError::TimedOut(PATIENCE));
        for offer in &idle {
            follower
                .records
                .entry(Arc::clone(&offer.peer))
                .or_default()
                .pursuit = Some((offer.head_id, now));
            follower.ended(now, &offer.peer, &late);
        }
        now += LONGEST_REST;
        assert_eq!(follower.plan(now, &idle, false).len(), MOST_AFTER_FAILURES);
        let all: Vec<_> = (1..=12).map(offer).collect();
        let others = follower.plan(now, &all, false);
        let names: Vec<_> = others.iter().map(|pursuit| &*pursuit.peer).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(
            names.contains(&"peer 11") && names.contains(&"peer 12"),
            "{names:?}"
        );
    }
}
