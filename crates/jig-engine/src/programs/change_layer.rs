//! Calls whose changes go to a layer first, and what becomes of them.

mod profile_layers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jig_broker::{CommandedProgram, ProgramReach};
use jig_config::{OverlayMode, Tool};
use jig_files::{ApplyReport, Change, ChangeKind, ChangeLayer, Diff, DiffLimits, PathKind};
use jig_policy::{Capability, Policy, ResolvedPath};
use jig_proto::{Content, Question};
use jig_runtime::Plan;
use jig_sandbox::Overlay;
use serde_json::Value;

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::programs::prepared_command::PreparedCommand;
use crate::questions::asker::{About, Answer, Asker};
use crate::questions::audit::QuestionOwner;

pub(crate) use profile_layers::{NoLayer, lay};

/// Whether a policy lets a tool make a change to the workspace. A change of permissions, times or attributes
/// is one to what exists.
pub fn may_apply(policy: &Policy, change: &Change) -> bool {
    let wanted: &[Capability] = match change.kind {
        ChangeKind::Created => &[Capability::Create],
        ChangeKind::Modified => &[Capability::Update],
        ChangeKind::Deleted => &[Capability::Delete],
        ChangeKind::Retyped => &[Capability::Delete, Capability::Create],
    };
    let path = ResolvedPath::from_handle(change.path.clone());
    let may = |capability| policy.decide_fs(capability, &path).is_allowed();
    wanted.iter().copied().all(may)
}

impl Engine {
    /// The layer for a call of this tool, if its changes go to one.
    pub(crate) fn layer(
        &self,
        tool: &Tool,
        plan: &mut Plan,
    ) -> Result<Option<ChangeLayer>, CallError> {
        let Some(_) = tool.overlay.filter(|_| !self.unconfined) else {
            return Ok(None);
        };
        let failed = |why: String| CallError::Layer {
            tool: tool.name.to_string(),
            why,
        };
        let Some(state) = &self.confine.state else {
            return Err(failed("jig has no directory of its own for it".to_owned()));
        };
        let Some(command) = &plan.command else {
            return Ok(None);
        };
        let root = command.view.path().as_std_path();
        let layer = ChangeLayer::create(state, root).map_err(|error| failed(error.to_string()))?;
        plan.overlays.push(Overlay {
            path: layer.lower().to_owned(),
            upper: layer.upper().to_owned(),
            work: layer.work().to_owned(),
            cache: false,
        });
        Ok(Some(layer))
    }

    /// Puts layers over all that a command can change, which is about to start: nothing of the host is
    /// changed until they are applied.
    ///
    /// # Errors
    ///
    /// If there can be no layer where one is needed.
    pub fn lay(&self, prepared: &mut PreparedCommand) -> Result<Vec<ChangeLayer>, CallError> {
        let program = prepared.confined.program.as_os_str();
        let failed = |why: String| CallError::Layer {
            tool: program.to_string_lossy().into_owned(),
            why,
        };
        let state = self.confine.state.as_deref();
        let state =
            state.ok_or_else(|| failed("jig has no directory of its own for it".to_owned()))?;
        let profile = Arc::make_mut(&mut prepared.confined.profile);
        let layers = lay(profile, prepared.root.as_std_path(), state);
        layers.map_err(|no| failed(format!("`{}`: {}", no.path.display(), no.source)))
    }

    /// Decides about the changes of a call that went well, and tells in its result what became of them.
    pub(crate) fn settle_layer(
        &self,
        of: QuestionOwner<'_>,
        tool: &Tool,
        mode: OverlayMode,
        layer: ChangeLayer,
        content: Content,
        asker: &mut dyn Asker,
    ) -> Result<Content, CallError> {
        let failed = |why: String| CallError::Layer {
            tool: tool.name.to_string(),
            why,
        };
        let changes = layer.changes().map_err(|error| failed(error.to_string()))?;
        if changes.is_empty() {
            return Ok(content);
        }
        let summary = ChangeKind::counted(changes.iter());
        let (agreed, why) = match mode {
            OverlayMode::Apply => (true, None),
            OverlayMode::Discard => (false, None),
            OverlayMode::Ask => {
                let name = tool.name.as_str();
                let text = format!("Apply what `{name}` changed ({summary})?");
                let mut question = Question::yes_no("changes", text);
                question.context = Some(shown(&layer, &changes));
                match self.ask(of, &question, About::Changes, asker) {
                    Answer::Given(Value::Bool(agreed))
                    | Answer::GivenForTurn(Value::Bool(agreed)) => (agreed, None),
                    Answer::Rejected(reason) => (false, Some(reason)),
                    _ => (false, Some("nobody was there to apply them".to_owned())),
                }
            }
        };
        let told = if agreed {
            let (applied, kept) = self.apply(tool, layer).map_err(failed)?;
            if let Some(kept) = kept {
                let kept = format!("what was not applied is kept in `{}`", kept.display());
                asker.warning(tool.name.as_str(), &kept);
            }
            format!("changes ({summary}): {applied}")
        } else {
            layer.discard().map_err(|error| failed(error.to_string()))?;
            match why {
                Some(why) => format!("changes ({summary}): discarded, {why}"),
                None => format!("changes ({summary}): discarded"),
            }
        };
        Ok(content.followed_by(Content::text(format!("jig: {told}"))))
    }

