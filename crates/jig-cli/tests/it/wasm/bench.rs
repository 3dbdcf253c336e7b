//! `jig wasm bench`.

use super::{Workspace, guest};

/// All figures are there, in an order that makes sense, and nothing is left behind.
#[test]
fn a_component_is_measured() {
    let workspace = Workspace::new();
    workspace.write("notes.txt", "hello");
    let scratch = workspace.root.parent().unwrap().join("tmp");
    std::fs::create_dir(&scratch).unwrap();
    let file = guest("test");
    let args = [
        "wasm",
        "bench",
        file.as_str(),
        "path=notes.txt",
        "--calls",
        "30",
    ];
    let mut command = workspace.jig(&args);
    let output = command
        .arg("--json")
        .env("TMPDIR", &scratch)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        output.stderr.is_empty(),
        "no progress in a pipe: {output:?}"
    );
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = |name: &str| figures[name]["median_us"].as_f64().unwrap();
    assert_eq!(figures["call"]["runs"], 30);
    assert!(figure("compile") > figure("load"), "{figures}");
    assert!(figure("instantiate") > 0.0, "{figures}");
    assert!(
        figures["memory_bytes"].as_u64().unwrap() >= 64 << 10,
        "{figures}"
    );
    for name in ["compile", "load", "call", "instantiate"] {
        let part = &figures[name];
        assert!(
            part["min_us"].as_f64() <= part["median_us"].as_f64(),
            "{figures}"
        );
        assert!(
            part["median_us"].as_f64() <= part["p99_us"].as_f64(),
            "{figures}"
        );
    }
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    let text = workspace.ok(&args);
    for part in [
        "compile",
        "load",
        "call",
        "instance",
        "memory",
        "the median of 30 runs",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// What fails is not measured, and the tool can change nothing meanwhile.
#[test]
fn a_tool_that_fails_is_not_measured() {
    let workspace = Workspace::new();
    let file = guest("test");
    let said = workspace.fails(&["wasm", "bench", file.as_str(), "path=missing.txt"]);
    assert!(
        said.contains("the tool fails, and is not measured"),
        "{said}"
    );
    assert!(said.contains("Failed to read file"), "{said}");
    assert!(said.contains("hint: give the arguments"), "{said}");
    let check = |args: &[&str], expected: &str| {
        let mut words = vec!["wasm", "bench"];
        words.extend(args);
        let said = workspace.fails(&words);
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    check(&["none.wasm"], "Wasm binary not found");
    check(
        &[file.as_str(), "--input", "[]"],
        "--input must be one JSON object",
    );
    check(&[file.as_str(), "path"], "`path` is not an argument");
    for calls in ["0", "x", "1000001"] {
        let ran = workspace.run(&["wasm", "bench", file.as_str(), "--calls", calls]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}
