//! What was learned, as text and as JSON.

use jig_config::{Additions, ConfigEdit};
use jig_engine::{Evidence, Proposal, WithheldAccess};
use jig_project::learned_rules::Lesson;
use jig_proto::{visible_line, visible_lines};
use jig_sandbox::Exit;
use serde_json::{Map, Value as Json, json};

use crate::output::{CliOutput, remark};

/// A proposal and what is said about it.
pub(super) struct ProposalReport<'a> {
    pub(super) lesson: &'a Lesson,
    /// The command.
    pub(super) line: &'a str,
    pub(super) proposal: &'a Proposal,
    pub(super) outcome: ProposalOutcome,
}

/// What came of it.
pub(super) enum ProposalOutcome {
    /// The command works under the rules.
    Enough,
    /// It failed under them, and had printed this at the end.
    NotEnough(Exit, String),
    /// It failed when it was watched.
    Failed(Exit),
}

impl ProposalReport<'_> {
    pub(super) fn print(&self, out: &mut CliOutput) -> anyhow::Result<()> {
        if let ProposalOutcome::NotEnough(_, tail) = &self.outcome
            && !tail.is_empty()
        {
            remark(&format!("jig: the end of what it printed:\n{tail}"));
        }
        let mut edit = ConfigEdit::new(None)?;
        let additions = self.lesson.added(self.proposal);
        if additions != Additions::default() {
            edit.add(&self.lesson.tool, &additions)?;
        }
        let toml = edit.to_string();
        if out.is_json() {
            return out.json(&self.json(&toml));
        }
        let mut text = String::new();
        for line in self.head() {
            text.push_str(&comment(&line));
        }
        if !toml.is_empty() {
            text.push('\n');
            text.push_str(toml.trim_start());
        }
        let withheld = &self.proposal.withheld;
        if !withheld.is_empty() {
            text.push_str("\n# Not proposed:\n");
        }
        for withheld in withheld.iter().take(MOST_WITHHELD) {
            for line in told(withheld) {
                text.push_str(&comment(&line));
            }
        }
        let more = withheld.len().saturating_sub(MOST_WITHHELD);
        if more > 0 {
            text.push_str(&format!("# - and {more} more, which --json lists\n"));
        }
        // Names of programs and files are theirs to choose.
        out.text(&visible_lines(&text))
    }

    fn head(&self) -> Vec<String> {
        let mut head = vec![format!(
            "What `{}` needs, as far as it was seen.",
            self.line
        )];
        match &self.outcome {
            ProposalOutcome::Enough => {
                head.push("A second run, under these rules, went well.".to_owned());
            }
            ProposalOutcome::NotEnough(exit, _) => head.push(format!(
                "These rules are not enough: under them it {}.",
                ended(*exit)
            )),
            ProposalOutcome::Failed(exit) => head.push(format!(
                "It {} when it was watched: the rules are incomplete, and were not tried.",
                ended(*exit)
            )),
        }
        let additions = self.lesson.added(self.proposal);
        if additions == Additions::default() {
            head.push(format!(
                "The tool `{}` has all these rules already.",
                self.lesson.tool
            ));
        }
        let make = &self.proposal.make;
        if !make.is_empty() && !self.lesson.is_written {
            let names: Vec<String> = make.iter().map(|path| word(path.as_str())).collect();
            head.push(format!(
                "It needs these directories: mkdir {}",
                names.join(" ")
            ));
        }
        if self.proposal.lost > 0 {
            head.push(
                "It asked for more than could be noted, so that something may be missing."
                    .to_owned(),
            );
        }
        head
    }

    fn json(&self, toml: &str) -> Json {
        let proposal = self.proposal;
        let rules = proposal.fs.iter().map(|rule| {
            let granted: Vec<&str> = rule.capabilities.iter().map(|one| one.name()).collect();
            let by = rule.evidence.iter();
            let by = by.map(|(one, evidence)| (one.name().to_owned(), of(evidence)));
            json!({
                "path": rule.path.to_string(),
                "capabilities": granted,
                "evidence": by.collect::<Map<String, Json>>(),
            })
        });
        let system = proposal.system.iter().map(|added| {
            let (path, evidence) = (&added.path, of(&added.evidence));
            json!({ "path": path, "execute": added.execute, "evidence": evidence })
        });
        let presets = proposal
            .presets
            .iter()
            .map(|added| json!({ "preset": added.preset.name(), "evidence": of(&added.evidence) }));
        let withheld = proposal.withheld.iter().map(|withheld| {
            json!({
                "what": withheld.what,
                "why": withheld.why,
                "advice": withheld.advice,
                "evidence": of(&withheld.evidence),
            })
        });
        let (outcome, exit) = match &self.outcome {
            ProposalOutcome::Enough => ("enough", None),
            ProposalOutcome::NotEnough(exit, _) => ("not_enough", Some(ended(*exit))),
            ProposalOutcome::Failed(exit) => ("failed", Some(ended(*exit))),
        };
        json!({
            "tool": self.lesson.tool,
            "outcome": outcome,
            "ended": exit,
            "written": self.lesson.is_written,
            "fs": rules.collect::<Vec<Json>>(),
            "make": proposal.make.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "system": system.collect::<Vec<Json>>(),
            "presets": presets.collect::<Vec<Json>>(),
            "withheld": withheld.collect::<Vec<Json>>(),
            "lost": proposal.lost,
            "toml": toml,
        })
    }
}

/// A line of a comment. Names are for others to choose, and must not end it: the text may be pasted into a
/// configuration.
fn comment(line: &str) -> String {
    format!("# {}\n", visible_line(line))
}

/// A name as a word for a shell.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._/+@%=:,-".contains(c);
    let name = match name.starts_with('-') {
        true => format!("./{name}"),
        false => name.to_owned(),
    };
    match name.chars().all(is_plain) {
        true => name,
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// How much of what is not proposed is told.
const MOST_WITHHELD: usize = 40;

fn of(evidence: &Evidence) -> Json {
    json!({ "programs": evidence.programs, "count": evidence.count })
}

fn told(withheld: &WithheldAccess) -> [String; 2] {
    let wanted = match withheld.evidence.programs.is_empty() {
        true => String::new(),
        false => format!(", wanted {}", withheld.evidence.told()),
    };
    [
        format!("- `{}`: {}{wanted}", withheld.what, withheld.why),
        format!("  {}", withheld.advice),
    ]
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit::Exited { code } => format!("ended with {code}"),
        Exit::Killed { signal, .. } => format!("was ended by signal {signal}"),
    }
}
