//! The options of `jig knowledge`.

pub(super) const KNOWLEDGE_HELP: &str = "\
Examples:
  jig knowledge                      for a system prompt: the topics, and what is loaded from the start
  jig knowledge style                of one topic, by its name or its title
  jig knowledge --list               the topics, and how many subjects each has
  jig knowledge style --list         the subjects of a topic
  jig call learn topic=style         what a model sees that asks for a topic
  jig call learn topic=style subjects='errors/*'

A topic is a directory of files: `[kb.topic.style]` with `subjects = \"docs/style\"`. A subject is one file;
its name is its path there without the extension. `learned` names those that a prompt holds in full,
`disabled` those that nobody gets. Files are read under the rules of the tool `learn`.";

#[derive(Debug, clap::Args)]
pub(crate) struct KnowledgeArgs {
    /// Only this topic: its name or its title
    pub(crate) topic: Option<String>,
    /// List the topics, or the subjects of a topic, instead
    #[arg(short, long)]
    pub(crate) list: bool,
}
