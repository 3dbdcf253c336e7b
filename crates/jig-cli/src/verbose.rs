//! `--verbose` and `JIG_LOG`: what jig decides, starts and waits for, on standard error.
//!
//! Without either nothing is installed, and the events of the other crates cost one comparison each. Events of foreign
//! crates are never shown: a library for HTTP or MCP would show headers and arguments.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::time::Instant;

use jig_proto::visible_line;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::output::remark;

/// The variable that says what is shown, where no flag does.
pub(crate) const VARIABLE: &str = "JIG_LOG";

/// Shows events from now on: by the number of `-v`, else as `JIG_LOG` says, else none.
pub(crate) fn install(flags: u8) {
    let targets = match flags {
        0 => match std::env::var(VARIABLE) {
            Ok(filter) => parse(&filter),
            Err(_) => return,
        },
        1 => Ok(all_of_jig(LevelFilter::INFO)),
        _ => Ok(all_of_jig(LevelFilter::DEBUG)),
    };
    match targets {
        Ok(targets) => {
            let lines = EventPrinter {
                start: Instant::now(),
            };
            let subscriber = tracing_subscriber::registry().with(lines.with_filter(targets));
            // This cannot fail: the program installs only this one.
            let _ = tracing::subscriber::set_global_default(subscriber);
        }
        Err(word) => remark(&format!(
            "jig: {VARIABLE} is not used: `{word}` is neither a level (error, warn, info, debug, trace, off) nor a part \
             of jig with its level (jig_broker=debug)"
        )),
    }
}

fn all_of_jig(level: LevelFilter) -> Targets {
    Targets::new().with_target(OURS, level)
}

/// Reads `info`, `jig_broker=debug`, or several of these with commas between. The error is the part that is neither.
fn parse(filter: &str) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for part in filter
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (target, level) = part.split_once('=').unwrap_or((OURS, part));
        let level = level.trim().parse::<LevelFilter>();
        match level {
            Ok(level) if target.starts_with(OURS) => {
                targets = targets.with_target(target.trim(), level)
            }
            _ => return Err(part.to_owned()),
        }
    }
    Ok(targets)
}

/// Writes each event as one line.
struct EventPrinter {
    start: Instant,
}

impl<S: Subscriber> Layer<S> for EventPrinter {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = EventText::default();
        event.record(&mut text);
        let metadata = event.metadata();
        let line = format!(
            "jig: {:9.3} ms {:5} {}: {}{}",
            self.start.elapsed().as_secs_f64() * 1000.0,
            metadata.level().as_str().to_ascii_lowercase(),
            metadata.target(),
            text.message,
            text.fields
        );
        // In one write, so that the lines of several threads stay whole. If nobody reads them, nothing else is to fail.
        let _ = io::stderr()
            .lock()
            .write_all((visible_line(&line) + "\n").as_bytes());
    }
}

/// An event in words.
#[derive(Default)]
struct EventText {
    message: String,
    /// Each with a space before it.
    fields: String,
}

impl Visit for EventText {
    /// Text comes here, too, and is then quoted, with everything escaped that does not show.
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// How the names of our crates begin.
const OURS: &str = "jig";

#[cfg(test)]
mod tests;
