//! The two forms of asset symbols, and the odd ones.

use super::*;
use crate::pack::Packer;

fn read(bytes: &[u8], symbols: Symbols) -> Result<(AssetSymbol, SymbolCounts), UnpackError> {
    let mut reader = Reader::new(bytes, symbols);
    let symbol = AssetSymbol::unpack(&mut reader)?;
    reader.finish()?;
    Ok((symbol, reader.take_symbol_counts()))
}

/// The table of the format's description.
#[test]
fn symbols_are_spelled_as_hived_spells_them() {
    use Symbols::{Mainnet, Testnet};
    let hbd = (AssetSymbol::Hbd, [0x03, 0x20, 0xbc, 0xbe], 13, 3);
    let hive = (AssetSymbol::Hive, [0x23, 0x20, 0xbc, 0xbe], 21, 3);
    let vests = (AssetSymbol::Vests, [0x46, 0x20, 0xbc, 0xbe], 37, 6);
    let table = [
        (hbd, Mainnet, b"\x03SBD\0\0\0\0"),
        (hbd, Testnet, b"\x03TBD\0\0\0\0"),
        (hive, Mainnet, b"\x03STEEM\0\0"),
        (hive, Testnet, b"\x03TESTS\0\0"),
        (vests, Mainnet, b"\x06VESTS\0\0"),
        (vests, Testnet, b"\x06VESTS\0\0"),
    ];
    for ((symbol, hf26, nai, decimals), symbols, legacy) in table {
        assert_eq!(Packer::pack_one(&symbol, AssetPacking::Legacy, symbols), legacy);
        assert_eq!(Packer::pack_one(&symbol, AssetPacking::Hf26, symbols), hf26);
        let (read_symbol, counts) = read(legacy, symbols).unwrap();
        assert_eq!((read_symbol, counts.packing()), (symbol, Packing::Legacy));
        let (read_symbol, counts) = read(&hf26, symbols).unwrap();
        assert_eq!((read_symbol, counts.packing()), (symbol, Packing::Hf26));
        assert_eq!((symbol.nai(), symbol.decimals()), (nai, decimals));
    }
}

#[test]
fn a_network_does_not_know_the_spelling_of_the_other() {
    for (bytes, symbols) in [
        (b"\x03TESTS\0\0", Symbols::Mainnet),
        (b"\x03STEEM\0\0", Symbols::Testnet),
    ] {
        let error = read(bytes, symbols).unwrap_err();
        assert_eq!(
            error,
            UnpackError {
                offset: 0,
                kind: UnpackErrorKind::UnknownSymbol { found: *bytes }
            }
        );
    }
}

#[test]
fn a_legacy_symbol_must_be_complete() {
    read(b"\x03STEEL\0\0", Symbols::Mainnet).unwrap_err();
    read(b"\x03SBD\0\0\0\x01", Symbols::Mainnet).unwrap_err();
    read(b"\x03STE", Symbols::Mainnet).unwrap_err();
}

/// hived's reader lets user tokens pass: bit 4 set, at most 12 decimals, data part 1 to 99999999.
#[test]
fn numbers_of_user_tokens_pass_and_others_do_not() {
    let number = |data: u32, decimals: u32| data << 5 | 0x10 | decimals;
    for good in [number(1, 0), number(99_999_999, 12), number(12_345, 3)] {
        let (symbol, counts) = read(&good.to_le_bytes(), Symbols::Mainnet).unwrap();
        assert_eq!(symbol, AssetSymbol::Other(good));
        assert_eq!((counts.hf26_other, counts.packing()), (1, Packing::None));
        assert_eq!(
            Packer::pack_one(&symbol, AssetPacking::Legacy, Symbols::Mainnet),
            good.to_le_bytes()
        );
    }
    for bad in [
        number(0, 3),
        number(100_000_000, 3),
        number(1, 13),
        1 << 5 | 3,
        3_200_000_004,
        0,
        u32::MAX,
    ] {
        read(&bad.to_le_bytes(), Symbols::Mainnet).unwrap_err();
    }
}

/// 572 has the check digit 4: the usual example of Damm's method.
#[test]
fn check_digit_of_a_user_token() {
    assert_eq!(AssetSymbol::Other(572 << 5 | 0x10).nai(), 5724);
}

#[test]
fn historical_fee_symbols_stay_as_they_are_in_both_forms() {
    for symbol in HISTORICAL_FEE_SYMBOLS {
        let bytes = [&7i64.to_le_bytes()[..], symbol.as_bytes()].concat();
        for packing in [AssetPacking::Legacy, AssetPacking::Hf26] {
            for symbols in [Symbols::Mainnet, Symbols::Testnet] {
                let mut reader = Reader::new(&bytes, symbols);
                let fee = FeeAsset::unpack(&mut reader).unwrap();
                assert_eq!(
                    fee,
                    FeeAsset {
                        amount: 7,
                        symbol: FeeSymbol::Historical(symbol)
                    }
                );
                assert_eq!(Packer::pack_one(&fee, packing, symbols), bytes);
                let counts = reader.take_symbol_counts();
                assert_eq!((counts.historical_fee, counts.packing()), (1, Packing::None));
                let json = serde_json::to_value(crate::json::AsJson(&fee)).unwrap();
                assert_eq!(
                    json,
                    serde_json::json!({ "amount": "7", "precision": 3, "nai": "@@000000021" })
                );
            }
        }
    }
    let dollars = [&7i64.to_le_bytes()[..], b"\x03SBD\0\0\0\0"].concat();
    FeeAsset::unpack(&mut Reader::new(&dollars, Symbols::Mainnet)).unwrap_err();
}

#[test]
fn a_fee_is_read_in_both_forms() {
    for packing in [AssetPacking::Legacy, AssetPacking::Hf26] {
        let bytes = Packer::pack_one(&FeeAsset::hive(3000), packing, Symbols::Testnet);
        assert_eq!(bytes.len(), if packing == AssetPacking::Legacy { 16 } else { 12 });
        let mut reader = Reader::new(&bytes, Symbols::Testnet);
        assert_eq!(FeeAsset::unpack(&mut reader).unwrap(), FeeAsset::hive(3000));
        assert_eq!(reader.remaining(), 0);
    }
}

/// A transaction that mixes the forms is read; it only cannot be packed to the same bytes.
#[test]
fn a_mix_of_forms_is_read_and_told() {
    let mut bytes = Packer::pack_one(&Asset::hive(1), AssetPacking::Legacy, Symbols::Mainnet);
    bytes.extend(Packer::pack_one(
        &Asset::hbd(2),
        AssetPacking::Hf26,
        Symbols::Mainnet,
    ));
    let mut reader = Reader::new(&bytes, Symbols::Mainnet);
    let assets = <(Asset, Asset)>::unpack(&mut reader).unwrap();
    assert_eq!(assets, (Asset::hive(1), Asset::hbd(2)));
    let counts = reader.take_symbol_counts();
    assert_eq!(
        (counts.legacy_mainnet, counts.hf26, counts.packing()),
        (1, 1, Packing::Mixed)
    );
    assert_eq!(counts.packing().for_packing(), None);
}
