//! `[llm]`: what it comes to, who may write it, and that no message repeats a secret.

use std::time::Duration;

use jig_config::{
    Config, ConfigErrors, LlmConfig, LlmKey, LlmTokenField, LlmWeights, Sources, json_schema, load,
    show, show_json,
};
use serde_json::json;

use crate::workspace::Workspace;

/// A workspace with this file of the user, and this `jig.toml`.
fn workspace(user: &str, own: &str) -> (Workspace, Sources) {
    let workspace = Workspace::new()
        .file("home/config.toml", user)
        .file("project/jig.toml", own);
    let mut sources = Sources::new(workspace.path("project"));
    sources.user_config = Some(workspace.path("home/config.toml"));
    (workspace, sources)
}

fn config(user: &str, own: &str) -> Config {
    let (_workspace, sources) = workspace(user, own);
    let loaded = load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
    loaded.config
}

fn llm(user: &str, own: &str) -> LlmConfig {
    config(user, own).llm.expect("it has an LLM")
}

fn errors(user: &str, own: &str) -> ConfigErrors {
    let (_workspace, sources) = workspace(user, own);
    match load(&sources) {
        Ok(_) => panic!("it loads: {user}\n{own}"),
        Err(errors) => errors,
    }
}

/// With the path of the temporary directory left out.
fn text(user: &str, own: &str) -> String {
    let (workspace, sources) = workspace(user, own);
    let errors = load(&sources).expect_err("it does not load");
    let text = errors.to_string();
    text.replace(workspace.root().as_str(), "")
}

#[test]
fn nothing_is_said_and_nothing_is_there() {
    assert!(config("", "").llm.is_none());
    assert!(show_json(&config("", ""), true).get("llm").is_none());
    assert!(!show(&config("", ""), true).contains("[llm]"));
}

#[test]
fn every_default() {
    let llm = llm("[llm]\nmodel = \"gpt-4o\"", "");
    assert_eq!(llm.base_url.as_str(), "https://api.openai.com/v1");
    assert_eq!(llm.key, LlmKey::Variable("OPENAI_API_KEY".to_owned()));
    assert_eq!(
        (llm.model.as_str(), llm.internal_model.as_str()),
        ("gpt-4o", "gpt-4o-mini")
    );
    assert_eq!((llm.max_tokens, llm.retries), (4096, 3));
    assert_eq!(llm.token_field, LlmTokenField::MaxTokens);
    let weights = LlmWeights {
        input: 1.0,
        cached: 0.25,
        output: 4.0,
    };
    assert_eq!(llm.weights, weights);
    assert!(llm.model_weights.is_empty());
    assert_eq!(llm.quota, None);
    assert_eq!(llm.timeout, Duration::from_secs(120));
    assert_eq!(llm.idle_timeout, Duration::from_secs(30));
}

const ALL: &str = r#"
[llm]
base_url = "http://127.0.0.1:8080/v1"
key_env = "LOCAL_KEY"
model = "large"
internal_model = "org/small:free"
max_tokens = 100
token_field = "max_completion_tokens"
quota = 50000
timeout = "5m"
idle_timeout = 10
retries = 0
weights = { input = 2, output = 8.5 }

[llm.models.large]
weights = { output = 20 }

[llm.models."org/small:free"]
weights = { cached = 0 }
"#;

#[test]
fn every_key() {
    let llm = llm(ALL, "");
    assert_eq!(llm.base_url.as_str(), "http://127.0.0.1:8080/v1");
    assert_eq!(llm.key.variable(), "LOCAL_KEY");
    assert_eq!(
        (llm.model.as_str(), llm.internal_model.as_str()),
        ("large", "org/small:free")
    );
    assert_eq!((llm.max_tokens, llm.retries), (100, 0));
    assert_eq!(llm.token_field.name(), "max_completion_tokens");
    assert_eq!(llm.quota, Some(50_000.0));
    assert_eq!(llm.timeout, Duration::from_secs(300));
    assert_eq!(llm.idle_timeout, Duration::from_secs(10));
    let weights = |input, cached, output| LlmWeights {
        input,
        cached,
        output,
    };
    assert_eq!(llm.weights, weights(2.0, 0.25, 8.5));
    // What a model does not say is as for all.
    assert_eq!(llm.model_weights["large"], weights(2.0, 0.25, 20.0));
    assert_eq!(llm.model_weights["org/small:free"], weights(2.0, 0.0, 8.5));
    let origin = llm.origin("weights.output").expect("it was written");
    assert_eq!(origin.line(), 13);
    assert_eq!(llm.declared_at().line(), 2);
    assert!(llm.origin("weights.cached").is_none());
}

