//! Names that hived (or a plugin of it) has and that have no effect in Cairn.
//!
//! Operators share one config.ini between both nodes, so each of these is accepted, with one warning that names
//! it, its lines, and why it does nothing here.

/// A group of names with one reason.
pub struct KnownNames {
    /// Ends the sentence "NAME is an option of hived without effect in Cairn: ...".
    pub reason: &'static str,
    /// The names.
    pub names: &'static [&'static str],
}

/// All names, by reason.
pub const KNOWN: &[KnownNames] = &[
    KnownNames {
        reason: "Cairn has no plugins",
        names: &["plugin", "list-plugins"],
    },
    KnownNames {
        reason: "Cairn keeps its state in a database of its own, not in shared memory",
        names: &[
            "shared-file-dir",
            "shared-file-size",
            "shared-file-full-threshold",
            "shared-file-scale-rate",
            "comments-rocksdb-path",
            "comment-archive",
            "memory-replay",
            "memory-replay-indices",
            "database-cfg",
        ],
    },
    KnownNames {
        reason: "Cairn does not serve hived's API here",
        names: &[
            "webserver-http-endpoint",
            "webserver-https-endpoint",
            "webserver-unix-endpoint",
            "webserver-ws-endpoint",
            "webserver-ws-deflate",
            "webserver-thread-pool-size",
            "webserver-https-certificate-file-name",
            "webserver-https-key-file-name",
            "rpc-endpoint",
            "log-json-rpc",
            "notifications-endpoint",
        ],
    },
    KnownNames {
        reason: "Cairn produces no blocks",
        names: &[
            "witness",
            "private-key",
            "enable-stale-production",
            "required-participation",
            "witness-skip-enforce-bandwidth",
            "miner",
            "mining-threads",
            "miner-account-creation-fee",
            "miner-maximum-block-size",
            "miner-sbd-interest-rate",
            "max-mempool-size",
            "force-live-sync",
            "queen-block-size",
            "queen-tx-count",
            "pacemaker-source",
            "pacemaker-min-offset",
            "pacemaker-max-offset",
            "colony-sign-with",
            "colony-threads",
            "colony-max-concurrency",
            "colony-wait-for-work",
            "colony-transactions-per-block",
            "colony-start-at-block",
            "colony-no-broadcast",
            "colony-article",
            "colony-reply",
            "colony-vote",
            "colony-transfer",
            "colony-custom",
        ],
    },
    KnownNames {
        reason: "log lines go to standard error; see log-level",
        names: &[
            "log-appender",
            "log-logger",
            "log-console-appender",
            "log-file-appender",
            "backtrace",
            "block-stats-report-type",
            "block-stats-report-output",
            "rc-stats-report-type",
            "rc-stats-report-output",
            "block-log-info-print-interval-seconds",
            "block-log-info-print-irreversible",
            "block-log-info-print-file",
            "cashout-logging-starting-block",
            "cashout-logging-ending-block",
            "cashout-logging-log-path-dir",
        ],
    },
    KnownNames {
        reason: "see stats-interval and stats-file for Cairn's statistics",
        names: &[
            "statsd-endpoint",
            "statsd-batchsize",
            "statsd-whitelist",
            "statsd-blacklist",
            "statsd-record-on-replay",
            "advanced-benchmark",
            "set-benchmark-interval",
            "dump-memory-details",
        ],
    },
    KnownNames {
        reason: "Cairn does not read hived's state snapshots",
        names: &[
            "snapshot-root-dir",
            "load-snapshot",
            "dump-snapshot",
            "process-snapshot-threads-num",
        ],
    },
    KnownNames {
        reason: "the chain id and keys belong into the chain specification; see chain",
        names: &["chain-id", "skeleton-key"],
    },
    KnownNames {
        reason: "above the last checkpoint Cairn always validates fully",
        names: &[
            "p2p-force-validate",
            "check-locks",
            "validate-database-invariants",
            "disable-get-block",
        ],
    },
    KnownNames {
        reason: "Cairn removes no block log; remove the blockchain folder yourself to start over",
        names: &["resync-blockchain"],
    },
    KnownNames {
        reason: "Cairn tells peers its own version",
        names: &["p2p-user-agent"],
    },
    KnownNames {
        reason: "it works on the command line only",
        names: &["config", "dump-config", "help", "version", "generate-completions"],
    },
    KnownNames {
        reason: "it belongs to a plugin that Cairn does not have",
        names: &[
            "account-history-rocksdb-path",
            "account-history-rocksdb-track-account-range",
            "account-history-rocksdb-whitelist-ops",
            "account-history-rocksdb-blacklist-ops",
            "account-history-rocksdb-immediate-import",
            "account-history-rocksdb-stop-import-at-block",
            "account-history-rocksdb-dump-balance-history",
            "account-history-track-account-range",
            "account-history-whitelist-ops",
            "account-history-blacklist-ops",
            "account-stats-bucket-size",
            "account-stats-history-per-bucket",
            "account-stats-tracked-accounts",
            "bcd-trigger",
            "block-data-export-file",
            "block-data-skip-empty",
            "chain-stats-bucket-size",
            "chain-stats-history-per-bucket",
            "custom-accounts",
            "debug-node-edit-script",
            "edit-script",
            "flush-interval",
            "follow-max-feed-size",
            "follow-start-feeds",
            "history-blacklist-ops",
            "history-disable-pruning",
            "history-per-size",
            "history-whitelist-ops",
            "market-history-bucket-size",
            "market-history-buckets-per-size",
            "public-api",
            "api-user",
            "rc-account-blacklist",
            "rc-account-whitelist",
            "rc-compute-historical-rc",
            "rc-flood-level",
            "rc-flood-surcharge",
            "rc-skip-reject-not-enough-rc",
            "rc-start-at-block",
            "server-pem",
            "server-pem-password",
            "sps-remove-threshold",
            "tags-skip-startup-update",
            "tags-start-promoted",
            "track-account",
            "track-account-range",
            "transaction-status-block-depth",
            "transaction-status-rebuild-state",
            "transaction-status-track-after-block",
            "bucket-size",
            "enable-plugin",
        ],
    },
];

/// Prefixes of plugins whose options change from release to release; any name that begins so is theirs.
const PREFIXES: &[&str] = &[
    "account-history-",
    "colony-",
    "follow-",
    "market-history-",
    "psql-",
    "rc-",
    "statsd-",
    "tags-",
    "transaction-status-",
    "webserver-",
];

/// Names that Steem had for an option that lives on under another name.
pub const RENAMED: &[(&str, &str)] = &[
    ("seed-node", "p2p-seed-node"),
    ("max-connections", "p2p-max-connections"),
];

/// Why a name has no effect; `None`: hived does not have it either, as far as is known.
pub fn reason(name: &str) -> Option<&'static str> {
    KNOWN
        .iter()
        .find(|group| group.names.contains(&name))
        .map(|group| group.reason)
}

/// The same for names of a known plugin that are not listed one by one.
pub fn reason_by_prefix(name: &str) -> Option<&'static str> {
    PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
        .then_some("it belongs to a plugin that Cairn does not have")
}

/// All names, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().flat_map(|group| group.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::table;

    #[test]
    fn no_name_stands_twice_or_in_the_table() {
        let mut seen = std::collections::BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(table::find(name).is_none(), "{name} has an effect");
        }
        for (old, new) in RENAMED {
            assert!(reason(old).is_none() && table::find(old).is_none(), "{old}");
            assert!(table::find(new).is_some(), "{new}");
        }
    }
}
