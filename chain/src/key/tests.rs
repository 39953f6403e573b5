//! Keys and signatures: known values, and the edges of the rules about form.

use proptest::prelude::*;

use super::*;
use crate::ids::Sha256Digest;

const TEST_KEY: &str = "STM6LLegbAgLAy28EHrffBVuANFWcFgmqRMW13wBmTExqFE9SCkg4";
const TEST_WIF: &str = "5JNHfZYKGaomSFvd4NUdQ9qMcEAC43kujbfjueTHpVapX1Kzq2n";

/// The key that signs all test networks: secret, both texts.
#[test]
fn the_test_key_of_initminer() {
    let key = PrivateKey::from_seed(b"init_key");
    assert_eq!(key.wif(), TEST_WIF);
    assert_eq!(key.public_key().to_string(), TEST_KEY);
    assert_eq!(PrivateKey::from_wif(TEST_WIF), Ok(key.clone()));
    let secret = hex::decode("48a9c812cafcd35eb761501768ba7e2eb9a238853548556c2c38431f51d63030").unwrap();
    assert_eq!(
        PrivateKey::from_bytes(secret.try_into().unwrap()),
        Ok(key.clone())
    );
    assert!(!format!("{key:?}").contains("48a9c8"));
}

#[test]
fn public_keys_in_text() {
    let key: PublicKey = TEST_KEY.parse().unwrap();
    assert_eq!(
        hex::encode(key.0),
        "02be643d4c424ac7cf2f3cf51dd048773cbdcee30b111adb30d89c27668c501705"
    );
    assert_eq!(
        PublicKey::NULL.to_string(),
        "STM1111111111111111111111111111111114T1Anm"
    );
    assert_eq!(
        "STM1111111111111111111111111111111114T1Anm".parse(),
        Ok(PublicKey::NULL)
    );
    assert!(PublicKey::NULL.is_null() && !key.is_null());
}

#[test]
fn what_is_no_public_key_is_refused() {
    let parse = |text: &str| text.parse::<PublicKey>().unwrap_err();
    assert!(matches!(
        parse("TST6LLegbAgLAy28EHrffBVuANFWcFgmqRMW13wBmTExqFE9SCkg4"),
        ParsePublicKeyError::Prefix { .. }
    ));
    assert!(matches!(parse(""), ParsePublicKeyError::Prefix { .. }));
    assert!(matches!(parse("STM0"), ParsePublicKeyError::Base58 { .. }));
    assert!(matches!(
        parse("STM"),
        ParsePublicKeyError::Length { length: 0, .. }
    ));
    assert!(matches!(
        parse(&TEST_KEY[..50]),
        ParsePublicKeyError::Length { .. }
    ));
    assert!(matches!(
        parse(&format!("STM{}", "z".repeat(100_000))),
        ParsePublicKeyError::Length { .. }
    ));
    let mistyped = TEST_KEY.replace("6LL", "6LM");
    assert_eq!(
        parse(&mistyped),
        ParsePublicKeyError::Checksum { found: mistyped }
    );
}

#[test]
fn what_is_no_private_key_is_refused() {
    assert_eq!(PrivateKey::from_bytes([0; 32]), Err(PrivateKeyError::OutOfRange));
    assert_eq!(
        PrivateKey::from_bytes([0xff; 32]),
        Err(PrivateKeyError::OutOfRange)
    );
    assert_eq!(
        PrivateKey::from_wif("5JNHfZYKGaomSFvd4NUdQ9qMcEAC43kujbfjueTHpVapX1Kzq2m"),
        Err(PrivateKeyError::Checksum)
    );
    assert_eq!(PrivateKey::from_wif("0"), Err(PrivateKeyError::Base58));
    assert!(matches!(
        PrivateKey::from_wif(""),
        Err(PrivateKeyError::Form { length: 0 })
    ));
    assert!(matches!(
        PrivateKey::from_wif(&TEST_WIF[..40]),
        Err(PrivateKeyError::Form { .. })
    ));
    assert!(matches!(
        PrivateKey::from_wif(&"z".repeat(100_000)),
        Err(PrivateKeyError::Form { .. })
    ));
}

