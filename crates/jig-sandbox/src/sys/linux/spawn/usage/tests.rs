use super::*;

#[test]
fn names_do_not_confuse() {
    let rest = "S 1 7 7 34816 7 4194560 100 200 0 0 11 22 33 44 20 0 5 0 1000 8192 88 184467";
    let expected = UsageStat {
        own: 33,
        of_reaped: 77,
        threads: 5,
    };
    for name in ["sh", "a b", "x) S 1 1 (", ")"] {
        let text = format!("7 ({name}) {rest}");
        assert_eq!(UsageStat::parse(&text).as_ref(), Some(&expected), "{name}");
    }
    for odd in [
        "",
        "7 (sh",
        "7 (sh) S 1 7",
        "7 (sh) S x x x x x x x x x x x x x x x x x x x x x",
    ] {
        assert_eq!(UsageStat::parse(odd), None, "{odd}");
    }
}

#[test]
fn ticks_become_time() {
    for (ticks, per_second, milliseconds) in
        [(0, 100, 0), (1, 100, 10), (250, 100, 2500), (5, 0, 5000)]
    {
        let expected = Duration::from_millis(milliseconds);
        assert_eq!(duration(ticks, per_second), expected);
    }
}
