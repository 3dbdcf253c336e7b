//! What a tool leaves at the path of another's rule: links to what that tool may not reach.

use std::os::unix::fs::symlink;

use super::workspace_user::{Desk, for_each_user};

/// A workspace with secrets, a tool that changes it and may not read `private`, and `reader`, a script with a rule on
/// `docs`.
fn set(desk: &Desk) {
    let config = "
[tools.plant]
source = 'local'
run = 'unattended'
command = { program = 'sh', args = ['plant.sh'] }
access.fs = [{ path = '.', read = true, write = true, execute = true }, { path = 'private' }]

[tools.reader]
source = 'local'
run = 'unattended'
command = { program = 'sh', args = ['reader.sh'] }
access.fs = [{ path = 'docs', read = true, write = true }, { path = 'reader.sh', read = true }]

[tools.fs_read_file]
access.fs = [{ path = 'docs', read = true }]

[tools.fs_create_file]
run = 'unattended'
access.fs = [{ path = 'docs', read = true, write = true }]
";
    desk.workspace.write("jig.toml", config);
    for name in [
        ".env",
        "private/x",
        ".vscode/x",
        "packages/docs/x",
        "docs/x",
    ] {
        desk.workspace.write(name, "SECRET\n");
    }
    desk.workspace.write(
        "reader.sh",
        "cat docs docs/x .env private/x; echo y > docs/new; echo done",
    );
}

/// What `plant` does: it replaces `docs` by a link.
fn plant(desk: &Desk, target: &str) {
    desk.workspace.write(
        "plant.sh",
        format!("rm -rf docs && ln -s {target} docs && echo planted"),
    );
    let answer = desk.call(&["plant"]).to_string();
    assert!(answer.contains("planted"), "{answer}");
    let link = std::fs::read_link(desk.path("docs")).unwrap();
    assert_eq!(link.to_str(), Some(target));
}

#[test]
fn a_link_at_the_path_of_a_rule_opens_nothing() {
    for_each_user(|desk| {
        for (target, secret, made) in [
            (".env", ".env", None),
            ("private", "private/x", Some("private/new")),
            (".vscode", "private/x", Some(".vscode/new")),
            (".", ".env", Some("new")),
            ("packages/../private", "private/x", Some("private/new")),
        ] {
            let desk = desk.anew();
            set(&desk);
            plant(&desk, target);
            let answer = desk.call(&["reader"]).to_string();
            assert!(answer.contains("done"), "{target}: {answer}");
            let reads = target != ".vscode" && answer.contains("SECRET");
            assert!(!reads, "{target}: {answer}");
            let answer = desk
                .call(&["fs_read_file", &format!("path={secret}")])
                .to_string();
            assert!(!answer.contains("SECRET"), "{target}: {answer}");
            let answer = desk.call(&["fs_read_file", "path=docs/x"]).to_string();
            assert!(
                target == ".vscode" || !answer.contains("SECRET"),
                "{target}: {answer}"
            );
            if let Some(made) = made {
                assert!(!desk.path(made).exists(), "{target}: {made}");
                let path = format!("path={made}");
                desk.call(&["fs_create_file", &path, "content=y"]);
                assert!(!desk.path(made).exists(), "{target}: {made}");
            }
            // A person who names the link on the command line names no more.
            let ran = desk.run(&[
                "run",
                "--write",
                "docs",
                "--",
                "sh",
                "-c",
                "cat .env docs; echo y > docs/new",
            ]);
            assert!(!ran.out.contains("SECRET"), "{target}: {ran:?}");
            assert!(
                target == "." || made.is_none_or(|made| !desk.path(made).exists()),
                "{target}: {ran:?}"
            );
        }
    });
}