/// The key of one provider is not for another: it must be named there.
#[test]
fn f093_which_key_goes_where() {
    let check = |lines: &str, expected: &str| {
        let llm = llm(&format!("[llm]\nmodel = \"m\"\n{lines}\n"), "");
        assert_eq!(llm.key.variable(), expected, "{lines}");
    };
    check("", "OPENAI_API_KEY");
    check(
        "base_url = \"https://api.openai.com/v1/\"",
        "OPENAI_API_KEY",
    );
    check("base_url = \"https://api.openai.com.evil.example/v1\"", "");
    check("base_url = \"https://llm.example/v1\"", "");
    check("base_url = \"http://localhost:11434/v1\"", "");
    check(
        "base_url = \"https://llm.example/v1\"\nkey_env = \"OTHER\"",
        "OTHER",
    );
    check("key_env = \"\"", "");
}

#[test]
fn f072_the_model_of_nested_processes() {
    let check = |lines: &str, expected: &str| {
        let llm = llm(&format!("[llm]\nmodel = \"m\"\n{lines}\n"), "");
        assert_eq!(llm.internal_model, expected, "{lines}");
    };
    check("", "gpt-4o-mini");
    check("internal_model = \"n\"", "n");
    check("base_url = \"https://llm.example/v1\"", "m");
    check(
        "base_url = \"https://llm.example/v1\"\ninternal_model = \"n\"",
        "n",
    );
}

#[test]
fn layers_are_merged_key_by_key() {
    let user = "[llm]\nbase_url = \"https://llm.example/v1\"\nmodel = \"a\"\nquota = 100\n";
    let llm = llm(user, "[llm]\nmodel = \"b\"\nquota = 50\nmax_tokens = 10\n");
    assert_eq!(
        (llm.model.as_str(), llm.quota, llm.max_tokens),
        ("b", Some(50.0), 10)
    );
    assert_eq!(llm.base_url.as_str(), "https://llm.example/v1");
    assert_eq!(
        llm.origin("model").expect("it was written").to_string(),
        "jig.toml:2"
    );
}

/// Whoever writes the files of a project does not choose where a key is sent, or which.
#[test]
fn f093_a_workspace_does_not_choose_where_a_key_goes() {
    let files = ["jig.toml", ".jig/config.toml"];
    for (file, line) in files.iter().flat_map(|file| {
        [
            (file, "base_url = \"https://evil.example/v1\""),
            (file, "key_env = \"AWS_SECRET_ACCESS_KEY\""),
            (file, "key_env = \"\""),
        ]
    }) {
        let content = format!("[llm]\nmodel = \"m\"\n{line}\n");
        let workspace = Workspace::new().file(file, &content);
        let errors = workspace.load().expect_err("it is refused");
        let [problem] = errors.problems() else {
            panic!("{errors}");
        };
        let json = problem.to_json();
        assert_eq!(
            (&json["file"], &json["line"]),
            (&json!(file), &json!(3)),
            "{line}"
        );
        assert!(
            problem
                .message()
                .contains("cannot stand in a file of the workspace")
        );
        assert!(problem.help().contains("~/.config/jig/config.toml"));
    }
    insta::assert_snapshot!(
        "where_the_key_goes",
        text(
            "",
            "[llm]\nmodel = \"m\"\nbase_url = \"https://evil.example/v1\"\n"
        )
    );
    // All other layers are the person's own.
    let line = "[llm]\nbase_url = \"https://llm.example/v1\"\nkey_env = \"OWN\"\n";
    let workspace = Workspace::with("[llm]\nmodel = \"m\"\n").file("own.toml", line);
    let mut sources = workspace.sources();
    sources.files.push(workspace.path("own.toml"));
    let by_file = load(&sources)
        .expect("it loads")
        .config
        .llm
        .expect("an LLM");
    assert_eq!(by_file.key.variable(), "OWN");
    let mut sources = workspace.sources();
    let variable = "JIG_CFG__LLM__BASE_URL".into();
    sources
        .environment
        .push((variable, "https://llm.example/v2".into()));
    sources.sets.push("llm.key_env=SET".to_owned());
    let llm = load(&sources)
        .expect("it loads")
        .config
        .llm
        .expect("an LLM");
    assert_eq!(
        (llm.base_url.as_str(), llm.key.variable()),
        ("https://llm.example/v2", "SET")
    );
}

