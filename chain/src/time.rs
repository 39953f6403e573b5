//! Times of the chain: seconds since 1970, unsigned on the wire.

use std::fmt;
use std::str::FromStr;

use crate::pack::{Pack, Packer, Reader, Unpack, UnpackError};

/// Seconds since 1970-01-01T00:00:00 UTC.
///
/// The number is unsigned, but hived prints it as if it were signed, so that `u32::MAX` reads `1969-12-31T23:59:59`
/// (mainnet block 4999984 has one). [`fmt::Display`] does the same; [`FromStr`] is its inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u32);

impl Time {
    /// The seconds.
    #[must_use]
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day ends
/// them, and in eras of 400 years, which all have 146,097 days.
const fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date that lies so many days after 1970-01-01: year, month, day.
const fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::from(self.0.cast_signed());
        let (year, month, day) = date_from_days(seconds.div_euclid(SECONDS_A_DAY));
        let of_day = seconds.rem_euclid(SECONDS_A_DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )
    }
}

/// Text that is not a time of the form `2016-03-24T16:05:00`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a time like 2016-03-24T16:05:00 between 1901-12-13T20:45:52 and 2038-01-19T03:14:07 expected, {found:?} found"
)]
pub struct ParseTimeError {
    /// The text.
    pub found: String,
}

impl FromStr for Time {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseTimeError {
            found: text.to_owned(),
        })
    }
}

fn parse(text: &str) -> Option<Time> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let separators = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")];
    if text.len() != 19
        || separators
            .iter()
            .any(|(at, separator)| text.get(*at..at + 1) != Some(separator))
    {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days_from_date(year, month, day);
    // Round trip through the calendar: refuses month 13, and 30 February, which the formula would move to March.
    let is_date = (1..=12).contains(&month) && date_from_days(days) == (year, month, day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days * SECONDS_A_DAY + hour * 3600 + minute * 60 + second;
    Some(Time(i32::try_from(seconds).ok()?.cast_unsigned()))
}

impl<'a> Unpack<'a> for Time {
    const MIN_SIZE: usize = 4;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        u32::unpack(reader).map(Self)
    }
}

impl Pack for Time {
    fn pack(&self, packer: &mut Packer) {
        self.0.pack(packer);
    }
}

#[cfg(test)]
mod tests;
