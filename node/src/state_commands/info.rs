//! `cairn state info`: the head, the registers as a whole, and the restore points.

use serde_json::json;

use crate::cli::StateInfoArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;

/// Prints the head, the number and size of the registers, the digest over all of them in path order, and the restore
/// points.
///
/// # Errors
/// When there is no state, or it cannot be read.
pub fn execute(args: &StateInfoArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let store = data_dir.read_state()?;
    let chain = data_dir.recorded_chain()?.map(|chain| chain.name.clone());
    let head = store.head();
    let (number, id) = head.map_or((0, [0; 20]), |head| (head.number, head.id));
    let digest = store.digest().map_err(anyhow::Error::new)?;
    let points = data_dir.restore_points().list().map_err(anyhow::Error::new)?;
    let points: Vec<_> = points
        .iter()
        .filter_map(|point| point.head)
        .map(|head| (head.number, hex::encode(head.id)))
        .collect();
    let (id, hex) = (hex::encode(id), hex::encode(digest.digest));
    if args.json {
        output::json_line(&json!({
            "chain": chain,
            "head": { "number": number, "id": id },
            "registers": digest.registers,
            "bytes": digest.bytes,
            "digest": hex,
            "restore_points": points,
        }))?;
    } else {
        let chain = chain.as_deref().unwrap_or("unknown");
        let (registers, bytes) = (digest.registers, digest.bytes);
        output::text(&format!(
            "chain       {chain}\nhead        {number} {id}\nregisters   {registers}\nbytes       {bytes}\ndigest      {hex}\n"
        ))?;
        for (number, id) in points {
            output::text(&format!("restore to  {number} {id}\n"))?;
        }
    }
    Ok(ExitCode::Done)
}
