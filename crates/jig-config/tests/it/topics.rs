//! `[kb.topic.NAME]`: the topics of the knowledge base.

use jig_config::{Sources, load, show, show_json};
use serde_json::json;

use crate::mistakes::check;
use crate::workspace::Workspace;

const TOML: &str = "\
[kb.topic.style]
title = \"House style\"
introduction = \"How we write.\"
description = \"Load it before you write code.\"
subjects = \"./docs//style/\"
learned = [\"naming\", \"errors/**\"]
disabled = [\"drafts/*\"]

[kb.topic.'other things']
subjects = \".\"
enable = false
";

#[test]
fn every_key_is_read_and_knows_its_line() {
    let config = Workspace::with(TOML).config();
    let names: Vec<&String> = config.topics.keys().collect();
    assert_eq!(names, ["style", "other things"]);
    let style = &config.topics["style"];
    assert_eq!(
        (style.id.as_str(), style.title(), style.enable),
        ("style", "House style", true)
    );
    assert_eq!(style.introduction.as_deref(), Some("How we write."));
    assert_eq!(
        style.description.as_deref(),
        Some("Load it before you write code.")
    );
    assert_eq!(style.subjects.as_str(), "docs/style");
    assert_eq!(style.learned, ["naming", "errors/**"]);
    assert_eq!(style.disabled, ["drafts/*"]);
    assert_eq!(style.declared_at().to_string(), "jig.toml:1");
    let at = |path: &str| style.origin(path).map(ToString::to_string);
    assert_eq!(at("subjects").as_deref(), Some("jig.toml:5"));
    assert_eq!(at("learned.1").as_deref(), Some("jig.toml:6"));
    assert_eq!(at("enable"), None);
    let other = &config.topics["other things"];
    assert_eq!(
        (other.title(), other.enable, other.subjects.is_root()),
        ("other things", false, true)
    );
    let enabled: Vec<&str> = config
        .enabled_topics()
        .map(|topic| topic.id.as_str())
        .collect();
    assert_eq!(enabled, ["style"]);
    assert!(Workspace::new().config().topics.is_empty());
}

#[test]
fn layers_are_merged_topic_by_topic() {
    let workspace = Workspace::with(TOML).file(
        ".jig/config.toml",
        "[kb.topic.style]\ntitle = \"Style\"\nlearned = [\"more\"]\n\
         disabled = { strategy = \"replace\", value = [\"secret\"] }\n",
    );
    let mut sources = workspace.sources();
    sources.sets.push("kb.topic.style.enable=false".to_owned());
    sources
        .environment
        .push(("JIG_CFG__KB__TOPIC__STYLE__SUBJECTS".into(), "kb".into()));
    let config = load(&sources)
        .unwrap_or_else(|errors| panic!("{errors}"))
        .config;
    let style = &config.topics["style"];
    assert_eq!(style.title(), "Style");
    assert_eq!(style.introduction.as_deref(), Some("How we write."));
    assert_eq!(style.subjects.as_str(), "kb");
    assert_eq!(style.learned, ["naming", "errors/**", "more"]);
    assert_eq!(style.disabled, ["secret"]);
    assert!(!style.enable);
    let at = |path: &str| style.origin(path).map(ToString::to_string);
    assert_eq!(at("enable").as_deref(), Some("--set"));
    assert_eq!(at("title").as_deref(), Some(".jig/config.toml:2"));
    assert_eq!(at("learned.2").as_deref(), Some(".jig/config.toml:3"));
}

/// A file that was written for JP works unchanged, whatever else it holds.
#[test]
fn files_of_jp() {
    let config = Workspace::new()
        .file(
            ".jp/config.toml",
            "[kb]\nsomething = 1\n\n[kb.topic.skills]\nsubjects = \".jp/kb/skills\"\n\n[assistant]\nname = \"x\"\n",
        )
        .file(".jp/kb/skills/ast-grep.md", "")
        .config();
    assert_eq!(config.topics["skills"].subjects.as_str(), ".jp/kb/skills");
}

#[test]
fn what_is_shown_loads_as_the_same_topics() {
    let first = Workspace::with(TOML).config();
    for origin in [false, true] {
        let again = Workspace::with(&show(&first, origin)).config();
        assert_eq!(show(&again, false), show(&first, false));
    }
    assert!(show(&first, true).contains("subjects = \"./docs//style/\"  # jig.toml:5\n"));
    let shown = show_json(&first, true);
    assert_eq!(
        shown["kb"]["topic"]["style"]["learned"],
        json!(["naming", "errors/**"])
    );
    assert_eq!(
        shown["origins"]["kb.topic.'other things'.enable"]["line"],
        11
    );
    let nothing = Workspace::new().config();
    assert_eq!(show_json(&nothing, true).get("kb"), None);
}

fn topic(lines: &str) -> String {
    format!("[kb.topic.style]\n{lines}\n")
}

#[test]
fn mistakes() {
    let right = topic("subjects = \"docs\"");
    check(
        "topic_without_subjects",
        &topic("title = \"Style\""),
        &right,
    );
    check(
        "topic_with_misspelt_key",
        &topic("subjects = \"docs\"\nlerned = [\"a\"]"),
        &topic("subjects = \"docs\"\nlearned = [\"a\"]"),
    );
    check("topic_with_foreign_key", &topic("path = \"docs\""), &right);
    check("topic_outside", &topic("subjects = \"../docs\""), &right);
    check("topic_absolute", &topic("subjects = \"/docs\""), &right);
    check(
        "topic_bare_string",
        &topic("subjects = \"docs\"\nlearned = \"a\""),
        &topic("subjects = \"docs\"\nlearned = [\"a\"]"),
    );
    check(
        "topic_pattern",
        &topic("subjects = \"docs\"\nlearned = [\"a**\"]"),
        &topic("subjects = \"docs\"\nlearned = [\"a/**\"]"),
    );
    check(
        "topic_pattern_braces",
        &topic("subjects = \"docs\"\nlearned = [\"{a,b}\"]"),
        &topic("subjects = \"docs\"\nlearned = [\"a\", \"b\"]"),
    );
    check(
        "topic_disabled_directory",
        &topic("subjects = \"docs\"\ndisabled = [\"drafts/\"]"),
        &topic("subjects = \"docs\"\ndisabled = [\"drafts/**\"]"),
    );
    check(
        "topic_disabled_outside",
        &topic("subjects = \"docs\"\ndisabled = [\"../a\"]"),
        &topic("subjects = \"docs\"\ndisabled = [\"a\"]"),
    );
    check(
        "topics_misspelt",
        "[kb.topics.style]\nsubjects = \"docs\"",
        &right,
    );
    check(
        "topic_at_the_top",
        "[topic.style]\nsubjects = \"docs\"",
        &right,
    );
    check(
        "topic_name",
        "[kb.topic.\"a\\nb\"]\nsubjects = \"docs\"",
        &right,
    );
    check(
        "topic_title",
        &topic("subjects = \"docs\"\ntitle = \" \""),
        &topic("subjects = \"docs\"\ntitle = \"T\""),
    );
}

/// One that is wrong does not hide what is wrong with the others, and is not blamed twice.
#[test]
fn mistakes_are_reported_once_each() {
    let workspace = Workspace::with(
        "[kb.topic.a]\nsubjects = 1\n\n[kb.topic.b]\n\n[kb.topic.ab]\nsubjects = \"x\"\nlearned = [\"/\"]\n\n[tools.t]\n",
    );
    let Err(errors) = load(&workspace.sources()) else {
        panic!("it loads");
    };
    let keys: Vec<&str> = errors
        .problems()
        .iter()
        .map(|problem| problem.key_path())
        .collect();
    let expected = [
        "kb.topic.a.subjects",
        "kb.topic.ab.learned[0]",
        "kb.topic.b.subjects",
        "tools.t.source",
    ];
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
}

#[test]
fn warnings() {
    let warned = |workspace: &Workspace| -> Vec<String> {
        let loaded = workspace.load().unwrap_or_else(|errors| panic!("{errors}"));
        loaded
            .warnings
            .iter()
            .map(|problem| format!("{} | {}", problem.message(), problem.help()))
            .collect()
    };
    let one = |lines: &str| {
        Workspace::with(&topic(lines))
            .file("docs/rust/a.md", "")
            .file("docs/b.md", "")
    };
    assert!(warned(&one("subjects = \"docs\"")).is_empty());
    assert!(warned(&one("subjects = \"nowhere\"\nenable = false")).is_empty());
    assert_eq!(
        warned(&one("subjects = \"doc\"")),
        [
            "the topic `style` has no subjects: there is no directory `doc` | did you mean `docs`? if not, create the directory"
        ]
    );
    assert_eq!(
        warned(&one("subjects = \"docs\"\ndisabled = [\"rust\"]")),
        [
            "`rust` is a directory, not a subject: it is not disabled | for all that is below it write `\"rust/**\"`"
        ]
    );
    assert!(
        warned(&one("subjects = \"docs\"\ndisabled = [\"rust\"]").file("docs/rust.md", ""))
            .is_empty()
    );
    assert_eq!(
        warned(&one(
            "subjects = \"docs\"\ntitle = \"Docs\"\n\n[kb.topic.other]\nsubjects = \"docs\"\ntitle = \"docs\""
        )),
        [
            "the topics `style` and `other` are both called `docs`: by that title only the first is found | give each a title of its own"
        ]
    );
    // Who looks without lints is not told.
    let mut quiet: Sources = one("subjects = \"doc\"").sources();
    quiet.lint = false;
    assert!(load(&quiet).is_ok_and(|loaded| loaded.warnings.is_empty()));
}

/// The built-in `learn` is a component: rules on it are held, under whatever name.
#[test]
fn learn_may_have_rules() {
    let config = Workspace::with(
        "[tools.learn]\naccess.fs = [{ path = \"docs\", read = true }]\n\n\
         [tools.study]\nsource = \"builtin.learn\"\naccess.fs = [{ path = \"kb\", read = true }]\n",
    )
    .config();
    let paths = |name: &str| config.tools[name].access.fs[0].path.clone();
    assert_eq!(
        (paths("learn").as_str(), paths("study").as_str()),
        ("docs", "kb")
    );
    let refused =
        Workspace::with("[tools.await]\naccess.fs = [{ path = \"docs\", read = true }]\n").load();
    assert!(refused.is_err());
}
