//! Real work under `jig run`: what people do all day must go on as if nothing were there.

use super::workspace_user::{Desk, for_each_user};

/// A crate without dependencies is built and tested, with the toolchain of the preset.
#[test]
fn cargo_builds_and_tests_a_crate() {
    for_each_user(|desk| {
        // A toolchain in the home of root is closed to all others.
        if desk.is_plain_user() && !desk.has(&["cargo", "--version"]) {
            return;
        }
        let workspace = &desk.workspace;
        workspace.write(
            "Cargo.toml",
            "[package]\nname = 'small'\nversion = '0.1.0'\nedition = '2021'\n",
        );
        workspace.write(
            "src/main.rs",
            "fn main() { println!(\"{}\", two()); }\nfn two() -> u8 { 2 }\n\
             #[test]\nfn two_is_two() { assert_eq!(two(), 2); }\n",
        );
        desk.ok(&["run", "--preset", "rust", "--", "cargo", "build"]);
        assert_eq!(desk.sh("target/debug/small"), "2\n");
        let told = desk.ok(&["run", "--preset", "rust", "--", "cargo", "test"]);
        assert!(told.contains("test two_is_two ... ok"), "{told}");
    });
}

/// A registry on the private loopback, whose port nobody else can hold, serves what `npm ci` installs.
#[test]
fn npm_installs_from_a_registry_on_the_private_loopback() {
    for_each_user(|desk| {
        if !desk.has(&["npm", "--version"]) {
            return;
        }
        let workspace = &desk.workspace;
        workspace.write(
            "pack/package/package.json",
            r#"{"name":"tiny","version":"1.0.0"}"#,
        );
        workspace.write("pack/package/index.js", "module.exports = 42;\n");
        workspace.write(
            "package.json",
            r#"{"name":"app","version":"1.0.0","dependencies":{"tiny":"1.0.0"},
                "scripts":{"test":"node -e \"process.exit(require('tiny') === 42 ? 0 : 1)\""}}"#,
        );
        workspace.write(
            "package-lock.json",
            r#"{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{
                "":{"name":"app","version":"1.0.0","dependencies":{"tiny":"1.0.0"}},
                "node_modules/tiny":{"version":"1.0.0","resolved":"http://127.0.0.1:4873/tiny.tgz"}}}"#,
        );
        workspace.write("registry.js", REGISTRY);
        let script = "
            set -e
            tar -czf tiny.tgz -C pack package
            node registry.js &
            until [ -e listening ]; do sleep 0.02; done
            npm ci --no-audit --no-fund --registry=http://127.0.0.1:4873/";
        desk.ok(&["run", "--preset", "node", "--", "sh", "-c", script]);
        assert_eq!(
            desk.read("node_modules/tiny/index.js"),
            "module.exports = 42;\n"
        );
        assert!(desk.read("served").contains("/tiny.tgz\n"));
        desk.ok(&["run", "--preset", "node", "--", "npm", "test"]);
        // The test can fail.
        workspace.write("node_modules/tiny/index.js", "module.exports = 41;\n");
        let failed = desk.run(&["run", "--preset", "node", "--", "npm", "test"]);
        assert_eq!(failed.code, Some(1), "{failed:?}");
    });
}

const REGISTRY: &str = r#"
const fs = require('fs');
require('http').createServer((request, response) => {
    fs.appendFileSync('served', request.url + '\n');
    response.end(fs.readFileSync('tiny.tgz'));
}).listen(4873, '127.0.0.1', () => fs.writeFileSync('listening', ''));
"#;

/// A wheel of the workspace is installed into a folder and into a virtual environment, from no index.
#[test]
fn pip_installs_a_wheel() {
    for_each_user(|desk| {
        if !desk.has(&["python3", "-m", "pip", "--version"]) {
            return;
        }
        desk.workspace.write("wheel.py", WHEEL);
        let python = |args: &[&str]| {
            desk.ok(&[&["run", "--preset", "python", "--", "python3"], args].concat())
        };
        python(&["wheel.py"]);
        let install = [
            "-m",
            "pip",
            "install",
            "--no-index",
            "--disable-pip-version-check",
        ];
        let wheel = "tiny-1.0-py3-none-any.whl";
        python(&[&install[..], &["--target", "site", wheel]].concat());
        let code = "import sys; sys.path.insert(0, 'site'); import tiny; print(tiny.value)";
        assert_eq!(python(&["-c", code]), "42\n");

        python(&["-m", "venv", "--without-pip", "venv"]);
        let into = ["-m", "pip", "--python", "venv/bin/python"];
        python(&[&into, &install[2..], &[wheel]].concat());
        let told = desk.ok(&[
            "run",
            "--preset",
            "python",
            "--",
            "venv/bin/python",
            "-c",
            "import tiny; print(tiny.value)",
        ]);
        assert_eq!(told, "42\n");
    });
}

