//! `jig policy explain` on the worked examples of the documents.

use insta::assert_snapshot;

use super::Workspace;

/// Each question gets the decision and the origin of the rule that made it.
fn check(config: &str, cases: &[(&str, &str, Option<&str>)]) {
    let workspace = Workspace::with(config);
    for (question, decision, origin) in cases {
        let mut args = vec!["--json", "policy", "explain", "tool"];
        args.extend(question.split(' '));
        let output = workspace.jig(&args).output().unwrap();
        let answer = super::parsed(&output);
        assert_eq!(answer["decision"], *decision, "{question}: {answer:#}");
        assert_eq!(answer["origin"].as_str(), *origin, "{question}: {answer:#}");
        assert!(output.status.success(), "an answer is a success");
        let refused = *decision != "allow";
        assert_eq!(
            answer["suggestion"].is_string(),
            refused,
            "{question}: {answer:#}"
        );
    }
}

const HEAD: &str = "[tools.tool]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"tool\"\n";

#[test]
fn g040_the_deepest_rule_on_files_decides() {
    let rules = "
[[tools.tool.access.fs]]
path = '.'
read = true
write = true

[[tools.tool.access.fs]]
path = 'src'
read = true

[[tools.tool.access.fs]]
path = 'src/generated'
read = true
write = true
";
    let (root, src, generated) = (Some("jig.toml:6"), Some("jig.toml:11"), Some("jig.toml:15"));
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("read README.md", "allow", root),
            ("create README.md", "allow", root),
            ("update README.md", "allow", root),
            ("read src/lib.rs", "allow", src),
            ("update src/lib.rs", "deny", src),
            ("create src/lib.rs", "deny", src),
            ("read src/generated/schema.rs", "allow", generated),
            ("update src/generated/schema.rs", "allow", generated),
            ("delete src/generated/schema.rs", "allow", generated),
            ("update tests/main.rs", "allow", root),
            ("update src_generated/foo.rs", "allow", root),
            ("execute tests/main.rs", "deny", root),
        ],
    );
}

#[test]
fn g079_hosts_are_matched_as_hosts() {
    let rules = "
[[tools.tool.access.net]]
host = 'api.github.com'
allow = true

[[tools.tool.access.net]]
host = 'api.github.com'
path_prefix = '/admin'
allow = false
";
    let (host, admin) = (Some("jig.toml:6"), Some("jig.toml:10"));
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("net https://api.github.com/repos", "allow", host),
            ("net https://API.GitHub.com/repos", "allow", host),
            ("net https://api.github.com/administration", "allow", host),
            ("net https://api.github.com/admin/users", "deny", admin),
            ("net https://api.github.com/%61dmin", "deny", admin),
            ("net https://api.github.com.evil.com/", "uncovered", None),
            ("net https://api.github.com@evil.com/", "uncovered", None),
            ("net https://api.github.com:8443/", "uncovered", None),
            ("net https://example.com", "uncovered", None),
        ],
    );
}

#[test]
fn g093_variables_by_name_and_prefix() {
    let rules = "
[[tools.tool.access.env]]
name = 'GITHUB_TOKEN'
read = true

[[tools.tool.access.env]]
name = 'AWS_*'
read = true

[[tools.tool.access.env]]
name = 'AWS_SECRET_ACCESS_KEY'
read = false
";
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("env GITHUB_TOKEN", "allow", Some("jig.toml:6")),
            ("env GITHUB_TOKEN_LOG", "uncovered", None),
            ("env AWS_REGION", "allow", Some("jig.toml:10")),
            ("env AWS_SECRET_ACCESS_KEY", "deny", Some("jig.toml:14")),
            ("env HOME", "uncovered", None),
        ],
    );
}

#[test]
fn g094_the_longer_prefix_decides() {
    let rules = "
[[tools.tool.access.env]]
name = 'AWS_SEC*'
read = true

[[tools.tool.access.env]]
name = 'AWS_SECRET_*'
read = false
";
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("env AWS_SECRET_KEY", "deny", Some("jig.toml:10")),
            ("env AWS_SECURE", "allow", Some("jig.toml:6")),
        ],
    );
}

#[test]
fn programs_by_name_and_arguments() {
    let rules = "
[tools.tool.access.commands.cargo]
args = [['check', '**'], ['fmt']]
";
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("run cargo check --workspace", "allow", Some("jig.toml:6")),
            ("run cargo fmt", "allow", Some("jig.toml:6")),
            ("run cargo fmt --all", "deny", Some("jig.toml:6")),
            ("run cargo publish", "deny", Some("jig.toml:6")),
            ("run git status", "uncovered", None),
        ],
    );
}

