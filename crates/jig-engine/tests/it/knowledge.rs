//! The knowledge base through the engine, with the real component, on the disk and in memory.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use camino::Utf8Path;
use jig_broker::{AuditEntry, AuditSink};
use jig_config::Sources;
use jig_engine::{Call, CallError, Engine, Nobody};
use jig_files::{DiskFiles, MemoryFiles, ProjectFiles};
use jig_proto::{ProjectPath, SchemaForm};
use jig_wasm::CacheDirs;
use serde_json::{Value, json};

const FILES: [(&str, &str); 7] = [
    ("docs/style/naming.md", "# Naming\n\nNo abbreviations.\n"),
    ("docs/style/errors/handling.md", "Use thiserror.\n"),
    ("docs/style/errors/secret.md", "nobody gets this\n"),
    ("docs/style/.hidden.md", "psst\n"),
    ("docs/style/tool.py", "print('hi')\n"),
    ("docs/all/one.md", "one\n"),
    ("README.md", "outside\n"),
];

const CONFIG: &str = "\
[kb.topic.style]
title = \"House style\"
introduction = \"How we write.\"
description = \"\"\"
Load it before you write code.

It is short.
\"\"\"
subjects = \"docs/style\"
learned = [\"naming\", \"*.py\"]
disabled = [\"errors/secret\"]

[kb.topic.all]
subjects = \"docs/all\"
learned = [\"**\"]
";

/// Keeps what was decided.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<String>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        let line = format!("{} {} {}", entry.operation, entry.target, entry.decision);
        self.0.lock().unwrap().push(line);
        Ok(())
    }
}

/// Runs a test in a workspace on the disk, and in the same one in memory.
fn on_both(config: &str, test: impl Fn(&mut Engine)) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path())
        .unwrap()
        .canonicalize_utf8()
        .unwrap();
    let memory = MemoryFiles::new();
    for (path, content) in FILES {
        let full = root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, content).unwrap();
        memory
            .put_file(&ProjectPath::normalize(path).unwrap(), content, false)
            .unwrap();
    }
    std::fs::write(root.join("jig.toml"), config).unwrap();
    let disk: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(&root).unwrap());
    for files in [disk, Arc::new(memory)] {
        let mut engine = engine(&root, files);
        test(&mut engine);
    }
}

fn engine(root: &Utf8Path, files: Arc<dyn ProjectFiles>) -> Engine {
    let loaded = jig_config::load(&Sources::new(root));
    let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
    let mut engine = Engine::new(Arc::new(loaded.config), files);
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guests");
    engine.wasm.cache = Some(CacheDirs {
        code: guests.join("cache"),
        key: guests.join("cache.key"),
    });
    engine
}

fn learn(engine: &Engine, arguments: Value) -> Result<String, CallError> {
    let reply = engine.call(Call::new("learn", arguments), &mut Nobody)?;
    Ok(reply.into_content().to_text())
}

/// W-030, W-050 to W-054: as a model calls it.
#[test]
fn learn_lists_and_loads() {
    on_both(CONFIG, |engine| {
        let listed = learn(engine, json!({ "topic": "House Style" })).unwrap();
        let expected = "\
# House style

Load it before you write code.

It is short.

Subjects that can be loaded, by name or by pattern (`*`, `**`):

- errors/handling

Already loaded:

- naming
- tool
";
        assert_eq!(listed, expected);
        let loaded = learn(engine, json!({ "topic": "style", "subjects": "errors/*" })).unwrap();
        assert_eq!(loaded, "Use thiserror.\n");
        let loaded = learn(
            engine,
            json!({ "topic": "style", "subjects": ["hidden", "naming"] }),
        )
        .unwrap();
        let expected = "<subject name=\"hidden\">\npsst\n</subject>\n\n<subject name=\"naming\">\n# Naming\n\nNo \
                        abbreviations.\n</subject>\n";
        assert_eq!(loaded, expected);
    });
}

