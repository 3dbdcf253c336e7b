//! The text of a first `jig.toml`.

use serde_json::json;

use super::{Answers, Changes, DetectedLanguage};
use crate::hosts;

/// The file for a folder with these projects in it.
pub fn page(found: &[DetectedLanguage], answers: &Answers) -> String {
    let mut page = HEAD.to_owned();
    page.push_str(&changes(answers.changes));
    for (name, project) in names(found) {
        page.push_str(&tests(&name, project, answers));
    }
    if found.is_empty() {
        page.push_str(SCRIPT);
    }
    page.push_str(&shell(answers));
    page
}

/// The tools that run tests, with their names.
pub fn names(found: &[DetectedLanguage]) -> Vec<(String, &DetectedLanguage)> {
    let is_one = found.len() == 1;
    let named = found.iter().map(|project| match is_one {
        true => ("test".to_owned(), project),
        false => (format!("test_{}", project.kind.preset()), project),
    });
    named.collect()
}

fn changes(changes: Changes) -> String {
    let (say, change, delete) = match changes {
        Changes::Ask => (
            "These tools of jig change files. You approve every call.",
            "ask",
            "ask",
        ),
        Changes::Allow => (
            "These tools of jig change files of this folder without asking. Deleting asks.",
            "unattended",
            "ask",
        ),
        Changes::Never => (
            "These tools of jig change files. They never run.",
            "skip",
            "skip",
        ),
    };
    format!(
        "\n# {say}\n# \"ask\": you are asked before each call. \"unattended\": it runs. \"skip\": it never runs.\n\
         [tools]\n\
         fs_create_file.run = \"{change}\"\n\
         fs_modify_file.run = \"{change}\"\n\
         fs_move_file.run = \"{change}\"\n\
         fs_delete_file.run = \"{delete}\"\n"
    )
}

fn tests(name: &str, project: &DetectedLanguage, answers: &Answers) -> String {
    let line = project.tests.join(" ");
    let command = match project.prints_errors() {
        true => format!(
            "{{ program = {}, shell = true }} # a result is what is printed to standard output",
            json!(format!("{line} 2>&1"))
        ),
        false => json!(line).to_string(),
    };
    let mut text = format!(
        "\n# A tool of this project. Agents call it by its name, and so can you: jig call {name}\n\
         [tools.{name}]\n\
         source = \"local\"\n\
         command = {command}\n\
         summary = \"Run the tests.\"\n\
         description = \"Runs `{line}` and returns what it prints.\"\n\
         run = \"unattended\" # it is confined, so nobody has to be asked\n"
    );
    text.push_str(&sandbox(name, answers));
    text.push_str(&net(name, &answers.hosts));
    text.push_str(&format!(
        "\n# It may read, change and run the files of this folder, but no secrets such as `.env`, and nothing outside.\n\
         # One rule on files replaces that default. This one would let it only read:\n\
         # [[tools.{name}.access.fs]]\n\
         # path = \".\"\n\
         # read = true\n"
    ));
    text
}

/// Toolchains and limits.
fn sandbox(name: &str, answers: &Answers) -> String {
    let mut text = format!("\n[tools.{name}.sandbox]\n");
    text.push_str(&presets(answers));
    text.push_str("limits = { time = \"10m\" } # also: memory = \"4GiB\", processes = 500\n");
    text
}

fn presets(answers: &Answers) -> String {
    match answers.presets.is_empty() {
        true => "# A command sees no home. A preset shows it a toolchain there: rust, node, python, go, git.\n\
                 # presets = [\"rust\"]\n"
            .to_owned(),
        false => {
            let toolchains = match answers.presets.len() {
                1 => "toolchain",
                _ => "toolchains",
            };
            format!(
                "presets = [\"{}\"] # the {toolchains}; everything else in your home is hidden\n",
                answers.presets.join("\", \"")
            )
        }
    }
}

/// The hosts that a tool may reach.
fn net(name: &str, hosts: &[String]) -> String {
    if hosts.is_empty() {
        return format!(
            "\n# It has no network. A host that it needs is a rule:\n\
             # [[tools.{name}.access.net]]\n\
             # host = \"example.com\"\n\
             # allow = true\n"
        );
    }
    let mut text = "\n# These hosts, and no others:\n".to_owned();
    for host in hosts {
        text.push_str(&format!("[[tools.{name}.access.net]]\n{}\n", rule(host)));
    }
    // The blank line between rules makes them easier to tell apart.
    text.replace("allow = true\n[[", "allow = true\n\n[[")
}

fn rule(text: &str) -> String {
    let Ok(host) = hosts::parse(text) else {
        return String::new();
    };
    let mut lines = vec![format!("host = {}", json!(host.host))];
    lines.extend(
        host.scheme
            .map(|scheme| format!("scheme = {}", json!(scheme))),
    );
    lines.extend(host.port.map(|port| format!("port = {port}")));
    lines.extend(
        host.path
            .map(|path| format!("path_prefix = {}", json!(path))),
    );
    lines.push("allow = true".to_owned());
    lines.join("\n")
}

/// The shell that jig brings along, which agents like to use.
fn shell(answers: &Answers) -> String {
    let mut text =
        "\n# `shell` runs any command line, confined in the same way. It asks before each start.\n[tools.shell.sandbox]\n"
            .to_owned();
    text.push_str(&presets(answers));
    text.push_str(&net("shell", &answers.hosts));
    text
}

const HEAD: &str = "\
# What tools may do in this folder. It is yours to change:
#
#   jig config check                      says whether this file is right
#   jig tools                             lists the tools; fs_read_file, git, shell and others come with jig
#   jig policy explain shell read .env    asks what a tool may do, and why
#   jig log                               shows what was decided
";

const SCRIPT: &str = "
# A tool of this project: any program. Agents call it by its name, and so can you: jig call word_count path=jig.toml
[tools.word_count]
source = \"local\"
command = \"wc -w {{tool.arguments.path}}\"
summary = \"Count words.\"
description = \"Returns how many words a file has.\"
run = \"unattended\" # it is confined, so nobody has to be asked

[tools.word_count.parameters.path]
type = \"string\"
required = true
description = \"The file, relative to the workspace.\"

# It may read the files of this folder, but no secrets such as `.env`, and nothing outside. It has no network.
[[tools.word_count.access.fs]]
path = \".\"
read = true
";
