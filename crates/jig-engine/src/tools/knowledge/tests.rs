//! Which topic is meant, and what is said of all.

use jig_config::{Config, Sources, load};
use serde_json::{Map, Value, json};

use super::topic::{KnowledgeError, find, prepare};
use super::{Knowledge, LoadedSubject, TopicKnowledge, not_offered, topics_summary};

/// A configuration with these assignments.
fn config(sets: &[&str]) -> Config {
    let mut sources = Sources::new("/nowhere");
    sources.sets = sets.iter().map(|&set| set.to_owned()).collect();
    match load(&sources) {
        Ok(loaded) => loaded.config,
        Err(errors) => panic!("{errors}"),
    }
}

fn topics() -> Config {
    config(&[
        "kb.topic.style.subjects=docs/style",
        "kb.topic.style.title=House style",
        "kb.topic.style.introduction=How we\n  write.",
        "kb.topic.style.learned=[\"naming\"]",
        "kb.topic.skills.subjects=.jp/kb/skills",
        "kb.topic.skills.disabled=[\"x\"]",
        "kb.topic.old.subjects=old",
        "kb.topic.old.enable=false",
        // A title that is another one's name: the name wins.
        "kb.topic.trick.subjects=trick",
        "kb.topic.trick.title=skills",
    ])
}

/// W-051: by name, then by title whatever the case, else an error that lists what there is.
#[test]
fn a_topic_is_found_by_name_then_by_title() {
    let config = topics();
    let check = |asked: &str, expected: &str| {
        let found = find(&config, asked).map(|topic| topic.id.clone());
        assert_eq!(found.as_deref(), Ok(expected), "{asked}");
    };
    check("style", "style");
    check(" style\n", "style");
    check("House style", "style");
    check("HOUSE STYLE", "style");
    check("Style", "style");
    check("skills", "skills");
    let refused = |asked: &str| match find(&config, asked) {
        Ok(topic) => panic!("{asked} is {}", topic.id),
        Err(error) => error.to_string(),
    };
    let all = "the topics are `style` (House style), `skills`, `trick` (skills)";
    assert_eq!(refused("old"), format!("there is no topic `old`; {all}"));
    assert_eq!(refused(""), format!("there is no topic ``; {all}"));
    assert_eq!(
        refused("stile"),
        format!("there is no topic `stile`; {all}\nhint: did you mean `style`?")
    );
    assert_eq!(
        refused("house"),
        format!("there is no topic `house`; {all}\nhint: did you mean `style`?")
    );
    assert_eq!(
        refused("\u{1b}[2J"),
        format!("there is no topic `\\u{{1b}}[2J`; {all}")
    );
    assert!(refused(&"x".repeat(100_000)).len() < 300);
    assert_eq!(
        find(&config_without(), "style").err(),
        Some(KnowledgeError::NoTopics)
    );
}

fn config_without() -> Config {
    config(&[])
}

#[test]
fn learn_is_offered_only_with_a_topic() {
    let (with, without) = (topics(), config_without());
    let off = config(&["kb.topic.a.subjects=a", "kb.topic.a.enable=false"]);
    for (config, offered) in [(&with, true), (&without, false), (&off, false)] {
        let learn = config.tool("learn").expect("a predefined tool");
        assert_eq!(not_offered(config, learn).is_none(), offered);
        let other = config.tool("fs_read_file").expect("a predefined tool");
        assert_eq!(not_offered(config, other), None);
        assert_eq!(topics_summary(config, other), None);
    }
    // Under another name too, and not if the name is somebody else's.
    let named = config(&["tools.study.source=builtin.learn"]);
    assert!(not_offered(&named, &named.tools["study"]).is_some());
    let own = config(&["tools.learn.source=local", "tools.learn.command=learn.sh"]);
    assert_eq!(not_offered(&own, &own.tools["learn"]), None);
}

#[test]
fn the_description_names_the_topics() {
    let config = topics();
    let summary = topics_summary(&config, &config.tools["learn"]);
    let expected =
        "The topics are:\n- `style` (House style): How we write.\n- `skills`\n- `trick` (skills)";
    assert_eq!(summary.as_deref(), Some(expected));
    let many: Vec<String> = (0..150)
        .map(|number| format!("kb.topic.t{number}.subjects=t"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let many = self::config(&many);
    let summary = topics_summary(&many, &many.tools["learn"]).unwrap_or_default();
    assert_eq!(summary.lines().count(), 102);
}

/// W-051, W-020: what the component is told, and that a caller can't say it in our place.
#[test]
fn the_component_is_told_what_the_configuration_says() {
    let config = topics();
    let given = json!({ "topic": "house STYLE", "_topic": { "disabled": [], "survey": true } });
    let Value::Object(mut arguments) = given else {
        panic!("an object");
    };
    let mount = prepare(&config, &mut arguments, 1000);
    let mount = mount.expect("a topic of that title");
    assert_eq!(
        (mount.guest.as_str(), mount.path.as_str(), mount.writable),
        ("/subjects", "docs/style", false)
    );
    let expected = json!({
        "title": "House style",
        "description": null,
        "disabled": [],
        "learned": ["naming"],
        "directory": "docs/style",
        "most": 1000,
    });
    assert_eq!(arguments["_topic"], expected);
    let nothing = prepare(&config, &mut Map::new(), 1);
    assert!(matches!(nothing, Err(KnowledgeError::UnknownTopic { .. })));
}

/// Files have any name that somebody gives them; the prompt is ours to write.
#[test]
fn a_name_does_not_leave_its_line_in_the_prompt() {
    let check = |name: &str, expected: &str| {
        let learned = LoadedSubject {
            name: name.to_owned(),
            text: "text".to_owned(),
        };
        let topic = TopicKnowledge {
            id: "style".to_owned(),
            learned: vec![learned],
            ..TopicKnowledge::default()
        };
        let knowledge = Knowledge {
            topics: vec![topic],
            tool: None,
        };
        let line = format!("<subject topic=\"style\" name=\"{expected}\">");
        let text = knowledge.to_string();
        assert!(text.lines().any(|one| one == line), "{text}");
    };
    check("naming", "naming");
    check("a\nb", "a\\nb");
    check("a\u{1b}[2Jb", "a\\u{1b}[2Jb");
    check("\"><x", "&quot;>&lt;x");
}
