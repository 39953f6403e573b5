//! The binary `cairn`.

fn main() -> std::process::ExitCode {
    cairn_node::main().into()
}
