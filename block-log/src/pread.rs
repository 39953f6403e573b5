//! Reading at an offset, which leaves no shared file position behind: any number of threads may do it at once.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Fills as much of `buffer` as the file has from `offset` on; says how much that was.
///
/// One call of the system may give less than asked for without being at the end, so it is repeated.
pub(crate) fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
