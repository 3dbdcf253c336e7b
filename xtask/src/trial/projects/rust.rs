//! Crates as they were published.

use std::path::Path;

use serde_json::Value;

use super::{PreparedProject, TrialStep};
use crate::trial::projects::site::{TrialSite, output};

/// Fetches a crate with a cargo home of its own, so that nothing of it is there yet, and puts it into a folder.
pub(super) fn prepare(
    site: &TrialSite,
    name: &str,
    version: &str,
    command: &'static str,
) -> Result<PreparedProject, String> {
    let source = format!("source-{name}");
    let manifest = format!(
        "[package]\nname = 'source'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n[lib]\npath = 'lib.rs'\n\
         [dependencies]\n{name} = '{version}'\n"
    );
    site.write(&format!("{source}/Cargo.toml"), &manifest)?;
    site.write(&format!("{source}/lib.rs"), "")?;
    let mut metadata = site.command("cargo");
    metadata
        .args(["metadata", "--format-version", "1", "--quiet"])
        .env("CARGO_HOME", site.folder.join("fetched"))
        .current_dir(site.folder.join(&source));
    let metadata = output(&mut metadata)?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages
        .find(|package| package["name"] == name)
        .ok_or_else(|| format!("cargo knows no `{name}`"))?;
    let version = package["version"].as_str().unwrap_or_default();
    let from = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let folder = site.folder.join(name);
    let mut copy = site.command("cp");
    copy.args(["-r", "-T"]).arg(from.parent().unwrap_or(from));
    output(copy.arg(&folder))?;
    // Of other versions than a person gets today.
    let _ = std::fs::remove_file(folder.join("Cargo.lock"));
    Ok(PreparedProject {
        title: format!("{name} {version}"),
        tells: "preset rust",
        steps: vec![
            TrialStep::online(CRATES_IO, command),
            // What was downloaded is still there.
            TrialStep::offline(command),
        ],
        ..PreparedProject::at(folder)
    })
}

const CRATES_IO: &[&str] = &["index.crates.io", "static.crates.io"];
