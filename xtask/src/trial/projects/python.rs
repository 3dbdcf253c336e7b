//! Projects of Python: virtual environments in the workspace and elsewhere, uv, poetry and pyenv.

use std::path::{Path, PathBuf};

use super::{PreparedProject, TrialStep};
use crate::trial::projects::site::{TrialSite, output};

/// `pip install` and `pytest` in a virtual environment of the workspace that is active.
pub(super) fn inside(site: &TrialSite) -> Result<PreparedProject, String> {
    site.write("python-inside/test_it.py", TEST)?;
    let folder = site.folder.join("python-inside");
    let environment = environment(site, &folder.join(".venv"))?;
    Ok(PreparedProject {
        title: "an app, with an active virtualenv in the workspace".to_owned(),
        tells: "virtualenv .venv",
        env: activated(site, &environment),
        steps: vec![
            TrialStep::online(PYPI, "pip install --quiet pytest six"),
            TrialStep::offline("pytest -q"),
        ],
        ..PreparedProject::at(folder)
    })
}

/// `pytest` of an active virtual environment elsewhere, which can be used, and not changed.
pub(super) fn outside(site: &TrialSite) -> Result<PreparedProject, String> {
    site.write("python-outside/test_it.py", TEST)?;
    let environment = environment(site, &site.folder.join("environments/x"))?;
    let mut install = site.command(environment.join("bin/pip"));
    output(install.args(["install", "--quiet", "pytest", "six"]))?;
    Ok(PreparedProject {
        title: "an app, with an active virtualenv elsewhere".to_owned(),
        tells: "virtualenv ",
        env: activated(site, &environment),
        steps: vec![TrialStep::offline("pytest -q")],
        ..PreparedProject::at(site.folder.join("python-outside"))
    })
}

/// A project of uv or poetry, either of which is on the search path, and in an environment that is not active.
pub(super) fn managed(site: &TrialSite, manager: &'static str) -> Result<PreparedProject, String> {
    let tools = environment(site, &site.folder.join(format!("environments/{manager}")))?;
    let mut install = site.command(tools.join("bin/pip"));
    output(install.args(["install", "--quiet", manager]))?;
    let folder = format!("python-{manager}");
    site.write(&format!("{folder}/test_it.py"), TEST)?;
    site.write(&format!("{folder}/pyproject.toml"), MANIFEST)?;
    let (sync, run) = match manager {
        "uv" => ("uv sync", "uv run pytest -q"),
        _ => ("poetry install", "poetry run pytest -q"),
    };
    Ok(PreparedProject {
        title: format!("an app of {manager}"),
        env: vec![("PATH", format!("{}:{}/bin", site.path, tools.display()))],
        steps: vec![TrialStep::online(PYPI, sync), TrialStep::offline(run)],
        ..PreparedProject::at(site.folder.join(folder))
    })
}

/// A version of pyenv that the project names, and an environment that is made with it and never active.
pub(super) fn pyenv(site: &TrialSite) -> Result<PreparedProject, String> {
    let version = output(site.command("pyenv").arg("version-name"))?;
    site.write("python-pyenv/.python-version", &version)?;
    site.write("python-pyenv/test_it.py", TEST)?;
    Ok(PreparedProject {
        title: format!("an app with `.python-version` {}", version.trim()),
        tells: "preset python (~/.pyenv/versions/",
        steps: vec![
            TrialStep::offline("python -m venv .venv"),
            TrialStep::online(PYPI, ".venv/bin/pip install --quiet pytest six"),
            TrialStep::offline(".venv/bin/pytest -q"),
        ],
        ..PreparedProject::at(site.folder.join("python-pyenv"))
    })
}

fn environment(site: &TrialSite, path: &Path) -> Result<PathBuf, String> {
    output(site.command("python3").args(["-m", "venv"]).arg(path))?;
    Ok(path.to_owned())
}

/// The variables of a shell in which an environment is active.
fn activated(site: &TrialSite, environment: &Path) -> Vec<(&'static str, String)> {
    let shown = environment.display();
    vec![
        ("PATH", format!("{shown}/bin:{}", site.path)),
        ("VIRTUAL_ENV", shown.to_string()),
    ]
}

const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];

const TEST: &str = "import six\n\ndef test_it():\n    assert six.PY3\n";

const MANIFEST: &str = "\
[project]
name = 'app'
version = '0.1.0'
requires-python = '>=3.9'
dependencies = ['six', 'pytest']
[tool.poetry]
package-mode = false
[[tool.poetry.source]]
name = 'simple'
url = 'https://pypi.org/simple/'
priority = 'primary'
";
