use super::{go_env, ini, is_open, npmrc, toml};

#[test]
fn addresses_with_passwords_are_not_open() {
    for value in [
        "https://index.test/simple",
        "off",
        "https://a.test/x@1 https://b.test",
        "-mod=mod",
    ] {
        assert!(is_open(value), "{value}");
    }
    for value in [
        "https://u:p@index.test",
        "direct,https://t@b.test/x",
        "https://${TOKEN}/",
    ] {
        assert!(!is_open(value), "{value}");
    }
}

#[test]
fn settings_are_told_without_secrets() {
    let text = "registry=https://r.test/\n@me:registry = https://m.test/\n//r.test/:_authToken=abc\n\
                _auth=abc\nstrict-ssl=false\nregistry=https://u:p@r.test/\nkey=secret\n";
    let kept = "registry=https://r.test/\n@me:registry = https://m.test/\nstrict-ssl=false\n";
    assert_eq!(npmrc(text), kept);
    let text = "[global]\nindex-url = https://u:p@i.test\nextra-index-url =\n    https://a.test\n    \
                https://u:p@b.test\npassword = x\n  more\ntrusted_host = a.test\n";
    let kept = "[global]\nextra-index-url =\n    https://a.test\ntrusted_host = a.test\n";
    assert_eq!(ini(text), kept);
    let text = "GOPROXY=https://u:p@p.test\nGOPRIVATE=a.test\nNETRC=x\n";
    assert_eq!(go_env(text), "GOPRIVATE=a.test\n");
}

#[test]
fn cargo_is_configured_without_tokens() {
    let text = "[registry]\ntoken = \"abc\"\n[registries.own]\nindex = \"sparse+https://i.test/\"\n\
                token = \"def\"\ncredential-provider = [\"x\", \"y\"]\n[http]\nproxy = \"http://u:p@h\"\n\
                cainfo = \"/etc/ca\"\n[target.x]\nproxy = \"who:pass@proxy:3128\"\n[build]\ntarget-dir = \"/x\"\njobs = 2\n[env]\nAPI_TOKEN = \"ghi\"\nA = \"1\"\n";
    let kept = toml(text).unwrap();
    for secret in [
        "abc",
        "def",
        "ghi",
        "u:p@",
        "pass",
        "credential",
        "/x",
        "A = \"1\"",
    ] {
        assert!(!kept.contains(secret), "{secret}: {kept}");
    }
    for open in ["sparse+https://i.test/", "/etc/ca", "jobs = 2"] {
        assert!(kept.contains(open), "{open}: {kept}");
    }
    assert_eq!(toml("not = [toml"), None);
}
