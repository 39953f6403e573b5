//! The data folder: hived's layout, and the state beside it.
//!
//! ```text
//! DIR/config.ini
//! DIR/lock                                             held by the process that uses the folder
//! DIR/blockchain/block_log, or block_log_part.NNNN     as hived lays them out, with artifacts
//! DIR/state/chain.json                                 which chain the state belongs to
//! DIR/state/registers/                                 the state's database
//! DIR/state/trie                                       the trie over the registers, as it was when the file was written
//! DIR/state/restore-points/NUMBER-ID/                  the state as it was at reached checkpoints: hard links
//! DIR/state/start-point/                               the same at the start of a replay, as long as it may be needed
//! DIR/p2p/node_key                                     this node's key, made at the first start
//! DIR/p2p/skeleton-N                                   ids below checkpoint N while its blocks are fetched
//! DIR/p2p/log-gap/                                     the same while blocks are fetched that only the log lacks
//! DIR/p2p/log-damage                                  number of a block that peers were served damaged; seldom there
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
use cairn_state::{
    Registers, RestorePoint, RestorePoints, Settled, StateError, Store, StoreOptions, TrieOptions,
};
use serde_json::{Value, json};

use crate::chain_choice;

/// A node's folder.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
    max_open_files: Option<u16>,
    keep_trie: bool,
}

impl DataDir {
    /// Names a folder; it need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            max_open_files: None,
            keep_trie: false,
        }
    }

    /// How many files the state may keep open.
    #[must_use]
    pub fn with_open_files(mut self, most: u16) -> Self {
        self.max_open_files = Some(most);
        self
    }

    /// Whether an opened state keeps its trie, and its trie file.
    #[must_use]
    pub fn with_trie(mut self, keep: bool) -> Self {
        self.keep_trie = keep;
        self
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

    /// The trie file.
    pub fn trie_file(&self) -> PathBuf {
        self.root.join("state").join("trie")
    }

    /// Folder of what the network keeps.
    pub fn p2p(&self) -> PathBuf {
        self.root.join("p2p")
    }

    /// The state at checkpoints that were reached.
    pub fn restore_points(&self) -> RestorePoints {
        RestorePoints::in_dir(self.root.join("state").join("restore-points"))
    }

    /// The state at the start of a replay that may have to go back there.
    pub fn start_point(&self) -> RestorePoints {
        RestorePoints::in_dir(self.root.join("state").join("start-point"))
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

    /// Folder of the skeleton while the block log gets what the state has already.
    pub fn log_gap(&self) -> PathBuf {
        self.p2p().join("log-gap")
    }

    /// File with the banned peers, in the folder of the node's key.
    pub fn ban_list(&self) -> PathBuf {
        self.p2p().join("bans.json")
    }

    /// Where the number of a block is noted that a peer was served damaged; see `peering`.
    pub fn log_damage(&self) -> PathBuf {
        self.p2p().join("log-damage")
    }

    /// File with the block log's headers, in the folder of the node's key.
    pub fn headers(&self) -> PathBuf {
        self.p2p().join("headers")
    }

    /// Whether the folder holds a state.
    pub fn has_state(&self) -> bool {
        self.registers().join("CURRENT").is_file()
    }

    /// Whether there is nothing in the place of the state.
    pub(crate) fn is_state_missing(&self) -> bool {
        match fs::read_dir(self.registers()) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
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
        self.settle_registers()?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut options = StoreOptions::new(chain_tag(chain));
        options.max_open_files = self.max_open_files.unwrap_or(options.max_open_files);
        let store = Store::open(&folder, &options).map_err(|error| self.advise(error))?;
        self.settle_restore_points()?;
        self.record_chain(choice.unwrap_or(cairn_chain::spec::BUILT_IN[0]))
            .with_context(|| format!("cannot write {}", self.chain_record().display()))?;
        let mut registers = Registers::new(store)?;
        if self.keep_trie {
            registers.keep_trie(TrieOptions::in_file(self.trie_file()))?;
        }
        Ok(IdentityState::open(registers, Arc::clone(chain))?)
    }

    /// Adds what can be done to the error of a state that is damaged beyond what opening it mends.
    fn advise(&self, error: StateError) -> anyhow::Error {
        let damaged = matches!(
            error,
            StateError::NotAStore { .. } | StateError::CorruptMetadata { .. } | StateError::Database { .. }
        );
        if !damaged || error.is_disk_full() {
            return error.into();
        }
        let newest = self
            .restore_points()
            .list()
            .ok()
            .and_then(|mut points| points.pop());
        let restore = newest.map_or_else(String::new, |point| {
            format!(
                "`cairn state restore -d {}` puts the state of block {} in its place; or ",
                self.root.display(),
                point.number()
            )
        });
        anyhow::Error::new(error).context(format!(
            "the state cannot be opened. Nothing was changed: {restore}move {} elsewhere, and the next start makes it again",
            self.registers().display()
        ))
    }

    /// Sets right what an interrupted restore left, with a line for each thing.
    pub(crate) fn settle_registers(&self) -> anyhow::Result<()> {
        for settled in cairn_state::settle(&self.registers())? {
            match settled {
                Settled::Unfinished(path) => tracing::info!(
                    target: "reconcile",
                    "{}: removed, a copy for a restore that was interrupted before it was whole; the state is unchanged",
                    path.display()
                ),
                Settled::Finished(path) => tracing::warn!(
                    target: "reconcile",
                    "{}: replaced by the copy of a restore point, to finish a restore that was interrupted",
                    path.display()
                ),
                Settled::Replaced(path) => tracing::info!(
                    target: "reconcile",
                    "{}: removed, the state that a finished restore had replaced",
                    path.display()
                ),
                Settled::PutBack(path) => tracing::warn!(
                    target: "reconcile",
                    "{}: put back to its place, from which an interrupted restore had moved it",
                    path.display()
                ),
            }
        }
        Ok(())
    }

    /// Removes what is left of restore points that were not finished. The state is open for writing, so that nobody
    /// else makes one.
    fn settle_restore_points(&self) -> anyhow::Result<()> {
        for path in self.restore_points().settle()? {
            tracing::info!(
                target: "reconcile",
                "{}: removed, a restore point that was not finished, or only half removed",
                path.display()
            );
        }
        let start = self.start_point();
        if start.dir().exists() {
            start.remove_all()?;
            tracing::info!(
                target: "reconcile",
                "{}: removed, the copy of the state that an interrupted replay had begun with",
                start.dir().display()
            );
        }
        Ok(())
    }

    /// Puts a restore point in the place of the state; before that, `first` is done while nobody else can use the
    /// folder.
    ///
    /// # Errors
    /// When the state is in use, `first` fails, or the restore point is not usable; then the state is unchanged.
    pub fn restore_state<T>(
        &self,
        point: &RestorePoint,
        first: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let tag = match self.recorded_chain() {
            Ok(Some(chain)) => chain_tag(&chain),
            // The record is made again at the next start; the restore points are this folder's own.
            _ => *Store::open_read_only(&point.dir)?.chain(),
        };
        self.settle_registers()?;
        // To be sure that nobody uses it; a state that cannot be opened for another reason is one to be replaced.
        let done = match Store::open(self.registers(), &StoreOptions::new(tag)) {
            Err(error @ (StateError::Locked { .. } | StateError::OtherChain { .. })) => {
                return Err(error.into());
            }
            held => {
                let done = first()?;
                drop(held);
                done
            }
        };
        cairn_state::restore(point, &self.registers(), &tag)?;
        Ok(done)
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
pub(crate) fn chain_tag(chain: &ChainSpec) -> [u8; 32] {
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