/// In the file of JP, `[llm]` is how JP asks models.
#[test]
fn what_jp_says_about_models_is_jps() {
    let jp = "[llm]\nbase_url = \"https://evil.example/v1\"\nprovider = { openai = { api_key_env = \"X\" } }\n";
    let workspace = Workspace::new().file(".jp/config.toml", jp);
    assert!(workspace.config().llm.is_none());
}

/// The quota protects a person from what a workspace has a model do.
#[test]
fn f094_a_workspace_does_not_raise_the_quota() {
    let own = |lines: &str| format!("[llm]\nmodel = \"m\"\n{lines}\n");
    let check = |user: &str, project: &str, expected: Result<Option<f64>, &str>| {
        let (_workspace, sources) = workspace(&own(user), &own(project));
        match (load(&sources), expected) {
            (Ok(loaded), Ok(quota)) => {
                let llm = loaded.config.llm.expect("an LLM");
                assert_eq!(llm.quota, quota, "{user} / {project}");
            }
            (Err(errors), Err(key)) => {
                let keys: Vec<&str> = errors.problems().iter().map(|one| one.key_path()).collect();
                assert_eq!(keys, [key], "{user} / {project}");
            }
            (found, expected) => panic!("{user} / {project}: {found:?}, {expected:?}"),
        }
    };
    check("quota = 100", "", Ok(Some(100.0)));
    check("quota = 100", "quota = 50", Ok(Some(50.0)));
    check("quota = 100", "quota = 100", Ok(Some(100.0)));
    check("quota = 100", "quota = 101", Err("llm.quota"));
    check("quota = 100", "quota = 0", Err("llm.quota"));
    check(
        "quota = 100",
        "weights = { output = 0 }",
        Err("llm.weights"),
    );
    check(
        "quota = 100",
        "models.m.weights.output = 0",
        Err("llm.models"),
    );
    check("quota = 100\nweights.output = 2", "", Ok(Some(100.0)));
    // Who counts without a limit has no limit to protect.
    check("quota = 0", "quota = 7", Ok(Some(7.0)));
    check("", "quota = 7\nweights = { output = 0 }", Ok(Some(7.0)));
    insta::assert_snapshot!(
        "quota_raised",
        text(
            &own("quota = 100"),
            &own("quota = 0\nweights = { output = 0 }")
        )
    );
    // Above the workspace the person may say anything; the weights still are not the workspace's.
    let (_workspace, mut sources) = workspace(&own("quota = 5"), &own("quota = 5"));
    sources.sets.push("llm.quota=500".to_owned());
    let llm = load(&sources)
        .expect("it loads")
        .config
        .llm
        .expect("an LLM");
    assert_eq!(llm.quota, Some(500.0));
    let (_workspace, mut sources) = workspace("", &own("weights = { output = 0 }"));
    load(&sources).expect("without a quota it loads");
    sources.sets.push("llm.quota=500".to_owned());
    assert!(load(&sources).is_err());
}

