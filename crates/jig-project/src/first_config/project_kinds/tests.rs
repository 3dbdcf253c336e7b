use camino::Utf8Path;

use super::find;

/// What is found in a folder with these files: `PRESET: COMMAND`.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found: Vec<String> = find(root)
        .into_iter()
        .map(|found| format!("{}: {}", found.kind.preset(), found.tests.join(" ")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_project_is_known_by_its_files() {
    check(&[], &[]);
    check(&[("notes.txt", "")], &[]);
    check(&[("Cargo.toml", "")], &["rust: cargo test"]);
    check(&[("go.mod", "")], &["go: go test ./..."]);
    check(
        &[("Cargo.toml", ""), ("requirements.txt", "pytest\n")],
        &["rust: cargo test", "python: python3 -m pytest"],
    );
}

#[test]
fn tests_of_node_run_as_the_project_says() {
    let with_script = r#"{"scripts": {"test": "node --test"}}"#;
    let none = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    check(&[("package.json", with_script)], &["node: npm test"]);
    check(
        &[("package.json", with_script), ("pnpm-lock.yaml", "")],
        &["node: pnpm test"],
    );
    check(
        &[("package.json", with_script), ("yarn.lock", "")],
        &["node: yarn test"],
    );
    check(&[("package.json", none)], &["node: node --test"]);
    check(&[("package.json", "{}")], &["node: node --test"]);
    check(&[("package.json", "not JSON")], &["node: node --test"]);
}

#[test]
fn tests_of_python_run_by_what_the_project_uses() {
    check(&[("setup.py", "")], &["python: python3 -m unittest"]);
    check(&[("conftest.py", "")], &["python: python3 -m pytest"]);
    check(
        &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
        &["python: python3 -m pytest"],
    );
    check(
        &[("pyproject.toml", ""), (".venv/bin/python", "")],
        &["python: .venv/bin/python -m unittest"],
    );
}
