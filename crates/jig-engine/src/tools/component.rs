//! Tools that are components: where their bytes are, and what they say about themselves.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;
use jig_config::{Parameter, RuntimeKind, Tool, ToolSource};
use jig_files::{FilesError, PlaceKind};
use jig_proto::vfs::ToolInput;
use jig_proto::{ProjectPath, hint};
use jig_runtime::{Component, ComponentSource, Mount};
use jig_wasm::{ComponentTool, WasmRuntime};

use crate::calls::call::{Call, CallError};
use crate::engine::Engine;
use crate::questions::shown_arguments::FORMAT_TIME;
use crate::results::size_limit::bound;

impl Engine {
    /// What runs components, for all turns. It is made when the first one is needed, with the settings of the
    /// engine that needs it.
    pub fn components(&self) -> Result<&WasmRuntime, CallError> {
        let components = &self.common.components;
        if let Some(runtime) = components.get() {
            return Ok(runtime);
        }
        let mut settings = self.wasm.clone();
        // Without it, components are compiled by every process.
        settings.cache = settings.cache.filter(|dirs| !self.is_exposed(&dirs.key));
        let runtime = WasmRuntime::new(settings).map_err(CallError::Wasm)?;
        Ok(components.get_or_init(|| runtime))
    }

    /// Whether tools may reach the key that vouches for compiled code: it lies in the workspace, and not where
    /// the state of jig is, which no rule gives away. Whoever has the key has native code of their own run.
    fn is_exposed(&self, key: &Path) -> bool {
        let state = self.config.state.as_ref();
        if state.is_some_and(|state| key.starts_with(state)) {
            return false;
        }
        let root = real(self.files.display_root().as_std_path());
        let folder = key.parent().and_then(real);
        let (Some(root), Some(folder)) = (root, folder) else {
            return false;
        };
        let inside = folder.strip_prefix(root).ok().and_then(Path::to_str);
        let inside = inside.and_then(|path| match path {
            "" => Some(ProjectPath::root()),
            path => ProjectPath::normalize(path).ok(),
        });
        // Files that are not on the disk may have a root that is a path of the disk.
        inside.is_some_and(|path| {
            let place = self.files.locate(&path);
            place.is_ok_and(|place| *place.kind() == PlaceKind::Directory)
        })
    }

    /// The component of a tool, opened; `None` if the tool is none.
    ///
    /// # Errors
    ///
    /// If there is no such file, or it cannot be opened.
    pub fn component(&self, tool: &Tool) -> Result<Option<Component>, CallError> {
        if let Some(bytes) = embedded(tool) {
            return Ok(Some(Component {
                shown: tool.name.to_string(),
                source: ComponentSource::Embedded(bytes),
                mounts: Vec::new(),
            }));
        }
        let (RuntimeKind::Wasm, Some(path)) = (tool.runtime, &tool.wasm) else {
            return Ok(None);
        };
        let source = self
            .opened(path)
            .map_err(|error| CallError::ComponentFile {
                tool: tool.name.to_string(),
                error: error.about(path),
            })?;
        Ok(Some(Component {
            shown: path.to_string(),
            source,
            mounts: vec![Mount {
                guest: WORKSPACE.to_owned(),
                path: ProjectPath::root(),
                writable: true,
            }],
        }))
    }

    /// Opens a component of the workspace (W-041).
    fn opened(&self, path: &Utf8Path) -> Result<ComponentSource, ComponentOpenError> {
        let path = ProjectPath::normalize(path.as_str())
            .map_err(|error| ComponentOpenError::Because(error.to_string()))?;
        let place = self.files.locate(&path)?;
        if *place.kind() == PlaceKind::Missing {
            return Err(ComponentOpenError::Missing);
        }
        if let Some(file) = self.files.open(&place)? {
            return Ok(ComponentSource::File(Arc::new(file)));
        }
        let bytes = self.files.read(&place, LARGEST)?;
        Ok(ComponentSource::Bytes(bytes))
    }

