//! `jig wasm new`: a small project that is a tool, complete and ready to be built.

use camino::{Utf8Path, Utf8PathBuf};
use jig_project::wasm_project::{self, ProjectName, ProjectTemplate};
use jig_project::{accepted, first_config, locate, shell_word};
use jig_proto::{visible_line, visible_lines};
use serde_json::json;

use crate::args::{GlobalArgs, Language, WasmNewArgs};
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN, field, indented};

pub(crate) fn run(
    args: &WasmNewArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let name = ProjectName::parse(&args.name)?;
    let template = match args.lang {
        Language::Rust => &wasm_project::RUST,
        Language::Python => &wasm_project::PYTHON,
        Language::Js => &wasm_project::JS,
    };
    let dir = args.dir.clone().unwrap_or_else(|| name.kebab().into());
    let files: Vec<(&str, String)> = template
        .files
        .iter()
        .map(|(path, text)| (*path, name.put_into(text)))
        .collect();
    wasm_project::make(&dir, &files)?;
    if let (Ok(root), Some((file, text))) = (
        locate::resolved(&dir),
        files.iter().find(|(file, _)| *file == first_config::FILE),
    ) {
        accepted::accept_made(&root, &root.join(file), text)?;
    }
    let made = NewProject {
        name: &name,
        template,
        component: name.put_into(template.component),
        outer: around(&dir, global),
        dir: &dir,
    };
    if out.is_json() {
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        return told_as_json(&made, &paths, out);
    }
    told(&made, &files, out)
}

/// What was made.
struct NewProject<'a> {
    name: &'a ProjectName,
    template: &'a ProjectTemplate,
    dir: &'a Utf8Path,
    /// The component that building gives, below the folder.
    component: String,
    /// The folder as seen from the workspace around it, if it lies in one.
    outer: Option<Utf8PathBuf>,
}

impl NewProject<'_> {
    /// One line for a shell, from here to a component.
    fn build(&self) -> String {
        let steps = self.name.put_into(self.template.build);
        format!("cd {} && {steps}", shell_word(self.dir.as_str()))
    }

    fn call(&self) -> String {
        let (dir, tool) = (shell_word(self.dir.as_str()), self.name.snake());
        format!("jig -C {dir} call {tool} path=README.md")
    }

    /// What the workspace around it needs in its configuration.
    fn lines(&self) -> Option<String> {
        let component = self.outer.as_ref()?.join(&self.component);
        let tool = self.name.snake();
        // A TOML string of this kind is written as a JSON string is.
        let component = json!(component.as_str());
        Some(format!(
            "[tools.{tool}]\nsource = \"local\"\nwasm = {component}\n"
        ))
    }
}

fn told(
    made: &NewProject<'_>,
    files: &[(&str, String)],
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let dir = visible_line(made.dir.as_str());
    let language = made.template.language;
    let mut text = format!(
        "{GREEN}made{GREEN:#} {BOLD}{dir}{BOLD:#}: a tool in {language}, {} files\n",
        files.len()
    );
    text.push_str(&field("edit", format_args!("{dir}/{}", made.template.main)));
    text.push_str(&field("build", visible_lines(&made.build())));
    text.push_str(&field("run", visible_lines(&made.call())));
    if let Some(lines) = made.lines() {
        text.push_str(&format!(
            "{DIM}For the workspace around it, in its jig.toml:{DIM:#}\n{}",
            indented(&visible_lines(&lines), 2)
        ));
    }
    out.text(&text)?;
    Ok(Done::Ok)
}

fn told_as_json(
    made: &NewProject<'_>,
    paths: &[&str],
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    out.json(&json!({
        "name": made.name.snake(),
        "dir": made.dir,
        "files": paths,
        "component": made.component,
        "build": made.build(),
        "call": made.call(),
        "config": made.lines(),
    }))?;
    Ok(Done::Ok)
}

/// The folder as the workspace around the current folder names it.
fn around(dir: &Utf8Path, global: &GlobalArgs) -> Option<Utf8PathBuf> {
    let root = locate::root(global.workspace.as_deref()).ok()?;
    let dir = locate::resolved(dir).ok()?;
    dir.strip_prefix(root).ok().map(Utf8Path::to_owned)
}
