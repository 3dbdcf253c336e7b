use super::agreed;

/// A command, and the package that jig would download for it if it said `-y`.
#[test]
fn npx_that_was_told_nothing() {
    let check = |line: &str, package: Option<&str>| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = agreed(&words).map(|download| download.packages.join(" "));
        assert_eq!(found.as_deref(), package, "{line}");
    };
    check("npx thing", Some("thing"));
    check("/usr/bin/npx @a/thing@1 --port 1", Some("@a/thing@1"));
    check("npx --package=thing run", Some("thing"));
    check("npx -- thing", Some("thing"));
    // It is told already.
    check("npx -y thing", None);
    check("npx thing -y", Some("thing"));
    check("npx --yes thing", None);
    // Nobody could be sure what it downloads.
    check("npx --no thing", None);
    check("npx ./thing", None);
    check("npx ${THING}", None);
    check("npx", None);
    check("./npx thing", None);
    check("uvx thing", None);
    check("uv run thing", None);
    check("node thing", None);
}
