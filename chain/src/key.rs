//! Keys and signatures on the curve secp256k1.

mod private;
mod public;
mod signature;

pub use private::{PrivateKey, PrivateKeyError};
pub use public::{ParsePublicKeyError, PublicKey};
pub use signature::{Signature, SignatureError};

#[cfg(test)]
mod tests;
