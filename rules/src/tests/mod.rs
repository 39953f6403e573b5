//! Rules that no fixture log reaches, one file a subject. Operations are evaluated one by one in a world whose time and
//! hardfork the test sets; where the expectation comes from is the rule of the protocol that each test names.

mod accounts;
mod block_size;
mod comments;
mod due;
mod hardforks;
mod mining;
mod recovery;
mod votes;
mod world;
