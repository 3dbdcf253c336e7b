//! Printing: text with colours on a terminal, JSON for programs.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
pub(crate) use jig_project::remark;
use jig_proto::{Denial, visible_json, visible_lines, visible_painted};
use serde_json::Value as Json;

use crate::args::Color;

/// Where a command prints to.
pub(crate) struct CliOutput {
    json: bool,
    choice: ColorChoice,
    stdout: AutoStream<io::Stdout>,
}

impl CliOutput {
    pub(crate) fn new(json: bool, color: Color) -> Self {
        let choice = match color {
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => {
                // Also for what is printed elsewhere: questions at the terminal, remarks.
                ColorChoice::Never.write_global();
                ColorChoice::Never
            }
        };
        Self {
            json,
            choice,
            stdout: AutoStream::new(io::stdout(), choice),
        }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints text on stdout. All at once, so that a reader never sees half a line. On a terminal nothing but its
    /// colours steers that.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        match io::stdout().is_terminal() {
            true => self.stdout.write_all(visible_painted(text).as_bytes())?,
            false => self.stdout.write_all(text.as_bytes())?,
        }
        self.stdout.flush()?;
        Ok(())
    }

    /// Prints on stdout exactly what is given: nothing is taken out of it, as for a terminal.
    pub(crate) fn raw(&mut self, text: &str) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints a JSON document on stdout.
    pub(crate) fn json(&mut self, value: &Json) -> anyhow::Result<()> {
        self.raw(&visible_json(format!("{value:#}\n")))
    }

    /// Prints an error and its causes on stderr.
    pub(crate) fn error(&mut self, message: &str, causes: impl Iterator<Item = String>) {
        let mut text = format!("{RED}error:{RED:#} {message}\n");
        for cause in causes {
            let (label, cause) = match cause.strip_prefix("hint: ") {
                Some(hint) => ("hint", hint.to_owned()),
                None => ("cause", cause),
            };
            text.push_str(&format!("{DIM}{label}:{DIM:#} {cause}\n"));
        }
        self.stderr(&text);
    }

    /// Prints what was refused, each with the way out.
    pub(crate) fn denials(&mut self, denials: &[Denial]) {
        for denial in denials {
            let told = visible_lines(&denial.to_string());
            self.stderr(&format!("{RED}denied:{RED:#} {told}\n"));
        }
    }

    /// Prints a remark on stderr.
    pub(crate) fn note(&mut self, text: &str) {
        self.stderr(&format!("{}\n", visible_lines(text)));
    }

    /// Prints text on stderr, with its colours if it is a terminal. What a tool wrote must be
    /// [`visible_lines`].
    pub(crate) fn aside(&mut self, text: &str) {
        self.stderr(text);
    }

    /// Prints an error for programs: on stdout, where they read.
    pub(crate) fn error_json(&mut self, value: &Json) {
        // A reader that has gone away is no reason for another error.
        let _ = self.json(value);
    }

    /// Prints what is wrong with the configuration.
    pub(crate) fn config_errors(&mut self, errors: &jig_config::ConfigErrors) {
        if self.json {
            self.error_json(&serde_json::json!({ "valid": false, "problems": errors.to_json() }));
            return;
        }
        let count = errors.problems().len();
        let noun = if count == 1 { "error" } else { "errors" };
        let mut text = errors.render(self.stderr_colours());
        text.push_str(&format!(
            "\n\n{RED}{count} {noun}{RED:#} in the configuration\n"
        ));
        self.stderr(&text);
    }

    /// Prints warnings about the configuration on stderr.
    pub(crate) fn warnings(&mut self, warnings: &[jig_config::Problem]) {
        for warning in warnings {
            let text = warning.render(self.stderr_colours());
            self.stderr(&format!("{text}\n\n"));
        }
    }

    fn stderr_colours(&self) -> bool {
        match self.choice {
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => {
                !matches!(AutoStream::choice(&io::stderr()), ColorChoice::Never)
            }
            ColorChoice::Never => false,
        }
    }

    fn stderr(&mut self, text: &str) {
        let choice = match self.choice {
            ColorChoice::Never => ColorChoice::Never,
            _ => AutoStream::choice(&io::stderr()),
        };
        let mut stderr = AutoStream::new(io::stderr(), choice);
        let _ = stderr.write_all(visible_painted(text).as_bytes());
        let _ = stderr.flush();
    }
}

/// A table without lines: columns as wide as their widest cell.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(header.get(column).map_or(0, |name| name.len()))
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[String], style: Style| {
        let mut text = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let last = column + 1 == cells.len();
            let pad = if last {
                0
            } else {
                widths[column] - cell.chars().count() + 2
            };
            text.push_str(&format!("{style}{cell}{style:#}{:pad$}", ""));
        }
        text.push('\n');
        text
    };
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let mut text = line(&header, DIM);
    for row in rows {
        text.push_str(&line(row, Style::new()));
    }
    text
}

/// A labelled line: the label in a column of its own, dimmed.
pub(crate) fn field(label: &str, value: impl Display) -> String {
    let pad = 10_usize.saturating_sub(label.len());
    format!("  {DIM}{label}{DIM:#}{:pad$}{value}\n", "")
}

/// `text` with every line moved to the right.
pub(crate) fn indented(text: &str, by: usize) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("{:by$}{line}\n", ""),
    });
    lines.collect()
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
