//! [`HandleError`]: why something could not be done with a handle.

use std::fmt;

use jig_proto::{HandleId, HandleReport, hint, visible_line};

use crate::session::ApplyError;

/// Why something could not be done with a handle. Each text names the handle and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// There are no such handles.
    #[error("{0}")]
    Unknown(UnknownHandles),
    /// A live handle has the id that a caller chose.
    #[error(
        "`{id}` is the id of a live handle of the tool `{tool}`\n{}",
        hint!("choose another id, or leave `id` out")
    )]
    Taken {
        /// The id.
        id: HandleId,
        /// The tool that has it.
        tool: String,
    },
    /// The handle is that of another tool.
    #[error(
        "`{id}` is a handle of the tool `{tool}`, not of `{asked}`\n{}",
        hint!("call `{tool}` with `id` `{id}`")
    )]
    OtherTool {
        /// The handle.
        id: HandleId,
        /// Its tool.
        tool: String,
        /// The tool that was called.
        asked: String,
    },
    /// As many tools run as may.
    #[error(
        "{limit} handles are live, which is the most there can be\n{}",
        hint!("abort some of them first")
    )]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The turn has ended.
    #[error("the turn has ended, and its handles with it: nothing can be started in it any more")]
    Over,
    /// The tool of the handle is just being started.
    #[error("`{id}` is still being started\n{}", hint!("try again in a moment"))]
    Starting {
        /// The handle.
        id: HandleId,
    },
    /// The tool has stopped, so that the input did not reach it. This is its last report, if nobody has
    /// had it yet.
    #[error("`{id}` has stopped: the input was not given to it\n{report}")]
    Stopped {
        /// The handle.
        id: HandleId,
        /// Its last report.
        report: Box<HandleReport>,
    },
    /// The policy asks, and only a person may answer it.
    #[error(
        "`{id}` waits for a person to decide what its tool may do: an assistant cannot answer that\n{}",
        hint!("fetch `{id}` to see whether it was decided")
    )]
    PolicyAsks {
        /// The handle.
        id: HandleId,
    },
    /// The tool has a question that its caller has not read.
    #[error(
        "`{id}` asks something by now, and the input was not an answer to that: it was not used\n{}",
        hint!("fetch `{id}` to see the question")
    )]
    Asks {
        /// The handle.
        id: HandleId,
    },
    /// The question is not open any more.
    #[error(
        "the question of `{id}` is not open any more: it was answered, or the tool asks something \
         else\n{}",
        hint!("fetch `{id}` to see where it stands")
    )]
    Answered {
        /// The handle.
        id: HandleId,
    },
    /// The tool does not take this input.
    #[error("`{id}` cannot be given this input: {why}")]
    Input {
        /// The handle.
        id: HandleId,
        /// What is wrong with it.
        why: ApplyError,
    },
    /// The tool was asked to end, and then killed, and has still not ended.
    #[error(
        "`{id}` was killed but has not ended yet\n{}",
        hint!("fetch `{id}` later; nothing more can be done to it")
    )]
    StillRunning {
        /// The handle.
        id: HandleId,
    },
}

impl HandleError {
    /// There is no handle of this name, and nothing more is known about that.
    pub fn unknown(id: &str) -> Self {
        Self::Unknown(UnknownHandles {
            unknown: vec![(id.to_owned(), None)],
            live: Vec::new(),
            more: 0,
        })
    }
}

/// Handles that do not exist, and those that do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownHandles {
    /// Those that were named, and how they ended if they did a short while ago.
    pub(super) unknown: Vec<(String, Option<HandleEnd>)>,
    /// Some that are live, with their tools.
    pub(super) live: Vec<(HandleId, String)>,
    /// How many more are live.
    pub(super) more: usize,
}

impl UnknownHandles {
    /// The names that are not those of live handles.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().map(|(name, _)| name.as_str())
    }
}

impl fmt::Display for UnknownHandles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, ended)) in self.unknown.iter().enumerate() {
            let name = visible_line(name);
            let separator = if number == 0 { "" } else { "\n" };
            match ended {
                None => write!(f, "{separator}there is no handle `{name}`")?,
                Some(ended) => write!(f, "{separator}the handle `{name}` is gone: {ended}")?,
            }
        }
        match self.live.as_slice() {
            [] => write!(f, "\n{}", hint!("no handle is live; `spawn` starts one")),
            live => {
                let live = live.iter().map(|(id, tool)| format!("`{id}` ({tool})"));
                let live = live.collect::<Vec<_>>().join(", ");
                write!(f, "\n{}", hint!("live handles are {live}"))?;
                match self.more {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

/// How a handle came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandleEnd {
    /// It stopped, and that was told.
    Told,
    /// It was aborted.
    Aborted,
    /// It stopped, nobody asked for its result, and too many others did the same.
    Dropped,
    /// It was ended with its turn.
    Turn,
}

impl fmt::Display for HandleEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Told => "it has stopped, and its result was told",
            Self::Aborted => "it was aborted",
            Self::Dropped => "it has stopped, and its result was dropped because nobody fetched it",
            Self::Turn => "it was ended with its turn",
        })
    }
}
