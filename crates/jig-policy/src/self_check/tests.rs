#![expect(
    clippy::disallowed_methods,
    reason = "the tests make real folders and links"
)]

use std::error::Error;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use serde_json::Value;

use super::*;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// A workspace `ws` with `src/lib.rs`, a link out of it and one inside, next to a file outside.
fn workspace(access: &str) -> Result<(tempfile::TempDir, Context)> {
    let folder = tempfile::tempdir()?;
    let root = Utf8Path::from_path(folder.path())
        .ok_or("not UTF-8")?
        .join("ws");
    std::fs::create_dir_all(root.join("src"))?;
    std::fs::write(root.join("src/lib.rs"), "")?;
    std::fs::write(root.join(".env"), "SECRET=1")?;
    std::fs::write(folder.path().join("outside.txt"), "")?;
    symlink("../outside.txt", root.join("out"))?;
    symlink("src", root.join("alias"))?;
    symlink("/nowhere/new", root.join("dangling"))?;
    let context = format!(r#"{{"root": "{root}", "action": "run", "access": {access}}}"#);
    Ok((folder, serde_json::from_str(&context)?))
}

/// `ok:` and the path below the root, or the error's text.
fn answer(context: &Context, capability: Capability, path: &str) -> Result<String> {
    let canonical = context.root.canonicalize_utf8()?;
    let checked = Checker::new(context)?.check(capability, Utf8Path::new(path));
    Ok(match checked {
        Ok(path) => format!("ok: {}", path.strip_prefix(canonical)?),
        Err(error) => error.to_string(),
    })
}

const RULES: &str = r#"{"fs": [{"path": ".", "read": true}, {"path": "src", "read": true, "write": true, "delete": false}]}"#;

/// G-103, G-104 and X-12: what each check says.
#[test]
fn checks_resolve_and_judge() -> Result {
    let (_folder, context) = workspace(RULES)?;
    for (capability, path, expected) in [
        (Capability::Read, "src/lib.rs", "ok: src/lib.rs"),
        (Capability::Read, "alias/lib.rs", "ok: src/lib.rs"),
        (Capability::Read, "src/../src/./lib.rs", "ok: src/lib.rs"),
        (Capability::Update, "alias/lib.rs", "ok: src/lib.rs"),
        (Capability::Create, "src/new/deep.rs", "ok: src/new/deep.rs"),
        (
            Capability::Delete,
            "src/lib.rs",
            "access denied: delete on src/lib.rs",
        ),
        (
            Capability::Create,
            "new.rs",
            "access denied: create on new.rs",
        ),
        (
            Capability::Execute,
            "src/lib.rs",
            "access denied: execute on src/lib.rs",
        ),
        (Capability::Read, ".env", "access denied: read on .env"),
        (
            Capability::Read,
            "../outside.txt",
            "path escapes the workspace: ../outside.txt",
        ),
        (Capability::Read, "out", "path escapes the workspace: out"),
        (
            Capability::Create,
            "dangling",
            "path escapes the workspace: dangling",
        ),
        (
            Capability::Read,
            "/etc/passwd",
            "path is outside the workspace: /etc/passwd",
        ),
        (Capability::Read, "", "path is not valid: "),
    ] {
        assert_eq!(
            answer(&context, capability, path)?,
            expected,
            "{capability} {path}"
        );
    }
    Ok(())
}

/// G-053: an absolute path under the root is as good as a relative one.
#[test]
fn absolute_paths_under_the_root_are_accepted() -> Result {
    let (_folder, context) = workspace(RULES)?;
    let path = context.root.join("src/lib.rs");
    assert_eq!(
        answer(&context, Capability::Read, path.as_str())?,
        "ok: src/lib.rs"
    );
    Ok(())
}

/// G-061: without rules only the borders of the workspace are checked.
#[test]
fn without_rules_the_borders_still_hold() -> Result {
    let (_folder, context) = workspace("null")?;
    assert_eq!(
        answer(&context, Capability::Delete, "src/lib.rs")?,
        "ok: src/lib.rs"
    );
    assert_eq!(
        answer(&context, Capability::Read, "out")?,
        "path escapes the workspace: out"
    );
    Ok(())
}

/// G-107: a denial lists the paths on which something is granted.
#[test]
fn a_denial_lists_the_grants() -> Result {
    let (_folder, context) = workspace(RULES)?;
    match context.check_delete(Utf8Path::new("src/lib.rs")) {
        Err(FsAccessError::Denied { grants, .. }) => assert_eq!(grants, [".", "src"]),
        other => panic!("expected a denial, not {other:?}"),
    }
    Ok(())
}

/// The five methods ask for five different capabilities.
#[test]
fn each_method_asks_for_its_own_capability() -> Result {
    for capability in Capability::ALL {
        let access = format!(r#"{{"fs": [{{"path": "src", "{capability}": true}}]}}"#);
        let (_folder, context) = workspace(&access)?;
        let path = Utf8Path::new("src/lib.rs");
        let allowed = [
            context.check_read(path).is_ok(),
            context.check_create(path).is_ok(),
            context.check_update(path).is_ok(),
            context.check_delete(path).is_ok(),
            context.check_execute(path).is_ok(),
        ];
        let expected = Capability::ALL.map(|other| other == capability);
        assert_eq!(allowed, expected, "{capability}");
    }
    Ok(())
}

/// G-102: a policy sent over the wire comes back as the same policy, defaults included.
#[test]
fn a_policy_survives_the_wire() -> Result {
    let (_folder, context) = workspace("null")?;
    let workspace = Workspace::on_disk(context.root)?;
    let access = DeclaredAccess {
        fs: vec![DeclaredFsRule {
            path: "alias".to_owned(),
            capabilities: FileCapabilities::just(Capability::Read),
            origin: RuleOrigin::named("test"),
        }],
        net: vec![DeclaredNetRule {
            host: "MÜNCHEN.de".to_owned(),
            scheme: Some("HTTPS".to_owned()),
            port: None,
            path_prefix: Some("/a".to_owned()),
            methods: None,
            allow: true,
            origin: RuleOrigin::named("test"),
        }],
        ..DeclaredAccess::default()
    };
    let guards = Guards::default();
    let policy = Policy::compile(&access, DefaultAccess::VFS, &guards, &workspace)?;
    let wire = policy.to_wire();
    assert_eq!(
        wire.fs[0].path(),
        "src",
        "canonical, because alias is a link to src"
    );
    assert_eq!(wire.net[0].host, "xn--mnchen-3ya.de");
    let back = Policy::compile(
        &DeclaredAccess::from(&wire),
        DefaultAccess::NOTHING,
        &guards,
        &workspace,
    )?;
    assert_eq!(back.to_wire(), wire);

    let defaults = Policy::compile(
        &DeclaredAccess::default(),
        DefaultAccess::VFS,
        &guards,
        &workspace,
    )?;
    let wire = defaults.to_wire();
    assert!(wire.fs[0].path() == "." && wire.fs[0].read() && !wire.fs[0].create());
    Ok(())
}

/// The table of cases that the SDK for Python is tested with, too.
fn cases() -> Result<Value> {
    let text = include_str!("../../../../sdk/cases/access.json");
    Ok(serde_json::from_str(text)?)
}

/// The tree of the cases, in a folder that is gone with the first part.
fn tree(cases: &Value) -> Result<(tempfile::TempDir, Utf8PathBuf)> {
    let folder = tempfile::tempdir()?;
    let outside = folder.path().canonicalize()?;
    let outside = Utf8PathBuf::try_from(outside)?;
    let root = outside.join("ws");
    let tree = &cases["tree"];
    let list = |key: &str| tree[key].as_array().cloned().unwrap_or_default();
    for path in list("dirs") {
        std::fs::create_dir_all(root.join(text(&path)))?;
    }
    for path in list("files") {
        std::fs::write(root.join(text(&path)), "")?;
    }
    for path in list("outside") {
        std::fs::write(outside.join(text(&path)), "")?;
    }
    for (path, target) in tree["links"].as_object().ok_or("no links")? {
        symlink(
            text(target).replace("{root}", root.as_str()),
            root.join(path),
        )?;
    }
    Ok((folder, root))
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

fn context(root: &Utf8Path, access: &Value) -> Result<Context> {
    let context = serde_json::json!({"root": root, "action": "run", "access": access});
    Ok(serde_json::from_value(context)?)
}

fn capability(name: &Value) -> Capability {
    let found = Capability::ALL
        .into_iter()
        .find(|one| one.name() == text(name));
    found.unwrap_or_else(|| panic!("{name} is no capability"))
}

/// The rows of one kind of a group.
fn rows<'v>(group: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    group[key].as_array().into_iter().flatten()
}

/// G-059, G-103, G-104, G-107: the steps that tools in every language follow, by the shared table.
#[test]
fn g059_checks_are_those_of_every_language() -> Result {
    let cases = cases()?;
    let (_folder, root) = tree(&cases)?;
    let mut count = 0;
    for group in rows(&cases, "groups") {
        let context = context(&root, &group["access"])?;
        for row in rows(group, "checks") {
            let path = text(&row[1]).replace("{root}", root.as_str());
            let checked = Checker::new(&context)?.check(capability(&row[0]), Utf8Path::new(&path));
            let answer = match checked {
                Ok(path) => format!("ok: {}", path.strip_prefix(&root)?),
                Err(FsAccessError::Denied { grants, .. }) if !group["grants"].is_null() => {
                    assert_eq!(serde_json::json!(grants), group["grants"], "{row}");
                    format!("access denied: {} on {}", text(&row[0]), text(&row[1]))
                }
                Err(error) => error.to_string(),
            };
            let expected = text(&row[2]).replace("{root}", root.as_str());
            assert_eq!(answer, expected, "{}: {row}", group["name"]);
            count += 1;
        }
    }
    assert!(count > 60, "{count} cases");
    Ok(())
}

/// G-105, G-036: canonical paths, by the shared table, on the rules as they come over the wire.
#[test]
fn g105_canonical_paths_are_judged_without_a_disk() -> Result {
    let cases = cases()?;
    let mut count = 0;
    for group in rows(&cases, "groups") {
        let context = context(Utf8Path::new("/ws"), &group["access"])?;
        let access = context.access.unwrap_or_default();
        for row in rows(group, "can") {
            let path = Utf8Path::new(text(&row[1]));
            let can = match text(&row[0]) {
                "read" => access.can_read(path),
                "create" => access.can_create(path),
                "update" => access.can_update(path),
                "delete" => access.can_delete(path),
                _ => access.can_execute(path),
            };
            assert_eq!(serde_json::json!(can), row[2], "{}: {row}", group["name"]);
            count += 1;
        }
    }
    assert!(count > 20, "{count} cases");
    Ok(())
}

/// G-106: hosts and variables have errors of their own, with what belongs to each.
#[test]
fn g106_hosts_and_variables_have_their_own_errors() -> Result {
    let cases = cases()?;
    let mut count = 0;
    for group in rows(&cases, "groups") {
        let context = context(Utf8Path::new("/ws"), &group["access"])?;
        for row in rows(group, "net") {
            let asked = text(&row[0]);
            let is_method =
                |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
            let named = asked.split_once(' ').filter(|(word, _)| is_method(word));
            let (method, url) = named.unwrap_or(("GET", asked));
            let answer = match context.check_request(method, url) {
                Ok(()) => "ok".to_owned(),
                Err(error) => {
                    if let NetAccessError::Denied { grants, .. } = &error {
                        assert_eq!(serde_json::json!(grants), group["net_grants"], "{row}");
                    }
                    error.to_string()
                }
            };
            assert_eq!(answer, text(&row[1]), "{}: {row}", group["name"]);
            count += 1;
        }
        for row in rows(group, "env") {
            let answer = match context.check_env(text(&row[0])) {
                Ok(()) => "ok".to_owned(),
                Err(error) => {
                    if let EnvAccessError::Denied { grants, .. } = &error {
                        assert_eq!(serde_json::json!(grants), group["env_grants"], "{row}");
                    }
                    error.to_string()
                }
            };
            assert_eq!(answer, text(&row[1]), "{}: {row}", group["name"]);
            count += 1;
        }
    }
    assert!(count > 40, "{count} cases");
    Ok(())
}

/// Rules that cannot be used are an error of the kind that they belong to.
#[test]
fn rules_that_cannot_be_used_are_refused() -> Result {
    let cases = cases()?;
    let (_folder, root) = tree(&cases)?;
    for access in rows(&cases, "bad_rules") {
        let context = context(&root, access)?;
        let is_refused = match access.as_object().and_then(|kinds| kinds.keys().next()) {
            Some(kind) if kind == "fs" => {
                matches!(Checker::new(&context), Err(FsAccessError::Policy(_)))
            }
            Some(kind) if kind == "net" => {
                matches!(
                    context.check_net("http://a.test/"),
                    Err(NetAccessError::Policy(_))
                )
            }
            _ => matches!(context.check_env("A"), Err(EnvAccessError::Policy(_))),
        };
        assert!(is_refused, "{access}");
    }
    Ok(())
}
