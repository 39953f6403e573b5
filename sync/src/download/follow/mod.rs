//! Following the heads of peers, each on its own branch.
//!
//! Where this node is near the peers' heads, and where their chains part, blocks are fetched peer by peer: a head
//! that is not known here is fetched from the peer that announced it, with the blocks below it down to one that is known
//! ([`pursuit`]). They go through the same pipeline as all others, and the writer puts them into the fork database,
//! in whatever order they come. [`follower`] says whom to follow. A peer on another fork is no liar: at worst it is
//! left alone for a while.

mod follower;
mod ours;
mod pursuit;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

pub(super) use self::follower::{Follower, NEAR};
pub(super) use self::ours::{Known, OurChain};
pub(super) use self::pursuit::{Followed, Means, Outcome};
use super::network::{Misbehavior, PeerOffer};
use super::shared::Unused;
use crate::log_limit::{LogLimit, grouped};

/// Time in which a kind of line is written a few times at most.
const LINES: Duration = Duration::from_secs(60);

/// The running pursuits.
#[derive(Debug)]
pub(super) struct Follow {
    follower: Follower,
    means: Means,
    tasks: JoinSet<(Arc<str>, Outcome)>,
    dead_forks: LogLimit,
    all_dead: LogLimit,
    unreadable: LogLimit,
}

impl Follow {
    pub(super) fn new(means: Means) -> Self {
        Self {
            follower: Follower::new(means.known.clone()),
            means,
            tasks: JoinSet::new(),
            dead_forks: LogLimit::new(LINES, 3),
            all_dead: LogLimit::new(LINES, 1),
            unreadable: LogLimit::new(LINES, 1),
        }
    }

    pub(super) fn known(&self) -> &Known {
        &self.means.known
    }

    pub(super) fn follower(&mut self) -> &mut Follower {
        &mut self.follower
    }

    /// The peers on the common chain.
    pub(super) fn common(&self, offers: &[PeerOffer]) -> Vec<PeerOffer> {
        let common = |offer: &&PeerOffer| self.follower.is_common(&offer.peer);
        offers.iter().filter(common).cloned().collect()
    }

    /// The others.
    pub(super) fn elsewhere(&self, offers: &[PeerOffer]) -> Vec<Arc<str>> {
        let elsewhere = |offer: &&PeerOffer| !self.follower.is_common(&offer.peer);
        let offers = offers.iter().filter(elsewhere);
        offers.map(|offer| Arc::clone(&offer.peer)).collect()
    }

    /// The peers that large ranges could be asked of.
    pub(super) fn leading(&self, now: Instant, offers: &[PeerOffer]) -> Vec<PeerOffer> {
        let leading = |offer: &&PeerOffer| self.follower.may_lead(now, &offer.peer);
        offers.iter().filter(leading).cloned().collect()
    }

    /// Starts what is to be fetched now; `bulk` as in [`Follower::plan`].
    pub(super) fn step(&mut self, now: Instant, offers: &[PeerOffer], bulk: bool) {
        for pursuit in self.follower.plan(now, offers, bulk) {
            let (peer, means) = (Arc::clone(&pursuit.peer), self.means.clone());
            tracing::debug!(
                target: "sync",
                "fetching blocks {}..{} of {peer}'s branch",
                pursuit.first,
                pursuit.last
            );
            self.tasks.spawn(async move { (peer, pursuit.run(means).await) });
        }
        if self.follower.all_dead(offers) && self.all_dead.admit(now) {
            let irreversible = self.known().ours().irreversible();
            tracing::error!(
                target: "sync",
                "all {} peers follow chains that do not go through this node's last irreversible block [{},{irreversible}]: \
                 compare that block with a node of your own. Blocks are still taken from any peer that has it",
                offers.len(),
                irreversible.number()
            );
        }
        self.tell_suppressed(|limit| limit.suppressed(now));
    }

    fn tell_suppressed(&mut self, count: impl Fn(&mut LogLimit) -> Option<u64>) {
        for (limit, what) in [
            (&mut self.dead_forks, "other forks"),
            (&mut self.unreadable, "unreadable blocks"),
        ] {
            if let Some(count) = count(limit) {
                tracing::warn!(target: "sync", "suppressed {} lines about {what}", grouped(count));
            }
        }
    }

    /// The next pursuit that ends; never, while none runs.
    pub(super) async fn next_ended(&mut self) -> (Arc<str>, Outcome) {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(ended)) => return ended,
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Takes note of the end of a pursuit, and tells what the peer did wrong, if it did.
    pub(super) fn ended(&mut self, now: Instant, peer: &Arc<str>, outcome: Outcome) -> Option<Misbehavior> {
        self.follower.ended(now, peer, &outcome);
        match outcome {
            Outcome::Fetched(_) | Outcome::Closed => None,
            Outcome::Failed(error) => {
                tracing::debug!(target: "sync", "the branch of {peer} cannot be fetched: {error}");
                None
            }
            Outcome::DeadFork { irreversible } => {
                if self.dead_forks.admit(now) {
                    tracing::warn!(
                        target: "sync",
                        "{peer} follows another fork: it split off below the irreversible block {irreversible}"
                    );
                }
                None
            }
            Outcome::Unreadable(number, what) => {
                if self.unreadable.admit(now) {
                    tracing::warn!(
                        target: "sync",
                        "block {number} as {peer} stores it cannot be read here: {what}. Name a folder with the chain's \
                         dictionaries (zstd-dictionaries); asking other peers meanwhile"
                    );
                }
                None
            }
            Outcome::Misbehaved(what) => Some(what),
        }
    }

    /// A block that was handed on is not here after all, because of itself or of its parent. Gives whether it came from a
    /// branch that was followed, and not from the large ranges.
    pub(super) fn not_used(&mut self, now: Instant, unused: &Unused) -> bool {
        let followed = unused.id.is_some_and(|id| self.known().forget(&id));
        if let Some(parent) = &unused.missing {
            self.known().is_missing(parent);
        }
        if unused.refused {
            self.known().forget_of(&unused.peer, unused.number);
        }
        self.follower.not_used(now, &unused.peer);
        followed
    }

    /// Ends all pursuits.
    pub(super) async fn shutdown(&mut self) {
        self.tasks.shutdown().await;
        self.tell_suppressed(LogLimit::held_back);
    }
}
