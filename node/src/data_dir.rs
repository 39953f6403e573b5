//! The data folder: hived's layout, and the state beside it.
//!
//! ```text
//! DIR/config.ini
//! DIR/blockchain/block_log, or block_log_part.NNNN     as hived lays them out, with artifacts
//! DIR/state/chain.json                                 which chain the state belongs to
//! DIR/state/registers/                                 the state's database
//! DIR/p2p/node_key                                     this node's key, made at the first start
//! DIR/p2p/skeleton-N                                   ids below checkpoint N while its blocks are fetched
//! DIR/p2p/bans.json                                    peers that are refused for a time
//! DIR/p2p/headers                                      the block log's headers, to serve them from
//! ```

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use cairn_chain::ChainSpec;
use cairn_rules::IdentityState;
use cairn_state::{Registers, Store, StoreOptions};
use serde_json::{Value, json};

use crate::chain_choice;

/// A node's folder.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// Names a folder; it need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folder of the block log.
    pub fn blockchain(&self) -> PathBuf {
        self.root.join("blockchain")
    }

    /// Folder of the state's database.
    pub fn registers(&self) -> PathBuf {
        self.root.join("state").join("registers")
    }

    /// Folder of what the network keeps.
    pub fn p2p(&self) -> PathBuf {
        self.root.join("p2p")
    }

    /// File with this node's key; its folder is made.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn prepare_node_key(&self) -> anyhow::Result<PathBuf> {
        let folder = self.p2p();
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder.join("node_key"))
    }

    /// File with the banned peers, in the folder of the node's key.
    pub fn ban_list(&self) -> PathBuf {
        self.p2p().join("bans.json")
    }

    /// File with the block log's headers, in the folder of the node's key.
    pub fn headers(&self) -> PathBuf {
        self.p2p().join("headers")
    }

    /// Whether the folder holds a state.
    pub fn has_state(&self) -> bool {
        self.registers().join("CURRENT").is_file()
    }

    fn chain_record(&self) -> PathBuf {
        self.root.join("state").join("chain.json")
    }

    /// Opens the state, or makes it with the chain's genesis.
    ///
    /// # Errors
    /// When the folder cannot be written, is in use, or holds the state of another chain.
    pub fn open_state(&self, chain: &Arc<ChainSpec>, choice: Option<&str>) -> anyhow::Result<IdentityState> {
        let folder = self.registers();
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let store = Store::open(&folder, &StoreOptions::new(chain_tag(chain)))?;
        self.record_chain(choice.unwrap_or(cairn_chain::spec::BUILT_IN[0]))
            .with_context(|| format!("cannot write {}", self.chain_record().display()))?;
        Ok(IdentityState::open(Registers::new(store)?, Arc::clone(chain))?)
    }

    /// Opens the state for reading, also beside a running node.
    ///
    /// # Errors
    /// When there is none.
    pub fn read_state(&self) -> anyhow::Result<Store> {
        Ok(Store::open_read_only(self.registers())?)
    }

    /// Removes the state so that it can be made anew from the block log; nothing else.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove_state(&self) -> anyhow::Result<()> {
        let folder = self.root.join("state");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// The chain that the state belongs to, as it was recorded when the state was made.
    ///
    /// # Errors
    /// When the record is there and unusable.
    pub fn recorded_chain(&self) -> anyhow::Result<Option<Arc<ChainSpec>>> {
        let path = self.chain_record();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let record: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        match (record["builtin"].as_str(), record.get("specification")) {
            (Some(name), _) => Ok(Some(chain_choice::load(name)?)),
            (None, Some(specification)) => {
                Ok(Some(Arc::new(ChainSpec::from_json(&specification.to_string())?)))
            }
            (None, None) => anyhow::bail!("{}: neither a built-in chain nor a specification", path.display()),
        }
    }

    /// `choice` is what the operator named: a built-in chain, or a file, whose text is kept.
    fn record_chain(&self, choice: &str) -> io::Result<()> {
        let path = self.chain_record();
        // One that a power cut left empty or torn is made again: the state itself knows its chain by a tag.
        if matches!(self.recorded_chain(), Ok(Some(_))) {
            return Ok(());
        }
        let record = match cairn_chain::spec::BUILT_IN.contains(&choice) {
            true => json!({ "builtin": choice }),
            false => json!({ "specification": serde_json::from_str::<Value>(&fs::read_to_string(choice)?)? }),
        };
        // Beside its place until it is on the disk, so that a reader finds it whole or not at all.
        let new = path.with_extension("json.new");
        let mut file = fs::File::create(&new)?;
        writeln!(file, "{record}")?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        fs::File::open(self.root.join("state"))?.sync_all()
    }
}

/// What a state is tagged with: what its genesis and its hardforks depend on, so that a state is never continued under
/// the rules of another chain.
fn chain_tag(chain: &ChainSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("cairn: the chain that a state belongs to, version 1");
    hasher.update(chain.chain_id().as_bytes());
    hasher.update(&[u8::from(chain.is_steem())]);
    hasher.update(&chain.genesis_time.0.to_le_bytes());
    hasher.update(&chain.first_key.0);
    for hardfork in 1..=chain.hardforks.count() {
        let time = chain.hardfork_time(hardfork).map_or(0, |time| time.0);
        let block = chain.hardfork_block(hardfork).unwrap_or(0);
        hasher.update(&time.to_le_bytes());
        hasher.update(&block.to_le_bytes());
    }
    for name in &chain.init_witnesses {
        hasher.update(name.as_bytes());
        hasher.update(&[0]);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_record_of_the_chain_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::new(folder.path());
        let chain = chain_choice::load("hive-testnet").unwrap();
        for torn in [&b""[..], b"{\"built", &[0; 26]] {
            drop(data_dir.open_state(&chain, Some("hive-testnet")).unwrap());
            fs::write(data_dir.chain_record(), torn).unwrap();
            drop(data_dir.open_state(&chain, Some("hive-testnet")).unwrap());
            let recorded = data_dir.recorded_chain().unwrap().unwrap();
            assert_eq!(recorded.name, chain.name);
        }
        assert_eq!(fs::read_dir(folder.path().join("state")).unwrap().count(), 2);
    }
}
