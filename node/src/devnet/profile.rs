//! What a generated chain holds: its profile.

use std::fmt;
use std::str::FromStr;

/// The content of a generated chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// 30 to 60 transactions a block after a start-up of a few blocks: about half custom_json, then votes,
    /// comments, transfers and account operations. 21 witnesses.
    #[default]
    Mixed,
    /// No transactions, and therefore nobody but initminer who could produce.
    Empty,
    /// Blocks of nearly 2 MiB, the most that a block may have: custom_json of 8 KiB each, signed by initminer, who
    /// is the only witness. For what large blocks do to memory and network.
    Large,
}

impl Profile {
    /// Every profile, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Mixed, Self::Empty, Self::Large];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Empty => "empty",
            Self::Large => "large",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A profile name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile {name:?}; profiles: {}", Profile::ALL.map(Profile::name).join(", "))]
pub struct UnknownProfile {
    /// The name as it was given.
    pub name: String,
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| UnknownProfile {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn names_read_back_and_an_unknown_one_lists_them() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(profile));
        }
        let message = "mixd".parse::<Profile>().map_err(|error| error.to_string());
        assert_eq!(
            message,
            Err("there is no profile \"mixd\"; profiles: mixed, empty, large".to_owned())
        );
    }
}
