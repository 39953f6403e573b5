//! Times as text.

use proptest::prelude::*;

use super::*;

#[test]
fn times_print_as_hived_prints_them() {
    let cases = [
        (0, "1970-01-01T00:00:00"),
        (1_458_835_500, "2016-03-24T16:05:00"),
        (951_782_399, "2000-02-28T23:59:59"),
        (951_825_600, "2000-02-29T12:00:00"),
        (1_709_251_199, "2024-02-29T23:59:59"),
        (1_709_251_200, "2024-03-01T00:00:00"),
        (i32::MAX.cast_unsigned(), "2038-01-19T03:14:07"),
        // From here on as if signed.
        (i32::MIN.cast_unsigned(), "1901-12-13T20:45:52"),
        (u32::MAX, "1969-12-31T23:59:59"),
    ];
    for (seconds, text) in cases {
        assert_eq!(Time(seconds).to_string(), text);
        assert_eq!(text.parse(), Ok(Time(seconds)));
    }
}

#[test]
fn what_is_no_time_is_refused() {
    let bad = [
        "",
        "2016-03-24",
        "2016-03-24 16:05:00",
        "2016-03-24T16:05:00Z",
        "2016-13-24T16:05:00",
        "2016-00-24T16:05:00",
        "2015-02-29T00:00:00",
        "2016-04-31T00:00:00",
        "2016-03-00T00:00:00",
        "2016-03-24T24:00:00",
        "2016-03-24T16:60:00",
        "2016-03-24T16:05:60",
        "+016-03-24T16:05:00",
        "2038-01-19T03:14:08",
        "1901-12-13T20:45:51",
        "2016-03-24T16:05:0\u{e9}",
    ];
    for text in bad {
        let error = text.parse::<Time>().unwrap_err();
        assert_eq!(error.found, text);
    }
}

proptest! {
    #[test]
    fn text_and_number_are_the_same_time(seconds: u32) {
        prop_assert_eq!(Time(seconds).to_string().parse(), Ok(Time(seconds)));
    }

    #[test]
    fn later_by_a_second_is_later_in_text(seconds in 0..i32::MAX.cast_unsigned()) {
        prop_assert!(Time(seconds).to_string() < Time(seconds + 1).to_string());
    }

    #[test]
    fn no_text_is_a_reason_to_panic(text: String) {
        let _ = text.parse::<Time>();
    }
}