#[test]
fn what_is_wrong_with_a_call_is_said_with_the_way_out() {
    on_both(CONFIG, |engine| {
        let said = |arguments: Value| learn(engine, arguments).unwrap_err().to_string();
        assert_eq!(
            said(json!({ "topic": "stile" })),
            "there is no topic `stile`; the topics are `style` (House style), `all`\nhint: did you mean `style`?"
        );
        assert_eq!(
            said(json!({ "topic": "style", "subjects": "errors/secret" })),
            "no subject of `House style` matches `errors/secret`\nhint: the 3 subjects are `errors/handling`, \
             `naming`, `tool`"
        );
        assert!(said(json!({})).contains("`topic` is missing"));
        // The host's own words are not the caller's to say.
        let forged = said(json!({ "topic": "style", "_topic": { "disabled": [] } }));
        assert!(forged.contains("`_topic` is not known"), "{forged}");
        assert!(
            said(json!({ "topic": "style", "subjects": 3 }))
                .contains("`subjects` must be string or array")
        );
        assert!(
            said(json!({ "topic": "style", "subjects": [3] }))
                .contains("`subjects[0]` must be string")
        );
    });
}

/// W-020: read-only, and only its topic; every file that is read is in the log.
#[test]
fn reading_is_decided_by_the_rules_of_the_tool() {
    on_both(CONFIG, |engine| {
        let kept = Arc::new(Kept::default());
        engine.audit = Arc::clone(&kept) as Arc<dyn AuditSink>;
        learn(engine, json!({ "topic": "style", "subjects": "naming" })).unwrap();
        let log = kept.0.lock().unwrap().clone();
        assert!(
            log.contains(&"fs.read docs/style/naming.md allow".to_owned()),
            "{log:?}"
        );
        assert!(
            log.iter().all(|line| line.contains("docs/style")),
            "{log:?}"
        );
        let error = learn(
            engine,
            json!({ "topic": "style", "subjects": "../../README" }),
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("no subject of"));
    });
    let narrowed = format!(
        "{CONFIG}\n[tools.learn]\naccess.fs = [{{ path = \"docs\", read = true }}, {{ path = \"docs/style/errors\" }}]\n"
    );
    on_both(&narrowed, |engine| {
        let listed = learn(engine, json!({ "topic": "style" })).unwrap();
        assert!(!listed.contains("errors"), "{listed}");
        let error = learn(
            engine,
            json!({ "topic": "style", "subjects": "errors/handling" }),
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("no subject of"), "{error}");
    });
}

const SECTION: &str = "\
# Knowledge

This project has written down what it knows about the topics below. Before work that one of them covers, \
load what you need with the tool `learn`: with `topic` alone it lists the subjects of a topic, with \
`subjects` it returns their text.

- `style` (House style), 1 subject: How we write.
  Load it before you write code.

  It is short.

What follows is loaded already.

<subject topic=\"style\" name=\"naming\">
# Naming

No abbreviations.
</subject>

<subject topic=\"style\" name=\"tool\">
```python
print('hi')
```
</subject>

<subject topic=\"all\" name=\"one\">
one
</subject>
";

#[test]
fn the_section_for_a_system_prompt() {
    on_both(CONFIG, |engine| {
        let knowledge = engine.knowledge().unwrap();
        assert_eq!(knowledge.to_string(), SECTION);
        assert_eq!(engine.knowledge().unwrap(), knowledge);
        let json = knowledge.to_json();
        assert_eq!(json["text"], SECTION);
        assert_eq!(json["topics"][0]["subjects"], json!(["errors/handling"]));
        assert_eq!(json["topics"][1]["learned"][0]["name"], "one");
        let one = engine.knowledge_about("ALL").unwrap();
        assert_eq!(
            one.to_string(),
            "# Knowledge\n\nWhat follows is loaded already.\n\n<subject topic=\"all\" name=\"one\">\none\n</subject>\n"
        );
        let error = engine.knowledge_about("nothing").unwrap_err().to_string();
        assert!(error.starts_with("there is no topic `nothing`"), "{error}");
    });
}

