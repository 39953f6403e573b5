//! `config.ini.example`: the table as a commented file.
//!
//! Every option stands in it, commented out, with its default or an example, so that a copy of the file
//! changes nothing until a line is uncommented.

use std::fmt::Write as _;

use super::option::{Arity, Group, OptionSpec, Place, Source};
use super::table::OPTIONS;

/// Characters a line of text, the `# ` included.
const WIDTH: usize = 100;

/// The whole file.
pub fn text() -> String {
    let mut out = String::new();
    for line in [
        "# Configuration of cairn. Copy to config.ini in the data folder and uncomment what you change.",
        "# The syntax is hived's: `option = value`, `#` begins a comment, lists repeat the option.",
        "# Every option can be given on the command line too, as --option value, and has precedence there.",
        "# A config.ini of hived can be used as it is: options without effect here are named in a warning.",
    ] {
        let _ = writeln!(out, "{line}");
    }
    for group in Group::ALL {
        let _ = writeln!(
            out,
            "\n# ---- {} {}",
            group.title(),
            "-".repeat(WIDTH - 8 - group.title().len())
        );
        for option in OPTIONS.iter().filter(|option| option.group == group) {
            write_option(&mut out, option);
        }
    }
    out
}

fn write_option(out: &mut String, option: &OptionSpec) {
    let _ = writeln!(out);
    let mut help = option.help.to_owned();
    help.push_str(match option.source {
        Source::Hived => "",
        Source::HivedCommandLine => " (In hived on the command line only.)",
        Source::Cairn => " (Cairn's own option.)",
    });
    for line in wrap(&help, WIDTH - 2) {
        let _ = writeln!(out, "# {line}");
    }
    if let Place::CommandLineOnly(reason) = option.place {
        let _ = writeln!(out, "# Only on the command line (--{}): {reason}.", option.name);
        return;
    }
    let value = match (option.default.or(option.example), option.arity) {
        (Some(value), _) => value,
        (None, Arity::Flag) => "0",
        (None, _) => "",
    };
    let _ = writeln!(out, "{}", format!("# {} = {value}", option.name).trim_end());
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::gather::{OptionValues, gather};
    use crate::config::ini;
    use std::path::Path;
    use std::sync::Arc;

    /// `REGENERATE=1 cargo test` writes the file anew.
    #[test]
    fn the_committed_file_is_what_the_table_gives() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config.ini.example");
        if std::env::var_os("REGENERATE").is_some() {
            std::fs::write(&path, text()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text());
    }

    #[test]
    fn a_copy_changes_nothing() {
        assert_eq!(ini::parse(text().as_bytes()), ini::ParsedFile::default());
    }

    #[test]
    fn every_line_with_a_value_is_accepted_once_uncommented() {
        let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
        let uncommented: String = text()
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| {
                line.split_once(" = ")
                    .is_some_and(|(name, _)| names.contains(&name))
            })
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(uncommented.lines().count() > 15, "{uncommented}");
        let path: Arc<Path> = Path::new("x").into();
        let gathered = gather(
            &OptionValues::default(),
            Some((&path, &ini::parse(uncommented.as_bytes()))),
        );
        let problems: Vec<_> = gathered.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, [""; 0]);
    }
}
