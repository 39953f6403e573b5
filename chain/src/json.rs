//! JSON as hived's `block_api` spells it.
//!
//! Structures are objects in packing order; operations and other variants are `{"type", "value"}`; assets are
//! `{"amount", "precision", "nai"}`; byte strings and hashes are hexadecimal; maps are lists of pairs; an absent optional
//! field is left out. Integers that do not fit in 32 bits are strings, since many readers of JSON keep numbers as
//! doubles. Text that is not UTF-8 has U+FFFD in place of the offending bytes, where hived prints the bytes as they are
//! and thereby invalid JSON.

mod block;
mod values;

pub use block::{BlockJson, block_json};

use serde::Serializer;
use serde::ser::{Serialize, SerializeMap};

/// How a value looks in hived's JSON. Not [`Serialize`] itself, because that is already something else for integers,
/// optional values and pairs.
pub(crate) trait JsonValue {
    /// Whether a field with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }

    /// Writes the value.
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Makes serde write a value in hived's form.
pub(crate) struct AsJson<'v, T: ?Sized>(pub(crate) &'v T);

impl<T: JsonValue + ?Sized> Serialize for AsJson<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json(serializer)
    }
}

/// Adds a field to an object, unless it is absent.
pub(crate) fn field<M: SerializeMap>(
    object: &mut M,
    name: &'static str,
    value: &impl JsonValue,
) -> Result<(), M::Error> {
    if value.is_absent() {
        return Ok(());
    }
    object.serialize_entry(name, &AsJson(value))
}

/// Writes one alternative of a variant.
pub(crate) fn alternative<S: Serializer>(
    serializer: S,
    name: &'static str,
    body: &impl JsonValue,
) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(2))?;
    object.serialize_entry("type", name)?;
    object.serialize_entry("value", &AsJson(body))?;
    object.end()
}
