//! What the table says about one option.

/// How often an option may be given, and whether it needs a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// At most once in a file; the command line has precedence over the file.
    Scalar,
    /// Any number of times; values of the command line and of the file add up.
    Repeatable,
    /// A switch, off unless given; `name = 0` in a file leaves it off.
    Flag,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `1`, `yes`, `true`, `on` and their opposites, as hived reads them.
    Bool,
    /// A whole number within a range, both ends included.
    Number {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A path; quotation marks around it are dropped.
    Path,
    /// Any text; quotation marks around it are dropped.
    Text,
    /// JSON, or one of the laxer spellings that hived takes for it; left as it is.
    Json,
}

/// Whose option it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// hived has it, in config.ini and on the command line.
    Hived,
    /// hived has it on its command line only.
    HivedCommandLine,
    /// Cairn's own.
    Cairn,
}

/// Chapter of `config.ini.example` and heading in the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Folder and chain.
    Data,
    /// What is trusted.
    Checkpoints,
    /// Files of blocks.
    BlockLog,
    /// Peers.
    Network,
    /// Work and commits.
    Processing,
    /// Replay and where to end.
    Run,
    /// Statistics and log lines.
    Output,
}

impl Group {
    /// Every group in the order of the example file.
    pub const ALL: [Self; 7] = [
        Self::Data,
        Self::Checkpoints,
        Self::BlockLog,
        Self::Network,
        Self::Processing,
        Self::Run,
        Self::Output,
    ];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Data => "Data and chain",
            Self::Checkpoints => "Checkpoints",
            Self::BlockLog => "Block log",
            Self::Network => "Network",
            Self::Processing => "Processing and commits",
            Self::Run => "Replay and end of the run",
            Self::Output => "Statistics and log",
        }
    }
}

/// Where an option is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In config.ini and on the command line.
    Anywhere,
    /// On the command line only, for the reason given.
    CommandLineOnly(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name in config.ini and, after `--`, on the command line.
    pub name: &'static str,
    /// One-letter form on the command line.
    pub short: Option<char>,
    /// How often, and with or without a value.
    pub arity: Arity,
    /// What a value looks like.
    pub kind: Kind,
    /// Name of the value in help texts.
    pub value_name: &'static str,
    /// Value when the option is not given, as it would be written; `None`: no value.
    pub default: Option<&'static str>,
    /// Value when the option is given without one.
    pub implicit: Option<&'static str>,
    /// A sensible value for the example file where there is no default.
    pub example: Option<&'static str>,
    /// What it does, in whole sentences.
    pub help: &'static str,
    /// Whose option it is.
    pub source: Source,
    /// Where it may be given.
    pub place: Place,
    /// Chapter.
    pub group: Group,
    /// Whether `cairn replay` takes it as an argument too.
    pub in_replay: bool,
}

impl OptionSpec {
    /// An option with the commonest properties: a scalar of hived, anywhere, for `run` alone.
    pub(super) const fn new(name: &'static str, group: Group, kind: Kind, help: &'static str) -> Self {
        let (value_name, implicit) = match kind {
            Kind::Bool => ("BOOL", Some("1")),
            Kind::Number { .. } => ("N", None),
            Kind::Path => ("PATH", None),
            Kind::Text => ("TEXT", None),
            Kind::Json => ("JSON", None),
        };
        Self {
            name,
            short: None,
            arity: Arity::Scalar,
            kind,
            value_name,
            default: None,
            implicit,
            example: None,
            help,
            source: Source::Hived,
            place: Place::Anywhere,
            group,
            in_replay: false,
        }
    }

    pub(super) const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    pub(super) const fn value_name(mut self, name: &'static str) -> Self {
        self.value_name = name;
        self
    }

    pub(super) const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    pub(super) const fn implicit(mut self, value: &'static str) -> Self {
        self.implicit = Some(value);
        self
    }

    pub(super) const fn example(mut self, value: &'static str) -> Self {
        self.example = Some(value);
        self
    }

    pub(super) const fn repeatable(mut self) -> Self {
        self.arity = Arity::Repeatable;
        self
    }

    pub(super) const fn flag(mut self) -> Self {
        self.arity = Arity::Flag;
        self
    }

    pub(super) const fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    pub(super) const fn command_line_only(mut self, reason: &'static str) -> Self {
        self.place = Place::CommandLineOnly(reason);
        self
    }

    pub(super) const fn in_replay(mut self) -> Self {
        self.in_replay = true;
        self
    }
}
