//! `cairn state root`: one hash for the whole state.

use cairn_state::{StateRoot, Store};
use serde_json::json;

use crate::cli::StateRootArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

/// Prints block, root, registers and bytes.
///
/// # Errors
/// When there is no state, or it cannot be read.
pub fn execute(args: &StateRootArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let store = data_dir.read_state()?;
    let (root, source) = match store.root_of_trie_file(&data_dir.trie_file()) {
        Ok(root) => (root, "trie file"),
        Err(reason) => {
            tracing::info!(
                target: "trie",
                "{}: the trie file is not used: {reason}; the root is computed from {} registers",
                data_dir.trie_file().display(),
                store.counts().registers
            );
            (computed(&store)?, "registers")
        }
    };
    let StateRoot { head, root, counts } = root;
    let (number, id) = head.map_or((0, [0; 20]), |head| (head.number, head.id));
    let id = hex::encode(id);
    if args.json {
        output::json_line(&json!({
            "head": { "number": number, "id": id },
            "root": root.to_string(),
            "registers": counts.registers,
            "bytes": counts.bytes,
            "source": source,
        }))?;
    } else {
        let (registers, bytes) = (counts.registers, counts.bytes);
        output::text(&format!(
            "head        {number} {id}\nroot        {root}\nregisters   {registers}\nbytes       {bytes}\nsource      {source}\n"
        ))?;
    }
    Ok(ExitCode::Done)
}

/// By reading everything; what the state says of itself must agree.
fn computed(store: &Store) -> anyhow::Result<StateRoot> {
    let mut progress = Progress::start("reading", "registers", store.counts().registers);
    let root = store.compute_root(|done| progress.set(done))?;
    anyhow::ensure!(
        root.counts == store.counts(),
        "the state in {} is damaged: it has {} registers of {} bytes and says {} of {}; `cairn state check` tells more",
        store.dir().display(),
        root.counts.registers,
        root.counts.bytes,
        store.counts().registers,
        store.counts().bytes
    );
    Ok(root)
}