/// A wheel is a zip with a few files of metadata.
const WHEEL: &str = r#"
import zipfile
info = 'tiny-1.0.dist-info/'
with zipfile.ZipFile('tiny-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny.py', 'value = 42\n')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    wheel.writestr(info + 'RECORD', f'tiny.py,,\n{info}METADATA,,\n{info}WHEEL,,\n{info}RECORD,,\n')
"#;

/// A repository in the workspace, made by the user.
fn repository(desk: &Desk) {
    identity(desk);
    desk.workspace.write("README.md", "hello\n");
    desk.unconfined(&["git", "init", "--quiet", "--initial-branch=main", "."]);
    desk.unconfined(&["git", "add", "README.md"]);
    desk.unconfined(&["git", "commit", "--quiet", "-m", "start"]);
}

fn identity(desk: &Desk) {
    let config =
        "[user]\n\tname = Ada L.\n\temail = ada@example.org\n[credential]\n\thelper = store\n";
    std::fs::write(desk.workspace.home.join(".gitconfig"), config).unwrap();
}

/// Commits need no preset, and carry the user's name; a new worktree does. Nothing else of the user's configuration is
/// there without it.
#[test]
fn git_commits_and_adds_worktrees() {
    for_each_user(|desk| {
        repository(desk);
        let told = desk.sh(
            "set -e; echo more >> README.md; git commit --quiet --all -m 'from inside'
             git config --get credential.helper || true",
        );
        assert_eq!(told, "");
        let side = "set -e; git worktree add --quiet side; cd side; echo side > side.txt
             git add side.txt; git commit --quiet -m 'on the side'";
        let told = desk.ok(&["run", "--preset", "git", "--", "sh", "-c", side]);
        assert_eq!(told, "");
        let log = [
            "git",
            "log",
            "--all",
            "--topo-order",
            "--format=%an <%ae> %s",
        ];
        assert_eq!(
            desk.unconfined(&log),
            "Ada L. <ada@example.org> on the side\nAda L. <ada@example.org> from inside\n\
             Ada L. <ada@example.org> start\n"
        );
        assert_eq!(desk.unconfined(&["git", "fsck"]), "");
    });
}

/// A workspace that is a linked worktree reaches as much of its repository as a commit needs.
#[test]
fn git_commits_in_a_worktree_of_a_repository_outside() {
    for_each_user(|desk| {
        identity(desk);
        let main = desk.beside("main");
        let git = |args: &[&str]| desk.unconfined(&[&["git", "-C", main.as_str()], args].concat());
        desk.unconfined(&[
            "git",
            "init",
            "--quiet",
            "--initial-branch=main",
            main.as_str(),
        ]);
        std::fs::write(main.join("only-main.txt"), "main\n").unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "start"]);
        git(&[
            "worktree",
            "add",
            "--quiet",
            "-b",
            "linked",
            desk.workspace.root.as_str(),
        ]);

        desk.sh("set -e; echo new > new.txt; git add new.txt; git commit --quiet -m linked; git status --short");
        assert_eq!(git(&["log", "-1", "--format=%s", "linked"]), "linked\n");

        // Its files, its configuration and its hooks are not part of that.
        let attempts = format!(
            "cat {main}/only-main.txt; echo x > {main}/only-main.txt; echo x > {main}/new
             echo x >> {main}/.git/config; echo x > {main}/.git/hooks/post-commit
             echo x > {main}/.git/config.worktree; git config core.fsmonitor ./evil; rm -r {main}/.git/hooks"
        );
        let config = || std::fs::read_to_string(main.join(".git/config")).unwrap();
        let before = config();
        let ran = desk.run(&["run", "--", "sh", "-c", &attempts]);
        assert_eq!((ran.out.as_str(), config()), ("", before));
        assert_eq!(
            std::fs::read_to_string(main.join("only-main.txt")).unwrap(),
            "main\n"
        );
        for missing in ["new", ".git/hooks/post-commit", ".git/config.worktree"] {
            assert!(!main.join(missing).exists(), "{missing}");
        }
    });
}

