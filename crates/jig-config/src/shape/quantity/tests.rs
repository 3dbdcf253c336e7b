use super::{Amount, AmountUnit, DAY, GIB, HOUR, KIB, MIB, MINUTE, Quantity, SECOND, TIB};
use crate::value::Value;

const SIZE: Quantity = Quantity {
    unit: AmountUnit::Size,
    min: KIB,
    max: TIB,
    liftable: true,
};
const FIXED: Quantity = Quantity {
    liftable: false,
    ..SIZE
};
const TIME: Quantity = Quantity {
    unit: AmountUnit::Time,
    min: 100,
    max: 30 * DAY,
    liftable: true,
};
const COUNT: Quantity = Quantity {
    unit: AmountUnit::Count,
    min: 2,
    max: 4096,
    liftable: true,
};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn what_is_written_and_what_it_comes_to() {
    let check = |quantity: &Quantity, value: Value, expected: Amount| {
        let found = quantity.read(&value);
        assert!(
            matches!(found, Ok(amount) if amount == expected),
            "{value:?}: {found:?}"
        );
    };
    check(&SIZE, Value::Int(2048), Amount::Of(2048));
    for (written, bytes) in [
        ("1024B", KIB),
        ("1KiB", KIB),
        ("256 KiB", 256 * KIB),
        ("512MiB", 512 * MIB),
        ("512mib", 512 * MIB),
        ("8GiB", 8 * GIB),
        ("1TiB", TIB),
        ("10kb", 10_000),
        ("10MB", 10_000_000),
        ("2gb", 2_000_000_000),
        ("007MB", 7_000_000),
    ] {
        check(&SIZE, text(written), Amount::Of(bytes));
        check(&FIXED, text(written), Amount::Of(bytes));
    }
    check(&TIME, Value::Int(90), Amount::Of(90 * SECOND));
    for (written, milliseconds) in [
        ("100ms", 100),
        ("90s", 90 * SECOND),
        ("10m", 10 * MINUTE),
        ("10 min", 10 * MINUTE),
        ("2H", 2 * HOUR),
        ("30d", 30 * DAY),
    ] {
        check(&TIME, text(written), Amount::Of(milliseconds));
    }
    check(&COUNT, Value::Int(2), Amount::Of(2));
    check(&COUNT, Value::Int(4096), Amount::Of(4096));
    for quantity in [&SIZE, &TIME, &COUNT] {
        check(quantity, text("none"), Amount::Unlimited);
        check(quantity, Value::Bool(false), Amount::Unlimited);
        check(quantity, Value::Bool(true), Amount::Default);
    }
    check(&TIME, text("never"), Amount::Unlimited);
}

#[test]
fn what_is_refused_and_why() {
    let check = |quantity: &Quantity, value: Value, reason: &str, help: &str| {
        let complaint = match quantity.read(&value) {
            Ok(amount) => panic!("{value:?} is {amount:?}"),
            Err(complaint) => complaint,
        };
        assert!(
            complaint.reason.contains(reason),
            "{value:?}: {complaint:?}"
        );
        assert!(
            complaint.help.text().contains(help),
            "{value:?}: {complaint:?}"
        );
    };
    let range = "between 1KiB and 1TiB";
    check(&SIZE, Value::Int(512), range, "`\"512MiB\"`");
    check(&SIZE, Value::Int(0), range, "`false`");
    check(&FIXED, Value::Int(0), range, "bytes");
    check(&SIZE, Value::Int(-1), range, "bytes");
    check(&SIZE, Value::Int(i64::MAX), range, "bytes");
    check(&SIZE, text("2TiB"), range, "bytes");
    check(&SIZE, text("1023B"), range, "bytes");
    check(&SIZE, text("99999999999999999999GiB"), range, "bytes");
    check(&SIZE, text("18446744073709551615TiB"), range, "bytes");
    check(&SIZE, text("512"), "no unit", "MiB");
    check(&SIZE, text("512m"), "`m` is no unit", "`\"512MiB\"`");
    check(&SIZE, text("1.5GiB"), "`.5GiB` is no unit", "MiB");
    check(&SIZE, text("1  GiB"), "no unit", "MiB");
    check(&SIZE, text(" 1GiB"), "begin with a number", "MiB");
    check(&SIZE, text("-1GiB"), "begin with a number", "MiB");
    check(&SIZE, text("٣GiB"), "begin with a number", "MiB");
    check(&SIZE, text(""), "begin with a number", "MiB");
    check(&SIZE, text("None"), "begin with a number", "`false`");
    check(&FIXED, text("none"), "begin with a number", "MiB");
    check(&FIXED, Value::Bool(false), "no amount", "MiB");
    check(&SIZE, text("1\u{1b}[2J"), "\\u{1b}", "MiB");
    check(&TIME, text("10"), "no unit", "10m");
    check(&TIME, text("1h30m"), "`h30m` is no unit", "10m");
    check(&TIME, Value::Int(0), "between 100ms and 30d", "`false`");
    check(&TIME, Value::Int(i64::MAX), "between 100ms", "seconds");
    check(&COUNT, Value::Int(1), "between 2 and 4096", "a number");
    check(&COUNT, text("64"), "it is a text", "quotes: `64`");
    check(&COUNT, text("4KiB"), "`KiB` is no unit", "a number");
}

#[test]
fn the_schema_refuses_no_more_than_the_reader() {
    let check = |quantity: &Quantity, written: &str| {
        let pattern = quantity.pattern().expect("texts are allowed");
        let schema = serde_json::json!({ "type": "string", "pattern": pattern });
        let valid = jsonschema::draft202012::is_valid(&schema, &written.into());
        assert_eq!(valid, quantity.read(&text(written)).is_ok(), "{written}");
    };
    for written in [
        "1KiB", "5 mb", "5mB", "2048b", "none", "1K", "KiB", "5", "5Mi",
    ] {
        check(&SIZE, written);
    }
    for written in [
        "1s", "200ms", "1 Min", "2h", "3D", "none", "never", "1", "m", "1sec",
    ] {
        check(&TIME, written);
    }
    check(&FIXED, "none");
    check(&COUNT, "none");
    check(&COUNT, "5");
    assert_eq!(TIME.bounds(), (1, 30 * 24 * 60 * 60));
    assert_eq!(SIZE.bounds(), (KIB, TIB));
}
