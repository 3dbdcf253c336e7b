//! `jig init`: three questions, and a configuration that works.

use super::terminal_user::Seat;
use super::workspace_user::{Desk, for_each_user};

/// A project of a kind, and what a new user does with it.
struct Project {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The default answer to the first question.
    found: &'static str,
    /// What has to be installed to use what was written.
    needs: &'static [&'static str],
    /// The call that is proposed, and what it prints.
    call: &'static [&'static str],
    prints: &'static str,
}

const PROJECTS: [Project; 5] = [
    Project {
        name: "rust",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            (
                "src/lib.rs",
                "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n",
            ),
        ],
        found: "rust (Cargo.toml is here)",
        needs: &["cargo", "--version"],
        call: &["test"],
        prints: "test adds ... ok",
    },
    Project {
        name: "node",
        files: &[
            (
                "package.json",
                "{ \"name\": \"p\", \"scripts\": { \"test\": \"node --test\" } }\n",
            ),
            (
                "a.test.js",
                "const { test } = require('node:test');\ntest('adds', () => {});\n",
            ),
        ],
        found: "node (package.json is here)",
        needs: &["npm", "--version"],
        call: &["test"],
        prints: "pass 1",
    },
    Project {
        name: "python",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname = \"p\"\nversion = \"0.1.0\"\n",
            ),
            (
                "test_p.py",
                "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_adds(self):\n        \
                 self.assertEqual(1 + 1, 2)\n",
            ),
        ],
        found: "python (pyproject.toml is here)",
        needs: &["python3", "--version"],
        call: &["test"],
        prints: "Ran 1 test",
    },
    Project {
        name: "go",
        files: &[
            ("go.mod", "module p\n\ngo 1.20\n"),
            (
                "p_test.go",
                "package p\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {}\n",
            ),
        ],
        found: "go (go.mod is here)",
        needs: &["go", "version"],
        call: &["test"],
        prints: "ok",
    },
    Project {
        name: "plain",
        files: &[("notes.txt", "three little words\n")],
        found: "none",
        needs: &["wc", "--version"],
        call: &["word_count", "path=notes.txt"],
        prints: "3",
    },
];

fn written(desk: &Desk, project: &Project) {
    for (path, text) in project.files {
        desk.workspace.write(path, text);
    }
}

/// What was written is valid, without a warning but for a toolchain that is not there. Whether it is.
#[track_caller]
fn is_right(desk: &Desk, project: &Project) -> bool {
    let is_installed = desk.has(project.needs);
    let checked = desk.told(&["config", "check"]);
    assert!(checked.ends_with("[exit 0]"), "{checked}");
    for warning in checked.lines().filter(|line| line.contains("warning:")) {
        let is_of_program = warning.contains("was not found");
        assert!(!is_installed && is_of_program, "{checked}");
    }
    is_installed
}

/// For each kind of project: the defaults by Enter, on a real terminal, and then what was written is used.
#[test]
fn three_times_enter_is_a_configuration_that_works() {
    for_each_user(|desk| {
        for project in &PROJECTS {
            let desk = &desk.anew();
            written(desk, project);
            let mut seat = Seat::new(desk, &["init"]);
            seat.sees_text("1. Which toolchains may commands use?");
            seat.sees_text(&format!("Enter: {}.", project.found));
            seat.types("\r");
            seat.sees_text("2. May agents change files here?");
            seat.types("\r");
            seat.sees_text("3. Which hosts may commands reach?");
            seat.types("\r");
            let (status, screen) = seat.ends();
            assert!(status.success(), "{}: {screen}", project.name);
            for next in [&format!("jig call {}", project.call[0]), "jig setup"] {
                assert!(screen.contains(next), "{}: {screen}", project.name);
            }
            let is_installed = is_right(desk, project);
            let ask = "fs_create_file.run = \"ask\"";
            assert!(desk.read("jig.toml").contains(ask));
            if is_installed {
                let ran = desk.run(&[&["call"], project.call].concat());
                assert_eq!(
                    ran.code,
                    Some(0),
                    "{}: {}{}",
                    project.name,
                    ran.out,
                    ran.err
                );
                let said = format!("{}{}", ran.out, ran.err);
                assert!(said.contains(project.prints), "{}: {said}", project.name);
            }
        }
    });
}