/// Taking the suggestion, as text, makes the answer allow.
#[test]
fn the_suggestion_can_be_pasted() {
    for (config, question) in [
        (HEAD.to_owned(), "create out/new.txt"),
        (HEAD.to_owned(), "read .env"),
        (HEAD.to_owned(), "net https://example.com:8443/x"),
        (HEAD.to_owned(), "net ssh://git.example.com/repo"),
        (HEAD.to_owned(), "env GITHUB_TOKEN"),
        (HEAD.to_owned(), "env GITHUB_TOKEN --header"),
        (HEAD.to_owned(), "run cargo test --workspace"),
        (HEAD.to_owned(), "move a b"),
        (
            format!(
                "{HEAD}[[tools.tool.access.fs]]\npath = '.'\nwrite = true\n[[tools.tool.access.fs]]\npath = 'a/b'\n"
            ),
            "delete a",
        ),
    ] {
        let workspace = Workspace::with(&config);
        let mut args = vec!["--json", "policy", "explain", "tool"];
        args.extend(question.split(' '));
        let before = super::parsed(&workspace.jig(&args).output().unwrap());
        assert_ne!(before["decision"], "allow", "{question}");
        let suggestion = before["suggestion"]
            .as_str()
            .unwrap_or_else(|| panic!("{question}: {before:#}"));
        workspace.write("jig.toml", format!("{config}\n{suggestion}"));
        let after = super::parsed(&workspace.jig(&args).output().unwrap());
        assert_eq!(
            after["decision"], "allow",
            "{question} with {suggestion}: {after:#}"
        );
    }
}

const EDITOR: &str = "\
[tools.editor]
source = \"local\"
runtime = \"vfs\"
command = \"tools/editor\"

[[tools.editor.access.fs]]
path = \".\"
read = true
write = true

[[tools.editor.access.fs]]
path = \"src\"
read = true
";

