//! All witnesses as the schedule needs to see them, in memory.
//!
//! Where the schedule can be derived it is drawn from all witnesses every 21 blocks; reading them from registers each time
//! would cost more than the blocks themselves in mainnet's mining era. The list is read when it is first needed and kept up
//! to date with every witness that is written; it is forgotten when registers are put back.

use cairn_chain::AccountName;

use crate::registers::{Globals, TableError, Tables, Witness, WitnessByIndex};
use crate::schedule::WitnessFact;

/// The witnesses by order of creation, once they were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roster {
    facts: Option<Vec<WitnessFact>>,
}

fn fact(name: &AccountName, witness: &Witness) -> WitnessFact {
    WitnessFact {
        name: *name,
        index: witness.index,
        enabled: !witness.signing_key.is_null(),
        queue_number: witness.queue_number,
    }
}

impl Roster {
    /// Forgets all.
    pub(crate) fn forget(&mut self) {
        self.facts = None;
    }

    /// Notes a witness that is being written, new or not.
    pub(crate) fn note(&mut self, name: &AccountName, witness: &Witness) {
        let Some(facts) = &mut self.facts else { return };
        let fact = fact(name, witness);
        match facts.get_mut(witness.index as usize) {
            Some(present) => *present = fact,
            None => facts.push(fact),
        }
    }

    /// The witnesses, by order of creation.
    pub(crate) fn facts(
        &mut self,
        tables: &mut Tables,
        globals: &Globals,
    ) -> Result<&[WitnessFact], TableError> {
        let facts = match self.facts.take() {
            Some(facts) => facts,
            None => read(tables, globals)?,
        };
        Ok(self.facts.insert(facts))
    }
}

fn read(tables: &mut Tables, globals: &Globals) -> Result<Vec<WitnessFact>, TableError> {
    (0..globals.witnesses)
        .map(|index| {
            let WitnessByIndex(name) = tables.require(index)?;
            Ok(fact(&name, &tables.require(&name)?))
        })
        .collect()
}
