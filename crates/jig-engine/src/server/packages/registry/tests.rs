#![expect(
    clippy::disallowed_methods,
    reason = "the settings of npm are on the disk"
)]

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The hosts that a command downloads from, with these variables in its entry and on the host, and these settings.
#[track_caller]
fn check(line: &str, given: &[(&str, &str)], host: &[(&str, &str)], npmrc: &str, expected: &str) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".npmrc"), npmrc).unwrap();
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let download = Download::of(&words(line)).unwrap();
    let host: HostEnv = owned(host).into_iter().collect();
    let found = Registry::of(&download, &owned(given), &host, Some(home.path()));
    let hosts: Vec<&str> = found.rules.iter().map(|rule| rule.host.as_str()).collect();
    assert_eq!(hosts.join(" "), expected, "{line}");
}

#[test]
fn registries_of_npm() {
    let npx = "npx -y thing";
    check(npx, &[], &[], "", "registry.npmjs.org");
    let host = [("npm_config_registry", "https://a.example/")];
    check(npx, &[], &host, "registry=https://b.example/", "a.example");
    let given = [("NPM_CONFIG_REGISTRY", "https://c.example/")];
    check(npx, &given, &host, "", "c.example");
    check(
        npx,
        &[],
        &[],
        "registry = https://b.example/\n",
        "b.example",
    );
    check(
        npx,
        &[],
        &[],
        "@us:registry=https://b.example/\n//b.example/:_authToken=secret\nregistry=https://me:x@d.example/",
        "b.example registry.npmjs.org",
    );
    check(
        "npx --registry http://127.0.0.1:1 -y thing",
        &[],
        &[],
        "",
        "127.0.0.1",
    );
}

#[test]
fn registries_of_uv() {
    let usual = "pypi.org files.pythonhosted.org";
    check("uvx thing", &[], &[], "registry=https://b.example/", usual);
    let host = [("UV_INDEX", "https://a.example/ two=https://b.example/")];
    check(
        "uvx thing",
        &[],
        &host,
        "",
        &format!("a.example b.example {usual}"),
    );
    let host = [("UV_DEFAULT_INDEX", "https://a.example/")];
    check("uvx thing", &[], &host, "", "a.example");
}

/// A password of somebody's settings goes nowhere.
#[test]
fn only_addresses_are_told() {
    let home = tempfile::tempdir().unwrap();
    let settings = "//b.example/:_authToken=secret\n_auth=secret\nregistry=https://b.example/\n";
    std::fs::write(home.path().join(".npmrc"), settings).unwrap();
    let download = Download::of(&words("npx -y thing")).unwrap();
    let given = [("TOKEN".to_owned(), "secret".to_owned())];
    let host: HostEnv = [("NPM_TOKEN".to_owned(), "secret".to_owned())]
        .into_iter()
        .collect();
    let found = Registry::of(&download, &given, &host, Some(home.path()));
    let expected = (
        "npm_config_registry".to_owned(),
        "https://b.example/".to_owned(),
    );
    assert_eq!(found.env, [expected]);
}
