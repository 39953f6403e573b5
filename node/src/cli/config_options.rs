//! The options of config.ini as arguments, made from the table.

#[cfg(test)]
use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::config::OptionValues;
use crate::config::option::{Arity, Kind, OptionSpec, Source};
use crate::config::table::OPTIONS;

/// Options that are arguments of the whole program.
const GLOBAL: &[&str] = &["log-level"];

/// Which options a command takes.
pub trait Selection: Clone + std::fmt::Debug {
    /// Whether the command takes this option.
    fn takes(option: &OptionSpec) -> bool;
}

/// `cairn run` takes all.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions;

impl Selection for RunOptions {
    fn takes(_: &OptionSpec) -> bool {
        true
    }
}

/// `cairn replay` takes those that concern it.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions;

impl Selection for ReplayOptions {
    fn takes(option: &OptionSpec) -> bool {
        option.in_replay
    }
}

/// Options given on the command line.
#[derive(Clone, Debug, Default)]
pub struct OptionArgs<S> {
    /// The values by name.
    pub values: OptionValues,
    selection: PhantomData<S>,
}

fn options<S: Selection>() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS
        .iter()
        .filter(|option| S::takes(option) && !GLOBAL.contains(&option.name))
}

fn argument(option: &'static OptionSpec) -> Arg {
    let mut help = option.help.to_owned();
    if let Some(default) = option.default {
        help.push_str(&format!(" [default: {default}]"));
    }
    if option.source == Source::Hived && matches!(option.kind, Kind::Json) && option.short.is_some() {
        help.push_str(" Quote it in a shell.");
    }
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(help)
        .help_heading(option.group.title())
        .value_name(option.value_name)
        .allow_hyphen_values(matches!(option.kind, Kind::Number { .. }))
        .action(if option.arity == Arity::Repeatable {
            ArgAction::Append
        } else {
            ArgAction::Set
        });
    let arg = match option.short {
        Some(letter) => arg.short(letter),
        None => arg,
    };
    match (option.arity, option.implicit) {
        // A switch takes its value only after an equals sign: nobody writes one.
        (Arity::Flag, implicit) => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(implicit.unwrap_or("1")),
        (_, Some(implicit)) => arg.num_args(0..=1).default_missing_value(implicit),
        (_, None) => arg,
    }
}

impl<S: Selection> Args for OptionArgs<S> {
    fn augment_args(command: Command) -> Command {
        options::<S>().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Selection> FromArgMatches for OptionArgs<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut values = OptionValues::default();
        for option in options::<S>() {
            for value in matches.get_many::<String>(option.name).into_iter().flatten() {
                values.add(option.name, value.clone());
            }
        }
        Ok(Self {
            values,
            selection: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Names of all arguments that the table gives to a command, for tests.
#[cfg(test)]
pub(super) fn names<S: Selection>() -> BTreeMap<&'static str, &'static OptionSpec> {
    options::<S>().map(|option| (option.name, option)).collect()
}
