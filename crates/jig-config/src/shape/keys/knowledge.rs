//! The knowledge base: topics, and the directories of their subjects.

use crate::shape::text::{ANY, PROJECT_DIRECTORY, SUBJECTS, TITLE, TOPIC_NAME};
use crate::shape::{ListMerge, ListShape, MapShape, TableShape, ValueShape, key};

/// `[kb]`.
pub(crate) static KNOWLEDGE: TableShape = TableShape {
    what: "the knowledge base",
    keys: &[key!(
        "topic",
        ValueShape::Map(&TOPICS),
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

static TOPICS: MapShape = MapShape {
    what: "a topic",
    name: &TOPIC_NAME,
    value: ValueShape::Table(&TOPIC),
    special: &[],
};

/// `[kb.topic.NAME]`.
static TOPIC: TableShape = TableShape {
    what: "a topic",
    keys: &[
        key!(
            "enable",
            ValueShape::Bool,
            "Whether the topic is there.",
            default = "true"
        ),
        key!(
            "title",
            ValueShape::Text(&TITLE),
            "What the topic is called; its name if nothing is said."
        ),
        key!(
            "introduction",
            ValueShape::Text(&ANY),
            "One line about the topic, for the list of topics in a system prompt."
        ),
        key!(
            "description",
            ValueShape::Text(&ANY),
            "What the subjects are about, and when to load them."
        ),
        key!(
            "subjects",
            ValueShape::Text(&PROJECT_DIRECTORY),
            "The directory of the subjects, relative to the workspace. Every topic needs one."
        ),
        key!(
            "learned",
            ValueShape::List(&ListShape {
                item: ValueShape::Text(&SUBJECTS),
                merge: ListMerge::Append,
            }),
            "Subjects that a system prompt holds in full: names, or patterns with `*`, `**` and `?`."
        ),
        key!(
            "disabled",
            ValueShape::List(&ListShape {
                item: ValueShape::Text(&SUBJECTS),
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
