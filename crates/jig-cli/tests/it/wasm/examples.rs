//! The components in `examples/`, run as their READMEs say.

use camino::Utf8Path;

use super::{Workspace, build, optional_guest, repository};

/// Copies an example, without what a build may have left in it.
fn example(name: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.copy(&format!("examples/{name}"), name);
    for built in ["target", "node_modules", ".venv"] {
        let _ = std::fs::remove_dir_all(workspace.root.join(name).join(built));
    }
    workspace
}

#[test]
fn a_component_in_rust() {
    let workspace = example("wasm-tool");
    let folder = workspace.root.join("wasm-tool");
    build(&folder, "summarize");
    let call = |args: &[&str]| {
        let mut words = vec!["-C", "wasm-tool", "call", "summarize"];
        words.extend(args);
        workspace.run(&words)
    };
    let done = call(&["path=notes/meeting.md", "sentences=2", "style=bullets"]);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 2, "{done:?}");
    assert!(lines.iter().all(|line| line.starts_with("- ")), "{done:?}");
    assert!(done.out.contains("parser"), "{done:?}");
    // Only `notes` may be read, and the denial says which rule would do.
    let denied = call(&["path=README.md", "--no-interaction"]);
    assert_eq!(denied.code, Some(1), "{denied:?}");
    assert!(
        denied.err.contains("Failed to read `README.md`"),
        "{denied:?}"
    );
    assert!(denied.err.contains("denied:"), "{denied:?}");
    // It asks, and is called again with the answer.
    let all = call(&[
        "path=notes/meeting.md",
        "sentences=50",
        "--answer",
        "short=true",
    ]);
    assert!(all.code == Some(0) && all.out.contains("cake"), "{all:?}");
    let nobody = call(&["path=notes/meeting.md", "sentences=50", "--no-interaction"]);
    assert_eq!(nobody.code, Some(1), "{nobody:?}");
}

#[test]
fn a_component_in_python() {
    let Some(component) = optional_guest("python") else {
        jig_testkit::skipped_without(
            "componentize-py",
            "`cargo xtask guests --python` installs it",
        );
        return;
    };
    let workspace = example("wasm-python");
    put(
        &component,
        &workspace.root.join("wasm-python/csv_stats.wasm"),
    );
    let call = |path: &str| workspace.run(&["-C", "wasm-python", "call", "csv_stats", path]);
    let done = call("path=data/trees.csv");
    assert_eq!(
        done.out,
        "3 rows\nname: 2 different texts\nheight: 9.5 to 21.5, mean 16.3333\nyear: 1920 to 2001, mean 1958.67\n",
        "{done:?}"
    );
    let denied = call("path=README.md");
    assert_eq!(denied.code, Some(1), "{denied:?}");
    assert!(
        denied.err.contains("Failed to read `README.md`"),
        "{denied:?}"
    );
}

#[test]
fn a_component_in_javascript() {
    let Some(component) = optional_guest("js") else {
        jig_testkit::skipped_without("componentize-js", "`cargo xtask guests --js` installs it");
        return;
    };
    let workspace = example("wasm-js");
    put(&component, &workspace.root.join("wasm-js/json_pick.wasm"));
    workspace.write("wasm-js/private/key.json", "{}");
    let call = |args: &[&str]| {
        let mut words = vec!["-C", "wasm-js", "call", "json_pick"];
        words.extend(args);
        workspace.run(&words)
    };
    let done = call(&["path=package.json", "pick=name"]);
    assert_eq!(done.out, "\"json-pick\"\n", "{done:?}");
    let missing = call(&["path=package.json", "pick=nothing.here"]);
    assert!(missing.err.contains("there is no `nothing`"), "{missing:?}");
    // What jig refuses, it explains to the component too.
    let denied = call(&["path=private/key.json"]);
    assert_eq!(denied.code, Some(1), "{denied:?}");
    assert!(denied.err.contains("access denied"), "{denied:?}");
}

fn put(component: &Utf8Path, at: &Utf8Path) {
    std::fs::copy(component, at).unwrap();
}

/// W-019: the interfaces in the examples are those of the host.
#[test]
fn w019_interfaces_are_the_hosts() {
    let interfaces = repository().join("crates/jig-proto/wit");
    let examples = repository().join("examples");
    let check = |example: &str, ours: &str| {
        let copy = std::fs::read_to_string(examples.join(example)).unwrap();
        let ours = std::fs::read_to_string(interfaces.join(ours)).unwrap();
        assert!(
            copy == ours,
            "{example} differs: copy it from crates/jig-proto/wit"
        );
    };
    check("wasm-tool/wit/tool.wit", "jp-tool/tool.wit");
    for example in ["wasm-python", "wasm-js"] {
        for file in ["jp-tool/tool.wit", "jp-host/host.wit", "jig-tool/tool.wit"] {
            check(&format!("{example}/wit/deps/{file}"), file);
        }
    }
}
