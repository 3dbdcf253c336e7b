use super::*;

#[test]
fn times_are_read_as_people_write_them() {
    let check = |text: &str, expected: Option<u64>| {
        let found = parse_time(text).ok().map(|time| time.as_millis() as u64);
        assert_eq!(found, expected, "{text}");
    };
    check("0", Some(0));
    check("250", Some(250));
    check("250ms", Some(250));
    check("5s", Some(5000));
    check("1.5s", Some(1500));
    check("2m", Some(120_000));
    check("1h", Some(3_600_000));
    for wrong in [
        "", "s", "-1", "5 s", "5d", "1e3", "NaN", "inf", "1.2.3s", "5ss", "٣s",
    ] {
        check(wrong, None);
    }
    check(&"9".repeat(400), None);
}

#[test]
fn ages_and_sizes_are_rough() {
    for (seconds, expected) in [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (86_399, "23h"),
        (200_000, "2d"),
    ] {
        assert_eq!(age(Duration::from_secs(seconds)), expected);
    }
    for (bytes, expected) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1_600_000, "1.5 MiB"),
        (3 << 30, "3.0 GiB"),
    ] {
        assert_eq!(size(bytes), expected);
    }
}
