//! [`Problem`] and [`ConfigErrors`]: what is wrong, where, and what to do about it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin as SnippetOrigin, Renderer, Snippet};
use jig_proto::Hint;
use serde_json::{Value as Json, json};

use crate::origin::{Layer, Origin};

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Nothing was loaded.
    Error,
    /// The configuration works, but probably not as it was meant.
    Warning,
    /// It works as it was meant, and something about it should be known.
    Note,
}

/// One mistake, or one oddity, of the configuration.
///
/// Doing what [`help`](Self::help) says makes it go away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    severity: Severity,
    message: String,
    help: Hint,
    key: String,
    file: Option<String>,
    origin: Option<Origin>,
    label: String,
    related: Vec<(Origin, String)>,
    /// Whether the text at the place is kept out of what people see.
    is_secret: bool,
}

impl Problem {
    pub(crate) fn error(message: impl Into<String>, help: Hint) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            help,
            key: String::new(),
            file: None,
            origin: None,
            label: String::new(),
            related: Vec::new(),
            is_secret: false,
        }
    }

    pub(crate) fn warning(message: impl Into<String>, help: Hint) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(message, help)
        }
    }

    pub(crate) fn note(message: impl Into<String>, help: Hint) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::error(message, help)
        }
    }

    /// The same, where it keeps nothing from being loaded.
    #[must_use]
    pub(crate) fn softened(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The place, with a few words below it.
    #[must_use]
    pub(crate) fn at(mut self, origin: &Origin, label: impl Into<String>) -> Self {
        self.origin = Some(origin.clone());
        self.label = label.into();
        self
    }

    /// The key that the problem is about.
    #[must_use]
    pub(crate) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// A whole file, where there is no text to point at.
    #[must_use]
    pub(crate) fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// A second place that has to do with it.
    #[must_use]
    pub(crate) fn and(mut self, origin: &Origin, label: impl Into<String>) -> Self {
        self.related.push((origin.clone(), label.into()));
        self
    }

    /// Names the place without showing what stands there: it may be a secret, and messages end up in logs
    /// and before models.
    #[must_use]
    pub(crate) fn without_text(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Shows no text if one of its places is such that nothing may be shown of it.
    pub(crate) fn hide_if(&mut self, is_secret: impl Fn(&Origin) -> bool) {
        let related = self.related.iter().map(|(origin, _)| origin);
        self.is_secret |= self.origin.iter().chain(related).any(is_secret);
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong and why, in one sentence without a period.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn help(&self) -> &str {
        self.help.text()
    }

    /// The same as it was made, for a test that does what it says.
    #[doc(hidden)]
    pub fn hint(&self) -> &Hint {
        &self.help
    }

    /// The dotted key that it is about; empty when it is about a whole file.
    pub fn key_path(&self) -> &str {
        &self.key
    }

    /// The place, unless the text could not be read at all.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The file or other source, as people know it.
    pub fn source_name(&self) -> Option<&str> {
        match &self.origin {
            Some(origin) => Some(origin.name()),
            None => self.file.as_deref(),
        }
    }

    /// The place, if it is one in a file: an option and a variable have no lines.
    fn place(&self) -> Option<&Origin> {
        let origin = self.origin.as_ref();
        origin.filter(|origin| !matches!(origin.layer(), Layer::Set | Layer::Environment))
    }

    /// For programs: `file`, `line`, `column`, `key`, `message`, `help`, and `severity`.
    pub fn to_json(&self) -> Json {
        json!({
            "severity": match self.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            "file": self.source_name(),
            "line": self.place().map(Origin::line),
            "column": self.place().map(Origin::column),
            "key": self.key,
            "message": self.message,
            "help": self.help.text(),
        })
    }

    /// For people: the message, the snippet, the help; in colour for a terminal.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut group = Group::with_title(level.primary_title(self.message.as_str()));
        if let Some(origin) = self.origin.as_ref().filter(|_| self.is_secret) {
            let place = SnippetOrigin::path(origin.name());
            group = group.element(match origin.layer().has_lines() {
                true => place
                    .line(origin.line() as usize)
                    .char_column(origin.column() as usize),
                false => place,
            });
        } else if let Some(command) = self.origin.as_ref().and_then(made_up_for) {
            group = group.element(SnippetOrigin::path(format!("the options of `{command}`")));
        } else if let Some(origin) = &self.origin {
            group = self.snippets(group, origin);
        } else if let Some(file) = &self.file {
            group = group.element(SnippetOrigin::path(file.as_str()));
        }
        group = group.element(Level::HELP.message(self.help.text()));
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }

    /// One snippet per text, the one with the problem first.
    fn snippets<'a>(&'a self, mut group: Group<'a>, origin: &'a Origin) -> Group<'a> {
        let mut places: Vec<(&Origin, &str, AnnotationKind)> =
            vec![(origin, self.label.as_str(), AnnotationKind::Primary)];
        for (related, label) in &self.related {
            places.push((related, label.as_str(), AnnotationKind::Context));
        }
        while let Some((first, ..)) = places.first().copied() {
            let (here, elsewhere): (Vec<_>, Vec<_>) = places
                .into_iter()
                .partition(|(place, ..)| std::ptr::eq(&**place.text(), &**first.text()));
            places = elsewhere;
            group = group.element(snippet(&here));
        }
        group
    }
}

