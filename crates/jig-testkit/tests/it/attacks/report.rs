//! [`Report`]: what came of each attack, as a table, and what is wrong with it.

use std::collections::BTreeMap;

use jig_testkit::Class;

use crate::attacks::run::Tried;

/// The lines of a run.
pub(crate) struct Report {
    name: &'static str,
    counts: BTreeMap<(Class, &'static str), usize>,
    lines: Vec<String>,
    wrong: Vec<String>,
}

impl Report {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            counts: BTreeMap::new(),
            lines: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Adds an attack, with whether it went as it must not.
    pub(crate) fn line(&mut self, tried: &Tried, is_wrong: bool) {
        let attack = tried.attack;
        let (word, detail) = tried.outcome.parts();
        // Of what went wrong, every word may be the reason.
        let most = if is_wrong { usize::MAX } else { 70 };
        let detail: String = detail.chars().take(most).collect();
        let mark = if is_wrong { "WRONG" } else { "" };
        let line = format!(
            "{mark:5} {:11} {:28} {:4} ms {word:8} {detail}",
            attack.class,
            attack.name,
            tried.took.as_millis(),
        );
        *self.counts.entry((attack.class, word)).or_default() += 1;
        if is_wrong {
            self.wrong.push(line.clone());
        }
        self.lines.push(line);
    }

    /// Prints all of it, beginning with what went wrong, and fails if anything did.
    #[track_caller]
    pub(crate) fn end(self) {
        println!("{}:", self.name);
        for line in self.wrong.iter().chain(&self.lines) {
            println!("{line}");
        }
        for ((class, word), count) in &self.counts {
            println!("  {class:11} {word:8} {count:4}");
        }
        let total: usize = self.counts.values().sum();
        println!("  {total} in total, {} wrong", self.wrong.len());
        assert!(
            self.wrong.is_empty(),
            "{}: {} of {total} went wrong:\n{}",
            self.name,
            self.wrong.len(),
            self.wrong.join("\n")
        );
    }
}
