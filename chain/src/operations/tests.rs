//! Every operation, packed and read again.

use proptest::prelude::*;
use serde_json::Value;

use super::{Operation, OperationKind};
use crate::asset::{AssetPacking, Symbols};
use crate::pack::{Packer, Reader, Unpack};
use crate::sample::{Sample, Source};

/// An operation of a kind, with values that follow from a seed.
fn operation(kind: OperationKind, seed: u64) -> Operation<'static> {
    let mut source = Source(seed);
    loop {
        let operation = Operation::sample(&mut source);
        if operation.kind() == kind {
            return operation;
        }
    }
}

fn forms() -> impl Strategy<Value = (AssetPacking, Symbols)> {
    let packing = prop_oneof![Just(AssetPacking::Legacy), Just(AssetPacking::Hf26)];
    (
        packing,
        prop_oneof![Just(Symbols::Mainnet), Just(Symbols::Testnet)],
    )
}

#[test]
fn the_table_is_in_order() {
    assert_eq!(OperationKind::ALL.len(), 50);
    assert_eq!(Operation::COUNT, 50);
    for (index, kind) in OperationKind::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(kind.index()), index);
        assert_eq!(OperationKind::try_from(kind.index()), Ok(kind));
        let operation = operation(kind, 1);
        assert_eq!(operation.index() as usize, index);
        assert_eq!(operation.name(), kind.name());
    }
    assert!(OperationKind::try_from(50).is_err());
}

#[test]
fn virtual_operations_are_refused() {
    for index in [50u8, 92, 0x7f] {
        let bytes = [&[index][..], &[0; 100]].concat();
        let error = Operation::unpack(&mut Reader::new(&bytes, Symbols::Mainnet)).unwrap_err();
        assert_eq!(error.offset, 0);
        assert_eq!(
            error.to_string(),
            format!("at byte 0: index of Operation below 50 expected, {index} found")
        );
    }
}

proptest! {
    #[test]
    fn packing_and_reading_again_changes_nothing(seed: u64, (packing, symbols) in forms()) {
        for kind in OperationKind::ALL {
            let operation = operation(kind, seed);
            let bytes = Packer::pack_one(&operation, packing, symbols);
            let mut reader = Reader::new(&bytes, symbols);
            prop_assert_eq!(&Operation::unpack(&mut reader).unwrap(), &operation);
            prop_assert_eq!(reader.remaining(), 0);
            prop_assert!(reader.take_exact());
        }
    }

    /// Reading stops with an error at every place where the bytes can end, and never panics or takes the rest as given.
    #[test]
    fn every_shortened_operation_is_refused(seed: u64, (packing, symbols) in forms()) {
        for kind in OperationKind::ALL {
            let bytes = Packer::pack_one(&operation(kind, seed), packing, symbols);
            for length in 0..bytes.len() {
                let mut reader = Reader::new(&bytes[..length], symbols);
                prop_assert!(Operation::unpack(&mut reader).is_err(), "{kind} cut to {length}");
            }
        }
    }

    #[test]
    fn json_has_the_form_of_block_api(seed: u64) {
        for kind in OperationKind::ALL {
            let json = serde_json::to_value(operation(kind, seed)).unwrap();
            prop_assert_eq!(&json["type"], kind.name());
            prop_assert!(json["value"].is_object());
            prop_assert!(fits(&json["value"]), "{}", json);
        }
    }
}

/// No absent values, and no integers beyond 32 bits, which are strings.
fn fits(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => number
            .as_i64()
            .is_some_and(|number| number.unsigned_abs() <= u32::MAX.into()),
        Value::Array(elements) => elements.iter().all(fits),
        Value::Object(fields) => fields.values().all(fits),
        Value::Bool(_) | Value::String(_) => true,
    }
}
