//! Standard output: results, never log lines.

use std::io::{self, BufWriter, ErrorKind, Write};

use serde::Serialize;

use crate::exit::CommandError;

/// Runs `write` on buffered standard output. A reader that went away (`| head`) is no fault.
///
/// # Errors
/// Any other fault of the output.
pub fn write(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CommandError> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CommandError::Failed(
            anyhow::Error::new(error).context("standard output cannot be written"),
        )),
        Ok(()) => Ok(()),
    }
}

/// Prints a text as it is.
///
/// # Errors
/// As [`write()`].
pub fn text(text: &str) -> Result<(), CommandError> {
    write(|out| out.write_all(text.as_bytes()))
}

/// Prints one JSON value on one line.
///
/// # Errors
/// As [`write()`].
pub fn json_line(value: &impl Serialize) -> Result<(), CommandError> {
    write(|out| {
        serde_json::to_writer(&mut *out, value)?;
        writeln!(out)
    })
}

/// Prints one JSON value indented, for people.
///
/// # Errors
/// As [`write()`].
pub fn json_pretty(value: &impl Serialize) -> Result<(), CommandError> {
    write(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}

/// Prints one JSON value: on one line for scripts, or indented for people.
///
/// # Errors
/// As [`write()`].
pub fn json(value: &impl Serialize, one_line: bool) -> Result<(), CommandError> {
    if one_line {
        json_line(value)
    } else {
        json_pretty(value)
    }
}
