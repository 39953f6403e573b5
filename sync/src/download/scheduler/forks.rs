//! Above the last checkpoint: peers on different forks, and a head that may move without this scheduler.

use std::sync::Arc;
use std::time::Instant;

use cairn_chain::BlockId;

use super::Scheduler;
use crate::download::network::PeerOffer;

impl Scheduler {
    /// Peers whose blocks did not continue the others', since the last call.
    pub fn take_strayed(&mut self) -> Vec<Arc<str>> {
        std::mem::take(&mut self.strayed).into_iter().collect()
    }

    /// Peers whose chains do not continue the one that is fetched here.
    pub fn set_elsewhere(&mut self, peers: impl IntoIterator<Item = Arc<str>>) {
        self.elsewhere = peers.into_iter().collect();
    }

    /// Blocks are taken in order behind this one from now on; what is here and under way is forgotten.
    pub fn restart(&mut self, head: BlockId) {
        self.window.restart(head);
        let peers: Vec<Arc<str>> = self
            .chunks
            .iter()
            .map(|(_, chunk)| Arc::clone(&chunk.peer))
            .collect();
        for peer in peers {
            self.end_requests(&peer);
        }
    }

    /// The same, unless blocks that are to be proven come next: those do not get lost.
    pub fn restart_above_checkpoints(&mut self, head: BlockId) {
        if self.window.next() > self.last_checkpoint && head.number() >= self.last_checkpoint {
            self.restart(head);
        }
    }

    /// While it is paused no blocks are asked for.
    pub fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Whether nothing is here and nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.window.len() == 0
    }

    /// The highest head among peers that have not disappointed lately; 0 if there is none.
    pub fn best_head(&self, now: Instant, offers: &[PeerOffer]) -> u32 {
        let rested = |offer: &&PeerOffer| {
            self.peers
                .get(&offer.peer)
                .is_none_or(|record| !record.rests(now))
        };
        let heads = offers.iter().filter(rested).map(|offer| offer.head);
        heads.max().unwrap_or(0)
    }

    /// How often the source began again: what is fed now carries this number.
    pub fn epoch(&self) -> u64 {
        self.window.epoch()
    }

    /// Lets go of the peers whose block is next and does not continue the one before.
    pub(super) fn drop_strayed(&mut self) {
        while self.window.next() > self.last_checkpoint
            && let Some(peer) = self.window.strayed()
        {
            self.window.drop_of(&peer, |_| false);
            self.end_requests(&peer);
            self.strayed.insert(peer);
        }
    }
}
