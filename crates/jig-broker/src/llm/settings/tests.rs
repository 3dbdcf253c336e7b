//! F-072, F-093: what may be configured.

use std::time::Duration;

use super::{LlmSettings, LlmSettingsError, Weights};
use crate::llm::Llm;

fn settings(url: &str) -> Result<LlmSettings, LlmSettingsError> {
    LlmSettings::new(url.parse().unwrap(), Some("sk-hunter22".to_owned()), "big")
}

#[test]
fn f093_the_key_goes_nowhere_in_the_open() {
    let check = |url: &str, expected: Result<(), LlmSettingsError>| {
        assert_eq!(settings(url).map(drop), expected, "{url}");
    };
    check("https://api.openai.com/v1", Ok(()));
    check("https://10.0.0.7:8443", Ok(()));
    check("http://127.0.0.1:11434/v1", Ok(()));
    check("http://127.9.9.9/v1", Ok(()));
    check("http://[::1]:8080/v1", Ok(()));
    check("http://[::ffff:127.0.0.1]/v1", Ok(()));
    check("http://localhost:8080/v1", Ok(()));
    check("http://ollama.localhost/v1", Ok(()));
    check("http://example.com/v1", Err(LlmSettingsError::Plain));
    check("http://10.0.0.7/v1", Err(LlmSettingsError::Plain));
    check("http://localhost.example.com", Err(LlmSettingsError::Plain));
    check("ftp://example.com", Err(LlmSettingsError::Scheme));
    check("file:///etc/passwd", Err(LlmSettingsError::Scheme));
    check("unix:/run/x.sock", Err(LlmSettingsError::Scheme));
    check("https://me@example.com", Err(LlmSettingsError::Extra));
    check("https://:pass@example.com", Err(LlmSettingsError::Extra));
    check("https://example.com/?key=1", Err(LlmSettingsError::Extra));
    check("https://example.com/#x", Err(LlmSettingsError::Extra));
}

#[test]
fn requests_go_to_one_place() {
    let check = |url: &str, expected: &str| {
        assert_eq!(settings(url).unwrap().endpoint().as_str(), expected);
    };
    check(
        "https://api.openai.com/v1",
        "https://api.openai.com/v1/chat/completions",
    );
    check(
        "https://api.openai.com/v1/",
        "https://api.openai.com/v1/chat/completions",
    );
    check(
        "https://example.com",
        "https://example.com/chat/completions",
    );
    check(
        "https://example.com/a/b",
        "https://example.com/a/b/chat/completions",
    );
}

#[test]
fn f072_nested_calls_have_a_model_of_their_own() {
    let model = |url: &str, top_level| {
        let llm = Llm::new(settings(url).unwrap()).unwrap();
        llm.model(top_level).to_owned()
    };
    assert_eq!(model("https://api.openai.com/v1", true), "big");
    assert_eq!(model("https://api.openai.com/v1", false), "gpt-4o-mini");
    assert_eq!(model("https://example.com/v1", true), "big");
    assert_eq!(model("https://example.com/v1", false), "big");
}

#[test]
fn keys_are_keys() {
    let check = |key: &str, expected: Result<Option<&str>, LlmSettingsError>| {
        let url = "https://example.com".parse().unwrap();
        let got = LlmSettings::new(url, Some(key.to_owned()), "m").map(|made| made.key);
        assert_eq!(got, expected.map(|key| key.map(str::to_owned)), "{key:?}");
    };
    check("sk-1", Ok(Some("sk-1")));
    check(" sk-1\n", Ok(Some("sk-1")));
    check("", Ok(None));
    check(" \n", Ok(None));
    check("sk-1\nX-Other: 1", Err(LlmSettingsError::Key));
    check("sk ä", Err(LlmSettingsError::Key));
}

#[test]
fn f093_the_key_is_in_no_debug_output() {
    let settings = settings("https://example.com").unwrap();
    assert!(!format!("{settings:?}").contains("hunter22"));
    let llm = Llm::new(settings).unwrap();
    let shown = format!("{llm:?}");
    assert!(!shown.contains("hunter22"), "{shown}");
    assert!(shown.contains("has_key: true"), "{shown}");
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let check = |change: fn(&mut LlmSettings), expected: Result<(), LlmSettingsError>| {
        let mut settings = settings("https://example.com").unwrap();
        change(&mut settings);
        assert_eq!(Llm::new(settings).map(drop), expected);
    };
    check(|_| {}, Ok(()));
    check(|s| s.quota = Some(0.0), Ok(()));
    check(|s| s.quota = Some(1e15), Ok(()));
    let quota = Err(LlmSettingsError::Quota);
    check(|s| s.quota = Some(-1.0), quota);
    check(|s| s.quota = Some(f64::NAN), quota);
    check(|s| s.quota = Some(f64::INFINITY), quota);
    let weights = Err(LlmSettingsError::Weights);
    check(|s| s.weights.output = 0.0, Ok(()));
    check(|s| s.weights.input = -0.5, weights);
    check(|s| s.weights.cached = f64::NAN, weights);
    check(|s| s.weights.output = 1e-9, weights);
    check(|s| s.weights.output = 1e9, weights);
    check(
        |s| {
            let bad = Weights {
                input: f64::INFINITY,
                ..Weights::default()
            };
            s.model_weights.insert("big".to_owned(), bad);
        },
        weights,
    );
    let tokens = Err(LlmSettingsError::MaxTokens);
    check(|s| s.max_tokens = 0, tokens);
    check(|s| s.max_tokens = u64::MAX, tokens);
    let time = Err(LlmSettingsError::Time);
    check(|s| s.total_time = Duration::MAX, time);
    check(|s| s.idle_time = Duration::ZERO, time);
    check(|s| s.connect_time = Duration::from_secs(86_401), time);
    let model = Err(LlmSettingsError::Model);
    check(|s| s.model.clear(), model);
    check(|s| s.internal_model = "a\nb".to_owned(), model);
    check(|s| s.model = "x".repeat(257), model);
    // A URL that was put in afterwards is looked at as well.
    check(
        |s| s.base_url = "http://example.com".parse().unwrap(),
        Err(LlmSettingsError::Plain),
    );
}