/// So does a workspace that is a submodule, and git says nothing of what is withheld, with the preset or without.
#[test]
fn git_commits_in_a_submodule() {
    for_each_user(|desk| {
        identity(desk);
        let (part, whole) = (desk.beside("part"), desk.beside("whole"));
        let made = format!(
            "set -e; git init -q {part}; git -C {part} commit -q --allow-empty -m start; git init -q {whole}; cd {whole}
             git -c protocol.file.allow=always submodule --quiet add {part} part; rm -r .git/modules/part/hooks
             mkdir .git/modules/part/hooks; git -C part worktree add -q {whole}/beside"
        );
        desk.unconfined(&["sh", "-c", &made]);
        let module = whole.join("part");
        let own = whole.join(".git/modules/part");
        let run = |flags: &[&str], script: &str| {
            let root = ["run", "--root", module.as_str()];
            desk.run(&[&root, flags, &["--", "sh", "-c", script]].concat())
        };
        for flags in [&[][..], &["--preset", "git"]] {
            let ran = run(
                flags,
                "set -e; date +%N > new.txt; git add .; git -c gc.auto=1 commit -qm it; git status --short",
            );
            let told = (ran.code, ran.out.as_str(), ran.err.as_str());
            assert_eq!(told, (Some(0), "", ""), "{flags:?}");
            let log = ["git", "-C", module.as_str(), "log", "-1", "--format=%s"];
            assert_eq!(desk.unconfined(&log), "it\n");
        }

        // What makes the user's own git run programs is not part of that, nor is the project around.
        let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
        let kept = || [read("config"), read("worktrees/beside/commondir")];
        let before = kept();
        let attempts = format!(
            "git config core.fsmonitor ./evil; echo x >> {own}/config; echo x > {own}/config.worktree
             echo x > {own}/hooks/post-commit; echo x > {own}/worktrees/beside/commondir; mkdir {own}/modules
             cat {whole}/.gitmodules; echo x > {whole}/.git/config; echo x > {whole}/new"
        );
        let ran = run(&[], &attempts);
        assert_eq!((ran.out.as_str(), kept()), ("", before), "{ran:?}");
        for missing in ["config.worktree", "hooks/post-commit", "modules"] {
            assert!(!own.join(missing).exists(), "{missing}");
        }
        assert!(!whole.join("new").exists());
    });
}

/// What git runs later is written only with the preset: its configuration and its submodules.
#[test]
fn git_is_configured_only_with_the_preset() {
    for_each_user(|desk| {
        repository(desk);
        desk.unconfined(&["git", "clone", "--quiet", ".", "upstream"]);
        let configure = ["git", "config", "core.fsmonitor", "./evil"];
        // Also in a repository of the user's further below.
        let below = [&["git", "-C", "upstream"], &configure[1..]].concat();
        let submodule = [
            "git",
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "--quiet",
            "./upstream",
            "sub",
        ];
        let configs = || [desk.read(".git/config"), desk.read("upstream/.git/config")];
        let before = configs();
        for words in [&configure[..], &below, &submodule] {
            // git does not always end with an error when it could not write its configuration; jig does.
            let ran = desk.run(&[&["run", "--"], words].concat());
            assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
            assert!(ran.err.contains("--preset git"), "{ran:?}");
            assert_eq!(configs(), before);
            assert!(!desk.path(".git/modules").exists());
        }
        // Nor does a plain program make a repository, whatever that says.
        let makes: [(&[&str], &str); 3] = [
            (&["git", "clone", "--quiet", "upstream", "copy"], "copy"),
            (&["git", "init", "--quiet", "new"], "new"),
            (&["git", "worktree", "add", "--quiet", "wt"], "wt"),
        ];
        for (words, folder) in makes {
            let ran = desk.run(&[&["run", "--"], words].concat());
            assert!(ran.err.contains("--preset git"), "{words:?}: {ran:?}");
            assert!(!desk.path(&format!("{folder}/.git")).exists(), "{words:?}");
        }
        desk.unconfined(&["git", "reset", "--quiet", "--hard"]);
        desk.unconfined(&["rm", "-rf", "sub", "copy", "new", "wt", ".git/modules"]);
        desk.unconfined(&["git", "worktree", "prune"]);
        desk.unconfined(&["git", "branch", "--quiet", "--force", "-D", "wt"]);
        let made = makes.iter().map(|(words, _)| *words);
        for words in made.chain([&configure[..], &submodule]) {
            desk.ok(&[&["run", "--preset", "git", "--"], words].concat());
        }
        let after = desk.read(".git/config");
        assert!(
            after.contains("fsmonitor = ./evil") && after.contains("[submodule \"sub\"]"),
            "{after}"
        );
        assert_eq!(desk.read("sub/README.md"), "hello\n");
    });
}

