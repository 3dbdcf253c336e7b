//! Files that anybody may have written: whatever they hold, loading answers and never panics.

use jig_config::load;
use proptest::prelude::*;

use crate::workspace::Workspace;

/// Loads a file and an assignment, and renders whatever comes out.
fn check(toml: &str, set: &str) {
    let workspace = Workspace::with(toml);
    let mut sources = workspace.sources();
    sources.sets.push(set.to_owned());
    sources.environment.push((
        "JIG_CFG__TOOLS__A__RUN".into(),
        set.replace('\0', "").into(),
    ));
    match load(&sources) {
        Ok(loaded) => {
            let text = jig_config::show(&loaded.config, true);
            let again = Workspace::with(&text).load();
            let again = again
                .unwrap_or_else(|errors| panic!("what is shown does not load: {errors}\n{text}"));
            assert_eq!(
                jig_config::show(&again.config, false),
                jig_config::show(&loaded.config, false)
            );
        }
        Err(errors) => {
            for colour in [false, true] {
                assert!(!errors.render(colour).is_empty());
            }
            assert_eq!(
                errors.to_json().as_array().map(Vec::len),
                Some(errors.problems().len())
            );
        }
    }
}

/// Pieces of configurations, so that random texts get past the parser now and then.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "[tools.a]\n",
        "[tools.'*']\n",
        "[[tools.a.access.fs]]\n",
        "[conversation.tools.b]\n",
        "source = \"local\"\n",
        "source = \"mcp.x\"\n",
        "command = \"make {{x}}\"\n",
        "command = [\n",
        "path = \"src\"\n",
        "path = \"../ü\"\n",
        "read = true\n",
        "write = 1\n",
        "access = 1\n",
        "access.fs = { strategy = \"replace\", value = [] }\n",
        "options = { a = { b = [1.5, nan] } }\n",
        "sandbox.filesystem.allow = [\".\"]\n",
        "sandbox.network.allow = [\"http://ü:1/\"]\n",
        "parameters.'ä\\'.type = \"string\"\n",
        "\"\\u001b\" = 1\n",
        "enable = { state = \"on\" }\n",
        "a.b.c = 2024-01-01\n",
        "= 1\n",
        "[",
        "]",
        "\"",
        "'''",
        "{",
        "}",
        ",",
        "\r\n",
        "\u{feff}",
        "\u{202e}",
    ])
    .prop_map(str::to_owned);
    prop_oneof![8 => known, 1 => "\\PC{0,12}", 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_files_and_assignments(
        pieces in prop::collection::vec(piece(), 0..12),
        set in prop_oneof![any::<String>(), "tools\\.a\\.[a-z]{1,8} ?= ?\\PC{0,10}"],
    ) {
        check(&pieces.concat(), &set);
    }
}

#[test]
fn deep_wide_and_long_files() {
    check(&format!("[tools{}]\n", ".a".repeat(100_000)), "");
    check(&format!("a = {}", "[".repeat(100_000)), "");
    check(&format!("a = {}", "{a=".repeat(100_000)), "");
    check(&"[tools.x]\n".repeat(20_000), "");
    check(&"unknown = 1\n[tools.b]\n".repeat(20_000), "");
    check(
        &format!("[tools.a]\n{} = 1\n", "k".repeat(1_000_000)),
        &"x".repeat(100_000),
    );
    let many: String = (0..20_000).map(|index| format!("k{index} = 1\n")).collect();
    check(&many, "");
}
