//! The JSON form of the basic types.

use std::fmt;

use serde::Serializer;
use serde::ser::{Serialize, SerializeMap, SerializeTuple};

use super::{AsJson, JsonValue, field};
use crate::asset::{Asset, AssetSymbol, FeeAsset};
use crate::ids::{BlockId, ChainId, MerkleRoot, Sha256Digest, TransactionId};
use crate::key::{PublicKey, Signature};
use crate::name::FixedText;
use crate::text::{Bytes, Text};
use crate::time::Time;
use crate::version::Version;

macro_rules! plain {
    ($($type:ty => $method:ident),*) => {$(
        impl JsonValue for $type {
            fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.$method(*self)
            }
        }
    )*};
}

plain!(bool => serialize_bool, u8 => serialize_u8, u16 => serialize_u16, u32 => serialize_u32, i16 => serialize_i16);

impl JsonValue for u64 {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self > u64::from(u32::MAX) {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(*self)
        }
    }
}

impl JsonValue for i64 {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.unsigned_abs() > u64::from(u32::MAX) {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(*self)
        }
    }
}

macro_rules! displayed {
    ($($type:ty),*) => {$(
        impl JsonValue for $type {
            fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

displayed!(
    BlockId,
    TransactionId,
    MerkleRoot,
    Sha256Digest,
    ChainId,
    PublicKey,
    Signature,
    Time,
    Version,
    Bytes<'_>
);

impl JsonValue for Text<'_> {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string_lossy())
    }
}

impl<const N: usize> JsonValue for FixedText<N> {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl<const N: usize> Serialize for FixedText<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json(serializer)
    }
}

/// The number behind `@@`, nine digits with leading zeros.
struct Nai(u32);

impl fmt::Display for Nai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@@{:09}", self.0)
    }
}

impl JsonValue for Nai {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An amount, which is a string whatever its size.
struct Amount(i64);

impl JsonValue for Amount {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonValue for Asset {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        field(&mut object, "amount", &Amount(self.amount))?;
        field(&mut object, "precision", &self.symbol.decimals())?;
        field(&mut object, "nai", &Nai(self.symbol.nai()))?;
        object.end()
    }
}

impl Serialize for Asset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json(serializer)
    }
}

impl JsonValue for FeeAsset {
    // hived takes the malformed symbols for HIVE, so that JSON does not show them.
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Asset::new(self.amount, AssetSymbol::Hive).to_json(serializer)
    }
}

impl<T: JsonValue> JsonValue for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.to_json(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<T: JsonValue> JsonValue for Vec<T> {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(AsJson))
    }
}

impl<A: JsonValue, B: JsonValue> JsonValue for (A, B) {
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_tuple(2)?;
        pair.serialize_element(&AsJson(&self.0))?;
        pair.serialize_element(&AsJson(&self.1))?;
        pair.end()
    }
}
