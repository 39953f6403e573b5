//! What witnesses say about themselves.

use cairn_chain::operations::{FeedPublish, Price, WitnessSetProperties, WitnessUpdate};

use super::{Evaluated, Evaluator};
use crate::error::OperationFault;
use crate::registers::{Feed, Witness, WitnessUrl};
use crate::validate::witness_properties;

fn feed_of(price: &Price) -> Feed {
    Feed {
        base: price.base,
        quote: price.quote,
    }
}

impl Evaluator<'_> {
    pub(super) fn witness_update(&mut self, op: &WitnessUpdate<'_>) -> Evaluated {
        let present = self.tables.read::<Witness>(&op.owner)?;
        let mut witness = present.unwrap_or_else(|| Witness::new(op.block_signing_key, self.now()));
        witness.signing_key = op.block_signing_key;
        witness.account_creation_fee = op.props.account_creation_fee.amount;
        witness.maximum_block_size = op.props.maximum_block_size;
        witness.interest_rate = op.props.hbd_interest_rate;
        if present.is_none() {
            self.account_exists(&op.owner)?;
            return self.add_witness(&op.owner, witness, op.url.as_bytes());
        }
        self.store_witness(&op.owner, present.as_ref(), &witness)?;
        Ok(self
            .tables
            .write_bytes::<WitnessUrl>(&op.owner, op.url.as_bytes())?)
    }

    pub(super) fn witness_set_properties(&mut self, op: &WitnessSetProperties<'_>) -> Evaluated {
        let present = self.witness(&op.owner)?;
        let mut witness = present;
        let given = witness_properties::read(op, self.hardfork(), self.spec.symbols)
            .map_err(OperationFault::Invalid)?;
        if self.full && given.key != witness.signing_key {
            return Err(OperationFault::SigningKey {
                expected: witness.signing_key,
                found: given.key,
            }
            .into());
        }
        if let Some(key) = given.new_signing_key {
            witness.signing_key = key;
        }
        if let Some(fee) = given.account_creation_fee {
            witness.account_creation_fee = fee;
        }
        if let Some(size) = given.maximum_block_size {
            witness.maximum_block_size = size;
        }
        if let Some(rate) = given.hbd_interest_rate {
            witness.interest_rate = rate;
        }
        if let Some(budget) = given.account_subsidy_budget {
            witness.subsidy_budget = budget;
        }
        if let Some(decay) = given.account_subsidy_decay {
            witness.subsidy_decay = decay;
        }
        if let Some(rate) = &given.hbd_exchange_rate {
            witness.feed = Some(feed_of(rate));
            witness.feed_time = self.now();
        }
        self.store_witness(&op.owner, Some(&present), &witness)?;
        if let Some(url) = given.url {
            self.tables.write_bytes::<WitnessUrl>(&op.owner, url)?;
        }
        Ok(())
    }

    pub(super) fn feed_publish(&mut self, op: &FeedPublish) -> Evaluated {
        let mut witness = self.witness(&op.publisher)?;
        witness.feed = Some(feed_of(&op.exchange_rate));
        witness.feed_time = self.now();
        Ok(self.tables.write(&op.publisher, &witness)?)
    }
}
