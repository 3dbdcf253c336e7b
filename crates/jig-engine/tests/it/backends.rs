//! The same calls on files of the disk and of memory, with the same results (V-004).

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

use std::sync::Arc;

use camino::Utf8Path;
use jig_config::Sources;
use jig_engine::{Answer, Ask, Asker, Call, CallError, Engine, Nobody};
use jig_files::{DiskFiles, MemoryFiles, ProjectFiles};
use jig_proto::ProjectPath;
use serde_json::{Value, json};

const FILES: [(&str, &str); 4] = [
    ("src/main.rs", "fn main() {\n    println!(\"hi\");\n}\n"),
    ("src/deep/a.txt", "one\ntwo\nthree\n"),
    ("README.md", "# A project\n"),
    (".env", "SECRET=1\n"),
];

/// docs/embedding.md shows a whole program and what it prints. It is the example, word for word, and it runs.
#[test]
fn the_program_of_the_docs_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let page = std::fs::read_to_string(format!("{folder}/docs/embedding.md")).unwrap();
    // What only a linter reads is left out.
    let lint = "#![expect(clippy::print_stdout, reason = \"it shows what happens\")]\n\n";
    let program = include_str!("../../examples/embed.rs").replace(lint, "");
    assert!(
        page.contains(&format!("```rust\n{program}```\n")),
        "docs/embedding.md does not hold crates/jig-engine/examples/embed.rs as it is"
    );
    // Examples are built with the tests, beside their folder.
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/embed");
    let output = std::process::Command::new(example).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        page.contains(&format!("```text\n{printed}```\n")),
        "docs/embedding.md does not hold what it prints:\n{printed}"
    );
}

/// Says yes to everything but access.
struct Yes;

impl Asker for Yes {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        match ask.about {
            jig_engine::About::Access => Answer::Unavailable,
            _ => Answer::Given(Value::Bool(true)),
        }
    }
}

fn on_disk(root: &Utf8Path) -> Arc<dyn ProjectFiles> {
    for (path, content) in FILES {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    Arc::new(DiskFiles::open(root).unwrap())
}

fn in_memory() -> Arc<dyn ProjectFiles> {
    let files = MemoryFiles::new();
    for (path, content) in FILES {
        let path = ProjectPath::normalize(path).unwrap();
        files.put_file(&path, content, false).unwrap();
    }
    Arc::new(files)
}

fn engine(files: Arc<dyn ProjectFiles>, sets: &[&str]) -> Engine {
    let mut sources = Sources::new(files.display_root());
    sources.sets = sets.iter().map(|set| (*set).to_owned()).collect();
    Engine::new(Arc::new(jig_config::load(&sources).unwrap().config), files)
}

/// What a call came to, as text.
fn outcome(engine: &Engine, tool: &str, arguments: Value, asker: &mut dyn Asker) -> String {
    match engine.call(Call::new(tool, arguments), asker) {
        Ok(content) => content.into_content().to_text(),
        Err(CallError::Tool(error)) => format!("error: {}", error.message),
        Err(error) => format!("failed: {error}"),
    }
}

/// V-004: a tool cannot tell where the files are.
#[test]
fn disk_and_memory_give_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    let disk = engine(on_disk(Utf8Path::from_path(folder.path()).unwrap()), &[]);
    let memory = engine(in_memory(), &[]);
    for (tool, arguments) in [
        ("fs_list_files", json!({})),
        (
            "fs_read_file",
            json!({ "path": "src/deep/a.txt", "start_line": 2 }),
        ),
        ("fs_read_file", json!({ "path": ".env" })),
        ("fs_read_file", json!({ "path": "src" })),
        ("fs_read_file", json!({ "path": "nothing" })),
        ("fs_grep_files", json!({ "pattern": "o", "context": 1 })),
        (
            "fs_create_file",
            json!({ "path": "new/file.txt", "content": "x" }),
        ),
        (
            "fs_modify_file",
            json!({ "path": "src/main.rs", "patterns": [{ "old": "hi", "new": "ho" }] }),
        ),
        ("fs_move_file", json!({ "from": "src/deep", "to": "moved" })),
        ("fs_delete_file", json!({ "path": "README.md" })),
        ("fs_delete_file", json!({ "path": "jig.toml" })),
        ("fs_create_file", json!({ "path": "../out", "content": "" })),
        ("fs_list_files", json!({})),
        ("fs_read_file", json!({ "path": "src/main.rs" })),
    ] {
        let (on_disk, in_memory) = (
            outcome(&disk, tool, arguments.clone(), &mut Yes),
            outcome(&memory, tool, arguments.clone(), &mut Yes),
        );
        assert_eq!(on_disk, in_memory, "{tool} {arguments}");
    }
}

