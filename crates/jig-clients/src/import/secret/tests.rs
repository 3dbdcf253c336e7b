use super::*;

#[test]
fn what_looks_like_a_secret() {
    let check = |name: &str, value: &str, expected: bool| {
        assert_eq!(is_secret(name, value), expected, "{name}={value}");
    };
    // By its name.
    check("API_KEY", "hunter2hunter2", true);
    check("GITHUB_PERSONAL_ACCESS_TOKEN", "abcd", true);
    check("dbPassword", "correct horse", true);
    check("api-key", "xyzzy", true);
    check("X-Api-Key", "xyzzy", true);
    // By itself, whatever it is called.
    check("A", "ghp_0123456789abcdefghij", true);
    check("A", "sk-proj-0123456789abcdef", true);
    check("A", "Bearer 0123456789", true);
    check("A", "postgres://user:hunter2@db/app", true);
    check("A", "-----BEGIN RSA PRIVATE KEY-----", true);
    check("A", "Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg", true);
    check("A", "550e8400e29b41d4a716446655440000", true);
    // Neither.
    check("KEYBOARD", "qwerty", false);
    check("MONKEY", "bananas", false);
    check("API_KEY", "", false);
    check("USE_TOKEN", "true", false);
    check("TOKEN_LIMIT", "4096", false);
    check("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json", false);
    check("TOKEN_URL", "https://example.com/token", false);
    check(
        "A",
        "@modelcontextprotocol/server-filesystem@2025.8.21",
        false,
    );
    check("A", "mcp-server-time-and-other-words-2", false);
    check("A", "--allow-write", false);
    check("NODE_ENV", "production", false);
}

/// What is written of a server's texts, and the variables that are to be set.
fn searched(act: impl Fn(&mut SecretSearch<'_>) -> Vec<ImportText>) -> (Vec<String>, Vec<String>) {
    let mut secrets = SecretVariables::default();
    let mut exports = Vec::new();
    let mut search = SecretSearch {
        secrets: &mut secrets,
        server: "my-api",
        exports: &mut exports,
    };
    let texts = act(&mut search);
    let written = texts.iter().map(ImportText::written).collect();
    (
        written,
        exports.into_iter().map(|one| one.variable).collect(),
    )
}

#[test]
fn words_of_a_command() {
    let check = |words: &[&str], expected: &[&str], exports: &[&str]| {
        let words = || words.iter().map(|word| ImportText::plain(word)).collect();
        assert_eq!(
            searched(|search| search.words(words())),
            (
                expected.iter().map(ToString::to_string).collect(),
                exports.iter().map(ToString::to_string).collect()
            )
        );
    };
    check(&["npx", "-y", "@a/b"], &["npx", "-y", "@a/b"], &[]);
    check(
        &["x", "--api-key", "hunter22"],
        &["x", "--api-key", "${MY_API_API_KEY}"],
        &["MY_API_API_KEY"],
    );
    check(
        &["x", "--token=hunter22", "--port", "8080"],
        &["x", "--token=${MY_API_TOKEN}", "--port", "8080"],
        &["MY_API_TOKEN"],
    );
    check(
        &["x", "postgresql://u:hunter2@h/d"],
        &["x", "${MY_API_ARGUMENT}"],
        &["MY_API_ARGUMENT"],
    );
    check(
        &["docker", "run", "-e", "API_KEY=hunter22", "image"],
        &["docker", "run", "-e", "API_KEY=${MY_API_API_KEY}", "image"],
        &["MY_API_API_KEY"],
    );
    check(
        &["x", "--verbose", "--token"],
        &["x", "--verbose", "--token"],
        &[],
    );
}

#[test]
fn headers_keep_their_scheme() {
    let check = |name: &str, value: &str, expected: &str| {
        let (written, _) = searched(|search| vec![search.header(name, ImportText::plain(value))]);
        assert_eq!(written, [expected]);
    };
    check("Authorization", "Bearer abc", "Bearer ${MY_API_TOKEN}");
    check("Authorization", "abcdef", "${MY_API_TOKEN}");
    check("X-Api-Key", "abcdef", "${MY_API_X_API_KEY}");
    check("Accept-Language", "en", "en");
}

#[test]
fn addresses_keep_what_is_no_secret() {
    let check = |url: &str, expected: &str| {
        let (written, _) = searched(|search| vec![search.address(ImportText::plain(url))]);
        assert_eq!(written, [expected]);
    };
    check("https://example.com/mcp", "https://example.com/mcp");
    check(
        "https://example.com/mcp?api_key=hunter22&v=2",
        "https://example.com/mcp?api_key=${MY_API_API_KEY}&v=2",
    );
    check(
        "https://example.com/s/Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg/mcp",
        "https://example.com/s/${MY_API_URL_KEY}/mcp",
    );
    check("https://example.com", "https://example.com");
    check("https://example.com?", "https://example.com");
}

#[test]
fn a_secret_beside_a_variable_is_found() {
    let text = ImportText::of(vec![
        ImportTextPart::Plain("ghp_0123456789abcdefghij,".to_owned()),
        ImportTextPart::Variable {
            name: "B".to_owned(),
            default: None,
            known: None,
        },
    ]);
    let (written, exports) = searched(|search| vec![search.variable("KEYS", text.clone())]);
    assert_eq!(written, ["${KEYS}${B}"]);
    assert_eq!(exports, ["KEYS"]);
}

/// Two servers with two keys of one name need two variables, with one key of one name one.
#[test]
fn one_variable_stands_for_one_secret() {
    let mut secrets = SecretVariables::default();
    let mut name = |server: &str, value: &str| {
        let mut exports = Vec::new();
        let mut search = SecretSearch {
            secrets: &mut secrets,
            server,
            exports: &mut exports,
        };
        search.variable("TOKEN", ImportText::plain(value)).written()
    };
    assert_eq!(name("a", "first"), "${TOKEN}");
    assert_eq!(name("b", "first"), "${TOKEN}");
    assert_eq!(name("c", "other"), "${C_TOKEN}");
    assert_eq!(name("c", "third"), "${C_TOKEN_2}");
    assert_eq!(
        secrets.scrubbed("first other thirds"),
        "[secret] [secret] [secret]s"
    );
}