/// Other answers are other rules; one that is not understood is asked again, and says why.
#[test]
fn answers_become_rules() {
    for_each_user(|desk| {
        written(desk, &PROJECTS[0]);
        let mut seat = Seat::new(desk, &["init"]);
        seat.sees_text("1. Which");
        seat.types("cobol\r");
        seat.sees_text(
            "`cobol` is not a toolchain; there are rust, node, python, go, git, or none",
        );
        seat.types("rust, git\r");
        seat.sees_text("2. May");
        seat.types("perhaps\r");
        seat.sees_text("type a, y or n");
        seat.types("y\r");
        seat.sees_text("3. Which");
        seat.types("https://api.example.com/v1\r");
        seat.sees_text("has a path");
        seat.types("registry api.example.com:8443\r");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{screen}");
        is_right(desk, &PROJECTS[0]);
        let asks = |question: &[&str]| {
            let told = desk.ok(&[&["policy", "explain"], question].concat());
            told.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        for tool in ["test", "shell"] {
            assert_eq!(asks(&[tool, "net", "https://static.crates.io/a"]), "allow");
            assert_eq!(
                asks(&[tool, "net", "https://api.example.com:8443/"]),
                "allow"
            );
            assert_eq!(
                asks(&[tool, "net", "https://api.example.com/"]),
                "uncovered"
            );
        }
        // What may be changed is changed without a question, and deleting still asks.
        desk.ok(&[
            "call",
            "--no-interaction",
            "fs_create_file",
            "path=new.txt",
            "content=x",
        ]);
        assert_eq!(desk.read("new.txt"), "x");
        let ran = desk.run(&["call", "--no-interaction", "fs_delete_file", "path=new.txt"]);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("asks before it runs"), "{}", ran.err);
    });
}

/// What is there is never written to, and what ends without an answer writes nothing.
#[test]
fn nothing_is_overwritten() {
    let desk = Desk::with("# mine\n");
    for args in [
        &["init", "--yes"][..],
        &["init", "--yes", "--json"],
        &["init"],
    ] {
        let ran = desk.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(
            said.contains("is there already: nothing was written"),
            "{said}"
        );
    }
    assert_eq!(desk.read("jig.toml"), "# mine\n");
    // A link that leads nowhere is something, too.
    let desk = Desk::new();
    let elsewhere = desk.beside("elsewhere.toml");
    std::os::unix::fs::symlink(&elsewhere, desk.path("jig.toml")).unwrap();
    assert_eq!(desk.run(&["init", "--yes"]).code, Some(1));
    assert!(!elsewhere.exists());
    // So is a workspace above.
    let desk = Desk::with("# mine\n");
    desk.workspace.write("sub/Cargo.toml", "");
    let mut command = desk.jig(&["init", "--yes"]);
    let output = command.current_dir(desk.path("sub")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("jig -C FOLDER init"), "{said}");
    assert!(!desk.path("sub/jig.toml").exists());
    let mut command = desk.jig(&["-C", ".", "init", "--yes"]);
    let output = command.current_dir(desk.path("sub")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(desk.path("sub/jig.toml").exists());

    let desk = Desk::new();
    let mut seat = Seat::new(&desk, &["init"]);
    seat.sees_text("1. Which");
    seat.types("\x04");
    let (status, screen) = seat.ends();
    assert_eq!(status.code(), Some(1));
    assert!(screen.contains("nothing was written"), "{screen}");
    assert!(!desk.path("jig.toml").exists());
}

/// A folder with several projects gets a tool for each.
#[test]
fn several_projects_are_counted() {
    let desk = Desk::new();
    written(&desk, &PROJECTS[0]);
    written(&desk, &PROJECTS[1]);
    let said = desk.ok(&["init", "--yes"]);
    assert!(
        said.contains(": the tools `test_rust`, `test_node`; toolchains: rust, node;"),
        "{said}"
    );
    let page = desk.read("jig.toml");
    assert!(
        page.contains("presets = [\"rust\", \"node\"] # the toolchains; everything"),
        "{page}"
    );
}

/// Without a terminal it says what to pass, and exactly that works.
#[test]
fn without_a_terminal_it_says_what_to_pass() {
    let desk = Desk::new();
    written(&desk, &PROJECTS[2]);
    let ran = desk.run(&["init"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.err,
        "error: there is no terminal to ask on\nhint: `jig init --yes` takes the defaults (--preset python --changes ask \
         --net none); with all three options nothing is asked\n"
    );
    assert!(!desk.path("jig.toml").exists());
    let printed = desk.ok(&["init", "--print"]);
    assert!(!desk.path("jig.toml").exists());
    let options = [
        "init",
        "--preset",
        "python",
        "--changes",
        "ask",
        "--net",
        "none",
    ];
    let ran = desk.run(&options);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(desk.read("jig.toml"), printed);
    for (option, word, why) in [
        ("--preset", "cobol", "`cobol` is not a toolchain"),
        ("--net", "a^b", "`a^b` is not a host"),
    ] {
        let ran = Desk::new().run(&["init", "--yes", option, word]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    let desk = Desk::new();
    desk.unconfined(&["git", "init", "--quiet"]);
    desk.workspace.write("deep/below/x", "");
    let mut command = desk.jig(&["init", "--yes", "--json"]);
    let output = command
        .current_dir(desk.path("deep/below"))
        .output()
        .unwrap();
    let told = super::parsed(&output);
    assert_eq!(told["path"], desk.path("jig.toml").as_str());
    assert_eq!(told["next"][0], "jig call word_count path=jig.toml");
}
