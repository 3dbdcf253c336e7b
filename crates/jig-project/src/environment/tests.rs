use super::*;

fn environment(variables: &[(&str, &str)]) -> CommandEnvironment {
    let variables = variables.iter();
    CommandEnvironment(
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

/// What a station loads for a client is what the client itself would load.
#[test]
fn sources_are_those_of_the_process() {
    let own = CommandEnvironment::of_this_process().sources("/ws".into());
    let expected = Sources::from_environment("/ws");
    assert_eq!(own.home, expected.home);
    assert_eq!(own.user_config, expected.user_config);
    assert_eq!(own.state, expected.state);
    assert_eq!(own.workspace, expected.workspace);
}

#[test]
fn folders_are_absolute_or_none() {
    let check = |variables: &[(&str, &str)], state: Option<&str>, config: Option<&str>| {
        let environment = environment(variables);
        assert_eq!(
            environment.state().as_deref().map(|path| path.as_str()),
            state
        );
        let found = environment.sources("/ws".into()).user_config;
        assert_eq!(found.as_deref().map(|path| path.as_str()), config);
    };
    check(&[], None, None);
    check(&[("HOME", "relative")], None, None);
    check(
        &[("HOME", "/h")],
        Some("/h/.local/state/jig"),
        Some("/h/.config/jig/config.toml"),
    );
    check(
        &[
            ("HOME", "/h"),
            ("XDG_STATE_HOME", "/s"),
            ("XDG_CONFIG_HOME", "x"),
        ],
        Some("/s/jig"),
        Some("/h/.config/jig/config.toml"),
    );
}

/// A relative entry would mean the folder that a tool works in.
#[test]
fn the_search_path_has_absolute_entries_only() {
    let check = |path: &str, expected: Option<&str>| {
        let found = environment(&[("PATH", path)]).search_path();
        assert_eq!(
            found.as_deref(),
            expected.map(std::ffi::OsStr::new),
            "{path}"
        );
    };
    check("/bin:/usr/bin", Some("/bin:/usr/bin"));
    check(".:/bin:tools::", Some("/bin"));
    check("", None);
    check(".", None);
}

/// Values are secrets.
#[test]
fn nothing_is_printed_of_values() {
    let text = format!("{:?}", environment(&[("TOKEN", "secret")]));
    assert_eq!(text, "Environment(1 variables)");
}

/// Compiled code and the key that vouches for it are in different folders, or neither is anywhere.
#[cfg(feature = "wasm-tools")]
#[test]
fn compiled_code_is_kept_apart_from_its_key() {
    let check = |variables: &[(&str, &str)], expected: Option<(&str, &str)>| {
        let cache = environment(variables).wasm_settings().cache;
        let found = cache
            .as_ref()
            .map(|dirs| (dirs.code.to_str().unwrap(), dirs.key.to_str().unwrap()));
        assert_eq!(found, expected, "{variables:?}");
    };
    check(&[], None);
    check(&[("XDG_CACHE_HOME", "/c")], None);
    check(&[("HOME", "relative")], None);
    check(
        &[("HOME", "/h")],
        Some(("/h/.cache/jig/wasm", "/h/.local/state/jig/wasm.key")),
    );
    check(
        &[
            ("HOME", "/h"),
            ("XDG_CACHE_HOME", "/c"),
            ("XDG_STATE_HOME", "/s"),
        ],
        Some(("/c/jig/wasm", "/s/jig/wasm.key")),
    );
}
