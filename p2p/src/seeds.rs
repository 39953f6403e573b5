//! Seed nodes: the texts of `p2p-seed-node`, sorted into usable ones and the others with their reasons.
//!
//! One value may hold several seeds, separated by blanks or tabs, as hived allows. A bad seed never stops the
//! node: it is one warning line, and the rest is used.

use std::{collections::HashSet, fmt};

use crate::endpoint::{Endpoint, EndpointError};

/// A seed that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedSeed {
    /// The text as the operator wrote it.
    pub text: String,
    /// What is wrong with it.
    pub reason: EndpointError,
}

/// What came out of the seed texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeedList {
    /// Usable seeds in the order given, each once.
    pub seeds: Vec<Endpoint>,
    /// Texts that name no node.
    pub rejected: Vec<RejectedSeed>,
    /// Texts that repeat an earlier seed.
    pub duplicates: Vec<String>,
}

impl SeedList {
    /// Parses option values, each with one or more seeds.
    pub fn parse<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Self {
        let mut list = Self::default();
        let mut seen = HashSet::new();
        for value in values {
            for text in value.as_ref().split_whitespace() {
                match text.parse::<Endpoint>() {
                    Ok(seed) if seed.port == 0 => list.rejected.push(RejectedSeed {
                        text: text.to_owned(),
                        reason: EndpointError::PortZero,
                    }),
                    Ok(seed) if seen.insert(seed.clone()) => list.seeds.push(seed),
                    Ok(_) => list.duplicates.push(text.to_owned()),
                    Err(reason) => list.rejected.push(RejectedSeed {
                        text: text.to_owned(),
                        reason,
                    }),
                }
            }
        }
        list
    }

    /// Writes one warning per unusable seed, one line for all repeats, and the count, to the log.
    pub fn log(&self) {
        for rejected in &self.rejected {
            tracing::warn!(
                target: "p2p",
                "Seed node `{}` cannot be used: {}",
                rejected.text,
                rejected.reason
            );
        }
        if !self.duplicates.is_empty() {
            tracing::info!(
                target: "p2p",
                "Seed nodes given more than once are used once: {}",
                self.duplicates.join(", ")
            );
        }
        tracing::info!(target: "p2p", "{self}");
    }
}

impl fmt::Display for SeedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let different = self.seeds.len() + self.rejected.len();
        write!(f, "{} of {different} seed nodes usable", self.seeds.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{Host, TransportKind};

    #[test]
    fn each_spelling_of_a_seed() {
        let id = libp2p::PeerId::random();
        // (text, host as printed, port, transport, names an id)
        let good: &[(&str, &str, u16, Option<TransportKind>, bool)] = &[
            ("1.2.3.4:2001", "1.2.3.4", 2001, None, false),
            ("[::1]:2001", "::1", 2001, None, false),
            ("[2001:DB8::1]:65535", "2001:db8::1", 65535, None, false),
            ("localhost:2001", "localhost", 2001, None, false),
            ("Seed.Example.COM.:1", "seed.example.com", 1, None, false),
            ("anyx.io:2001", "anyx.io", 2001, None, false),
            ("my_node-2:2001", "my_node-2", 2001, None, false),
            (
                "/ip4/1.2.3.4/tcp/2001",
                "1.2.3.4",
                2001,
                Some(TransportKind::Tcp),
                false,
            ),
            (
                "/dns4/a.b/udp/7/quic-v1",
                "a.b",
                7,
                Some(TransportKind::Quic),
                false,
            ),
            (
                &format!("/ip6/::1/tcp/9/p2p/{id}"),
                "::1",
                9,
                Some(TransportKind::Tcp),
                true,
            ),
        ];
        for (text, host, port, transport, has_id) in good {
            let endpoint: Endpoint = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let printed = match &endpoint.host {
                Host::Ip(ip) => ip.to_string(),
                Host::Name(name) => name.clone(),
            };
            assert_eq!(printed, *host, "{text}");
            assert_eq!(endpoint.port, *port, "{text}");
            assert_eq!(endpoint.transport, *transport, "{text}");
            assert_eq!(endpoint.peer.is_some(), *has_id, "{text}");
            // What is printed means the same endpoint.
            assert_eq!(endpoint.to_string().parse(), Ok(endpoint), "{text}");
        }

        let bad: &[(&str, EndpointError)] = &[
            ("", EndpointError::Empty),
            ("bad::", EndpointError::UnbracketedIpv6),
            ("::1:2001", EndpointError::UnbracketedIpv6),
            ("1.2.3.4", EndpointError::MissingPort("1.2.3.4".into())),
            ("[::1]", EndpointError::MissingPort("[::1]".into())),
            ("[::1:2001", EndpointError::BadIpv6("[::1:2001".into())),
            ("[1.2.3.4]:1", EndpointError::BadIpv6("1.2.3.4".into())),
            ("host:", EndpointError::BadPort(String::new())),
            ("host:+1", EndpointError::BadPort("+1".into())),
            ("host:65536", EndpointError::BadPort("65536".into())),
            ("host:20x1", EndpointError::BadPort("20x1".into())),
            (":2001", EndpointError::BadHost(String::new())),
            ("300.1.1.1:1", EndpointError::BadHost("300.1.1.1".into())),
            ("a..b:1", EndpointError::BadHost("a..b".into())),
            ("-a.b:1", EndpointError::BadHost("-a.b".into())),
            ("höst:1", EndpointError::BadHost("höst".into())),
            ("http://a.b:80", EndpointError::Url),
            ("/ip4/1.2.3.4", EndpointError::UnsupportedMultiaddr),
            ("/ip4/1.2.3.4/udp/1", EndpointError::UnsupportedMultiaddr),
            ("/ip4/1.2.3.4/tcp/1/ws", EndpointError::UnsupportedMultiaddr),
        ];
        for (text, reason) in bad {
            assert_eq!(&text.parse::<Endpoint>().unwrap_err(), reason, "{text}");
        }
        assert!(matches!(
            "/nonsense".parse::<Endpoint>(),
            Err(EndpointError::BadMultiaddr(_))
        ));
    }

    #[test]
    fn several_in_one_value_without_repeats() {
        let list = SeedList::parse(["a.b:1 \t [::1]:2001", "A.B:1", "dead:0 x", "  "]);
        assert_eq!(
            list.seeds.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["a.b:1", "[::1]:2001"]
        );
        assert_eq!(list.duplicates, ["A.B:1"]);
        let rejected: Vec<_> = list.rejected.iter().map(|seed| &*seed.text).collect();
        assert_eq!(rejected, ["dead:0", "x"]);
    }

    /// Case S21 of the public reports: one IPv6 seed, one name, one that is neither.
    #[test]
    fn two_of_three_usable() {
        let list = SeedList::parse(["[::1]:2001", "localhost:2001", "bad::"]);
        assert_eq!(list.to_string(), "2 of 3 seed nodes usable");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,40}", seeds in "[a-z0-9:.\\[\\]/ \t-]{0,60}") {
            for text in [&text, &seeds] {
                let list = SeedList::parse([text]);
                for seed in list.seeds {
                    proptest::prop_assert_eq!(seed.to_string().parse(), Ok(seed));
                }
            }
        }
    }
}
