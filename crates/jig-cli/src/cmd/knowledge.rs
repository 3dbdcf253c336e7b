//! `jig knowledge`: the part of a system prompt that is about the knowledge base.

use crate::args::{GlobalArgs, KnowledgeArgs};
use crate::exit::Done;
use crate::output::CliOutput;

/// Prints it on stdout, exactly as a prompt is to have it; everything else goes to stderr.
#[cfg(feature = "wasm-tools")]
pub(crate) fn run(
    args: &KnowledgeArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    shown::run(args, global, out)
}

/// Subjects are read by a component.
#[cfg(not(feature = "wasm-tools"))]
pub(crate) fn run(_: &KnowledgeArgs, _: &GlobalArgs, _: &mut CliOutput) -> anyhow::Result<Done> {
    Err(anyhow::anyhow!(jig_proto::hint!(
        "install it with the feature `wasm-tools`, which is there by default"
    ))
    .context("this jig was built without components, and one of them reads the subjects"))
}

#[cfg(feature = "wasm-tools")]
mod shown {
    use std::io::{self, IsTerminal as _};

    use jig_engine::{CallError, Engine, Knowledge, TopicKnowledge};
    use jig_project::Project;
    use jig_proto::{visible_line, visible_lines};
    use serde_json::{Value as Json, json};

    use crate::args::{GlobalArgs, KnowledgeArgs};
    use crate::cmd::call::engine;
    use crate::compile_notice::CompileWatch;
    use crate::exit::Done;
    use crate::output::{CliOutput, table};

    pub(super) fn run(
        args: &KnowledgeArgs,
        global: &GlobalArgs,
        out: &mut CliOutput,
    ) -> anyhow::Result<Done> {
        let project = Project::load(&global.selection())?;
        let engine = engine(&project)?;
        if engine.config().topics.is_empty() && args.topic.is_none() {
            return none(out);
        }
        let knowledge = {
            let _watch = CompileWatch::over(engine.components()?);
            match &args.topic {
                Some(topic) => engine.knowledge_about(topic),
                None => engine.knowledge(),
            }
        };
        let knowledge = knowledge.map_err(explained)?;
        if let ([only], Some(_)) = (knowledge.topics.as_slice(), &args.topic)
            && let Some(problem) = &only.problem
        {
            return Err(with_hint(problem));
        }
        for topic in &knowledge.topics {
            if let Some(problem) = &topic.problem {
                out.note(&format!("warning: {problem}"));
            }
        }
        match (args.list, args.topic.is_some()) {
            (true, false) => topics(&engine, &knowledge, out),
            (true, true) => subjects(&knowledge, out),
            (false, _) => section(&knowledge, out),
        }
    }

    /// The section itself.
    fn section(knowledge: &Knowledge, out: &mut CliOutput) -> anyhow::Result<Done> {
        if out.is_json() {
            out.json(&knowledge.to_json())?;
            return Ok(Done::Ok);
        }
        let text = knowledge.to_string();
        if text.is_empty() {
            out.note("There is nothing to say: no topic has a subject that may be seen.");
        }
        // What is piped into a prompt is what the files say; a terminal must not be steered by it.
        match io::stdout().is_terminal() {
            true => out.text(&visible_lines(&text))?,
            false => out.raw(&text)?,
        }
        Ok(Done::Ok)
    }

    /// All topics, also those that are switched off.
    fn topics(engine: &Engine, knowledge: &Knowledge, out: &mut CliOutput) -> anyhow::Result<Done> {
        let mut rows = Vec::new();
        let mut objects = Vec::new();
        for topic in engine.config().topics.values() {
            let known = knowledge.topics.iter().find(|known| known.id == topic.id);
            let count = |count: fn(&TopicKnowledge) -> usize| match known {
                Some(known) if known.problem.is_none() => count(known).to_string(),
                Some(_) => "?".to_owned(),
                None => "off".to_owned(),
            };
            rows.push(vec![
                cell(&topic.id),
                cell(topic.title()),
                count(TopicKnowledge::available),
                count(|known| known.learned.len()),
                cell(&topic.subjects.to_string()),
            ]);
            objects.push(json!({
                "id": topic.id,
                "title": topic.title(),
                "enabled": topic.enable,
                "available": known.map(TopicKnowledge::available),
                "learned": known.map(|known| known.learned.len()),
                "subjects": topic.subjects.to_string(),
                "origin": topic.declared_at().to_string(),
                "problem": known.and_then(|known| known.problem.clone()),
            }));
        }
        if out.is_json() {
            out.json(&Json::Array(objects))?;
        } else {
            let header = ["TOPIC", "TITLE", "TO LOAD", "LEARNED", "DIRECTORY"];
            out.text(&table(&header, &rows))?;
        }
        Ok(Done::Ok)
    }

    /// The subjects of one topic.
    fn subjects(knowledge: &Knowledge, out: &mut CliOutput) -> anyhow::Result<Done> {
        let Some(topic) = knowledge.topics.first() else {
            return Ok(Done::Ok);
        };
        if out.is_json() {
            out.json(&topic.to_json())?;
            return Ok(Done::Ok);
        }
        let learned = topic.learned.iter().map(|one| (&one.name, "learned"));
        let others = topic.subjects.iter().map(|name| (name, "to load"));
        let mut rows: Vec<Vec<String>> = learned
            .chain(others)
            .map(|(name, state)| vec![cell(name), state.to_owned()])
            .collect();
        rows.sort();
        out.text(&table(&["SUBJECT", "STATE"], &rows))?;
        if topic.more > 0 {
            out.note(&format!("{} more subjects are not listed", topic.more));
        }
        for note in &topic.notes {
            out.note(&format!("note: {note}"));
        }
        Ok(Done::Ok)
    }

    /// A name in a table: nothing in it steers a terminal or ends the line.
    fn cell(name: &str) -> String {
        visible_line(name)
    }

    /// Nothing is declared: how it is done.
    fn none(out: &mut CliOutput) -> anyhow::Result<Done> {
        if out.is_json() {
            out.json(&Knowledge::default().to_json())?;
            return Ok(Done::Ok);
        }
        // Not on stdout: a prompt is not to teach the model how jig is configured.
        out.note(NONE);
        Ok(Done::Ok)
    }

    fn explained(error: CallError) -> anyhow::Error {
        match error {
            CallError::Knowledge(message) => with_hint(&message),
            error => error.into(),
        }
    }

    fn with_hint(message: &str) -> anyhow::Error {
        match message.split_once('\n') {
            Some((message, hint)) => anyhow::anyhow!("{hint}").context(message.to_owned()),
            None => anyhow::anyhow!("{message}"),
        }
    }

    const NONE: &str = "\
This workspace has no knowledge base. A topic is a directory of files, one for each subject; declare it in
`jig.toml`:

    [kb.topic.style]
    title = \"House style\"
    introduction = \"How we write code here.\"
    subjects = \"docs/style\"

Models then load subjects with the tool `learn`, and `jig knowledge` prints what belongs into a system prompt.";
}