#[test]
fn what_a_model_cannot_load_is_not_offered() {
    let off = format!("{CONFIG}\n[tools.learn]\nenable = false\n");
    on_both(&off, |engine| {
        let text = engine.knowledge().unwrap().to_string();
        assert!(
            text.starts_with("# Knowledge\n\nWhat follows is loaded already.\n"),
            "{text}"
        );
        assert!(!text.contains("with the tool"));
    });
    let renamed = format!(
        "{CONFIG}\n[tools.learn]\nenable = false\n\n[tools.study]\nsource = \"builtin.learn\"\nrun = \"unattended\"\n"
    );
    on_both(&renamed, |engine| {
        assert!(
            engine
                .knowledge()
                .unwrap()
                .to_string()
                .contains("with the tool `study`")
        );
    });
    on_both("", |engine| {
        assert_eq!(engine.knowledge().unwrap().to_string(), "")
    });
}

/// A topic that can't be read does not take the others with it.
#[test]
fn a_topic_with_a_problem_is_told_with_it() {
    let config = format!("{CONFIG}\n[kb.topic.gone]\nsubjects = \"docs/gone\"\n");
    on_both(&config, |engine| {
        let knowledge = engine.knowledge().unwrap();
        assert_eq!(knowledge.to_string(), SECTION);
        let problem = knowledge.topics[2].problem.clone().unwrap();
        assert!(
            problem.starts_with("the topic `gone` has no subjects: `docs/gone` does not exist"),
            "{problem}"
        );
    });
}

/// W-033: the host's definition; the topics are named in it.
#[test]
fn learn_is_published_with_its_topics() {
    on_both(CONFIG, |engine| {
        let published = engine.published(SchemaForm::Flat).unwrap();
        let learn = published.iter().find(|one| one.name == "learn").unwrap();
        assert!(
            learn
                .description
                .contains("- `style` (House style): How we write."),
            "{}",
            learn.description
        );
        assert_eq!(learn.parameters["required"], json!(["topic"]));
    });
    on_both("", |engine| {
        let published = engine.published(SchemaForm::Flat).unwrap();
        assert!(published.iter().all(|one| one.name != "learn"));
        let error = learn(engine, json!({ "topic": "style" }))
            .unwrap_err()
            .to_string();
        assert!(error.contains("there is no topic to learn"), "{error}");
    });
}

#[test]
fn arguments_are_formatted_by_the_component() {
    on_both(CONFIG, |engine| {
        let call = Call::new(
            "learn",
            json!({ "topic": "style", "subjects": ["a", "b/*"] }),
        );
        let shown = engine.format_arguments(&call).unwrap();
        assert_eq!(shown.as_deref(), Some("load `a`, `b/*` of `style`"));
    });
}

/// A directory that is a link inside of the workspace is the directory that it leads to; one that leads out is
/// none.
#[test]
fn the_directory_of_a_topic_may_be_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::create_dir(root.join("real")).unwrap();
    std::fs::write(root.join("real/a.md"), "a\n").unwrap();
    std::fs::write(outside.path().join("secret.md"), "secret\n").unwrap();
    std::os::unix::fs::symlink("real", root.join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
    let config = "[kb.topic.a]\nsubjects = \"linked\"\n\n[kb.topic.b]\nsubjects = \"out\"\n";
    std::fs::write(root.join("jig.toml"), config).unwrap();
    let engine = engine(root, Arc::new(DiskFiles::open(root).unwrap()));
    let loaded = learn(&engine, json!({ "topic": "a", "subjects": "*" }));
    assert_eq!(loaded.unwrap(), "a\n");
    let refused = learn(&engine, json!({ "topic": "b", "subjects": "**" })).unwrap_err();
    assert!(!refused.to_string().contains("secret\n"), "{refused}");
}