/// The command whose options a text was made of: nobody typed it, so nobody is shown it.
fn made_up_for(origin: &Origin) -> Option<String> {
    let text = origin.text();
    let rest = text.content.strip_prefix("tools.\"jig-")?;
    let (command, _) = rest.split_once('"')?;
    (text.layer == Layer::Set).then(|| format!("jig {command}"))
}

/// The lines that `places` of one text touch, with their annotations.
fn snippet<'a>(
    places: &[(&'a Origin, &'a str, AnnotationKind)],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = places[0].0.text();
    let content = text.content.as_str();
    // Only the lines in question are handed over: a renderer that walked a whole file for each
    // of many errors would be slow on purpose-made files.
    let starts = places.iter().map(|(place, ..)| place.span().start);
    let window_start = text.line_at(starts.clone().min().unwrap_or(0)).start;
    let window_end = text.line_at(starts.max().unwrap_or(0)).end;
    let first_line = places
        .iter()
        .map(|(place, ..)| place.line())
        .min()
        .unwrap_or(1);
    let prefix = match text.layer {
        Layer::Set if window_start == 0 => "--set ",
        _ => "",
    };
    let annotations = places.iter().map(|(place, label, kind)| {
        // A span over several lines is drawn on its first one.
        let line = text.line_at(place.span().start);
        let start = place.span().start.min(line.end);
        let end = place.span().end.clamp(start, line.end);
        let shift = |at: usize| at - window_start + prefix.len();
        let span = shift(start)..shift(end);
        let label = (!label.is_empty()).then_some(*label);
        kind.span(span).label(label)
    });
    let window = &content[window_start..window_end];
    let snippet = match (text.layer, prefix) {
        // What somebody typed is shown as they typed it, and not as a line of a file.
        (Layer::Set | Layer::Environment, prefix) => {
            Snippet::source(format!("{prefix}{window}")).line_numbering(false)
        }
        _ => Snippet::source(window).path(&*text.name),
    };
    snippet
        .line_start(first_line as usize)
        .fold(true)
        .annotations(annotations)
}

/// A line that one problem must not show is shown by no other.
fn keep_secrets(problems: &mut [Problem]) {
    let line = |origin: &Origin| (Arc::as_ptr(origin.text()), origin.line());
    let secret = problems.iter().filter(|problem| problem.is_secret);
    let secret: HashSet<_> = secret
        .filter_map(|one| one.origin.as_ref().map(line))
        .collect();
    if secret.is_empty() {
        return;
    }
    for problem in problems {
        let related = problem.related.iter().map(|(origin, _)| origin);
        let mut places = problem.origin.iter().chain(related);
        problem.is_secret |= places.any(|origin| secret.contains(&line(origin)));
    }
}

/// Everything that is wrong with the configuration: nothing was loaded.
///
/// `Display` gives what [`render`](Self::render) gives without colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(Vec<Problem>);

impl ConfigErrors {
    /// `problems` as errors; `None` if there are none.
    pub(crate) fn new(problems: Vec<Problem>) -> Option<Self> {
        (!problems.is_empty()).then(|| Self::of(problems))
    }

    /// `problems`, of which there is at least one.
    pub(crate) fn of(mut problems: Vec<Problem>) -> Self {
        keep_secrets(&mut problems);
        Self(problems)
    }

    /// The problems, in the order of layers and lines.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }

    /// For people: every problem with its snippet; in colour for a terminal.
    pub fn render(&self, colour: bool) -> String {
        let shown = self.0.iter().take(MAX_SHOWN);
        let mut text = shown
            .map(|problem| problem.render(colour))
            .collect::<Vec<_>>()
            .join("\n\n");
        if let Some(more) = self.0.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            text.push_str(&format!("\n\nand {more} more errors"));
        }
        text
    }

    /// For programs: a list of objects, see [`Problem::to_json`].
    pub fn to_json(&self) -> Json {
        self.0.iter().map(Problem::to_json).collect()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ConfigErrors {}

/// How many errors are drawn. A file made of mistakes would otherwise fill the terminal and hide
/// the first, which are the ones to begin with. Programs get them all.
const MAX_SHOWN: usize = 50;
