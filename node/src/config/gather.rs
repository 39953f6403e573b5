//! Brings the values of the command line and of the file together, by the table.
//!
//! Every name is looked up: an option of the table keeps its values, an option that only hived knows becomes a
//! warning, a name close to an option that has an effect is a fault (a checkpoint that is lost to a typing error
//! is a checkpoint that does not protect), any other name is a warning.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::ini::{Entry, LineNote, ParsedFile};
use super::known_hived;
use super::located::{Located, Origin};
use super::option::{Arity, Kind, OptionSpec, Place};
use super::problem::{ConfigProblem, ConfigWarning};
use super::suggest::nearest;
use super::table;
use super::value;

/// Options given on the command line, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionValues(BTreeMap<&'static str, Vec<String>>);

impl OptionValues {
    /// Adds a value.
    ///
    /// # Panics
    /// When the table has no such option: the command line is made from the table.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        let Some(option) = table::find(name) else {
            panic!("no option {name} in the table")
        };
        self.0.entry(option.name).or_default().push(value.into());
    }

    /// The first value of an option.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.first().map(String::as_str)
    }
}

/// The values of both sources, each of its kind, scalars at most once.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    values: BTreeMap<&'static str, Vec<Located<String>>>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigWarning>,
}

impl Gathered {
    /// All values of an option; those of the command line come first.
    pub(super) fn all(&self, name: &'static str) -> &[Located<String>] {
        debug_assert!(table::find(name).is_some(), "{name}");
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of a scalar.
    pub(super) fn one(&self, name: &'static str) -> Option<&Located<String>> {
        self.all(name).first()
    }

    fn take(&mut self, option: &'static OptionSpec, value: Option<String>, origin: Origin) {
        let value = match value {
            Some(value) if !value.is_empty() => value,
            given => match (option.implicit, option.arity, given) {
                (Some(implicit), _, _) => implicit.to_owned(),
                // `p2p-seed-node =` is how a file says: none.
                (None, Arity::Repeatable, Some(_)) => return,
                _ => {
                    let (name, value_name) = (option.name, option.value_name);
                    self.problems.push(ConfigProblem::NoValue {
                        origin,
                        name,
                        value_name,
                    });
                    return;
                }
            },
        };
        let value = if option.kind == Kind::Json {
            value
        } else {
            value::unquote(&value).to_owned()
        };
        if !value::fits(option.kind, &value) {
            let expected = value::expectation(option.kind);
            self.problems.push(ConfigProblem::BadValue {
                origin,
                name: option.name,
                found: value,
                expected,
            });
            return;
        }
        self.values
            .entry(option.name)
            .or_default()
            .push(Located { value, origin });
    }
}

/// Looks up every name and checks every value's kind.
pub(super) fn gather(command_line: &OptionValues, file: Option<(&Arc<Path>, &ParsedFile)>) -> Gathered {
    let mut gathered = Gathered::default();
    for (name, values) in &command_line.0 {
        let Some(option) = table::find(name) else { continue };
        for value in values {
            gathered.take(option, Some(value.clone()), Origin::CommandLine);
        }
    }
    if let Some((path, parsed)) = file {
        let origin = |line| Origin::File {
            path: Arc::clone(path),
            line,
        };
        parsed.notes.iter().for_each(|note| gathered.note(note, origin));
        gathered.entries(&parsed.entries, command_line, origin);
    }
    gathered
}

impl Gathered {
    fn note(&mut self, note: &LineNote, origin: impl Fn(u32) -> Origin) {
        let (line, what) = match note {
            LineNote::Section { line, name } => {
                self.warnings.push(ConfigWarning::Section {
                    origin: origin(*line),
                    name: name.clone(),
                });
                return;
            }
            LineNote::NoKey { line } => (*line, "no option before the equals sign"),
            LineNote::BadKey { line, .. } => (*line, "blanks inside the option's name"),
            LineNote::NotText { line } => (*line, "the line is not UTF-8 text"),
        };
        self.problems.push(ConfigProblem::BadLine {
            origin: origin(line),
            what,
        });
    }

    fn entries(&mut self, entries: &[Entry], command_line: &OptionValues, origin: impl Fn(u32) -> Origin) {
        let mut first_lines: BTreeMap<&'static str, u32> = BTreeMap::new();
        let mut foreign: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for entry in entries {
            let Some(option) = table::find(&entry.key) else {
                foreign.entry(&entry.key).or_default().push(entry.line);
                continue;
            };
            if option.arity != Arity::Repeatable {
                if let Some(first) = first_lines.get(option.name) {
                    let (first, second) = (origin(*first), origin(entry.line));
                    self.problems.push(ConfigProblem::Repeated {
                        name: option.name,
                        first,
                        second,
                    });
                    continue;
                }
                first_lines.insert(option.name, entry.line);
            }
            if let Place::CommandLineOnly(reason) = option.place {
                let origin = origin(entry.line);
                self.problems.push(ConfigProblem::CommandLineOnly {
                    origin,
                    name: option.name,
                    reason,
                });
                continue;
            }
            // The command line has precedence, but a bad value in the file is a fault all the same.
            let overridden = option.arity != Arity::Repeatable && command_line.0.contains_key(option.name);
            let before = self.all(option.name).len();
            self.take(option, entry.value.clone(), origin(entry.line));
            if overridden && let Some(values) = self.values.get_mut(option.name) {
                values.truncate(before);
            }
        }
        let mut foreign: Vec<_> = foreign.into_iter().collect();
        foreign.sort_by_key(|(_, lines)| lines.first().copied());
        for (name, lines) in foreign {
            self.foreign(name, lines.into_iter().map(&origin).collect());
        }
    }

    /// A name that the table does not have.
    fn foreign(&mut self, name: &str, origins: Vec<Origin>) {
        let found = name.to_owned();
        if let Some(reason) = known_hived::reason(name) {
            self.warnings.push(ConfigWarning::NoEffect {
                origins,
                name: found,
                reason,
            });
            return;
        }
        let renamed = known_hived::RENAMED.iter().find(|(old, _)| *old == name);
        if let (Some((_, new)), Some(origin)) = (renamed, origins.first()) {
            self.problems.push(ConfigProblem::Renamed {
                origin: origin.clone(),
                found,
                name: new,
            });
            return;
        }
        let names = || table::OPTIONS.iter().map(|option| option.name);
        let near = nearest(name, names().chain(known_hived::names()));
        match near.filter(|near| table::find(near).is_some()) {
            Some(suggestion) => {
                let faults = origins.into_iter();
                self.problems.extend(faults.map(|origin| ConfigProblem::Misspelt {
                    origin,
                    found: found.clone(),
                    suggestion,
                }));
            }
            None => self
                .warnings
                .push(match (near, known_hived::reason_by_prefix(name)) {
                    (None, Some(reason)) => ConfigWarning::NoEffect {
                        origins,
                        name: found,
                        reason,
                    },
                    _ => ConfigWarning::Unknown {
                        origins,
                        name: found,
                        suggestion: near,
                    },
                }),
        }
    }
}
