#![expect(
    clippy::disallowed_methods,
    reason = "the settings of npm are on the disk"
)]

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Where a command downloads from, with these variables in its entry and on the host, and these settings.
fn found(
    line: &str,
    given: &[(&str, &str)],
    host: &[(&str, &str)],
    (file, settings): (&str, &str),
) -> Result<Registry, UnusableRegistry> {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, settings).unwrap();
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| {
                let value = value.replace("HOME", home.path().to_str().unwrap());
                ((*name).to_owned(), value)
            })
            .collect()
    };
    let download = Download::of(&words(line)).unwrap();
    let host: HostEnv = owned(host).into_iter().collect();
    Registry::of(&download, &owned(given), &host, Some(home.path()))
}

/// The hosts of it.
#[track_caller]
fn check(line: &str, given: &[(&str, &str)], host: &[(&str, &str)], npmrc: &str, expected: &str) {
    let found = found(line, given, host, (".npmrc", npmrc)).unwrap();
    let hosts: Vec<&str> = found.rules.iter().map(|rule| rule.host.as_str()).collect();
    assert_eq!(hosts.join(" "), expected, "{line}");
}

/// That there is none, because of this setting, until the entry sets this variable.
#[track_caller]
fn refused(line: &str, host: &[(&str, &str)], file: (&str, &str), setting: &str, variable: &str) {
    let why = found(line, &[], host, file).unwrap_err().to_string();
    let start = format!("`{setting}` of your settings names a registry in a way jig cannot use");
    assert!(why.starts_with(&start), "{why}");
    let shown = why.replace('"', "");
    assert!(shown.ends_with(&format!("`env.{variable}` of the entry")));
    assert!(!why.contains("swordfish"), "{why}");
    let given = [(variable, "https://me:swordfish@given.example/")];
    let found = found(line, &given, host, file).unwrap();
    let mut hosts = found.rules.iter().map(|rule| rule.host.as_str());
    assert!(hosts.any(|host| host == "given.example"), "{variable}");
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
        "@us:registry=https://b.example/\n//b.example/:_authToken=secret\nregistry=",
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
    let found = Registry::of(&download, &given, &host, Some(home.path())).unwrap();
    let expected = (
        "npm_config_registry".to_owned(),
        "https://b.example/".to_owned(),
    );
    assert_eq!(found.env, [expected]);
}

/// Neither is it told with its password, nor is the usual registry taken in its place.
#[test]
fn a_registry_that_cannot_be_used_is_refused() {
    let (npx, uvx) = ("npx -y thing", "uvx thing");
    let none = (".npmrc", "");
    let secret = "https://me:swordfish@a.example/";
    for name in [
        "UV_INDEX",
        "UV_EXTRA_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
    ] {
        refused(uvx, &[(name, secret)], none, name, name);
        let two = [(name, "https://b.example/ two=https://swordfish@a.example/")];
        refused(uvx, &two, none, name, name);
    }
    for name in [
        "npm_config_registry",
        "NPM_CONFIG_REGISTRY",
        "npm_config_@corp:registry",
    ] {
        refused(npx, &[(name, secret)], none, name, name);
        let asked = [(name, "https://a.example/?token=swordfish")];
        refused(npx, &asked, none, name, name);
    }
    for (line, key) in [
        ("registry=https://me:swordfish@a.example/", "registry"),
        ("'registry' = 'https://swordfish@a.example/'", "registry"),
        ("\"@corp:registry\"=https://${HOST}/", "@corp:registry"),
        ("registry=${REGISTRY}", "registry"),
        ("registry=/srv/registry", "registry"),
    ] {
        let variable = format!("npm_config_{key}");
        refused(npx, &[], (".npmrc", line), key, &variable);
        let named = [("NPM_CONFIG_USERCONFIG", "HOME/other")];
        refused(npx, &named, ("other", line), key, &variable);
        let named = [("npm_config_userconfig", "~/other")];
        refused(npx, &named, ("other", line), key, &variable);
    }
    // npm would take the variable for one of `@our-corp`.
    let scope = (".npmrc", "@our_corp:registry=https://a.example/");
    refused(npx, &[], scope, "@our_corp:registry", NPM);
    let elsewhere = [("NPM_CONFIG_USERCONFIG", "other")];
    refused(npx, &elsewhere, none, ".npmrc", NPM);
}

#[test]
fn a_registry_in_a_file_of_uv_is_refused() {
    let usual = ".config/uv/uv.toml";
    for (text, key, variable) in [
        (
            "index-url = 'https://a.example/'",
            "index-url",
            "UV_DEFAULT_INDEX",
        ),
        ("offline = false\n[[index]]\nurl = 'x'", "index", "UV_INDEX"),
        ("index = [{ url = 'x' }]", "index", "UV_INDEX"),
        (
            "\"extra-index-url\" = ['x']",
            "extra-index-url",
            "UV_EXTRA_INDEX_URL",
        ),
    ] {
        refused("uvx thing", &[], (usual, text), key, variable);
        let named = [("XDG_CONFIG_HOME", "HOME/c")];
        refused("uvx thing", &named, ("c/uv/uv.toml", text), key, variable);
        let named = [("UV_CONFIG_FILE", "HOME/u.toml")];
        refused("uvx thing", &named, ("u.toml", text), key, variable);
        assert!(found("npx -y thing", &[], &[], (usual, text)).is_ok());
    }
    let text = "python-preference = 'system'\n[pip]\nindex-url = 'https://a.example/'";
    assert!(found("uvx thing", &[], &[], (usual, text)).is_ok());
}

#[test]
fn quotes_and_comments_of_npm_are_none_of_an_address() {
    for line in [
        "'registry' = 'https://b.example/'",
        "\"registry\"=\"https://b.example/\"",
        "registry=https://b.example/ ; ours",
    ] {
        let found = found("npx -y thing", &[], &[], (".npmrc", line)).unwrap();
        let expected = (NPM.to_owned(), "https://b.example/".to_owned());
        assert_eq!(found.env, [expected], "{line}");
    }
    let bad = ("npm_config_registry", "https://me:x@a.example/");
    check(
        "npx --registry https://b.example -y thing",
        &[],
        &[bad],
        "",
        "b.example",
    );
}
