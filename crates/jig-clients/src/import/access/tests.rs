#![expect(
    clippy::disallowed_methods,
    reason = "the paths of commands are looked for on the disk"
)]

use super::*;

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    home: Utf8PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path())
        .unwrap()
        .canonicalize_utf8()
        .unwrap();
    let (root, home) = (path.join("ws"), path.join("home"));
    let packages = "other/node_modules/.store/b/node_modules/@a/b/dist";
    let environments = ["ws/.venv/bin", "other/venv/bin", "other/bin"];
    let installed = ["ws/node_modules/@a/own", "ws/node_modules/.bin/own-server"];
    for name in ["ws/src", "ws/.ssh", "home/docs", "other", packages]
        .into_iter()
        .chain(installed)
    {
        std::fs::create_dir_all(path.join(name)).unwrap();
    }
    for name in environments {
        std::fs::create_dir_all(path.join(name)).unwrap();
        // As in a real one, the program is elsewhere.
        std::os::unix::fs::symlink("/bin/sh", path.join(name).join("python")).unwrap();
    }
    for name in ["ws/.venv", "other/venv"] {
        std::fs::write(path.join(name).join("pyvenv.cfg"), "").unwrap();
    }
    std::fs::write(path.join(packages).join("index.js"), "").unwrap();
    std::fs::write(root.join("server.py"), "").unwrap();
    std::fs::write(root.join(".env"), "").unwrap();
    Place {
        _folder: folder,
        root,
        home,
    }
}

/// What a command names: rules, paths outside, toolchains, hosts.
fn named(
    place: &Place,
    command: &[&str],
) -> (Vec<String>, Vec<String>, Vec<String>, Vec<String>, usize) {
    let command: Vec<String> = command.iter().map(ToString::to_string).collect();
    let named = of_command(
        &command,
        &place.root,
        Some(&place.home),
        &Sensitive::default(),
    );
    let additions = named.additions;
    let base = place.root.parent().unwrap();
    let outside = |path: &str| path.replace(base.as_str(), "");
    (
        additions
            .fs
            .iter()
            .map(|rule| format!("{} {}", rule.path, rule.capabilities))
            .collect(),
        additions
            .system
            .iter()
            .map(|added| {
                let mark = if added.execute { " execute" } else { "" };
                format!("{}{mark}", outside(&added.path))
            })
            .collect(),
        additions
            .presets
            .iter()
            .map(|preset| preset.name().to_owned())
            .collect(),
        additions.net.iter().map(|net| net.host.clone()).collect(),
        named.notes.len(),
    )
}

#[test]
fn a_command_says_what_it_needs() {
    let place = place();
    let check = |command: &[&str],
                 fs: &[&str],
                 system: &[&str],
                 presets: &[&str],
                 hosts: &[&str],
                 notes: usize| {
        let own = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected = (own(fs), own(system), own(presets), own(hosts), notes);
        assert_eq!(named(&place, command), expected, "{command:?}");
    };
    check(
        &["npx", "@a/b", "."],
        &[". read"],
        &[],
        &["node"],
        &["registry.npmjs.org"],
        1,
    );
    // What is installed is not downloaded.
    check(&["npx", "@a/own"], &[], &[], &["node"], &[], 0);
    check(&["npx", "own-server"], &[], &[], &["node"], &[], 0);
    check(
        &["uv", "run", "mcp-server-git", "--repository=./src"],
        &["src read"],
        &[],
        &["python"],
        &["pypi.org", "files.pythonhosted.org"],
        0,
    );
    // What jig downloads itself, with the toolchain of the launcher.
    check(&["npx", "-y", "@a/b", "."], &[". read"], &[], &[], &[], 0);
    check(
        &["uvx", "mcp-server-git", "--repository=./src"],
        &["src read"],
        &[],
        &[],
        &[],
        0,
    );
    check(&["python3.12", "server.py"], &[], &[], &["python"], &[], 0);
    check(
        &["node", "./server.py", "src/"],
        &["server.py read", "src read"],
        &[],
        &["node"],
        &[],
        0,
    );
    check(
        &["./server.py"],
        &["server.py read + execute"],
        &[],
        &[],
        &[],
        0,
    );
    check(
        &["x", "~/docs", "../other", "./missing"],
        &[],
        &["/home/docs", "/other"],
        &[],
        &[],
        0,
    );
    check(
        &["x", "../ws/src", "./src"],
        &["src read"],
        &[],
        &[],
        &[],
        0,
    );
    // Packages belong together, wherever they are installed.
    check(
        &[
            "node",
            "../other/node_modules/.store/b/node_modules/@a/b/dist/index.js",
            "src/",
        ],
        &["src read"],
        &["/other/node_modules execute"],
        &["node"],
        &[],
        0,
    );
    check(
        &["../other/venv/bin/python", "-m", "x"],
        &[],
        &["/other/venv execute"],
        &["python"],
        &[],
        0,
    );
    check(
        &[".venv/bin/python", "-m", "x"],
        &[".venv read + execute"],
        &[],
        &["python"],
        &[],
        0,
    );
    check(
        &["../other/bin/python", "-m", "x"],
        &[],
        &[],
        &["python"],
        &[],
        0,
    );
    // A rule that names a sensitive path would open it.
    check(&["x", "./.env", "./.ssh"], &[], &[], &[], &[], 2);
    check(&[], &[], &[], &[], &[], 0);
}

#[test]
fn a_guess_reads_the_workspace() {
    let place = place();
    let guess = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let named = of_command(&command, &place.root, None, &Sensitive::default());
        let fs = guessed(&named.additions).fs;
        fs.iter()
            .map(|rule| format!("{} {}", rule.path, rule.capabilities))
            .collect::<Vec<_>>()
    };
    assert_eq!(guess(&["x"]), [". read"]);
    assert_eq!(guess(&["x", "."]), [". read"]);
    // What that grants already is not said again.
    assert_eq!(guess(&["x", "./src"]), [". read"]);
    assert_eq!(
        guess(&["./server.py"]),
        [". read", "server.py read + execute"]
    );
}

#[test]
fn what_is_named_comes_on_top_of_what_was_learned() {
    let rule = |path: &str, capabilities| AddedFs {
        path: path.to_owned(),
        capabilities,
        comment: Vec::new(),
    };
    let learned = Additions {
        fs: vec![
            rule(".", FileCapabilities::NONE),
            rule("a", FileCapabilities::ALL),
        ],
        presets: vec![Preset::Node],
        ..Additions::default()
    };
    let named = Additions {
        fs: vec![
            rule(".", READ),
            rule("a", READ),
            rule("a/b", READ),
            rule("b", READ),
            rule("c", FileCapabilities::ALL),
        ],
        presets: vec![Preset::Node, Preset::Python],
        ..Additions::default()
    };
    let all = joined(learned, &named);
    let fs: Vec<(&str, FileCapabilities)> = all
        .fs
        .iter()
        .map(|rule| (rule.path.as_str(), rule.capabilities))
        .collect();
    // A rule below one that grants more would take something away.
    let all_of = |path| (path, FileCapabilities::ALL);
    assert_eq!(fs, [(".", READ), all_of("a"), all_of("c")]);
    assert_eq!(all.presets, [Preset::Node, Preset::Python]);
}