    /// A tool with the parameters and the description that its component has for it, if the configuration
    /// declares no parameters and the component describes itself.
    ///
    /// The component is compiled for that, and run without access to anything, once for every version of it.
    ///
    /// # Errors
    ///
    /// If the component cannot be read, compiled or run.
    pub fn described<'t>(&self, tool: &'t Tool) -> Result<Cow<'t, Tool>, CallError> {
        if tool.runtime != RuntimeKind::Wasm || tool.origin("parameters").is_some() {
            return Ok(Cow::Borrowed(tool));
        }
        let Some(component) = self.component(tool)? else {
            return Ok(Cow::Borrowed(tool));
        };
        let told = self.components()?.describe(&component);
        let told = told.map_err(|error| CallError::Component {
            tool: tool.name.to_string(),
            error,
        })?;
        let own = tool.source.tool().unwrap_or(tool.name.as_str());
        let Some(description) = told.as_deref().and_then(|told| of_tool(told, own)) else {
            return Ok(Cow::Borrowed(tool));
        };
        let mut tool = tool.clone();
        if let Some(parameters) = Parameter::from_schema(&description.parameters) {
            tool.parameters = parameters;
        }
        if tool.description.is_none() && tool.summary.is_none() {
            tool.description = Some(description.description.clone());
        }
        Ok(Cow::Owned(tool))
    }

    /// What a component makes of the arguments; `None` if it cannot show them.
    pub(crate) fn formatted_by(
        &self,
        tool: &Tool,
        component: Component,
        call: &Call,
    ) -> Result<Option<String>, CallError> {
        let input = ToolInput {
            name: tool.source.tool().unwrap_or(tool.name.as_str()).to_owned(),
            arguments: self.arguments(tool, call.arguments.clone())?,
            ..ToolInput::default()
        };
        let components = self.components()?;
        let formatted = components
            .format_arguments(component, input, FORMAT_TIME)
            .ok();
        let text = formatted.map(|formatted| bound(formatted, self.most(tool)).to_text());
        Ok(text.filter(|text| !text.trim().is_empty()))
    }
}

/// What a component says about the tool of this name: it knows it by that name, or knows only one.
fn of_tool<'d>(told: &'d [ComponentTool], name: &str) -> Option<&'d ComponentTool> {
    let named = told.iter().find(|description| description.name == name);
    named.or(match told {
        [only] => Some(only),
        _ => None,
    })
}

/// Where a directory really is, or the nearest one above it that exists.
#[expect(
    clippy::disallowed_methods,
    reason = "the place is the user's own, outside of what rules are about"
)]
fn real(folder: &Path) -> Option<PathBuf> {
    let mut places = folder.ancestors();
    places.find_map(|place| place.canonicalize().ok())
}

/// The component of a built-in tool that is one.
pub(crate) fn embedded(tool: &Tool) -> Option<&'static [u8]> {
    match &tool.source {
        ToolSource::Builtin { tool: named } => {
            jig_wasm::builtin::get(named.as_deref().unwrap_or(tool.name.as_str()))
        }
        _ => None,
    }
}

/// Why a component was not opened.
enum ComponentOpenError {
    Missing,
    Because(String),
}

impl ComponentOpenError {
    fn about(self, path: &Utf8Path) -> ComponentFileError {
        let path = path.to_string();
        match self {
            Self::Missing => ComponentFileError::NotFound { path },
            Self::Because(why) => ComponentFileError::Unreadable { path, why },
        }
    }
}

impl From<FilesError> for ComponentOpenError {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::NotFound { .. } => Self::Missing,
            error => Self::Because(error.to_string()),
        }
    }
}

/// Why there is no component for a tool that is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentFileError {
    /// There is no such file (W-061).
    #[error(
        "Wasm binary not found: {path}\n{}",
        hint!("build it, or correct `wasm`, which is relative to the workspace")
    )]
    NotFound {
        /// The path as the configuration has it.
        path: String,
    },
    /// It cannot be opened.
    #[error("the component `{path}` cannot be opened: {why}")]
    Unreadable {
        /// The path as the configuration has it.
        path: String,
        /// Why not.
        why: String,
    },
}

/// Where a local component sees the workspace (W-024).
const WORKSPACE: &str = "/workspace";

/// The largest component that is read from files that have no descriptors.
const LARGEST: u64 = 256 << 20;
