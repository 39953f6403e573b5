//! The cairn binary: command line, config.ini, logging, devnet generator, wiring.