#[test]
fn python_works_with_many_processes() {
    for_each_user(|desk| {
        if !desk.has(&["python3", "-c", "import multiprocessing.synchronize"]) {
            return;
        }
        desk.workspace.write(
            "work.py",
            "import multiprocessing as m\n\
             def add(lock, counter):\n    for _ in range(50):\n        with lock: counter.value += 1\n\
             def square(n): return n * n\n\
             if __name__ == '__main__':\n\
             \x20   with m.Pool(4) as pool: print(sum(pool.map(square, range(100))))\n\
             \x20   lock, counter = m.Lock(), m.Value('i', 0, lock=False)\n\
             \x20   workers = [m.Process(target=add, args=(lock, counter)) for _ in range(4)]\n\
             \x20   [worker.start() for worker in workers]; [worker.join() for worker in workers]\n\
             \x20   print(counter.value)\n\
             \x20   with m.Manager() as manager: shared = manager.dict(a=1); shared['b'] = 2; print(dict(shared))\n",
        );
        let told = desk.ok(&["run", "--", "python3", "work.py"]);
        assert_eq!(told, "328350\n200\n{'a': 1, 'b': 2}\n");
    });
}

#[test]
fn a_pipeline_of_fifty_processes() {
    for_each_user(|desk| {
        let script = format!("head -c 1000000 /dev/zero {} | wc -c", "| cat ".repeat(48));
        assert_eq!(desk.sh(&script).trim(), "1000000");
    });
}

#[test]
fn a_c_program_is_compiled_and_run() {
    for_each_user(|desk| {
        if !desk.has(&["gcc", "--version"]) {
            return;
        }
        let source = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 3; }\n";
        desk.workspace.write("hello.c", source);
        assert_eq!(
            desk.sh("gcc hello.c -o hello && ./hello || echo $?"),
            "hello\n3\n"
        );
    });
}

#[test]
fn a_node_script() {
    for_each_user(|desk| {
        if !desk.has(&["node", "--version"]) {
            return;
        }
        desk.workspace.write(
            "main.js",
            "const { execSync } = require('child_process');\n\
             require('fs').writeFileSync('out.txt', execSync('echo from a child'));\n\
             setTimeout(() => console.log(new Date(0).toISOString()), 10);\n",
        );
        assert_eq!(
            desk.ok(&["run", "--", "node", "main.js"]),
            "1970-01-01T00:00:00.000Z\n"
        );
        assert_eq!(desk.read("out.txt"), "from a child\n");
    });
}

/// `/tmp` and the home are there, empty, writable and gone afterwards.
#[test]
fn a_shell_with_heredocs_and_temporary_files() {
    for_each_user(|desk| {
        let script = "
            set -e
            cat > /tmp/jig-heredoc-test <<END
$((6 * 7))
END
            file=$(mktemp); cat - /tmp/jig-heredoc-test > \"$file\" <<END
first
END
            echo home > ~/notes; cat \"$file\" ~/notes; cp \"$file\" kept.txt; ls /var/tmp";
        assert_eq!(desk.sh(script), "first\n42\nhome\n");
        assert_eq!(desk.read("kept.txt"), "first\n42\n");
        assert!(!std::path::Path::new("/tmp/jig-heredoc-test").exists());
        assert!(!desk.workspace.home.join("notes").exists());
        assert_eq!(
            desk.sh("ls /tmp/jig-heredoc-test ~/notes 2>&1 | wc -l")
                .trim(),
            "2"
        );
    });
}

/// What makes an agent or an editor run programs, outside of any sandbox, is written only by a rule that
/// names it: otherwise a tool would replace jig in the list of servers.
#[test]
fn what_agents_and_editors_run_is_not_written() {
    for_each_user(|desk| {
        desk.workspace.write(".mcp.json", "{}\n");
        desk.workspace.write(".vscode/tasks.json", "{}\n");
        let script = "echo evil > .mcp.json; echo evil > .vscode/tasks.json; echo evil > .vscode/mcp.json
            mkdir -p .cursor .claude; echo evil > .cursor/mcp.json; echo evil > .claude/settings.json
            rm -f .mcp.json; mv .vscode gone; echo fine > other.json; true";
        desk.run(&["run", "--", "sh", "-c", script]);
        assert_eq!(desk.read(".mcp.json"), "{}\n");
        assert_eq!(desk.read(".vscode/tasks.json"), "{}\n");
        assert_eq!(desk.read("other.json"), "fine\n");
        for missing in [
            ".vscode/mcp.json",
            ".cursor/mcp.json",
            ".claude/settings.json",
        ] {
            assert!(!desk.path(missing).exists(), "{missing}");
        }
        let named = ["run", "--write", ".mcp.json", "--", "sh", "-c"];
        desk.ok(&[&named[..], &["echo '{ }' > .mcp.json"]].concat());
        assert_eq!(desk.read(".mcp.json"), "{ }\n");
    });
}
