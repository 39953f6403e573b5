//! Operations whose content means something to applications only.

use cairn_chain::operations::{Custom, CustomJson};

use super::{Rules, ValidityError, fields, json as text};

/// Bytes of content, since hardfork 26.
const CONTENT_LIMIT: usize = 8_192;

/// Distinct names, as hived counts them in its sets.
fn distinct(names: &[cairn_chain::AccountName]) -> usize {
    if names.is_sorted_by(|a, b| a < b) {
        return names.len();
    }
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names.len()
}

pub(super) fn custom(op: &Custom<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    let names = distinct(&op.required_auths);
    fields::not_empty("required_auths", names)?;
    fields::at_most("required_auths", names, rules.authority_members())?;
    if rules.hardfork >= 26 {
        fields::at_most("data", op.data.len(), CONTENT_LIMIT)?;
    }
    Ok(())
}

pub(super) fn json(op: &CustomJson<'_>, rules: &Rules<'_>) -> Result<(), ValidityError> {
    let names = distinct(&op.required_auths) + distinct(&op.required_posting_auths);
    fields::not_empty("required_auths and required_posting_auths", names)?;
    fields::at_most(
        "required_auths and required_posting_auths",
        names,
        rules.authority_members(),
    )?;
    if rules.hardfork >= 26 {
        fields::at_most("json", op.json.len(), CONTENT_LIMIT)?;
    }
    // An id of more than 32 bytes does not get as far as here.
    text::check("json", op.json.as_bytes())
}
