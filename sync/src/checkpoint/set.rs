//! The checked set of checkpoints of one run.

use cairn_chain::BlockId;
use thiserror::Error;

use super::parse::{CheckpointSyntax, parse};

/// A trusted pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Block number, from 1.
    pub number: u32,
    /// The id that the block with this number must have.
    pub id: BlockId,
}

/// A checkpoint as it was written, with the place where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredCheckpoint {
    /// The value, like `[N,ID]`.
    pub text: String,
    /// Where it stands, for messages: `config.ini:12` or `command line`.
    pub origin: String,
}

impl ConfiguredCheckpoint {
    /// A value and its place.
    pub fn new(text: impl Into<String>, origin: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            origin: origin.into(),
        }
    }
}

/// A fault of the configuration; the run must not start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointFault {
    /// The value is not a checkpoint, or contradicts itself.
    #[error("{origin}: checkpoint {text}: {fault}")]
    Syntax {
        /// Where the value stands.
        origin: String,
        /// The value.
        text: String,
        /// What is wrong with it.
        fault: CheckpointSyntax,
    },
    /// Two ids for one number. hived's own sentence.
    #[error(
        "{origin}: Conflicting checkpoint specification: {first} vs {second} for block {number} (the first one: {first_origin})"
    )]
    Conflict {
        /// Block number.
        number: u32,
        /// The id that came first.
        first: BlockId,
        /// Where the first one stands.
        first_origin: String,
        /// The id that contradicts it.
        second: BlockId,
        /// Where the second one stands.
        origin: String,
    },
}

/// Something worth a warning that does not stop the run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointNotice {
    /// The same pair twice. hived's own sentence.
    #[error("Duplicate checkpoint specification [{number},{id}] ({origin})")]
    Duplicate {
        /// Block number.
        number: u32,
        /// Block id.
        id: BlockId,
        /// Where the repeat stands.
        origin: String,
    },
}

/// What became of a list of configured values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The good ones.
    pub checkpoints: Checkpoints,
    /// Warnings to print.
    pub notices: Vec<CheckpointNotice>,
    /// All faults, in the order of the values. Not empty: the run must end with the usage exit code.
    pub faults: Vec<CheckpointFault>,
}

/// Checkpoints in ascending order of their numbers, at most one a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoints {
    sorted: Vec<Checkpoint>,
    origins: Vec<String>,
}

impl Checkpoints {
    /// Parses and checks all values; a fault of one does not hide those of the others.
    pub fn parse(values: &[ConfiguredCheckpoint]) -> Parsed {
        let mut parsed = Parsed::default();
        for ConfiguredCheckpoint { text, origin } in values {
            match parse(text) {
                Ok((number, id)) => parsed.add(Checkpoint { number, id }, origin),
                Err(fault) => parsed.faults.push(CheckpointFault::Syntax {
                    origin: origin.clone(),
                    text: text.clone(),
                    fault,
                }),
            }
        }
        parsed
    }

    /// The number of the highest checkpoint; 0 when there is none.
    pub fn last_number(&self) -> u32 {
        self.last().map_or(0, |checkpoint| checkpoint.number)
    }

    /// The highest checkpoint.
    pub fn last(&self) -> Option<Checkpoint> {
        self.sorted.last().copied()
    }

    /// The checkpoint for exactly this number.
    pub fn at(&self, number: u32) -> Option<Checkpoint> {
        self.position(number).ok().map(|index| self.sorted[index])
    }

    /// Where the checkpoint for this number was written, for messages.
    pub fn origin(&self, number: u32) -> Option<&str> {
        self.position(number)
            .ok()
            .map(|index| self.origins[index].as_str())
    }

    /// The lowest checkpoint with a number above `number`.
    pub fn next_after(&self, number: u32) -> Option<Checkpoint> {
        let index = self
            .sorted
            .partition_point(|checkpoint| checkpoint.number <= number);
        self.sorted.get(index).copied()
    }

    /// All checkpoints, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Checkpoint> + ExactSizeIterator + '_ {
        self.sorted.iter().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    fn position(&self, number: u32) -> Result<usize, usize> {
        self.sorted
            .binary_search_by_key(&number, |checkpoint| checkpoint.number)
    }
}

impl Parsed {
    fn add(&mut self, checkpoint: Checkpoint, origin: &str) {
        let Checkpoint { number, id } = checkpoint;
        let set = &mut self.checkpoints;
        match set.position(number) {
            // Files list checkpoints in ascending order, so that this insertion is at the end as a rule.
            Err(index) => {
                set.sorted.insert(index, checkpoint);
                set.origins.insert(index, origin.to_owned());
            }
            Ok(index) if set.sorted[index].id == id => {
                self.notices.push(CheckpointNotice::Duplicate {
                    number,
                    id,
                    origin: origin.to_owned(),
                });
            }
            Ok(index) => self.faults.push(CheckpointFault::Conflict {
                number,
                first: set.sorted[index].id,
                first_origin: set.origins[index].clone(),
                second: id,
                origin: origin.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32, tail: u8) -> BlockId {
        let mut bytes = [tail; 20];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        BlockId(bytes)
    }

    fn value(number: u32, tail: u8, origin: &str) -> ConfiguredCheckpoint {
        ConfiguredCheckpoint::new(format!("[{number},{}]", id(number, tail)), origin)
    }

    #[test]
    fn finds_all_faults_at_once_and_names_their_lines() {
        let values = [
            value(300, 1, "config.ini:3"),
            ConfiguredCheckpoint::new("[7", "config.ini:4"),
            value(100, 1, "config.ini:5"),
            value(300, 2, "config.ini:6"),
            value(100, 1, "command line"),
            ConfiguredCheckpoint::new(format!("[8,{}]", id(9, 0)), "config.ini:8"),
        ];
        let parsed = Checkpoints::parse(&values);
        let faults: Vec<String> = parsed.faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(
            faults[0].starts_with("config.ini:4: checkpoint [7: expected"),
            "{}",
            faults[0]
        );
        let conflict = format!(
            "config.ini:6: Conflicting checkpoint specification: {} vs {}",
            id(300, 1),
            id(300, 2)
        );
        assert_eq!(
            faults[1],
            format!("{conflict} for block 300 (the first one: config.ini:3)")
        );
        assert!(faults[2].contains("block number (8) does not match number embedded in block id (9)"));
        let notices: Vec<String> = parsed.notices.iter().map(ToString::to_string).collect();
        assert_eq!(
            notices,
            [format!(
                "Duplicate checkpoint specification [100,{}] (command line)",
                id(100, 1)
            )]
        );
        assert_eq!(
            parsed.checkpoints.iter().map(|c| c.number).collect::<Vec<_>>(),
            [100, 300]
        );
    }

    #[test]
    fn looks_up_by_number() {
        let set = Checkpoints::parse(&[value(300, 1, "b"), value(100, 1, "a")]).checkpoints;
        assert_eq!(set.last_number(), 300);
        assert_eq!(set.at(100).map(|c| c.id), Some(id(100, 1)));
        assert_eq!(set.origin(300), Some("b"));
        assert_eq!(set.at(101), None);
        let next = |number| set.next_after(number).map(|c| c.number);
        assert_eq!(
            [next(0), next(99), next(100), next(300)],
            [Some(100), Some(100), Some(300), None]
        );
    }
}