/// A key that was written where it does not belong is in no message.
#[test]
fn f093_no_message_repeats_a_secret() {
    let secret = "sk-1234567890-SECRET";
    let check = |lines: &str, expected: &str| {
        let lines = lines.replace("SECRET", secret);
        let user = format!("[llm]\nmodel = \"m\"\n{lines}\n");
        let errors = errors(&user, "");
        for text in [
            errors.to_string(),
            errors.render(true),
            errors.to_json().to_string(),
        ] {
            assert!(!text.contains("1234567890"), "{text}");
            assert!(text.contains(expected), "{text}");
        }
        let line = errors.problems()[0].to_json()["line"].as_u64();
        assert_eq!(line, Some(3), "{lines}");
    };
    let way_out = "never stands in a file";
    check("api_key = \"SECRET\"", way_out);
    check("apiKey = \"SECRET\"", way_out);
    check("key = \"SECRET\"", way_out);
    check("token = \"SECRET\"", way_out);
    check("openai_api_key = \"SECRET\"", "no key of the LLM");
    check("key_env = \"SECRET\"", "not the name of a variable");
    check(
        "key_env = \"sk_live_1234567890\"",
        "not the name of a variable",
    );
    check(
        "base_url = \"https://user:SECRET@llm.example/v1\"",
        "a name or a password",
    );
    check(
        "base_url = \"https://llm.example/v1?key=SECRET\"",
        "neither `?` nor `#`",
    );
    check("base_url = \"SECRET\"", "no valid `base_url`");
    // A mistake in the same line does not show it, either.
    check(
        "models = { a = { api_key = \"SECRET\", wieghts = {} } }",
        "no key of a model",
    );
    let (_workspace, mut sources) = workspace("[llm]\nmodel = \"m\"", "");
    sources.sets.push(format!("llm.api_key={secret}"));
    sources
        .environment
        .push(("JIG_CFG__LLM__KEY_ENV".into(), secret.into()));
    let errors = load(&sources).expect_err("it is refused");
    assert_eq!(errors.problems().len(), 2, "{errors}");
    assert!(!errors.to_string().contains(secret), "{errors}");
    insta::assert_snapshot!(
        "key_in_a_file",
        text(
            "[llm]\nmodel = \"m\"\napi_key = \"sk-1\"\nbase_url = \"http://a:b@c.de\"\n",
            ""
        )
    );
}

#[test]
fn mistakes() {
    let check = |lines: &str, expected: &str| {
        let errors = errors(&format!("[llm]\n{lines}\n"), "");
        let [problem] = errors.problems() else {
            panic!("{lines}: {errors}");
        };
        let told = format!("{}; {}", problem.message(), problem.help());
        assert!(told.contains(expected), "{lines}: {told}");
        assert!(problem.key_path().starts_with("llm"), "{lines}");
        assert!(problem.origin().is_some(), "{lines}");
    };
    check(
        "quota = 5",
        "the LLM has no `model`, so nothing can be asked",
    );
    check("model = \"\"", "it is empty");
    check("model = \"a\\nb\"", "control character");
    check("model = 4", "is an integer, not a string");
    let with = |line: &str, expected: &str| check(&format!("model = \"m\"\n{line}"), expected);
    with("internal_model = \" \"", "it is empty");
    with(
        "base_url = \"http://llm.example/v1\"",
        "everybody on the way could read",
    );
    with(
        "base_url = \"http://localhost.example/v1\"",
        "everybody on the way could read",
    );
    with(
        "base_url = \"http://10.0.0.1/v1\"",
        "everybody on the way could read",
    );
    with(
        "base_url = \"http://0.0.0.0:80/v1\"",
        "everybody on the way could read",
    );
    with(
        "base_url = \"ftp://llm.example\"",
        "`ftp` is no way to ask a model",
    );
    with("base_url = \"file:///etc/passwd\"", "it names no host");
    with("base_url = \"llm.example/v1\"", "relative URL");
    with("base_url = 1", "not a string");
    with(
        "key_env = \"$OPENAI_API_KEY\"",
        "not the name of a variable",
    );
    with("key_env = \"A B\"", "not the name of a variable");
    with("key_env = \"A=B\"", "not the name of a variable");
    with("key_env = \"1A\"", "not the name of a variable");
    with("max_tokens = 0", "out of range");
    with("max_tokens = \"100\"", "remove the quotes");
    with("token_field = \"tokens\"", "`\"max_tokens\"`");
    with("quota = -1", "out of range");
    with("quota = -0.5", "`quota` is -0.5, out of range");
    with("quota = nan", "out of range");
    with("quota = inf", "out of range");
    with("quota = \"none\"", "not an integer or a float");
    with("quota = \"5000\"", "remove the quotes");
    with("weights = { input = -1 }", "out of range");
    with("weights = { input = 1e300 }", "out of range");
    with("weights = { completion = 1 }", "write `output`");
    with("weights = 4", "is an integer, not a table");
    with("timeout = 0", "it must be between 1s and 1h");
    with("timeout = \"2h\"", "it must be between 1s and 1h");
    with("idle_timeout = \"soon\"", "does not begin with a number");
    with("retries = 11", "write a number between 0 and 10");
    with(
        "models = { m = { input = 1 } }",
        "write `weights = { input = 1.0 }`",
    );
    with("models = { \"\" = {} }", "it is empty");
    with("modle = \"x\"", "did you mean `model`?");
    with("url = \"x\"", "write `base_url`");
    with("internalModel = \"x\"", "write `internal_model`");
    let errors = errors("[openai]\nmodel = \"m\"", "");
    assert!(errors.to_string().contains("write `[llm]`"), "{errors}");
}

