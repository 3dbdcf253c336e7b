//! The knowledge base: topics, and the directories of their subjects.

use crate::shape::text::{ANY, PROJECT_DIRECTORY, SUBJECTS, TITLE, TOPIC_NAME};
use crate::shape::{List, ListMerge, Map, Shape, Table, key};

/// `[kb]`.
pub(crate) static KNOWLEDGE: Table = Table {
    what: "the knowledge base",
    keys: &[key!(
        "topic",
        Shape::Map(&TOPICS),
        "The topics that the tool `learn` can load from, by name."
    )],
    foreign: &[
        ("topics", "write `topic`: `[kb.topic.NAME]`"),
        (
            "path",
            "a directory belongs to a topic: `[kb.topic.NAME]` with `subjects = \"…\"`",
        ),
        (
            "subjects",
            "subjects belong to a topic: `[kb.topic.NAME]` with `subjects = \"…\"`",
        ),
        (
            "enable",
            "switch topics off one by one: `enable = false` in `[kb.topic.NAME]`",
        ),
    ],
    short: None,
};

static TOPICS: Map = Map {
    what: "a topic",
    name: &TOPIC_NAME,
    value: Shape::Table(&TOPIC),
    special: &[],
};

/// `[kb.topic.NAME]`.
static TOPIC: Table = Table {
    what: "a topic",
    keys: &[
        key!(
            "enable",
            Shape::Bool,
            "Whether the topic is there.",
            default = "true"
        ),
        key!(
            "title",
            Shape::Text(&TITLE),
            "What the topic is called; its name if nothing is said."
        ),
        key!(
            "introduction",
            Shape::Text(&ANY),
            "One line about the topic, for the list of topics in a system prompt."
        ),
        key!(
            "description",
            Shape::Text(&ANY),
            "What the subjects are about, and when to load them."
        ),
        key!(
            "subjects",
            Shape::Text(&PROJECT_DIRECTORY),
            "The directory of the subjects, relative to the workspace. Every topic needs one."
        ),
        key!(
            "learned",
            Shape::List(&List {
                item: Shape::Text(&SUBJECTS),
                merge: ListMerge::Append,
            }),
            "Subjects that a system prompt holds in full: names, or patterns with `*`, `**` and `?`."
        ),
        key!(
            "disabled",
            Shape::List(&List {
                item: Shape::Text(&SUBJECTS),
                merge: ListMerge::Append,
            }),
            "Subjects that are neither listed nor loaded, also where `learned` names them: names or patterns."
        ),
    ],
    foreign: &[
        ("enabled", "write `enable`"),
        ("name", "write `title`"),
        ("summary", "write `introduction`"),
        ("path", "write `subjects`: the directory"),
        ("dir", "write `subjects`: the directory"),
        ("directory", "write `subjects`: the directory"),
        ("folder", "write `subjects`: the directory"),
        ("preload", "write `learned`"),
        ("loaded", "write `learned`"),
        ("always", "write `learned`"),
        ("exclude", "write `disabled`"),
        ("ignore", "write `disabled`"),
        (
            "hidden",
            "a subject is hidden if its name begins with a dot: it is then loaded only by its exact name",
        ),
    ],
    short: None,
};
