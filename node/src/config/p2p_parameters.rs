//! `p2p-parameters`: hived's network parameters as one strict JSON object.

use serde_json::Value;

use super::located::Located;
use super::problem::{ConfigProblem, ConfigWarning};
use super::suggest::nearest;

/// Parameters with an effect in Cairn. Defaults and names are hived's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct P2pParameters {
    /// With fewer connections than this, more peers are dialed.
    pub desired_number_of_connections: u32,
    /// With this many, no further connection is accepted.
    pub maximum_number_of_connections: u32,
    /// Seconds between two attempts at a peer that failed.
    pub peer_connection_retry_timeout: u32,
    /// Seconds that a peer may be silent during the handshake.
    pub peer_inactivity_timeout: u32,
    /// Blocks that are prevalidated at one time.
    pub maximum_number_of_blocks_to_handle_at_one_time: u32,
    /// Blocks that may be downloaded ahead of the writer.
    pub maximum_number_of_sync_blocks_to_prefetch: u32,
    /// Blocks asked of one peer at a time.
    pub maximum_blocks_per_peer_during_syncing: u32,
    /// Microseconds after which an unanswered request is given to another peer.
    pub active_ignored_request_timeout_microseconds: u64,
}

impl Default for P2pParameters {
    fn default() -> Self {
        Self {
            desired_number_of_connections: 20,
            maximum_number_of_connections: 200,
            peer_connection_retry_timeout: 30,
            peer_inactivity_timeout: 5,
            maximum_number_of_blocks_to_handle_at_one_time: 200,
            maximum_number_of_sync_blocks_to_prefetch: 20_000,
            maximum_blocks_per_peer_during_syncing: 200,
            active_ignored_request_timeout_microseconds: 6_000_000,
        }
    }
}

/// Parameters of hived that do nothing here.
const WITHOUT_EFFECT: &[&str] = &[
    "listen_endpoint",
    "accept_incoming_connections",
    "wait_if_endpoint_is_busy",
    "private_key",
    "peer_advertising_disabled",
];

const NAMES: &[&str] = &[
    "desired_number_of_connections",
    "maximum_number_of_connections",
    "peer_connection_retry_timeout",
    "peer_inactivity_timeout",
    "maximum_number_of_blocks_to_handle_at_one_time",
    "maximum_number_of_sync_blocks_to_prefetch",
    "maximum_blocks_per_peer_during_syncing",
    "active_ignored_request_timeout_microseconds",
];

impl P2pParameters {
    /// Reads the option's value; faults and warnings are added to the lists.
    pub(super) fn read(
        given: &Located<String>,
        problems: &mut Vec<ConfigProblem>,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Self {
        let mut parameters = Self::default();
        let fault = |what| ConfigProblem::P2pParameters {
            origin: given.origin.clone(),
            what,
        };
        let object = match serde_json::from_str(&given.value) {
            Ok(Value::Object(object)) => object,
            Ok(_) => {
                problems.push(fault("expected a JSON object: {\"name\":number,...}".to_owned()));
                return parameters;
            }
            Err(error) => {
                problems.push(fault(format!("not valid JSON: {error}")));
                return parameters;
            }
        };
        for (name, value) in &object {
            if WITHOUT_EFFECT.contains(&name.as_str()) {
                warnings.push(ConfigWarning::P2pParameter {
                    origin: given.origin.clone(),
                    name: name.clone(),
                });
            } else if let Err(what) = parameters.set(name, value) {
                problems.push(fault(what));
            }
        }
        if parameters.desired_number_of_connections > parameters.maximum_number_of_connections {
            problems.push(fault(format!(
                "desired_number_of_connections ({}) is above maximum_number_of_connections ({})",
                parameters.desired_number_of_connections, parameters.maximum_number_of_connections
            )));
        }
        parameters
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let number = || number(name, value, u32::MAX.into()).map(|number| number as u32);
        match name {
            "desired_number_of_connections" => self.desired_number_of_connections = number()?,
            "maximum_number_of_connections" => self.maximum_number_of_connections = number()?,
            "peer_connection_retry_timeout" => self.peer_connection_retry_timeout = number()?,
            "peer_inactivity_timeout" => self.peer_inactivity_timeout = number()?,
            "maximum_number_of_blocks_to_handle_at_one_time" => {
                self.maximum_number_of_blocks_to_handle_at_one_time = number()?;
            }
            "maximum_number_of_sync_blocks_to_prefetch" => {
                self.maximum_number_of_sync_blocks_to_prefetch = number()?;
            }
            "maximum_blocks_per_peer_during_syncing" => {
                self.maximum_blocks_per_peer_during_syncing = number()?;
            }
            "active_ignored_request_timeout_microseconds" => {
                self.active_ignored_request_timeout_microseconds =
                    self::number(name, value, i64::MAX as u64)?;
            }
            _ => {
                let near = nearest(name, NAMES.iter().chain(WITHOUT_EFFECT).copied());
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(format!("unknown parameter `{name}`{hint}"));
            }
        }
        Ok(())
    }
}

/// A positive number, given as a number or, as fc accepts it, as a text.
fn number(name: &str, value: &Value, max: u64) -> Result<u64, String> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number
        .filter(|number| (1..=max).contains(number))
        .ok_or_else(|| format!("{name}: {value} is not a whole number from 1 to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::table;

    fn read(text: &str) -> (P2pParameters, Vec<String>, Vec<String>) {
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        let given = Located::from_command_line(text.to_owned());
        let parameters = P2pParameters::read(&given, &mut problems, &mut warnings);
        let texts = problems.iter().map(ToString::to_string).collect();
        (
            parameters,
            texts,
            warnings.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn the_example_holds_every_parameter_with_its_default() {
        let example = table::find("p2p-parameters")
            .and_then(|option| option.example)
            .unwrap();
        assert_eq!(read(example), (P2pParameters::default(), vec![], vec![]));
        let object: Value = serde_json::from_str(example).unwrap();
        let names: Vec<_> = object.as_object().unwrap().keys().collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn takes_numbers_and_texts() {
        let (parameters, problems, warnings) = read(
            r#"{"maximum_number_of_connections":"30","active_ignored_request_timeout_microseconds":5000000000,"private_key":"x"}"#,
        );
        assert_eq!(parameters.maximum_number_of_connections, 30);
        assert_eq!(
            parameters.active_ignored_request_timeout_microseconds,
            5_000_000_000
        );
        assert_eq!(problems, [""; 0]);
        assert_eq!(
            warnings,
            ["command line: `private_key` in p2p-parameters has no effect in Cairn"]
        );
    }

    #[test]
    fn names_every_fault() {
        let (_, problems, _) =
            read(r#"{"maximum_number_of_conections":1,"peer_inactivity_timeout":0,"nonsense":1}"#);
        assert_eq!(
            problems,
            [
                "command line: option `p2p-parameters`: unknown parameter `maximum_number_of_conections`; did you mean `maximum_number_of_connections`?",
                "command line: option `p2p-parameters`: peer_inactivity_timeout: 0 is not a whole number from 1 to 4294967295",
                "command line: option `p2p-parameters`: unknown parameter `nonsense`",
            ]
        );
        for text in ["", "[]", "{", "{\"a\":1,}", "nonsense"] {
            assert_eq!(read(text).1.len(), 1, "{text}");
        }
        assert_eq!(read(r#"{"maximum_number_of_connections":10}"#).1.len(), 1);
    }
}
