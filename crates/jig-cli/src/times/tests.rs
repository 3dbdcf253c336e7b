use super::*;

#[test]
fn times_of_every_form() {
    for (text, expected) in [
        ("2026-11-15", "2026-11-15T00:00:00Z"),
        ("2026-11-15 09:30", "2026-11-15T09:30:00Z"),
        ("2026-11-15T09:30:15", "2026-11-15T09:30:15Z"),
        ("2026-11-15T09:30:00Z", "2026-11-15T09:30:00Z"),
        ("2026-11-15T09:30:00+01:00", "2026-11-15T08:30:00Z"),
    ] {
        assert_eq!(moment(text).unwrap().to_string(), expected, "{text}");
    }
    for (text, seconds) in [
        ("10s", 10),
        ("10m", 600),
        ("2h", 7200),
        ("1h30m", 5400),
        ("3d", 3 * 86_400),
        ("2 weeks", 14 * 86_400),
        ("5 minutes ago", 300),
    ] {
        assert_eq!(
            ago(text),
            Some(SignedDuration::from_secs(seconds)),
            "{text}"
        );
        let before = Timestamp::now() - SignedDuration::from_secs(seconds);
        let told = moment(text).unwrap();
        let off = told.duration_since(before).as_secs();
        assert!((0..60).contains(&off), "{text}: {told}");
    }
}

#[test]
fn what_is_no_time_is_said_with_the_way_to_write_one() {
    let wrong = |text: &str| format!("{:#}", moment(text).unwrap_err());
    assert_eq!(
        wrong("10"),
        "`10` is not a time: hint: write `10s`, `10m`, `10h` or `10d`"
    );
    for text in [
        "yesterday",
        "",
        "ago",
        "h",
        "1y",
        "-5m",
        "2026-13-01",
        "1h30",
        "10µs",
        "9223372036854775807w",
    ] {
        assert!(
            wrong(text).starts_with(&format!("`{text}` is not a time: hint: ")),
            "{text}"
        );
    }
    assert_eq!(wrong("99999999w"), "`99999999w` is too long ago");
}
