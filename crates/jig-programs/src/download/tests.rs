use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// What a command downloads, and how.
#[track_caller]
fn check(line: &str, packages: &str, command: &str) {
    let found = Download::of(&words(line));
    let found = found.unwrap_or_else(|| panic!("{line} downloads something"));
    assert_eq!(found.packages, words(packages), "{line}");
    // An empty word is lost in a line.
    assert_eq!(words(&found.command.join(" ")), words(command), "{line}");
}

#[test]
fn packages_of_npx() {
    check("npx -y thing", "thing", "npx --yes --package=thing -c :");
    check(
        "/usr/bin/npx --yes -q @a/thing@1.2 /some/dir -p other",
        "@a/thing@1.2",
        "/usr/bin/npx --yes -q --package=@a/thing@1.2 -c :",
    );
    check(
        "npx -y -p one --package=two run it",
        "one two",
        "npx --yes --package=one --package=two -c :",
    );
    check("npx -y -- thing", "thing", "npx --yes --package=thing -c :");
    check(
        "npx --registry http://127.0.0.1:4873 -y thing",
        "thing",
        "npx --yes --registry http://127.0.0.1:4873 --package=thing -c :",
    );
}

#[test]
fn packages_of_uvx() {
    check("uvx thing", "thing", "uvx --from thing python -c");
    check(
        "uvx --python 3.12 --from thing[cli]==2 run --from x",
        "thing[cli]==2",
        "uvx --python 3.12 --from thing[cli]==2 python -c",
    );
    check(
        "uvx --with=a,b thing@latest",
        "thing@latest a b",
        "uvx --with a,b --from thing@latest python -c",
    );
    check(
        "/opt/uv tool run thing serve",
        "thing",
        "/opt/uv tool run --from thing python -c",
    );
}

/// What somebody wants to keep elsewhere, has installed, or takes from elsewhere, is theirs to allow.
#[test]
fn commands_that_nobody_can_be_sure_of() {
    for line in [
        "",
        "npx",
        "npx -y",
        "npx thing",
        "./npx -y thing",
        "bin/uvx thing",
        "npx -y -c run",
        "npx -y --cache /x thing",
        "npx -y -p one --cache /x run",
        "npx -y --unknown thing",
        "npx -y ./thing",
        "npx -y thing@${VERSION}",
        "npx -y someone/thing",
        "npx -y github:someone/thing",
        "npx -y https://example.com/thing.tgz",
        "npx -y thing.tgz",
        "npx -y @a/b/c",
        "npx -y --registry ../other thing",
        "npx -y --registry=file:///other thing",
        "npx -y --registry ${REGISTRY} thing",
        "node thing",
        "npm exec thing",
        "uvx",
        "uvx --from",
        "uvx --offline thing",
        "uvx --no-cache thing",
        "uvx --cache-dir /x thing",
        "uvx --from git+https://example.com/thing thing",
        "uvx --from . thing",
        "uvx --index d=../other thing",
        "uvx --index ./other thing",
        "uvx --extra-index-url file:///other thing",
        "uvx --with-editable . thing",
        "uv run thing",
        "uv tool install thing",
    ] {
        assert_eq!(Download::of(&words(line)), None, "{line}");
    }
}

#[test]
fn rules_of_registries() {
    let check = |url: &str, expected: Option<(&str, &str, Option<u16>)>| {
        let rule = registry_rule(url);
        let rule = rule.as_ref().map(|rule| {
            let scheme = rule.scheme.as_deref().unwrap_or_default();
            (rule.host.as_str(), scheme, rule.port)
        });
        assert_eq!(rule, expected, "{url}");
    };
    check(
        "https://npm.example.com/a/",
        Some(("npm.example.com", "https", None)),
    );
    check(
        "http://127.0.0.1:4873",
        Some(("127.0.0.1", "http", Some(4873))),
    );
    check("https://me:secret@npm.example.com/", None);
    check("file:///etc", None);
    check("npm.example.com", None);
}
