//! What of the workspace a command runs, which other tools may not change by a broad rule.
#![expect(
    clippy::disallowed_methods,
    reason = "tests lay out their workspaces with std::fs"
)]

use camino::Utf8Path;
use jig_programs::{workspace_code, workspace_code_of_shell};
use jig_proto::ProjectPath;

/// A workspace with all that the commands name which is there.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = folder.path();
    for file in [
        "srv.py",
        "tools/run.sh",
        "docs/notes/a.md",
        "app/__main__.py",
        "server/index.js",
        "src/node/a.js",
        "hook.js",
        "settings.json",
    ] {
        let file = root.join(file);
        let parent = file.parent().expect("a file has a parent");
        std::fs::create_dir_all(parent).expect("create directories");
        std::fs::write(file, "").expect("write a file");
    }
    std::os::unix::fs::symlink("srv.py", root.join("linked.py")).expect("a link");
    std::os::unix::fs::symlink("nowhere", root.join("dangling")).expect("a link");
    folder
}

/// The paths, each once, as they are guarded.
fn each_once(code: &[ProjectPath]) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    for path in code.iter().map(ProjectPath::as_str) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The words of a command, and what of the workspace they run.
#[track_caller]
fn check(words: &[&str], expected: &[&str]) {
    let workspace = workspace();
    let root = Utf8Path::from_path(workspace.path()).expect("a UTF-8 path");
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace("ROOT", root.as_str()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let code = workspace_code(root, &words);
    assert_eq!(each_once(&code), expected, "{words:?}");
}

/// Whoever could write the script would run with the server's rules.
#[test]
fn scripts_of_interpreters() {
    check(&["python3", "srv.py"], &["srv.py"]);
    check(&["python3", "linked.py"], &["linked.py"]);
    check(&["/usr/bin/python3.11", "-u", "srv.py"], &["srv.py"]);
    check(&["python3", "ROOT/srv.py"], &["srv.py"]);
    check(&["python3", "-W", "ignore", "srv.py"], &["srv.py"]);
    // It may come to be.
    check(&["ruby", "later.rb"], &["later.rb"]);
    check(&["bash", "-eu", "--", "later"], &["later"]);
    // What it works on is none of its code, unless somebody could put a file there.
    check(&["python3", "srv.py", "docs/notes"], &["srv.py"]);
    check(&["python3", "srv.py", "docs"], &["srv.py"]);
    check(&["python3", "srv.py", "out/x"], &["srv.py", "out/x"]);
    check(&["python3", "/opt/srv.py", "../x"], &[]);
    check(&["python3", "-", "docs/notes"], &[]);
    // A folder can be a program.
    check(&["python3", "./app"], &["app"]);
    check(&["python3", "app", "docs/notes"], &["app"]);
    check(&["node", "./app"], &["app", "app.js"]);
    check(
        &["node", "--require", "./tools/run.sh", "later.mjs"],
        &["tools/run.sh", "later.mjs"],
    );
    // What stands before the script may be where code lies.
    check(&["perl", "-I", "./app", "x.pl"], &["app", "x.pl"]);
    check(&["perl", "-I./app", "x.pl"], &["app", "x.pl"]);
    check(
        &["ruby", "-I", "./app", "-C", "./server", "main.rb"],
        &["app", "server", "main.rb"],
    );
    check(
        &["php", "-S", "localhost:80", "-t", "./server"],
        &["server"],
    );
    // `-M` takes what follows in its word.
    check(&["perl", "-Mre", "./server/x.pl"], &["server/x.pl"]);
    check(&["perl", "-we", "a/b", "./server/x.pl"], &["server/x.pl"]);
    check(
        &[".venv/bin/python", "srv.py"],
        &[".venv/bin/python", "srv.py"],
    );
}

/// A program that is the whole workspace: its first file, for tools have to change the rest.
#[test]
fn the_workspace_as_a_program() {
    check(&["node", "."], &["package.json", "index.js"]);
    check(&["python3", "./"], &["__main__.py"]);
    check(&["python3", "ROOT"], &["__main__.py"]);
    check(&["uv", "--directory", "./", "run", "srv.py"], &["srv.py"]);
}

#[test]
fn modules_of_python() {
    let app = ["app.py", "app/__init__.py", "app/__main__.py"];
    check(&["python3", "-m", "app"], &app);
    check(&["python3", "-Im", "app"], &app);
    check(&["python", "-mapp"], &app);
    check(&["uv", "run", "python", "-m", "app"], &app);
    let cli = ["app/cli.py", "app/cli/__init__.py", "app/cli/__main__.py"];
    check(&["python3", "-m", "app.cli", "docs"], &[app, cli].concat());
    // A package of the workspace comes before one that is installed, and a folder that is none may become one.
    check(
        &["pypy3", "-m", "later"],
        &["later.py", "later/__init__.py", "later/__main__.py"],
    );
    check(
        &["python3", "-m", "docs"],
        &["docs.py", "docs/__init__.py", "docs/__main__.py"],
    );
    check(&["python3", "-m"], &[]);
}

/// Code that stands in the command is no name of a file.
#[test]
fn code_in_the_command() {
    check(&["python3", "-c", "print(1/2)"], &[]);
    check(&["node", "-e", "import('a/b')", "srv.py"], &["srv.py"]);
    // That of a shell names programs.
    check(
        &["bash", "-lc", "exec python3 srv.py; ./later x"],
        &["srv.py", "later"],
    );
}

/// What a launcher runs comes from a registry, and its arguments are data.
#[test]
fn packages() {
    let npx = |words: &[&'static str], expected: &[&str]| {
        check(&[&["npx", "-y"], words].concat(), expected);
    };
    npx(
        &["@modelcontextprotocol/server-filesystem", "docs/notes"],
        &[],
    );
    npx(
        &["@modelcontextprotocol/server-filesystem", "./docs", "."],
        &[],
    );
    npx(&["@a/b@1.2.3", "Europe/Berlin"], &[]);
    npx(&["@a/b", "ROOT/docs/notes", "https://a.de/x.js"], &[]);
    // Of names alone, only those of scripts.
    npx(&["@a/b", "settings.json", "hook.js"], &["hook.js"]);
    npx(&["@a/b", "--config=settings.json", "--out=docs/x"], &[]);
    npx(&["@a/b", "--config=./settings.json"], &["settings.json"]);
    npx(&["@a/b", "--require=hook.js"], &["hook.js"]);
    npx(&["mcp-proxy", "./bin/later"], &["bin/later"]);
    npx(&["@playwright/mcp@latest", "docs/notes"], &[]);
    npx(
        &["@a/b", "--config", "conf/later.json"],
        &["conf/later.json"],
    );
    check(&["uvx", "mcp-server-time", "--tz", "Europe/Berlin"], &[]);
    check(&["uv", "tool", "run", "thing", "docs/notes"], &[]);
    check(&["npx", "@a/b@1.2.3", "docs/notes"], &[]);
    check(&["bunx", "@a/b", "docs/notes"], &[]);
    // One that is a folder of the workspace is code of it.
    npx(&["./app", "docs/notes"], &["app"]);
    npx(&["./later"], &["later"]);
    check(&["uvx", "--from", "./app", "serve", "docs/notes"], &["app"]);
    check(&["uvx", "--from=./app", "serve", "docs/notes"], &["app"]);
}

/// A package that runs what it is told, as a program of that name does.
#[test]
fn packages_that_run_scripts() {
    check(&["npx", "tsx", "./server"], &["server"]);
    check(&["npx", "-y", "tsx", "./server"], &["server"]);
    check(
        &["npx", "-y", "tsx@latest", "watch", "./server"],
        &["server"],
    );
    check(&["npx", "-y", "-p", "tsx", "tsx", "./server"], &["server"]);
    check(&["npx", "-y", "node", "./app"], &["app", "app.js"]);
    check(
        &["uvx", "--prerelease", "allow", "fastmcp", "run", "./server"],
        &["server"],
    );
    check(
        &["uv", "tool", "run", "mcp", "run", "srv.py:app"],
        &["srv.py"],
    );
}

/// What builds and runs projects may find one in every folder.
#[test]
fn projects() {
    check(
        &["uv", "--directory", "./app", "run", "srv.py"],
        &["app", "srv.py"],
    );
    check(&["go", "run", "./cmd/server"], &["cmd/server"]);
    check(&["uv", "--directory=./app", "run"], &["app"]);
    check(&["tsx", "watch", "./server"], &["server"]);
    check(&["ts-node", "later.ts"], &["later.ts"]);
    check(&["nix", "run", "./server#main"], &["server#main", "server"]);
    check(&["./gradlew", "-p", "./server"], &["gradlew", "server"]);
    for program in ["electron", "nodemon", "pipx", "uvicorn", "mcp"] {
        check(&[program, "run", "./server", "settings.json"], &["server"]);
    }
    // The folder is no interpreter.
    check(&["go", "test", "./src/node", "./app"], &["src/node", "app"]);
    check(&["npm", "exec", "@a/b"], &[]);
    check(&["make", "docs"], &[]);
}

#[test]
fn other_programs() {
    check(&["./app/bin", "docs/notes"], &["app/bin"]);
    check(
        &["server", "docs/notes", "settings.json", "./settings.json"],
        &["settings.json"],
    );
    check(&["server", "later/x", "later"], &["later/x"]);
    // A link that leads nowhere is as good as nothing.
    check(&["server", "dangling", "./dangling"], &["dangling"]);
    check(&["server", "/etc/passwd", "../x/y"], &[]);
    check(&["server", "postgres://localhost/db"], &[]);
    // What is filled in can be anything.
    check(
        &["tools/run.sh", "{{tool.arguments.p}}/z", "--x=/etc/y"],
        &["tools/run.sh"],
    );
}

/// Programs that start the command that follows.
#[test]
fn wrappers() {
    let wrap = |words: &[&'static str]| {
        check(&[words, &["node", "./app"]].concat(), &["app", "app.js"]);
        check(&[words, &["npx", "tsx", "./app"]].concat(), &["app"]);
        check(&[words, &["env", "-i", "go", "./app"]].concat(), &["app"]);
    };
    wrap(&["timeout", "60"]);
    wrap(&["nice"]);
    wrap(&["sudo", "-u", "me"]);
    wrap(&["stdbuf", "-o0"]);
    wrap(&["mise", "x", "--"]);
    wrap(&["dotenvx", "run", "--"]);
    wrap(&["nice", "env", "timeout", "60"]);
    check(
        &["nice", ".venv/bin/python", "./app"],
        &[".venv/bin/python", "app"],
    );
    // The folder is no program.
    check(&["eslint", "./src/node", "docs/notes"], &[]);
    // However many there are.
    let many = ["nice", "env"].repeat(20_000);
    check(&[&many, &["node", "x.js"][..]].concat(), &["x.js"]);
}

#[test]
fn behind_env() {
    check(&["./scripts/env", "node", "x.js"], &["scripts/env", "x.js"]);
    check(&["scripts/env", "./later"], &["scripts/env", "later"]);
    check(&["ROOT/scripts/env", "x.js"], &["scripts/env"]);
    check(
        &["env", "-C", "./server", "node", "index.js"],
        &["server", "index.js"],
    );
    check(&["env", "-C", "server", "later"], &["server"]);
    check(
        &["env", "--chdir=./server", "./later"],
        &["server", "later"],
    );
    check(&["env", "-S", "node ./server"], &["server"]);
    check(&["/usr/bin/env", "node", "x.js"], &["x.js"]);
    check(
        &["env", "A=b/c", "-u", "B", "python3", "later.py"],
        &["later.py"],
    );
    check(&["env", "-i", "./later"], &["later"]);
    check(&["env"], &[]);
}

/// The words of a shell's line are found as well as can be without being a shell.
#[test]
fn lines_of_a_shell() {
    let check = |line: &str, expected: &[&str]| {
        let workspace = workspace();
        let root = Utf8Path::from_path(workspace.path()).expect("a UTF-8 path");
        let code = workspace_code_of_shell(root, line, ["in/out", "srv.py"]);
        assert_eq!(each_once(&code), expected, "{line}");
    };
    check(
        "cd x && ./run.sh 'a b/c'",
        &["run.sh", "a b/c", "in/out", "srv.py"],
    );
    // Of names alone, only those of scripts.
    check(
        "cat settings.json --config=settings.json; x --require=hook.js",
        &["hook.js", "in/out", "srv.py"],
    );
    check(
        "(sh linked.py; ls docs/notes)|cat",
        &["linked.py", "docs/notes", "in/out", "srv.py"],
    );
}