#[test]
fn http_is_for_this_machine() {
    for good in [
        "http://localhost/v1",
        "http://LOCALHOST:80/v1",
        "http://a.localhost:80/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.1.2.3/v1",
        "http://[::1]:8080/v1/",
        "https://llm.example:8443/some/where/v1",
    ] {
        llm(
            &format!("[llm]\nmodel = \"m\"\nbase_url = \"{good}\"\n"),
            "",
        );
    }
}

#[test]
fn a_model_that_is_never_asked_deserves_a_word() {
    let check = |lines: &str, expected: Option<&str>| {
        let user = format!("[llm]\nmodel = \"gpt-4o\"\n{lines}\n");
        let (_workspace, sources) = workspace(&user, "");
        let warnings = load(&sources).expect("it loads").warnings;
        let told: Vec<String> = warnings.iter().map(|one| one.render(false)).collect();
        match expected {
            None => assert_eq!(told, [""; 0]),
            Some(help) => assert!(told.len() == 1 && told[0].contains(help), "{told:?}"),
        }
    };
    check("models = { gpt-4o = {}, gpt-4o-mini = {} }", None);
    check("models = { gpt4o = {} }", Some("did you mean `gpt-4o`?"));
    check(
        "models = { llama = {} }",
        Some("the models are `gpt-4o` and `gpt-4o-mini`"),
    );
}

#[test]
fn what_is_shown_loads_as_the_same() {
    let first = config(ALL, "");
    for origin in [false, true] {
        let again = config(&show(&first, origin), "");
        assert_eq!(
            show_json(&again, false)["llm"],
            show_json(&first, false)["llm"]
        );
    }
    let short = config("[llm]\nmodel = \"m\"\nquota = 2.5\n", "");
    let text = show(&short, false);
    let start = text.find("[llm]").expect("it is shown");
    let shown = text[start..].split("\n\n").next().expect("a table");
    insta::assert_snapshot!("llm_with_defaults", shown);
    let json = show_json(&short, true);
    assert_eq!(json["llm"]["quota"], 2.5);
    assert_eq!(json["llm"]["key_env"], "OPENAI_API_KEY");
    assert_eq!(json["llm"]["max_tokens"], 4096);
    assert_eq!(json["origins"]["llm.quota"]["line"], 3);
    assert_eq!(json["origins"].get("llm.key_env"), None);
}

#[test]
fn the_schema_and_the_loader_agree() {
    let validator = jsonschema::draft202012::new(&json_schema()).expect("a valid schema");
    let check = |good: bool, line: &str| {
        let user = format!("[llm]\nmodel = \"m\"\n{line}\n");
        let (_workspace, sources) = workspace(&user, "");
        assert_eq!(load(&sources).is_ok(), good, "the loader: {line}");
        let json: serde_json::Value = toml::from_str(&user).expect("TOML");
        assert_eq!(validator.is_valid(&json), good, "the schema: {line}");
    };
    for good in [
        "",
        "quota = 0",
        "quota = 1.5",
        "weights = { input = 0, cached = 0.1 }",
        "key_env = \"\"",
        "key_env = \"_A1\"",
        "base_url = \"HTTPS://llm.example\"",
        "timeout = 30",
        "timeout = \"30s\"",
        "models.\"a b/c\".weights.output = 3",
    ] {
        check(true, good);
    }
    for bad in [
        "quota = -1",
        "quota = \"1\"",
        "quota = true",
        "weights = { input = 1000001 }",
        "key_env = \"A-B\"",
        "key_env = \"A=B\"",
        "base_url = \"llm.example\"",
        "base_url = \"https://a@b\"",
        "base_url = \"https://a/?b\"",
        "timeout = 0",
        "timeout = \"1 week\"",
        "retries = -1",
        "max_tokens = 1.5",
        "token_field = \"other\"",
        "api_key = \"x\"",
        "models.m.weight = 1",
    ] {
        check(false, bad);
    }
}
