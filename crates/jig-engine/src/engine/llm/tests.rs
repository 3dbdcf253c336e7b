use std::sync::Arc;

use jig_broker::HostEnv;
use jig_config::Sources;
use jig_files::MemoryFiles;

use crate::Engine;

/// An engine with these assignments to `llm.…`, and these variables of the host.
fn engine(sets: &[&str], variables: &[(&str, &str)]) -> Engine {
    let mut sources = Sources::new("/nowhere");
    sources.sets = sets.iter().map(|set| format!("llm.{set}")).collect();
    let config = jig_config::load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
    let mut engine = Engine::new(Arc::new(config.config), Arc::new(MemoryFiles::new()));
    engine.env = variables.iter().copied().collect::<HostEnv>();
    engine
}

const LOCAL: &str = "base_url=http://127.0.0.1:1/v1";

#[test]
fn without_a_table_there_is_no_llm() {
    let engine = engine(&[], &[("OPENAI_API_KEY", "sk-test")]);
    assert!(engine.llm().expect("no error").is_none());
}

/// F-072: the top level asks one model, nested processes another.
#[test]
fn f072_models_by_level() {
    let check = |sets: &[&str], expected: [&str; 3]| {
        let engine = engine(sets, &[("OPENAI_API_KEY", "sk-test")]);
        let llm = engine.llm().expect("it can be used").expect("there is one");
        assert_eq!(
            [llm.base_url(), llm.model(true), llm.model(false)],
            expected,
            "{sets:?}"
        );
    };
    let openai = "https://api.openai.com/v1";
    let local = "http://127.0.0.1:1/v1";
    check(&["model=gpt-4o"], [openai, "gpt-4o", "gpt-4o-mini"]);
    check(&["model=a", LOCAL], [local, "a", "a"]);
    check(&["model=a", "internal_model=b"], [openai, "a", "b"]);
    check(&["model=a", "internal_model=b", LOCAL], [local, "a", "b"]);
}

/// F-093: the key is where its variable says, and in nothing that is printed.
#[test]
fn f093_keys() {
    let check = |sets: &[&str], variables: &[(&str, &str)], expected: Result<bool, &str>| {
        let mut sets = sets.to_vec();
        sets.push("model=a");
        let engine = engine(&sets, variables);
        match (engine.llm(), expected) {
            (Ok(llm), Ok(has_key)) => {
                let shown = format!("{llm:?}");
                assert!(shown.contains(&format!("has_key: {has_key}")), "{shown}");
                assert!(!shown.contains("sk-"), "{shown}");
            }
            (Err(error), Err(text)) => {
                let error = error.to_string();
                assert!(error.contains(text), "{error}");
                assert!(!error.contains("sk-"), "{error}");
            }
            (found, expected) => panic!("{sets:?}: {found:?}, {expected:?}"),
        }
    };
    let usual = [("OPENAI_API_KEY", "sk-usual")];
    check(&[], &usual, Ok(true));
    check(&[], &[], Err("`OPENAI_API_KEY` is not set"));
    let blank = [("OPENAI_API_KEY", " \n")];
    check(&[], &blank, Err("`OPENAI_API_KEY` is empty"));
    check(&["key_env="], &usual, Ok(false));
    // The key of one provider is not for another.
    check(&[LOCAL], &usual, Ok(false));
    check(&[LOCAL, "key_env=OPENAI_API_KEY"], &usual, Ok(true));
    check(&["key_env=OWN"], &usual, Err("`OWN` is not set"));
    check(&["key_env=OWN"], &[("OWN", "sk-own\n")], Ok(true));
    let two_lines = [("OWN", "sk-one\nsk-two")];
    check(
        &["key_env=OWN"],
        &two_lines,
        Err("characters that no key has"),
    );
}

/// F-094, X-31: what is configured is what is counted against.
#[test]
fn x31_quota() {
    let check = |sets: &[&str], expected: (bool, f64)| {
        let mut sets = sets.to_vec();
        sets.extend(["model=a", LOCAL]);
        let engine = engine(&sets, &[]);
        let llm = engine.llm().expect("it can be used").expect("there is one");
        assert_eq!((llm.has_quota(), llm.quota().limit), expected, "{sets:?}");
    };
    check(&[], (false, 0.0));
    check(&["quota=0"], (true, 0.0));
    check(&["quota=50000"], (true, 50_000.0));
    check(&["quota=0.5"], (true, 0.5));
}
