use super::{GROUPS, is_loader_prefix, is_loader_variable};

#[test]
fn variables_that_make_programs_run_code() {
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_ls%%",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "IFS",
        "PERL5LIB",
        "PERL5OPT",
        "PERL5DB",
        "RUBYOPT",
        "RUBYLIB",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "GIT_EXTERNAL_DIFF",
        "GIT_DIR",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "CLASSPATH",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "LESSOPEN",
        "LESSCLOSE",
        "MANPAGER",
        "RUSTC_WRAPPER",
        "RUSTC",
        "RUSTFLAGS",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
        "npm_config_script_shell",
        "NPM_CONFIG_SCRIPT_SHELL",
        "TERMINFO",
        "LUA_INIT",
        "LUA_CPATH_5_4",
        "PHPRC",
        "ld_preload",
    ] {
        assert!(is_loader_variable(name), "{name}");
    }
}

#[test]
fn ordinary_variables_are_not_among_them() {
    for name in [
        "",
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "TERM",
        "TZ",
        "AWS_REGION",
        "GITHUB_TOKEN",
        "GITLAB_TOKEN",
        "NODE_ENV",
        "CARGO_TERM_COLOR",
        "CARGO_INCREMENTAL",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "JAVA_HOME",
        "GOPATH",
        "LD",
        "LDAP_URL",
        "ENVIRONMENT",
        "EDITOR_THEME",
        "PS",
        "ü",
        "LÜ_X",
        "CI",
    ] {
        // `LD` alone names the linker of a build.
        assert_eq!(is_loader_variable(name), name == "LD", "{name}");
    }
}

#[test]
fn prefixes_that_hold_nothing_else() {
    for literal in [
        "LD_",
        "LD_PRE",
        "GIT_",
        "GIT_CONFIG_",
        "PYTHON",
        "npm_config_",
    ] {
        assert!(is_loader_prefix(literal), "{literal}");
    }
    for literal in ["", "L", "GI", "NODE_", "EDITOR", "CARGO_", "AWS_"] {
        assert!(!is_loader_prefix(literal), "{literal}");
    }
}

/// A name that a prefix covers already would only look as if it had to be there.
#[test]
fn the_lists_hold_nothing_twice() {
    let names: Vec<&str> = GROUPS
        .iter()
        .flat_map(|group| group.names)
        .copied()
        .collect();
    let prefixes: Vec<&str> = GROUPS
        .iter()
        .flat_map(|group| group.prefixes)
        .copied()
        .collect();
    for (index, name) in names.iter().enumerate() {
        assert!(!is_loader_prefix(name), "{name}");
        assert!(!names[index + 1..].contains(name), "{name}");
    }
    for prefix in &prefixes {
        let covering = prefixes.iter().filter(|other| prefix.starts_with(**other));
        assert_eq!(covering.count(), 1, "{prefix}");
    }
}
