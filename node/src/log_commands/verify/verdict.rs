//! The verdict about a log without fault.

use cairn_chain::{BlockId, Time};
use cairn_sync::checkpoint::Checkpoint;
use serde_json::{Value, json};

/// A log without fault.
#[derive(Debug)]
pub struct Verified {
    /// First and last block.
    pub first: u32,
    /// Id of the last block.
    pub head: BlockId,
    /// Time of the last block.
    pub head_time: Time,
    /// Transactions in all blocks.
    pub transactions: u64,
    /// Checkpoints that the log holds.
    pub checkpoints_reached: Vec<Checkpoint>,
    /// Checkpoints outside the log.
    pub checkpoints_outside: Vec<Checkpoint>,
}

impl Verified {
    fn blocks(&self) -> u64 {
        u64::from(self.head.number() - self.first) + 1
    }

    /// The block up to which everything is proven by a checkpoint.
    fn proven(&self) -> Option<u32> {
        self.checkpoints_reached
            .last()
            .map(|checkpoint| checkpoint.number)
    }

    pub(super) fn json(&self, seconds: f64) -> Value {
        let pairs = |list: &[Checkpoint]| -> Vec<Value> {
            list.iter()
                .map(|checkpoint| json!([checkpoint.number, checkpoint.id.to_string()]))
                .collect()
        };
        json!({
            "ok": true,
            "first_block": self.first,
            "head": {
                "number": self.head.number(),
                "id": self.head.to_string(),
                "time": self.head_time.to_string(),
            },
            "blocks": self.blocks(),
            "transactions": self.transactions,
            "proven_up_to": self.proven(),
            "checkpoints_reached": pairs(&self.checkpoints_reached),
            "checkpoints_outside": pairs(&self.checkpoints_outside),
            "seconds": seconds,
        })
    }

    pub(super) fn text(&self, seconds: f64) -> String {
        let (first, head) = (self.first, self.head.number());
        let proof = match self.proven() {
            Some(number) if number == head => "Every block is proven by a checkpoint.".to_owned(),
            Some(number) => format!(
                "Blocks up to {number} are proven by a checkpoint; the later ones only agree among themselves."
            ),
            None => "No checkpoint lies in the log: its blocks agree among themselves, which proves nothing about \
                     their origin. Give a checkpoint from a node of your own."
                .to_owned(),
        };
        format!(
            "ok: blocks {first} to {head}, {} transactions; ids, links and Merkle roots agree ({seconds:.2} s)\n\
             head {} {}\n{proof}\n",
            self.transactions, self.head, self.head_time
        )
    }
}
