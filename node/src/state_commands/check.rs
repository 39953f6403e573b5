//! `cairn state check`: the whole state is looked over.

use cairn_state::StateError;
use cairn_state::check::{CheckReport, Fault, TrieFileState, check};
use serde_json::json;

use crate::cli::StateCheckArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode, full_text};
use crate::output;
use crate::progress::Progress;

/// Prints what is wrong with a state, and what to do about it.
///
/// # Errors
/// When there is no state, or it cannot be opened for another reason than damage. What is wrong in it is no error but
/// exit code 3.
pub fn execute(args: &StateCheckArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let store = match data_dir.read_state() {
        Ok(store) => store,
        Err(error) => match error.downcast_ref::<StateError>() {
            Some(damage) if damage.is_damage() => return unreadable(damage, &data_dir, args.json),
            _ => return Err(error.into()),
        },
    };
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

/// The report on a state that is too damaged to be opened: nothing can be said about its registers.
fn unreadable(damage: &StateError, data_dir: &DataDir, one_line: bool) -> Result<ExitCode, CommandError> {
    let (fault, remedy) = (full_text(damage), registers_remedy(data_dir));
    if one_line {
        output::json_line(&json!({
            "head": null,
            "root": null,
            "registers": null,
            "bytes": null,
            "trie_file": "not used",
            "trie_file_reason": "the registers cannot be opened",
            "faults": 1,
            "fault_list": [fault],
            "remedy": remedy,
        }))?;
    } else {
        output::text(&format!("fault       {fault}\nresult      {remedy}\n"))?;
    }
    Ok(ExitCode::Contradiction)
}

/// What to do; `None`: nothing is wrong.
fn remedy(report: &CheckReport, data_dir: &DataDir) -> Option<String> {
    if report.fault_count == 0 {
        return None;
    }
    if !report.faults.iter().any(Fault::is_of_registers) {
        return Some(format!(
            "the registers are whole; remove {}, it is made again at the next start",
            data_dir.trie_file().display()
        ));
    }
    Some(registers_remedy(data_dir))
}

/// What to do about damaged registers.
fn registers_remedy(data_dir: &DataDir) -> String {
    let points = data_dir.restore_points().list().unwrap_or_default();
    let back = match points.last() {
        Some(point) => format!(
            "go back to the restore point of block {} with `cairn state restore` and check again, or ",
            point.number()
        ),
        None => String::new(),
    };
    format!(
        "the registers are damaged; {back}make the state again from the block log with `cairn replay --force-replay`. Look \
         at disk and memory first: Cairn does not write such a state"
    )
}
