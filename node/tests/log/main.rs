//! `cairn log` on the fixtures: real logs of testnets and mirrornet, mainnet's first blocks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

mod decode;
mod fixtures;
mod info;
mod verify;