/// A digest and its signature from mainnet's block 1.
#[test]
fn the_key_of_block_1_is_recovered() {
    let digest: Sha256Digest = "2d08e385eb1a516154cd1cf8760b3f8ffd140550f46fef2ada9ad2fbcd487714"
        .parse()
        .unwrap();
    let hex = "204f8ad56a8f5cf722a02b035a61b500aa59b9519b2c33c77a80c0a714680a5a5a\
               7a340d909d19996613c5e4ae92146b9add8a7a663eef37d837ef881477313043";
    let signature = Signature(hex::decode(hex).unwrap().try_into().unwrap());
    let key = signature.recover(&digest).unwrap();
    assert_eq!(
        key.to_string(),
        "STM8GC13uCZbP44HzMLV6zPZGwVQ8Nt4Kji8PapsPiNq1BK153XTX"
    );
    // Header bytes without the 4 for compressed keys give the same key.
    let mut uncompressed = signature;
    uncompressed.0[0] -= 4;
    assert_eq!(uncompressed.recover(&digest), Ok(key));
    for header in [0, 26, 35, 255] {
        let mut other = signature;
        other.0[0] = header;
        assert_eq!(
            other.recover(&digest),
            Err(SignatureError::Header { found: header })
        );
    }
    let mut zero = signature;
    zero.0[33..].fill(0);
    assert_eq!(
        zero.recover(&digest),
        Err(SignatureError::NoKey {
            signature: zero,
            digest
        })
    );
}

fn with_s(first: &str) -> Signature {
    let mut bytes = [0x11; 65];
    bytes[33..].copy_from_slice(&hex::decode(first).unwrap());
    Signature(bytes)
}

/// Each limit itself passes and one more does not.
#[test]
fn the_edges_of_the_rules_about_s() {
    let half = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";
    let above_half = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1";
    let reversed = "a0201b68462fe9df1d50a457736e575dffffffffffffffffffffffffffffff7f";
    let above_reversed = "a0201b68462fe9df1d50a457736e575dffffffffffffffffffffffffffffff80";
    let forms = |s| (with_s(s).is_canonical(), with_s(s).is_low_s());
    assert_eq!(forms(half), (true, true));
    assert_eq!(forms(above_half), (true, false));
    assert_eq!(forms(reversed), (true, false));
    assert_eq!(forms(above_reversed), (false, false));
}

#[test]
fn the_rule_of_the_steem_era() {
    let with = |r: [u8; 2], s: [u8; 2]| {
        let mut bytes = [0x11; 65];
        bytes[1..3].copy_from_slice(&r);
        bytes[33..35].copy_from_slice(&s);
        Signature(bytes).is_fc_canonical()
    };
    let (plain, high, needed, redundant) = ([0x7f, 0xff], [0x80, 0], [0, 0x80], [0, 0x7f]);
    assert!(with(plain, plain) && with(needed, plain) && with(plain, needed));
    assert!(!with(high, plain) && !with(plain, high) && !with(redundant, plain) && !with(plain, redundant));
}

proptest! {
    #[test]
    fn what_is_signed_is_recovered(seed: [u8; 8], digest: [u8; 32]) {
        let key = PrivateKey::from_seed(&seed);
        let digest = Sha256Digest(digest);
        let signature = key.sign(&digest);
        prop_assert_eq!(signature.recover(&digest), Ok(key.public_key()));
        prop_assert!((31..=34).contains(&signature.0[0]));
        prop_assert!(signature.is_low_s() && signature.is_canonical());
        prop_assert_eq!(key.sign(&digest), signature);
        prop_assert_eq!(PrivateKey::from_wif(&key.wif()), Ok(key.clone()));
        prop_assert_eq!(key.public_key().to_string().parse(), Ok(key.public_key()));
    }

    #[test]
    fn any_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 65), digest: [u8; 32]) {
        let _ = Signature(bytes.try_into().unwrap()).recover(&Sha256Digest(digest));
    }
}
