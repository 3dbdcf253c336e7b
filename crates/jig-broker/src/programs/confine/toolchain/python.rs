//! The preset `python`: Python as it is installed, the virtual environment that is active, and the caches of
//! package managers.

use std::path::{Path, PathBuf};

use jig_sandbox::RuleSource;

use super::super::host_files;
use super::super::program::ProgramSurroundings;
use super::{CERTIFICATES, PROGRAMS, PresetBuilder, ToolchainCache, settings};

/// A virtual environment that `VIRTUAL_ENV` or `CONDA_PREFIX` names, and that is one.
///
/// Whoever made the workspace may have had the variable set. So what it names has to look like an environment, and
/// must not be a home, or anything that the workspace or a home lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct VirtualEnvironment {
    /// Canonical.
    path: PathBuf,
    variable: &'static str,
}

impl VirtualEnvironment {
    /// The one that is active.
    pub(in super::super) fn active(around: &ProgramSurroundings<'_>) -> Option<Self> {
        let named = |variable: &'static str, mark: fn(&Path) -> bool| {
            let path = (around.variable)(variable).map(PathBuf::from);
            let path = host_files::canonical(&path.filter(|path| path.is_absolute())?)?;
            let programs = host_files::canonical(&path.join("bin"))?;
            let is_inside = path.starts_with(around.root) && path != around.root;
            let is_one = mark(&path)
                && programs == path.join("bin")
                && (is_inside || around.may_show(&path));
            is_one.then_some(Self { path, variable })
        };
        named("VIRTUAL_ENV", |path| {
            host_files::is_file(&path.join("pyvenv.cfg"))
        })
        .or_else(|| {
            named("CONDA_PREFIX", |path| {
                host_files::is_directory(&path.join("conda-meta"))
            })
        })
    }

    /// The directory of its programs.
    pub(in super::super) fn programs(&self) -> PathBuf {
        self.path.join("bin")
    }

    /// Whether it lies in the workspace.
    pub(in super::super) fn is_inside(&self, root: &Path) -> bool {
        self.path.starts_with(root)
    }
}

impl PresetBuilder<'_> {
    pub(super) fn python(&mut self) -> bool {
        let active = self.around.virtual_environment.clone();
        if let Some(active) = &active {
            self.virtual_environment(active);
        }
        let prefix = self.prefix_of("python3");
        let found = self.program("python3") || self.program("python");
        if !found && active.is_none() {
            return false;
        }
        if let Some(prefix) = prefix.filter(|prefix| found && !prefix.starts_with(self.around.root))
        {
            self.tell("", &prefix);
        }
        let home = self.around.home;
        let private = self.around.private_home;
        if let Some(pythons) = home.and_then(|home| self.apart(&home.join(PYTHONS_OF_UV))) {
            self.shown.widen(&pythons, PROGRAMS, RuleSource::System);
            self.link(private.join(PYTHONS_OF_UV), pythons);
        }
        self.keep(".cache/pip", "pip");
        self.keep(".cache/uv", "uv");
        self.keep(".cache/pypoetry/cache", "poetry");
        self.keep(".cache/pypoetry/artifacts", "poetry-artifacts");
        let environments = home.map(|home| home.join(ENVIRONMENTS.usual));
        let at = private.join(ENVIRONMENTS.usual);
        self.keep_over(&at, environments, &ENVIRONMENTS);
        let pip = [".config/pip/pip.conf", ".pip/pip.conf"].iter();
        let pip = pip.filter_map(|name| self.text_at_home(name)).next();
        if let Some(text) = pip {
            self.write(".config/pip/pip.conf", settings::ini(&text));
        }
        let poetry = self.text_at_home(".config/pypoetry/config.toml");
        if let Some(text) = poetry.and_then(|text| settings::toml(&text)) {
            self.write(".config/pypoetry/config.toml", text);
        }
        // Caches lie on another file system, as far as links can tell.
        self.set("UV_LINK_MODE", "copy");
        if !self.around.online {
            // What is refused stays so.
            self.set("PIP_RETRIES", "0");
            self.set("UV_HTTP_RETRIES", "0");
            self.set("UV_PYTHON_DOWNLOADS", "never");
        }
        self.pass(VARIABLES);
        self.trust(CERTIFICATES);
        self.trust(&["PIP_CERT", "REQUESTS_CA_BUNDLE"]);
        true
    }

    /// Shows a virtual environment, and the Python that it was made with.
    fn virtual_environment(&mut self, active: &VirtualEnvironment) {
        if !active.is_inside(self.around.root) {
            self.shown.widen(&active.path, PROGRAMS, RuleSource::System);
        }
        let programs = active.programs();
        let mut python = ["python3", "python"].iter();
        let python = python.find_map(|name| host_files::hops(&programs.join(name)));
        if let Some(prefix) = python.and_then(|(_, python)| installation(&python))
            && !prefix.starts_with(self.around.root)
            && self.around.may_show(&prefix)
        {
            self.shown.widen(&prefix, PROGRAMS, RuleSource::System);
        }
        self.set(active.variable, active.path.clone());
        self.added.directories.push(programs);
        self.tell("virtualenv ", &active.path);
    }
}

/// The folder that an interpreter is installed into, if it is one of Python: a link in the workspace may lead
/// anywhere.
fn installation(python: &Path) -> Option<PathBuf> {
    let bin = python.parent()?;
    let prefix = bin.parent()?;
    let is_python = |name: &str| name.starts_with("python") || name.starts_with("pypy");
    let is_program = bin.file_name()? == "bin" && is_python(python.file_name()?.to_str()?);
    let libraries = host_files::names(&prefix.join("lib")).into_iter();
    let mut libraries = libraries.filter(|name| name.to_str().is_some_and(is_python));
    let has_library =
        libraries.any(|name| host_files::is_file(&prefix.join("lib").join(name).join("os.py")));
    (is_program && has_library).then(|| prefix.to_owned())
}

/// The environments of poetry. No variable has them elsewhere.
const ENVIRONMENTS: ToolchainCache = ToolchainCache {
    name: "poetry-environments",
    usual: ".cache/pypoetry/virtualenvs",
    belongs: |_| false,
};

/// Where uv keeps the interpreters that it downloads, under several names each.
const PYTHONS_OF_UV: &str = ".local/share/uv/python";

/// Where packages come from, and how programs run.
const VARIABLES: &[&str] = &[
    "PIP_DEFAULT_TIMEOUT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "POETRY_VIRTUALENVS_IN_PROJECT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_PROJECT_ENVIRONMENT",
];
