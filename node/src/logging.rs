//! Log lines on standard error, in hived's shape: `time level target ] message key=value`.
//!
//! ```text
//! 2026-11-30T13:46:33.104 INFO  test_checkpoint ] Checkpoint [200,000000c8ff...] reached.
//! ```
//! Times are UTC with milliseconds, as hived's `iso_8601_milliseconds`. Colors only on a terminal, and not
//! when `NO_COLOR` is set. While a progress bar is drawn, lines go above it (see [`crate::progress`]).

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use thiserror::Error;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, ParseError};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::config::nearest;

/// Filter when neither `--log-level` nor `RUST_LOG` gives one.
/// libp2p says at info what this program says in its own words.
const DEFAULT_FILTER: &str = "info,libp2p_swarm=warn";

/// The levels by name, for a suggestion.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// Why a text is no log filter.
#[derive(Debug, Error)]
pub enum FilterError {
    /// A word that is no level. `EnvFilter` takes it for the name of a target, which mutes everything else.
    #[error(
        "`{found}` is no level{}; expected error, warn, info, debug, trace or off, also by target, like \
         info,cairn_p2p=debug",
        suggestion.map(|level| format!(", did you mean `{level}`?")).unwrap_or_default()
    )]
    NoLevel {
        /// The word.
        found: String,
        /// The level with almost the same name.
        suggestion: Option<&'static str>,
    },
    /// What else the filter does not understand.
    #[error("{found:?} is no log filter: {source}")]
    Filter {
        /// The whole text.
        found: String,
        /// What is wrong.
        source: ParseError,
    },
}

/// Reads a filter: levels, for all targets or for one (`TARGET=LEVEL`), with commas in between.
///
/// # Errors
/// [`FilterError`].
pub fn parse(text: &str) -> Result<EnvFilter, FilterError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.collect();
    for part in &parts {
        let level = part.rsplit_once('=').map_or(*part, |(_, level)| level);
        // What stands in brackets names spans, and is the filter's own to understand.
        // An empty one is trace to the filter.
        if !part.contains('[') && (level.is_empty() || level.parse::<LevelFilter>().is_err()) {
            return Err(FilterError::NoLevel {
                found: level.to_owned(),
                suggestion: nearest(level, LEVELS.into_iter()),
            });
        }
    }
    if parts.is_empty() {
        return Err(FilterError::NoLevel {
            found: text.to_owned(),
            suggestion: None,
        });
    }
    EnvFilter::builder()
        .parse(parts.join(","))
        .map_err(|source| FilterError::Filter {
            found: text.to_owned(),
            source,
        })
}

/// Sets up logging for the process; later calls change nothing (tests share a process).
///
/// The filter is `level`, else the variable `RUST_LOG`, else `info`.
///
/// # Errors
/// A filter that is none ([`FilterError`]), with where it was given.
pub fn init(level: Option<&str>) -> anyhow::Result<()> {
    let variable = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    let filter = match (level, &variable) {
        (Some(level), _) => parse(level).context("--log-level")?,
        (None, Some(variable)) => parse(variable).context("the environment variable RUST_LOG")?,
        (None, None) => EnvFilter::new(DEFAULT_FILTER),
    };
    let colors = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colors)
        .with_writer(AboveProgress)
        .event_format(HivedShape {
            clock: SystemTime::now,
        })
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// The shape of a line.
struct HivedShape {
    clock: fn() -> SystemTime,
}

impl<S, N> FormatEvent<S, N> for HivedShape
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let since = (self.clock)().duration_since(UNIX_EPOCH).unwrap_or_default();
        write_time(&mut writer, since)?;
        let metadata = event.metadata();
        let (name, color) = level_style(*metadata.level());
        if writer.has_ansi_escapes() {
            write!(writer, " \x1b[{color}m{name}\x1b[0m {} ] ", metadata.target())?;
        } else {
            write!(writer, " {name} {} ] ", metadata.target())?;
        }
        context.format_fields(writer.by_ref(), event)?;
        writer.write_char('\n')
    }
}

/// Five letters wide, and the ANSI color.
fn level_style(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::ERROR => ("ERROR", "31"),
        Level::WARN => ("WARN ", "33"),
        Level::INFO => ("INFO ", "32"),
        Level::DEBUG => ("DEBUG", "34"),
        Level::TRACE => ("TRACE", "35"),
    }
}

/// `YYYY-MM-DDTHH:MM:SS.mmm`, UTC, of a time since 1970.
fn write_time(out: &mut impl fmt::Write, since: Duration) -> fmt::Result {
    let seconds = since.as_secs();
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    write!(
        out,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}"
    )
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
///
/// Counts years from 1 March, so that the leap day comes last, in eras of 400 years (146097 days).
fn civil_date(days: u64) -> (u64, u64, u64) {
    // 1970-01-01 is day 719468 from 0000-03-01.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March: 153 days in each five.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Writes whole lines to standard error while the progress bar is out of the way.
struct AboveProgress;

impl<'a> MakeWriter<'a> for AboveProgress {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter
    }
}

/// One event is written with one call, so lines of several threads do not mix.
struct LineWriter;

impl Write for LineWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        crate::progress::above(|| io::stderr().lock().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn shown(since: Duration) -> String {
        let mut out = String::new();
        write_time(&mut out, since).unwrap();
        out
    }

    #[test]
    fn shows_times_as_hived_does() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000"),
            (951_782_400, "2000-02-29T00:00:00.000"),
            (951_868_800, "2000-03-01T00:00:00.000"),
            (1_458_835_500, "2016-03-24T16:05:00.000"),
            (1_704_067_199, "2023-12-31T23:59:59.000"),
            (4_107_542_399, "2100-02-28T23:59:59.000"),
            (4_107_542_400, "2100-03-01T00:00:00.000"),
        ] {
            assert_eq!(shown(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(
            shown(Duration::from_millis(1_602_703_884_007)),
            "2020-10-14T19:31:24.007"
        );
    }

    #[test]
    fn a_word_that_is_no_level_is_no_filter() {
        for good in [
            "info",
            "INFO",
            "off",
            "info,cairn_p2p=debug",
            "info,run=debug",
            " warn , p2p=trace,",
            "info,[range{peer=7}]=debug",
        ] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for (bad, word, suggestion) in [
            ("inof", "inof", Some("info")),
            ("loud", "loud", None),
            ("info,debgu", "debgu", Some("debug")),
            ("info,run=wran", "wran", Some("warn")),
            ("info run", "info run", None),
            ("run=", "", None),
            (" ", " ", None),
        ] {
            match parse(bad) {
                Err(FilterError::NoLevel {
                    found,
                    suggestion: near,
                }) => {
                    assert_eq!((found.as_str(), near), (word, suggestion), "{bad}");
                }
                other => panic!("{bad}: {other:?}"),
            }
        }
    }

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(colors: bool) -> String {
        let memory = Memory::default();
        let writer = memory.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(colors)
            .with_writer(move || writer.clone())
            .event_format(HivedShape {
                clock: || UNIX_EPOCH + Duration::from_millis(1500),
            })
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "test_checkpoint", peers = 3, "Checkpoint [1,00000001] reached.");
        });
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_has_hiveds_shape() {
        let expected =
            "1970-01-01T00:00:01.500 INFO  test_checkpoint ] Checkpoint [1,00000001] reached. peers=3\n";
        assert_eq!(logged(false), expected);
        assert!(
            logged(true).contains("\x1b[32mINFO \x1b[0m test_checkpoint ] "),
            "{:?}",
            logged(true)
        );
    }
}