/// The benign twin: a person's own link, where whoever may replace it may reach what it leads to.
#[test]
fn a_link_of_a_person_is_followed() {
    for_each_user(|desk| {
        set(desk);
        desk.workspace.write(
            "reader.sh",
            "cat packages/docs/x; echo y > packages/docs/new",
        );
        std::fs::remove_dir_all(desk.path("docs")).unwrap();
        symlink("packages/docs", desk.path("docs")).unwrap();
        let answer = desk.call(&["reader"]).to_string();
        assert!(answer.contains("SECRET"), "{answer}");
        assert!(desk.path("packages/docs/new").exists());
        let answer = desk.call(&["fs_read_file", "path=docs/x"]).to_string();
        assert!(answer.contains("SECRET"), "{answer}");
        let ran = desk.run(&["run", "--read", "docs", "--", "cat", "packages/docs/x"]);
        assert!(ran.out.contains("SECRET"), "{ran:?}");
    });
}

/// A link out of the workspace fails what needs it, and nothing else.
#[test]
fn a_link_to_elsewhere_spoils_one_tool() {
    for_each_user(|desk| {
        for target in ["/etc", "nowhere", "docs"] {
            let desk = desk.anew();
            set(&desk);
            plant(&desk, target);
            for command in [
                &["ps"][..],
                &["log"],
                &["tools"],
                &["config", "show"],
                &["abort", "h_1"],
            ] {
                let ran = desk.run(command);
                assert!(!ran.err.contains("`docs`"), "{command:?}: {ran:?}");
            }
            let answer = desk.call(&["plant"]).to_string();
            assert!(answer.contains("planted"), "{target}: {answer}");
            let checked = desk.run(&["config", "check"]);
            assert_ne!(checked.code, Some(0), "{checked:?}");
            assert!(
                checked.err.contains("the path `docs`"),
                "{target}: {checked:?}"
            );
            let ran = desk.run(&["call", "--no-interaction", "reader"]);
            assert_ne!(ran.code, Some(0), "{ran:?}");
            assert!(ran.err.contains("the path `docs`"), "{target}: {ran:?}");
        }
    });
}

/// `sandbox.system` is not followed through what another tool may change.
#[test]
fn a_link_in_what_a_tool_may_change_shows_nothing() {
    for_each_user(|desk| {
        let shared = desk.beside("shared");
        let secret = desk.beside("secret");
        std::fs::create_dir_all(shared.join("mine")).unwrap();
        std::fs::create_dir_all(&secret).unwrap();
        std::fs::write(secret.join("x"), "SECRET").unwrap();
        std::fs::write(shared.join("mine/x"), "OWN").unwrap();
        desk.workspace.write(
            "jig.toml",
            format!(
                "[tools.plant]\nsource = 'local'\nrun = 'unattended'\ncommand = 'sh plant.sh'\n\
                 sandbox.system = [{{ path = '{shared}', write = true }}]\n\
                 [tools.reader]\nsource = 'local'\nrun = 'unattended'\ncommand = 'cat {shared}/mine/x'\n\
                 sandbox.system = ['{shared}/mine']\n"
            ),
        );
        let answer = desk.call(&["reader"]).to_string();
        assert!(answer.contains("OWN"), "{answer}");
        desk.workspace.write(
            "plant.sh",
            format!("rm -r {shared}/mine; ln -s {secret} {shared}/mine; echo planted"),
        );
        assert!(desk.call(&["plant"]).to_string().contains("planted"));
        assert!(std::fs::read_link(shared.join("mine")).is_ok());
        let answer = desk.call(&["reader"]).to_string();
        assert!(!answer.contains("SECRET"), "{answer}");
    });
}

/// `jig proxy` gives what is written on its command line, too.
#[test]
fn a_link_that_a_person_names_to_the_proxy_names_nothing_else() {
    for_each_user(|desk| {
        let read = "tell([code(proxy.content, path) for path in ('docs/x', 'docs', '.env', 'packages/docs/x')])";
        for (target, expected) in [(".env", false), ("packages/docs", true)] {
            let desk = desk.anew();
            set(&desk);
            plant(&desk, target);
            let told = desk.told_by(&["-i", "docs"], read).to_string();
            assert_eq!(told.contains("SECRET"), expected, "{target}: {told}");
        }
    });
}