    /// Applies a layer as far as the policy goes. What came into being where nothing may is moved away, as
    /// after any run.
    fn apply(&self, tool: &Tool, layer: ChangeLayer) -> Result<(String, Option<PathBuf>), String> {
        let policy = Arc::new(self.policy(tool).map_err(|error| error.to_string())?);
        let broker = self.broker(tool, None, Arc::clone(&policy));
        let root = camino::Utf8Path::from_path(layer.lower())
            .ok_or("the path of the workspace is not UTF-8")?
            .to_owned();
        // For its watch over what may not come into being; nothing is started.
        let nothing = CommandedProgram {
            program: Path::new(SHELL).into(),
            ..CommandedProgram::default()
        };
        let watch = broker.confine(&nothing, &root, ProgramReach::Workspace);
        let watch = watch.map_err(|error| error.to_string())?;
        let applied = layer.apply(&|change| may_apply(&policy, change));
        let applied = applied.map_err(|error| error.to_string())?;
        let mut told = outcome(&applied);
        for intruder in watch.finish() {
            told.push_str(&format!("; {intruder}"));
        }
        Ok((told, applied.kept))
    }
}

/// The changes for whoever decides: all of their names first, so that no large diff hides one, and then the
/// diffs, as far as there is room.
fn shown(layer: &ChangeLayer, changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes.iter().take(MOST_LISTED) {
        text.push_str(&format!("{}\n", on_one_line(&change.to_string())));
    }
    if let Some(more @ 1..) = changes.len().checked_sub(MOST_LISTED) {
        text.push_str(&format!("and {more} more\n"));
    }
    // What is deleted is gone whatever was in it. Where a link leads is all that there is to it.
    let is_shown = |change: &&Change| {
        change.kind != ChangeKind::Deleted
            && matches!(change.what, PathKind::File | PathKind::Symlink)
    };
    let mut with_content: Vec<&Change> = changes.iter().filter(is_shown).collect();
    // Links are short, and lead out of what is shown.
    with_content.sort_by_key(|change| change.what != PathKind::Symlink);
    for (number, change) in with_content.iter().enumerate() {
        if text.len() > MOST_SHOWN {
            let more = with_content.len() - number;
            text.push_str(&format!("\nand diffs of {more} more\n"));
            break;
        }
        match layer.diff(change, LIMITS) {
            Ok(Diff::Text {
                text: diff,
                left_off,
            }) => {
                text.push_str(&format!("\n{diff}"));
                if left_off > 0 {
                    text.push_str(&format!("({left_off} more lines)\n"));
                }
            }
            Ok(Diff::Binary { before, after } | Diff::TooLarge { before, after }) => {
                let path = on_one_line(change.path.as_str());
                text.push_str(&format!("\n{path}: {before} bytes before, {after} now\n"));
            }
            _ => {}
        }
    }
    text
}

/// A name in which a tool has put a line end must not pass for two lines.
fn on_one_line(text: &str) -> String {
    jig_proto::visible_line(text)
}

/// What became of the changes.
fn outcome(applied: &ApplyReport) -> String {
    let mut parts = vec![format!("{} applied", applied.done.len())];
    let mut list = |what: &str, changes: Vec<String>| {
        if !changes.is_empty() {
            let named: Vec<String> = changes.iter().take(MOST_NAMED).cloned().collect();
            let more = match changes.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("{what}: {}{more}", named.join(", ")));
        }
    };
    let paths = |changes: &[Change]| {
        changes
            .iter()
            .map(|one| format!("`{}`", on_one_line(one.path.as_str())))
            .collect()
    };
    list("not allowed by its rules", paths(&applied.refused));
    list(
        "changed by somebody else meanwhile",
        paths(&applied.conflicts),
    );
    let failed = applied.failed.iter();
    let failed = failed.map(|one| {
        let path = on_one_line(one.change.path.as_str());
        format!("`{path}` ({})", one.why)
    });
    list("failed", failed.collect());
    parts.join("; ")
}

/// What the watch over the workspace is begun for.
const SHELL: &str = "/bin/sh";

/// Of one file, for whoever decides.
const LIMITS: DiffLimits = DiffLimits {
    size: 1 << 20,
    lines: 400,
    width: 500,
};

/// How many names whoever decides is shown.
const MOST_LISTED: usize = 200;

/// About how much of all diffs is shown.
const MOST_SHOWN: usize = 64 * 1024;

/// How many paths a result names.
const MOST_NAMED: usize = 10;

#[cfg(all(test, target_os = "linux"))]
mod tests;
