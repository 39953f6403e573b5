//! Libraries that come between a process and the system, made from C when the tests run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the library `name`, whose source is in the folder of that name, into `folder`.
pub(crate) fn build(name: &str, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join("shim.c");
    let library = folder.join(name).with_extension("so");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(&compiler)
        .args([
            "-shared",
            "-fPIC",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-U_FORTIFY_SOURCE",
            "-o",
        ])
        .args([library.as_os_str(), source.as_os_str()])
        .args(["-lpthread", "-ldl"])
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "this test needs a C compiler to build {}, as RocksDB does; {compiler:?} cannot be run: \
                 {error} (scripts/install-build-dependencies.sh installs one)",
                source.display()
            )
        });
    assert!(
        output.status.success(),
        "{compiler:?} cannot compile {}:\n{}",
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    library
}