/// What is approved for the turn is not asked again; what is approved once is.
#[test]
fn approvals_last_as_long_as_they_should() {
    struct Counting(&'static str, usize);
    impl Asker for Counting {
        fn ask(&mut self, _: &Ask<'_>) -> Answer {
            self.1 += 1;
            Answer::Given(json!(self.0))
        }
    }
    for (answer, asked) in [("once", 3), ("turn", 1), ("no", 3)] {
        let engine = engine(in_memory(), &[]);
        let mut asker = Counting(answer, 0);
        for _ in 0..3 {
            let text = outcome(
                &engine,
                "fs_read_file",
                json!({ "path": ".env" }),
                &mut asker,
            );
            assert_eq!(text.contains("SECRET=1"), answer != "no", "{text}");
        }
        assert_eq!(asker.1, asked, "{answer}");
    }
}

/// Each run mode and each result mode (J-023).
#[test]
fn j023_modes_decide_who_is_asked() {
    struct Scripted(Vec<(&'static str, Answer)>);
    impl Asker for Scripted {
        fn ask(&mut self, ask: &Ask<'_>) -> Answer {
            let (id, answer) = self.0.remove(0);
            assert_eq!(ask.question.id, id);
            answer
        }
    }
    let yes = || Answer::Given(json!(true));
    let no = || Answer::Given(json!(false));
    for (set, script, expected) in [
        ("run=unattended", vec![], "# A project"),
        ("run=ask", vec![("run", yes())], "# A project"),
        ("run=ask", vec![("run", no())], "was declined"),
        (
            "run=ask",
            vec![("run", Answer::Unavailable)],
            "nobody can be asked",
        ),
        ("run=skip", vec![], "configured to be skipped"),
        (
            "run=edit",
            vec![(
                "arguments",
                Answer::Given(json!({ "path": "src/deep/a.txt" })),
            )],
            "three",
        ),
        (
            "run=edit",
            vec![("arguments", Answer::Given(json!({ "paht": 1 })))],
            "`paht` is not known",
        ),
        ("result=ask", vec![("result", yes())], "# A project"),
        ("result=ask", vec![("result", no())], "was not passed on"),
        ("result=skip", vec![], "was not passed on"),
        (
            "result=edit",
            vec![("result", Answer::Given(json!("edited")))],
            "edited",
        ),
    ] {
        let set = format!("tools.fs_read_file.{set}");
        let engine = engine(in_memory(), &[&set]);
        let mut asker = Scripted(script);
        let text = outcome(
            &engine,
            "fs_read_file",
            json!({ "path": "README.md" }),
            &mut asker,
        );
        assert!(text.contains(expected), "{set}: {text}");
        assert!(asker.0.is_empty(), "{set}: all was asked");
    }
}

/// J-016: an answer that is known in advance is not asked for.
#[test]
fn j016_static_answers_are_not_asked_for() {
    let modify = json!({ "path": "README.md", "patterns": [{ "old": "A", "new": "B" }] });
    let sets = ["tools.fs_modify_file.run=unattended"];
    let asked = engine(in_memory(), &sets);
    let text = outcome(&asked, "fs_modify_file", modify.clone(), &mut Nobody);
    assert!(text.starts_with("error"), "{text}");
    let sets = [
        sets[0],
        "tools.fs_modify_file.questions.apply_changes.answer=true",
    ];
    let known = engine(in_memory(), &sets);
    let text = outcome(&known, "fs_modify_file", modify, &mut Nobody);
    assert!(text.starts_with("Changed"), "{text}");
}

#[test]
fn on_uncovered_deny_asks_nobody() {
    struct Never;
    impl Asker for Never {
        fn ask(&mut self, ask: &Ask<'_>) -> Answer {
            panic!("nobody is asked: {ask:?}");
        }
    }
    let engine = engine(in_memory(), &["tools.fs_read_file.on_uncovered=deny"]);
    let text = outcome(
        &engine,
        "fs_read_file",
        json!({ "path": ".env" }),
        &mut Never,
    );
    assert!(text.contains("access denied"), "{text}");
}

#[test]
fn results_are_bounded() {
    let files = MemoryFiles::new();
    let path = ProjectPath::normalize("big.txt").unwrap();
    let line = format!("{}\n", "x".repeat(99));
    files.put_file(&path, line.repeat(2_000), false).unwrap();
    let mut engine = engine(Arc::new(files), &[]);
    engine.max_result = 10_000;
    let text = outcome(
        &engine,
        "fs_read_file",
        json!({ "path": "big.txt" }),
        &mut Nobody,
    );
    assert!(
        text.len() < 11_000 && text.contains("[truncated, "),
        "{}",
        text.len()
    );
}
