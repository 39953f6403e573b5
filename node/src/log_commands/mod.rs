//! `cairn log ...`: looking into block logs. Nothing here writes to a log.

mod block;
pub mod checkpoints;
pub mod decode;
pub mod get;
pub mod ids;
pub mod info;
pub mod source;
pub mod verify;
