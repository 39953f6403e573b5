//! Roots and proofs of a store: by one walk over its registers, without a trie, or by its trie file.

use std::path::Path as FilePath;

use crate::counts::Counts;
use crate::error::StateError;
use crate::head::Head;
use crate::keeper;
use crate::path::Path;
use crate::proof::{End, FoundWay, Proof, RegisterProof, WayStream};
use crate::store::Store;
use crate::stream::RootStream;
use crate::trie::Way;
use crate::trie::scheme::{self, NodeHash, ValueHash};
use crate::trie_file::TrieFileError;

/// The root of a state, and what it is the root of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateRoot {
    /// The block after which the registers are so; `None` before the first commit.
    pub head: Option<Head>,
    /// The root over them.
    pub root: NodeHash,
    /// How many there are, and their bytes.
    pub counts: Counts,
}

/// Registers between two calls of what shows progress.
const STEP: u64 = 4_096;

impl Store {
    /// The root over all registers, by reading every one of them. `progress` is told how many have been read, now and
    /// then.
    ///
    /// # Errors
    /// As [`RegisterCursor::next`](crate::RegisterCursor::next).
    pub fn compute_root(&self, mut progress: impl FnMut(u64)) -> Result<StateRoot, StateError> {
        let mut stream = RootStream::below(0);
        let counts = self.walk(&mut progress, |path, hash| stream.push(path, hash))?;
        Ok(StateRoot {
            head: self.head(),
            root: stream.finish(),
            counts,
        })
    }

    /// The root of the trie file at a path, if the file is this state's: the leaves are read, not the registers.
    ///
    /// # Errors
    /// Why the file is not to be believed.
    pub fn root_of_trie_file(&self, path: &FilePath) -> Result<StateRoot, TrieFileError> {
        let expected = self.expected_trie_file();
        let root = expected.root(path)?;
        let (head, counts) = (expected.head, expected.counts);
        Ok(StateRoot { head, root, counts })
    }

    /// The root over all registers, and the proof that a register has its value or does not exist, by reading every
    /// register.
    ///
    /// # Errors
    /// As [`compute_root`](Self::compute_root).
    pub fn prove(&self, key: &[u8]) -> Result<(NodeHash, RegisterProof), StateError> {
        let mut proven = None;
        let root = self.prove_all(&[key], |proof| proven = Some(proof), |_| {})?;
        Ok((root, proven.expect("each key has its proof")))
    }

    /// The same for several registers by one reading; `each` gets the proofs in the order of the keys, and `progress` is
    /// told how many registers have been read, now and then.
    ///
    /// # Errors
    /// As [`compute_root`](Self::compute_root).
    pub fn prove_all<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        mut each: impl FnMut(RegisterProof),
        mut progress: impl FnMut(u64),
    ) -> Result<NodeHash, StateError> {
        let mut ways: Vec<_> = keys
            .iter()
            .map(|key| WayStream::new(Path::of(key.as_ref())))
            .collect();
        let mut root = RootStream::below(0);
        self.walk(&mut progress, |path, hash| {
            root.push(path, hash);
            ways.iter_mut().for_each(|way| way.push(path, hash));
        })?;
        for (key, way) in keys.iter().zip(ways) {
            let FoundWay { siblings, end, .. } = way.finish();
            each(self.register_proof(key.as_ref(), siblings, end)?);
        }
        Ok(root.finish())
    }

    /// The same by the trie file at a path, if the file is this state's: its leaves are read into a trie, which takes
    /// about 150 bytes of memory a register meanwhile, and no registers but those asked for.
    ///
    /// # Errors
    /// [`StateError::TrieFile`]: why the file is not to be believed; no proof has been given then. Else an error of reading
    /// the store.
    pub fn prove_all_by_trie_file<K: AsRef<[u8]>>(
        &self,
        path: &FilePath,
        keys: &[K],
        mut each: impl FnMut(RegisterProof),
    ) -> Result<NodeHash, StateError> {
        let trie =
            keeper::from_file(path, &self.expected_trie_file()).map_err(|source| StateError::TrieFile {
                path: path.to_path_buf(),
                source: Box::new(source),
            })?;
        for key in keys.iter().map(AsRef::as_ref) {
            let Way { siblings, end } = trie.way(&Path::of(key));
            let end = end.map(|(path, leaf)| (path, leaf.hash));
            each(self.register_proof(key, siblings, end)?);
        }
        Ok(trie.root())
    }

    fn register_proof(
        &self,
        key: &[u8],
        siblings: Vec<NodeHash>,
        end: Option<(Path, NodeHash)>,
    ) -> Result<RegisterProof, StateError> {
        let end = match end {
            None => End::Empty,
            Some((found, _)) if found == Path::of(key) => End::Register,
            Some((found, _)) => End::Other {
                path: found,
                value: self.value_hash(&found)?,
            },
        };
        Ok(RegisterProof {
            key: key.to_vec(),
            value: self.get(key)?,
            proof: Proof { siblings, end },
        })
    }

    /// Gives each register's path and leaf, in path order.
    fn walk(
        &self,
        progress: &mut impl FnMut(u64),
        mut each: impl FnMut(Path, NodeHash),
    ) -> Result<Counts, StateError> {
        let mut registers = self.registers();
        let mut counts = Counts::default();
        while let Some((path, key, value)) = registers.next_with_path()? {
            each(path, scheme::leaf(&path, &ValueHash::of(value)));
            counts.registers += 1;
            counts.bytes += (key.len() + value.len()) as u64;
            if counts.registers % STEP == 0 {
                progress(counts.registers);
            }
        }
        Ok(counts)
    }
}
