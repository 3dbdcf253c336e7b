use super::*;

#[test]
fn levels_and_parts_of_jig_are_understood() {
    let check = |filter: &str, broker: LevelFilter, engine: LevelFilter| {
        let targets = parse(filter).unwrap();
        for (target, level) in [
            ("jig_broker::audit", broker),
            ("jig_engine::asking", engine),
        ] {
            for tried in [
                tracing::Level::ERROR,
                tracing::Level::INFO,
                tracing::Level::DEBUG,
            ] {
                let shown = targets.would_enable(target, &tried);
                assert_eq!(shown, tried <= level, "{filter}: {target} {tried}");
            }
        }
        assert!(
            !targets.would_enable("rmcp", &tracing::Level::ERROR),
            "{filter}"
        );
    };
    check("info", LevelFilter::INFO, LevelFilter::INFO);
    check("jig_broker=debug", LevelFilter::DEBUG, LevelFilter::OFF);
    check(
        "info, jig_broker=debug",
        LevelFilter::DEBUG,
        LevelFilter::INFO,
    );
    check("off", LevelFilter::OFF, LevelFilter::OFF);
    check("", LevelFilter::OFF, LevelFilter::OFF);
}

#[test]
fn foreign_crates_and_unknown_levels_are_refused() {
    for wrong in ["loud", "rmcp=trace", "jig_broker=loud", "=debug"] {
        assert_eq!(parse(wrong).err().as_deref(), Some(wrong));
    }
}