#[test]
fn a_denial_names_the_rule_and_the_way_out() {
    let workspace = Workspace::with(EDITOR);
    assert_snapshot!(workspace.run(&["policy", "explain", "editor", "update", "src/lib.rs"]), @r#"
    deny  update src/lib.rs for editor
      rule      read on `src` (jig.toml:11)
      why       the most specific rule that matches does not grant `update`
      lost      read + write on `.` (jig.toml:6): less specific

    The smallest addition that allows it:

        [[tools.editor.access.fs]]
        path = "src/lib.rs"
        read = true
        update = true
    [exit 0]
    "#);
}

/// X-66: a rule on the whole workspace does not give away what is sensitive.
#[test]
fn x66_a_sensitive_path_needs_a_rule_of_its_own() {
    let workspace = Workspace::with(EDITOR);
    assert_snapshot!(workspace.run(&["policy", "explain", "editor", "read", ".env"]), @r#"
    uncovered  read .env for editor
      rule      read + write on `.` (jig.toml:6)
      why       it is a sensitive path (`.env*`), which only a rule that names it covers
      so        jig asks you; where nobody can answer, it is denied

    The smallest addition that allows it:

        [[tools.editor.access.fs]]
        path = ".env"
        read = true
    [exit 0]
    "#);
}

#[test]
fn a_tool_cannot_widen_itself() {
    let workspace = Workspace::with(EDITOR);
    for question in [
        "create jig.toml",
        "update jig.toml",
        "delete jig.toml",
        "create .jig/config.toml",
        "move src/x jig.toml",
        "delete .",
    ] {
        let mut args = vec!["policy", "explain", "editor"];
        args.extend(question.split(' '));
        let answer = workspace.json(&args);
        assert_eq!(answer["decision"], "deny", "{question}: {answer:#}");
        assert!(
            answer["suggestion"].is_null(),
            "nothing allows it: {answer:#}"
        );
    }
    let answer = workspace.json(&["policy", "explain", "editor", "create", ".jig/notes"]);
    assert_eq!(answer["decision"], "uncovered", "{answer:#}");
}

#[test]
fn paths_outside_are_refused_before_any_rule() {
    let workspace = Workspace::with(EDITOR);
    std::os::unix::fs::symlink("/etc", workspace.root.join("etc")).unwrap();
    for path in ["../x", "/etc/passwd", "etc/passwd", "src/../../x"] {
        let answer = workspace.json(&["policy", "explain", "editor", "read", path]);
        assert_eq!(answer["decision"], "deny", "{path}: {answer:#}");
        assert!(answer["rule"].is_null(), "{path}: {answer:#}");
    }
}

#[test]
fn the_exit_code_tells_on_request() {
    let workspace = Workspace::with(EDITOR);
    let code = |args: &[&str]| workspace.jig(args).output().unwrap().status.code();
    let explain = ["policy", "explain", "--exit-code", "editor"];
    assert_eq!(
        code(&[&explain[..], &["read", "src/lib.rs"]].concat()),
        Some(0)
    );
    assert_eq!(
        code(&[&explain[..], &["update", "src/lib.rs"]].concat()),
        Some(4)
    );
    assert_eq!(code(&[&explain[..], &["env", "HOME"]].concat()), Some(4));
}

#[test]
fn x_68_the_most_exact_host_decides_then_the_method() {
    let rules = "
[[tools.tool.access.net]]
host = '*'
methods = ['GET', 'HEAD']
allow = true

[[tools.tool.access.net]]
host = '*.example.com'
allow = true

[[tools.tool.access.net]]
host = 'secret.example.com'
methods = ['DELETE']
";
    let (all, domain, exact) = (Some("jig.toml:6"), Some("jig.toml:11"), Some("jig.toml:15"));
    check(
        &format!("{HEAD}{rules}"),
        &[
            ("net https://other.test/", "allow", all),
            ("net --method head other.test", "allow", all),
            ("net --method POST other.test", "uncovered", None),
            ("net --method POST api.example.com", "allow", domain),
            ("net --method POST example.com", "uncovered", None),
            ("net --method POST secret.example.com", "allow", domain),
            ("net --method delete secret.example.com", "deny", exact),
            ("net https://10.0.0.1/", "uncovered", None),
            ("net http://localhost/", "uncovered", None),
        ],
    );
    let workspace = Workspace::with(&format!("{HEAD}{rules}"));
    let question = [
        "policy",
        "explain",
        "tool",
        "net",
        "--method",
        "POST",
        "other.test",
    ];
    let answer = workspace.json(&question);
    assert_eq!(answer["target"], "POST https://other.test/");
    assert_eq!(answer["why"], "no rule matches `POST`, only other methods");
    let suggestion = answer["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("methods = [\"POST\"]"), "{suggestion}");
}

/// X-53: what a program says under TLS is hidden, so that a rule on paths refuses it; a mediated tool names
/// the URL.
#[test]
fn a_path_of_tls_is_hidden_from_rules_on_programs() {
    let rules = "
[[tools.tool.access.net]]
host = 'a.de'
path_prefix = '/v1'
allow = true

[[tools.tool.access.net]]
host = 'b.de'
allow = true

[[tools.tool.access.net]]
host = 'c.de'
scheme = 'ssh'
allow = true
";
    let program = HEAD.replace("vfs", "stdio");
    let cases = [
        ("https://a.de/v1/x", "deny", "allow"),
        ("http://a.de/v1/x", "allow", "allow"),
        ("http://a.de/v2", "uncovered", "uncovered"),
        ("https://b.de/v1", "allow", "allow"),
        ("ssh://c.de", "allow", "allow"),
        ("ssh://b.de", "uncovered", "uncovered"),
    ];
    for (head, mediated) in [(program.as_str(), false), (HEAD, true)] {
        let workspace = Workspace::with(&format!("{head}{rules}"));
        for (url, by_program, by_request) in cases {
            let answer = workspace.json(&["policy", "explain", "tool", "net", url]);
            let expected = if mediated { by_request } else { by_program };
            assert_eq!(answer["decision"], expected, "{url}: {answer:#}");
            let why = answer["why"].as_str().unwrap();
            let hidden = why.contains("path of a TLS connection cannot be seen");
            assert_eq!(hidden, expected == "deny", "{url}: {answer:#}");
            assert_eq!(answer["operation"], "reach");
            assert!(answer["target"].as_str().unwrap().starts_with(url));
        }
        let shown = workspace.run(&["policy", "show", "tool"]);
        let told = shown.contains("allow `a.de/v1`, in plain HTTP only");
        assert_eq!(told, !mediated, "{shown}");
        let shown = workspace.json(&["policy", "show", "tool"]);
        let hidden: Vec<bool> = shown["net"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["hidden_under_tls"].as_bool().unwrap())
            .collect();
        assert_eq!(hidden, [!mediated, false, false]);
    }
}
