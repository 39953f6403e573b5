//! `cairn state check`: the whole state is looked over.

use cairn_state::check::{CheckReport, TrieFileState, check};
use serde_json::json;

use crate::cli::StateCheckArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::progress::Progress;

/// Prints what is wrong with a state, and what to do about it.
///
/// # Errors
/// When there is no state, or it cannot be opened. What is wrong in it is no error but exit code 3.
pub fn execute(args: &StateCheckArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let store = data_dir.read_state()?;
    let mut progress = Progress::start("checking", "registers", store.counts().registers);
    let report = check(&store, &data_dir.trie_file(), |done| progress.set(done));
    drop(progress);
    let (head, counts) = (report.found.head, report.found.counts);
    let (number, id) = head.map_or((0, [0; 20]), |head| (head.number, head.id));
    let (id, root) = (hex::encode(id), report.found.root);
    let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
    let (trie_file, reason) = match &report.trie_file {
        TrieFileState::Fits => ("fits", None),
        TrieFileState::Another(reason) => ("not used", Some(reason.as_str())),
        TrieFileState::Damaged => ("damaged", None),
    };
    let remedy = remedy(&report, &data_dir);
    if args.json {
        output::json_line(&json!({
            "head": { "number": number, "id": id },
            "root": root.to_string(),
            "registers": counts.registers,
            "bytes": counts.bytes,
            "trie_file": trie_file,
            "trie_file_reason": reason,
            "faults": report.fault_count,
            "fault_list": faults,
            "remedy": remedy,
        }))?;
    } else {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        output::text(&format!(
            "head        {number} {id}\nroot        {root}\nregisters   {}\nbytes       {}\ntrie file   {trie_file}{reason}\n",
            counts.registers, counts.bytes
        ))?;
        for fault in &faults {
            output::text(&format!("fault       {fault}\n"))?;
        }
        if report.fault_count > faults.len() as u64 {
            let more = report.fault_count - faults.len() as u64;
            output::text(&format!("fault       and {more} more\n"))?;
        }
        output::text(&format!(
            "result      {}\n",
            remedy.as_deref().unwrap_or("no fault")
        ))?;
    }
    Ok(match report.fault_count {
        0 => ExitCode::Done,
        _ => ExitCode::Contradiction,
    })
}

/// What to do; `None`: nothing is wrong.
fn remedy(report: &CheckReport, data_dir: &DataDir) -> Option<String> {
    if report.fault_count == 0 {
        return None;
    }
    if !report
        .faults
        .iter()
        .any(cairn_state::check::Fault::is_of_registers)
    {
        return Some(format!(
            "the registers are whole; remove {}, it is made again at the next start",
            data_dir.trie_file().display()
        ));
    }
    let points = data_dir.restore_points().list().unwrap_or_default();
    let back = match points.last() {
        Some(point) => format!(
            "go back to the restore point of block {} with `cairn state restore` and check again, or ",
            point.number()
        ),
        None => String::new(),
    };
    Some(format!(
        "the registers are damaged; {back}make the state again from the block log with `cairn replay --force-replay`. Look \
         at disk and memory first: Cairn does not write such a state"
    ))
}
