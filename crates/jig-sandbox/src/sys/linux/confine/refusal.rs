//! [`ProfileError`]: why a profile cannot be turned into steps; [`EnforcementGaps`]: what is left open instead.

use std::path::{Path, PathBuf};

use super::host_path::HostPathState;
use crate::profile::{Enforce, PathRule, Rights, RuleSource};

/// Why a profile cannot be turned into steps. Each says which part, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProfileError {
    /// The machine lacks Landlock, or filters that work.
    #[error(
        "this machine lacks the means to confine a program; `jig doctor` says what is missing, and with \
         `sandbox.enforce = \"best-effort\"` the tool runs without"
    )]
    NothingToConfineWith,
    /// There is no table of system calls for the processor.
    #[error(
        "jig knows no system calls of this processor ({}); with `sandbox.enforce = \"best-effort\"` the \
         tool runs without a filter for them",
        std::env::consts::ARCH
    )]
    UnknownProcessor,
    /// A path that is not in the one form that can be compared.
    #[error("`{}` is not an absolute path without `.`, `..` and NUL", path.display())]
    NotCanonical {
        /// The path.
        path: PathBuf,
    },
    /// A rule for the root directory, in namespaces.
    #[error("`/` cannot be granted as a whole: name the directories that the tool needs")]
    Root,
    /// A rule for something that the sandbox makes anew.
    #[error("`{}` of the host cannot be granted: the tool has one of its own", path.display())]
    Reserved {
        /// The path.
        path: PathBuf,
    },
    /// A private file, or a door, that is in no private directory.
    #[error("`{}` is to be made in a private directory, and lies in none", path.display())]
    NotPrivate {
        /// The path.
        path: PathBuf,
    },
    /// A door without namespaces.
    #[error(
        "without namespaces there can be no socket at `{}`, through which the tool has programs run; `jig \
         doctor` says how to get namespaces, and with `sandbox.enforce = \"best-effort\"` the tool finds no \
         programs",
        path.display()
    )]
    NoDoor {
        /// The path.
        path: PathBuf,
    },
    /// A gateway without namespaces.
    #[error(
        "without a network namespace it cannot be told which names and addresses a tool connects to, only \
         which ports; `jig doctor` says how to get namespaces; without rules on hosts the tool runs, and has no \
         network; with `sandbox.enforce = \"best-effort\"` it may use the ports of its rules at any address"
    )]
    NoNames,
    /// A replacement that is no text.
    #[error("`{}` can be replaced by a text, not by a program or a link", path.display())]
    NoText {
        /// The path.
        path: PathBuf,
    },
    /// A private directory inside a tree of the host, which has no such directory.
    #[error(
        "`{}` is to be a private directory, but does not exist in the directory of the host that it lies \
         in: make it there, or choose another place", path.display()
    )]
    NoMountPoint {
        /// The path.
        path: PathBuf,
    },
    /// A declared path that leads elsewhere.
    #[error(
        "`{}` is, or lies behind, a symbolic link: name the path that it leads to", path.display()
    )]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// Layers without namespaces. Whoever wants one must not have the real files changed instead.
    #[error(
        "without namespaces there can be no layer over `{}`, and without the layer the tool would change \
         the files themselves; `jig doctor` says how to get namespaces, or run it without a layer",
        path.display()
    )]
    NoLayers {
        /// The directory.
        path: PathBuf,
    },
    /// A layer that cannot be.
    #[error("there can be no layer over `{}`: {why}", path.display())]
    NoLayer {
        /// The directory.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A declared rule that the kernel cannot hold.
    #[error("the rule for `{}` cannot be held: {why}; {way_out}", path.display())]
    CannotHold {
        /// The path of the rule.
        path: PathBuf,
        /// The reason.
        why: String,
        /// What to do about it.
        way_out: &'static str,
    },
}

/// What is left open about files, and whether it may be.
#[derive(Debug)]
pub(super) struct EnforcementGaps {
    enforce: Enforce,
    sentences: Vec<String>,
    unheld: Vec<String>,
}

impl EnforcementGaps {
    pub(super) fn new(enforce: Enforce) -> Self {
        Self {
            enforce,
            sentences: Vec::new(),
            unheld: Vec::new(),
        }
    }

    /// Notes something that is left open whatever the profile wants.
    pub(super) fn note(&mut self, sentence: String) {
        if !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    /// A rule that cannot be held, for a path that exists: it is refused if that is wanted, else noted.
    pub(super) fn cannot_hold(
        &mut self,
        rule: &PathRule,
        open: Rights,
        why: &str,
        way_out: &'static str,
    ) -> Result<(), ProfileError> {
        if rule.source != RuleSource::System && self.enforce == Enforce::Required {
            return Err(ProfileError::CannotHold {
                path: rule.path.clone(),
                why: format!("it withholds {open}, but {why}"),
                way_out,
            });
        }
        let sentence = format!("`{}` is open to {open}, because {why}", rule.path.display());
        if rule.source != RuleSource::System {
            self.unheld.push(sentence.clone());
        }
        self.note(sentence);
        Ok(())
    }

    /// A rule for a path at which there is nothing.
    pub(super) fn missing(&mut self, path: &Path) {
        self.note(format!(
            "`{}` does not exist yet, so nothing keeps the tool from creating it; it is looked for after \
             the call",
            path.display()
        ));
    }

    /// A rule that withholds something of a file with hard links.
    pub(super) fn other_names(&mut self, path: &Path) {
        self.note(format!(
            "`{}` has other names (hard links), for which its rule does not count",
            path.display()
        ));
    }

    /// Notes what a rule for a directory allows beyond its rights, because the kernel does not tell them
    /// apart. It is no reason to refuse: the kernel cannot do it anywhere.
    pub(super) fn coarser(&mut self, rule: &PathRule, found: &HostPathState) {
        let path = rule.path.display();
        if *found != HostPathState::Directory || rule.rights.has(Rights::UPDATE) {
            return;
        }
        if rule.rights.has(Rights::CREATE) {
            self.note(format!(
                "what exists in `{path}` can be changed too, because the kernel does not tell that from \
                 creating"
            ));
        } else if rule.rights.has(Rights::DELETE) {
            self.note(format!(
                "modes, times and attributes of what exists in `{path}` can be changed"
            ));
        }
    }

    /// Directories in which less can be done than rules grant, because something in them is withheld.
    pub(super) fn unchangeable(&mut self, directories: &[PathBuf]) {
        let Some(first) = directories.first() else {
            return;
        };
        let others = match directories.len() - 1 {
            0 => String::new(),
            1 => " and another directory".to_owned(),
            more => format!(" and {more} more directories"),
        };
        // Of all that is noted, this is met first.
        let sentence = format!(
            "nothing can be made, removed or renamed directly in `{}`{others}, because something in there is \
             withheld; what exists there can be used",
            first.display()
        );
        self.sentences.insert(0, sentence);
    }

    /// Rules that are not held, which only a profile that does not require it leaves open.
    pub(super) fn unheld(&self) -> &[String] {
        &self.unheld
    }

    pub(super) fn into_sentences(self) -> Vec<String> {
        self.sentences
    }
}
