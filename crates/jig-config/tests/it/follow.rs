//! Doing what the configuration says helps, and a test of each help says so.

use camino::Utf8Path;
use jig_config::{ConfigErrors, LoadedConfig, Problem, load};

use crate::workspace::Workspace;

/// A test did what the help of a problem says, and was told `again` then. The check of all hints (`cargo xtask test`)
/// knows the help by that.
#[track_caller]
pub(crate) fn follow(problem: &Problem, again: &[Problem]) {
    let template = problem.hint().template();
    for other in again {
        let is_same = other.hint().template() == template && other.message() == problem.message();
        assert!(!is_same, "it is said again: {}", other.render(false));
    }
    jig_proto::followed_hint(template);
}

/// The same for all that is wrong with a configuration; `again` is the mended one.
#[track_caller]
pub(crate) fn follow_all(wrong: &ConfigErrors, again: &LoadedConfig) {
    for problem in wrong.problems() {
        follow(problem, &again.warnings);
    }
}

/// The files of a mistake. `~` is the person's own configuration, `~/` is beside it; `--set` and `--config` are
/// options. What ends with `+x` can be run, with `->` it is a link.
type Files = &'static [(&'static str, &'static str)];

/// A help, the mistake of which it speaks, and the same when it was done what the help says.
type Case = (&'static str, Files, Files);

/// Everything that is said of these files.
fn told(files: Files) -> (Vec<Problem>, bool) {
    let (workspace, home) = (Workspace::new(), Workspace::new());
    let mut sources = workspace.sources();
    sources.search_path = vec!["/usr/bin".into(), "/bin".into()];
    for (path, content) in files {
        let long = "n".repeat(1100);
        let content = content
            .replace("{root}", workspace.root().as_str())
            .replace("{long}", &long);
        let full = match (*path, path.strip_prefix("~/")) {
            ("--set", _) => {
                sources.sets.push(content);
                continue;
            }
            ("--config", _) => {
                sources.files.push(workspace.path(&content));
                continue;
            }
            ("~", _) => {
                sources.user_config = Some(home.path("config.toml"));
                home.path("config.toml")
            }
            (_, Some(beside)) => home.path(beside),
            (path, None) => workspace.path(path),
        };
        let (name, is_program) = match full.as_str().strip_suffix("+x") {
            Some(name) => (name, true),
            None => (full.as_str(), false),
        };
        let name = Utf8Path::new(name);
        std::fs::create_dir_all(name.parent().expect("a folder")).expect("make it");
        if let Some(link) = name.as_str().strip_suffix("->") {
            std::os::unix::fs::symlink(&content, link).expect("make the link");
            continue;
        }
        std::fs::write(name, &content).expect("write it");
        if is_program {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(name, mode).expect("make it a program");
        }
    }
    match load(&sources) {
        Ok(loaded) => (loaded.warnings, true),
        Err(errors) => (errors.problems().to_vec(), false),
    }
}

#[track_caller]
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (help, before, after) in cases {
        let (problems, _) = told(before);
        let Some(problem) = problems.iter().find(|one| one.hint().template() == *help) else {
            let said: Vec<String> = problems.iter().map(|one| one.render(false)).collect();
            wrong.push(format!("`{help}` is not said:\n{}", said.join("\n")));
            continue;
        };
        let (again, loads) = told(after);
        if !loads {
            let said: Vec<String> = again.iter().map(|one| one.render(false)).collect();
            wrong.push(format!("`{help}`, followed:\n{}", said.join("\n")));
            continue;
        }
        follow(problem, &again);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn helps_about_files() {
    check(FILES);
}

#[test]
fn helps_about_programs() {
    check(PROGRAMS);
}

#[test]
fn helps_about_tools() {
    check(TOOLS);
}

#[test]
fn helps_about_everything_else() {
    check(OTHERS);
}

const FILES: &[Case] = &[
    (
        "if that place is meant, name it in the rule: `path = \"{}\"`",
        &[
            ("private/notes.txt", ""),
            ("docs->", "private"),
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"make\"\naccess.fs = [{ path = \"docs\", read = true }]\n\
                 [tools.b]\nsource = \"local\"\ncommand = \"make\"\n\
                 access.fs = [{ path = \".\", read = true, write = true }, { path = \"private\" }]",
            ),
        ],
        &[
            ("private/notes.txt", ""),
            ("docs->", "private"),
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"make\"\naccess.fs = [{ path = \"private\", read = true }]\n\
                 [tools.b]\nsource = \"local\"\ncommand = \"make\"\n\
                 access.fs = [{ path = \".\", read = true, write = true }, { path = \"private\" }]",
            ),
        ],
    ),
    (
        "remove it from `extends`",
        &[
            ("jig.toml", "extends = [\".jig/config.toml\"]"),
            (".jig/config.toml", ""),
        ],
        &[("jig.toml", ""), (".jig/config.toml", "")],
    ),
    (
        "correct the path, or create the file; only `*`, `**` and `?` make a pattern",
        &[
            ("jig.toml", "extends = [\"c/[ab].toml\"]"),
            ("c/a.toml", ""),
        ],
        &[("jig.toml", "extends = [\"c/a.toml\"]"), ("c/a.toml", "")],
    ),
    (
        "correct the path, which is relative to this file, or create the file",
        &[("jig.toml", "extends = [\"c/a.toml\"]")],
        &[("jig.toml", "extends = [\"c/a.toml\"]"), ("c/a.toml", "")],
    ),
    (
        "remove one of the entries of `extends`; a pattern must not cover its own file",
        &[
            ("jig.toml", "extends = [\"c/a.toml\"]"),
            ("c/a.toml", "extends = [\"a.toml\"]"),
        ],
        &[("jig.toml", "extends = [\"c/a.toml\"]"), ("c/a.toml", "")],
    ),
    (
        "write the path of the file that is meant, or put a copy in place of {}",
        &[
            ("jig.toml", "extends = [\"c/a.toml\"]"),
            ("c/a.toml->", "b.toml"),
            ("c/b.toml", ""),
        ],
        &[
            ("jig.toml", "extends = [\"c/b.toml\"]"),
            ("c/a.toml->", "b.toml"),
            ("c/b.toml", ""),
        ],
    ),
    (
        "write a path relative to this file that stays inside; a file of your own is extended by `~/.config/jig/config.toml`, or given by `--config`",
        &[("jig.toml", "extends = [\"../x.toml\"]")],
        &[("jig.toml", "extends = [\"x.toml\"]"), ("x.toml", "")],
    ),
    (
        "extend another file",
        &[("jig.toml", "extends = [\".env\"]"), (".env", "")],
        &[("jig.toml", "extends = [\"x.toml\"]"), ("x.toml", "")],
    ),
    (
        "set the variable HOME, or write the whole path",
        &[("~", "extends = [\"~/x.toml\"]")],
        &[("~", "extends = [\"x.toml\"]"), ("~/x.toml", "")],
    ),
    (
        "put the files into a folder of their own, and write `\"{example}\"`",
        &[("jig.toml", "extends = [\"*.toml\"]")],
        &[
            ("jig.toml", "extends = [\"config/*.toml\"]"),
            ("config/a.toml", ""),
        ],
    ),
    (
        "write `\"{}*.toml\"`, or turn the files into TOML",
        &[
            ("jig.toml", "extends = [\"c/*\"]"),
            ("c/a.toml", ""),
            ("c/b.json", "{}"),
        ],
        &[
            ("jig.toml", "extends = [\"c/*.toml\"]"),
            ("c/a.toml", ""),
            ("c/b.json", "{}"),
        ],
    ),
    (
        "let the pattern end with `.toml`, or turn the files into TOML",
        &[
            ("jig.toml", "extends = [\"c/*.json\"]"),
            ("c/a.toml", ""),
            ("c/b.json", "{}"),
        ],
        &[
            ("jig.toml", "extends = [\"c/*.toml\"]"),
            ("c/a.toml", ""),
            ("c/b.json", "{}"),
        ],
    ),
    (
        "give the file a shorter path",
        &[("--config", "{long}.toml")],
        &[("--config", "x.toml"), ("x.toml", "")],
    ),
    (
        "write `extends = [\"config.d/**/*.toml\"]` in `.jp/config.toml`",
        &[(".jp/config.toml", ""), (".jp/config.d/a.toml", "")],
        &[
            (".jp/config.toml", "extends = [\"config.d/**/*.toml\"]"),
            (".jp/config.d/a.toml", ""),
        ],
    ),
    (
        "write the path of a file",
        &[("jig.toml", "extends = [\"\"]")],
        &[("jig.toml", "extends = [\"x.toml\"]"), ("x.toml", "")],
    ),
    (
        "write a shorter path",
        &[("jig.toml", "extends = [\"{long}\"]")],
        &[("jig.toml", "extends = [\"x.toml\"]"), ("x.toml", "")],
    ),
    (
        "for all files in it write `\"{}*.toml\"`",
        &[("jig.toml", "extends = [\"c/\"]")],
        &[("jig.toml", "extends = [\"c/*.toml\"]"), ("c/x.toml", "")],
    ),
];

const PROGRAMS: &[Case] = &[
    (
        "for the file of the workspace write `./{}`",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"greet\"",
            ),
            ("greet+x", "#!/bin/sh\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "install it, correct the name, or name the program by its path",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"no-such-program\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"/bin/sh\"",
        )],
    ),
    (
        "name the file in it that is to be run",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./bin\"",
            ),
            ("bin/greet+x", "#!/bin/sh\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./bin/greet\"",
            ),
            ("bin/greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "did you mean `{}`?",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./bin/gret\"",
            ),
            ("bin/greet+x", "#!/bin/sh\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./bin/greet\"",
            ),
            ("bin/greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "correct the path, which is relative to the workspace, or create the file",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"./bin/zzz\"",
        )],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./bin/zzz\"",
            ),
            ("bin/zzz+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "make it a program, `chmod +x {word}`, or name its interpreter: `command = \"{interpreter} {word}\"`",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet.sh\"",
            ),
            ("greet.sh", "#!/bin/sh\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"sh ./greet.sh\"",
            ),
            ("greet.sh", "#!/bin/sh\n"),
        ],
    ),
    (
        "make it a program: `chmod +x {word}`",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet", "#!/bin/sh\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "save the file with line ends of Unix: `sed -i 's/\\r$//' {word}`",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\r\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "install it, or correct the first line, such as `#!/bin/sh` or `#!/usr/bin/env python3`",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/no/such\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\n"),
        ],
    ),
    (
        "write `*.example.com` for all names below one, `*` for all public hosts, or a whole name",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo\"\naccess.net = [{ host = \"*example.com\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo\"\naccess.net = [{ host = \"*.example.com\", allow = true }]",
        )],
    ),
    (
        "name the methods, such as `methods = [\"GET\", \"HEAD\"]`, or remove `methods` for all of them",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", methods = [], allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", methods = [\"GET\", \"HEAD\"], allow = true }]",
        )],
    ),
    (
        "write one word for each method, such as `methods = [\"GET\", \"HEAD\"]`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", methods = [\"GET HEAD\"], allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", methods = [\"GET\", \"HEAD\"], allow = true }]",
        )],
    ),
    (
        "remove `methods`, or write `scheme = \"https\"`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", scheme = \"ssh\", methods = [\"GET\"], allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"echo\"\naccess.net = [{ host = \"a.de\", scheme = \"https\", methods = [\"GET\"], allow = true }]",
        )],
    ),
    (
        "name the hosts that it needs, or all names below one as `*.example.com`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo\"\naccess.net = [{ host = \"*\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo\"\naccess.net = [{ host = \"*.example.com\", allow = true }]",
        )],
    ),
    (
        "make `{first}` its first line",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "echo\n"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"./greet\"",
            ),
            ("greet+x", "#!/bin/sh\necho\n"),
        ],
    ),
    (
        "to have `sh -c` read it, write `command = {{ program = {}, shell = true }}`; to mean the word itself, put it in single quotes",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo $HOME\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"echo $HOME\", shell = true }",
        )],
    ),
    (
        "write `command = {{ program = {}, shell = true }}`: values then stay values",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = [\"sh\", \"-c\", \"echo {{tool.arguments.path}}\"]\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"echo {{tool.arguments.path}}\", shell = true }\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "add `{template}` to `command`, or write `input = \"stdin\"` to hand the whole call over there, as JSON",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "to have `sh -c` run it, write `command = {{ program = {}, shell = true }}`; to mean the word itself, put it in quotes: `'{}'`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"echo a | cat\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"echo a | cat\", shell = true }",
        )],
    ),
    (
        "name the program",
        &[("jig.toml", "[tools.a]\nsource = \"local\"\ncommand = []")],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"sh\" }",
        )],
    ),
    (
        "close every `{{{{` with `}}}}` in the same word; for braces that are no template write `{{{{ '{{{{' }}}}`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"sh\", args = [\"{{ a\"] }",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = { program = \"sh\", args = [\"{{ '{{' }} a\"] }",
        )],
    ),
    (
        "write `input = \"file\"`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{input.file}}\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{input.file}}\"\ninput = \"file\"",
        )],
    ),
    (
        "write `{{{{tool.arguments.{}}}}}`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{path}}\"\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "write `{{{{tool.arguments.{}}}}}`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.path}}\"\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "write `tool.arguments.NAME` for an argument of the call; `tool`, `context` and `input` are all that there is",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{zzzzzz}}\"\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "did you mean `{{{{{}.{}}}}}`?",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.pth}}\"\nparameters.path.type = \"string\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path.type = \"string\"",
        )],
    ),
    (
        "declare it, `parameters.{} = {{ type = \"string\" }}`, or remove the template",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.path}}\"\nparameters.path = { type = \"string\" }",
        )],
    ),
    (
        "declare it below `properties`, or remove the template",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.a.zzzz}}\"\nparameters.a = { type = \"object\", properties.b.type = \"string\" }",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.arguments.a.zzzz}}\"\nparameters.a = { type = \"object\", properties.b.type = \"string\", properties.zzzz.type = \"string\" }",
        )],
    ),
    (
        "did you mean `{{{{{of}.{meant}}}}}`?",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.nam}}\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.name}}\"",
        )],
    ),
    (
        "there is {}",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.zzzzzz}}\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh {{tool.name}}\"",
        )],
    ),
    (
        "correct its name; `default('')`, `tojson`, `join(' ')`, `lower` and `trim` are among those that there are",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh '{{tool.name | zzzz}}'\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh '{{tool.name | lower}}'\"",
        )],
    ),
    (
        "name the program, followed by its arguments: `\"python3 tool.py\"`",
        &[("jig.toml", "[tools.a]\nsource = \"local\"\ncommand = \"\"")],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh tool.sh\"",
        )],
    ),
    (
        "name a file, relative to the workspace",
        &[("jig.toml", "[tools.a]\nsource = \"local\"\nwasm = \".\"")],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"",
            ),
            ("a.wasm", ""),
        ],
    ),
];

const TOOLS: &[Case] = &[
    (
        "write `{} = [\"…\"]`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.sensitive_paths = { path = \"key\" }",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.sensitive_paths = [\"key\"]",
        )],
    ),
    (
        "keep it if JP reads this file, otherwise remove it",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nstyle.inline_results = \"full\"",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n",
        )],
    ),
    (
        "remove `{list}`: nothing is reachable by default",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = []",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n",
        )],
    ),
    (
        "write `stateful = true` if it is to be given input while it runs",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nterminal = true",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nterminal = true\nstateful = true",
        )],
    ),
    (
        "what holds is what files and hosts it reaches; where the programs matter, write `runtime = \"vfs\"`, so that jig starts them",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n[tools.a.access.commands.cargo]\nargs = [[\"**\"]]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nruntime = \"vfs\"\n[tools.a.access.commands.cargo]\nargs = [[\"**\"]]",
        )],
    ),
    (
        "remove it; what an object holds stands in `properties`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\noutput = { type = \"object\", zzzzzz = 1 }",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\noutput = { type = \"object\" }",
        )],
    ),
    (
        "remove the rule: it has no arguments",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nrun = [{ mode = \"skip\", arg = \"/x\", equals = 1 }, { mode = \"ask\" }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nrun = [{ mode = \"ask\" }]",
        )],
    ),
    (
        "write `false`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nenable = no",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nenable = false",
        )],
    ),
    (
        "put it in quotes: `\"{}\"`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.presets = [rust]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.presets = [\"rust\"]",
        )],
    ),
    (
        "write `=` and a value after it",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nenable",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nenable = true",
        )],
    ),
    (
        "remove it, or correct it",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\noptions.a = 1__0",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\noptions.a = 10",
        )],
    ),
    (
        "a rule holds for all that is below its path: write `path = \"{}\"`; names that are to be kept from a tool wherever they lie are listed in `sandbox.sensitive_paths`, which knows patterns; a file whose name holds `*` is written `./{}`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"src/*\", read = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"src\", read = true }]",
        )],
    ),
    (
        "write both: `host = \"localhost\", port = {port}`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"8080\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"localhost\", port = 8080, allow = true }]",
        )],
    ),
    (
        "write `host = \"{address}\"`, or the name that is meant",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"127.1\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"127.0.0.1\", allow = true }]",
        )],
    ),
    (
        "remove one of the links",
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"a/x\", read = true }]",
            ),
            ("a->", "b"),
            ("b->", "a"),
        ],
        &[
            (
                "jig.toml",
                "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"a/x\", read = true }]",
            ),
            ("b->", "a"),
        ],
    ),
    (
        "write a path relative to the workspace; the workspace itself is `.`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"a\\u0000b\", read = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"a\", read = true }]",
        )],
    ),
    (
        "add `port` to the rule",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"a.de\", scheme = \"zzz\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"a.de\", scheme = \"zzz\", port = 7, allow = true }]",
        )],
    ),
    (
        "write the part before `://` alone, such as `https`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"a.de\", scheme = \"https://\", allow = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.net = [{ host = \"a.de\", scheme = \"https\", allow = true }]",
        )],
    ),
    (
        "name a program on the search path, or a file of the workspace",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n[tools.a.access.commands.\"../greet\"]\nargs = [[\"**\"]]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n[tools.a.access.commands.\"./greet\"]\nargs = [[\"**\"]]",
        )],
    ),
    (
        "write the name of a program, such as `cargo`, and its arguments in `args`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n[tools.a.access.commands.\".\"]\nargs = [[\"**\"]]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\n[tools.a.access.commands.cargo]\nargs = [[\"**\"]]",
        )],
    ),
    (
        "write a number{lifted}",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.limits.processes = -1",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.limits.processes = 100",
        )],
    ),
    (
        "remove it",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.system = [\"/opt\\u0000\"]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.system = [\"/opt\"]",
        )],
    ),
    (
        "write the name of a variable",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.env = [{ name = \"\", read = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.env = [{ name = \"A\", read = true }]",
        )],
    ),
    (
        "write the name alone; the value comes from the host's environment",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.env = [{ name = \"A=b\", read = true }]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.env = [{ name = \"A\", read = true }]",
        )],
    ),
    (
        "remove it, and write a rule instead: `access.fs = [{{ path = {}, {} }}]`",
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\nsandbox.system = [\"{root}/src\"]",
        )],
        &[(
            "jig.toml",
            "[tools.a]\nsource = \"local\"\ncommand = \"sh\"\naccess.fs = [{ path = \"src\", read = true }]",
        )],
    ),
];

const OTHERS: &[Case] = &[
    (
        "did you mean {}? if not, remove it",
        &[("~", "[llm]\nmodel = \"gpt-4o\"\nmodels = { gpt4o = {} }")],
        &[("~", "[llm]\nmodel = \"gpt-4o\"\nmodels = { gpt-4o = {} }")],
    ),
    (
        "remove it; the models are {} and {}",
        &[("~", "[llm]\nmodel = \"gpt-4o\"\nmodels = { zzzzzz = {} }")],
        &[("~", "[llm]\nmodel = \"gpt-4o\"")],
    ),
    (
        "give each a title of its own",
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\ntitle = \"A\"\n[kb.topic.o]\nsubjects = \"docs\"\ntitle = \"a\"",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\ntitle = \"A\"\n[kb.topic.o]\nsubjects = \"docs\"\ntitle = \"b\"",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "did you mean {}? if not, create the directory",
        &[
            ("jig.toml", "[kb.topic.t]\nsubjects = \"doc\""),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            ("jig.toml", "[kb.topic.t]\nsubjects = \"docs\""),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "create the directory, and put a file into it for each subject",
        &[("jig.toml", "[kb.topic.t]\nsubjects = \"zzzzzz\"")],
        &[
            ("jig.toml", "[kb.topic.t]\nsubjects = \"zzzzzz\""),
            ("zzzzzz/a.md", ""),
        ],
    ),
    (
        "for all that is below it write `\"{name}/**\"`",
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\ndisabled = [\"rust\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\ndisabled = [\"rust/**\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "write the name of a subject",
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"b\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "separate directories by `/`",
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"rust\\\\a\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"rust/a\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "write one `/`",
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"rust//a\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
        &[
            (
                "jig.toml",
                "[kb.topic.t]\nsubjects = \"docs\"\nlearned = [\"rust/a\"]",
            ),
            ("docs/rust/a.md", ""),
            ("docs/b.md", ""),
        ],
    ),
    (
        "remove it, or lower it; to allow more, raise `quota` in your own file",
        &[
            ("~", "[llm]\nmodel = \"m\"\nquota = 100"),
            ("jig.toml", "[llm]\nquota = 101"),
        ],
        &[
            ("~", "[llm]\nmodel = \"m\"\nquota = 101"),
            ("jig.toml", "[llm]\nquota = 101"),
        ],
    ),
    (
        "move it into your own file",
        &[
            ("~", "[llm]\nmodel = \"m\"\nquota = 100"),
            ("jig.toml", "[llm]\nweights.output = 0"),
        ],
        &[("~", "[llm]\nmodel = \"m\"\nquota = 100\nweights.output = 0")],
    ),
    (
        "move it into your own file, `~/.config/jig/config.toml`, or pass `--config FILE` or `--set llm.{name}=…`",
        &[("jig.toml", "[llm]\nmodel = \"m\"\nkey_env = \"KEY\"")],
        &[
            ("jig.toml", "[llm]\nmodel = \"m\"\n"),
            ("--set", "llm.key_env=KEY"),
        ],
    ),
    (
        "add `model = \"…\"` to `[llm]`: the name of a model, as the provider has it",
        &[("~", "[llm]\nquota = 5")],
        &[("~", "[llm]\nquota = 5\nmodel = \"m\"")],
    ),
    (
        "write a URL such as `\"https://api.openai.com/v1\"`",
        &[("~", "[llm]\nmodel = \"m\"\nbase_url = \"a.de/v1\"")],
        &[("~", "[llm]\nmodel = \"m\"\nbase_url = \"https://a.de/v1\"")],
    ),
    (
        "write `https`; `http` is for this machine alone, such as `\"http://127.0.0.1:8080/v1\"`",
        &[("~", "[llm]\nmodel = \"m\"\nbase_url = \"http://a.de/v1\"")],
        &[("~", "[llm]\nmodel = \"m\"\nbase_url = \"https://a.de/v1\"")],
    ),
    (
        "leave that out, and put the key into a variable that `key_env` names",
        &[(
            "~",
            "[llm]\nmodel = \"m\"\nbase_url = \"https://me:key@a.de/v1\"",
        )],
        &[(
            "~",
            "[llm]\nmodel = \"m\"\nbase_url = \"https://a.de/v1\"\nkey_env = \"KEY\"",
        )],
    ),
    (
        "end it before that",
        &[(
            "~",
            "[llm]\nmodel = \"m\"\nbase_url = \"https://a.de/v1?a=b\"",
        )],
        &[("~", "[llm]\nmodel = \"m\"\nbase_url = \"https://a.de/v1\"")],
    ),
    (
        "write the name of a variable, such as `\"OPENAI_API_KEY\"`, and set that variable to the key where jig is started; `\"\"` if the provider needs no key",
        &[("~", "[llm]\nmodel = \"m\"\nkey_env = \"A B\"")],
        &[("~", "[llm]\nmodel = \"m\"\nkey_env = \"A_B\"")],
    ),
    (
        "shorten it",
        &[("~", "[llm]\nmodel = \"{long}\"")],
        &[("~", "[llm]\nmodel = \"m\"\n")],
    ),
    (
        "remove it, or move it into your own file, `~/.config/jig/config.toml`; for one command, use `--optional-log`",
        &[("jig.toml", "[log]\nrequired = false")],
        &[("~", "[log]\nrequired = false")],
    ),
    (
        "remove it; jig confines the program, whatever it is",
        &[(
            "jig.toml",
            "[mcp.servers.s]\ncommand = \"sh\"\nchecksum = { value = \"abc\" }",
        )],
        &[("jig.toml", "[mcp.servers.s]\ncommand = \"sh\"\n")],
    ),
    (
        "remove `#` and what is behind it",
        &[("jig.toml", "[mcp.servers.s]\nurl = \"https://a.de/mcp#b\"")],
        &[("jig.toml", "[mcp.servers.s]\nurl = \"https://a.de/mcp\"")],
    ),
    (
        "name the program and its arguments: `{{ command = [\"gh\", \"auth\", \"token\"] }}`",
        &[(
            "~",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { T = { command = [\"\"] } }",
        )],
        &[(
            "~",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { T = { command = [\"gh\", \"auth\", \"token\"] } }",
        )],
    ),
    (
        "write a variable, such as `${{{variable}}}`, or `$$` for a `$` if none is meant",
        &[(
            "jig.toml",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { MY_TOKEN = \"$MY_TOKEN\" }",
        )],
        &[(
            "jig.toml",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { MY_TOKEN = \"${MY_TOKEN}\" }",
        )],
    ),
    (
        "write `${{{variable}}}`, or `$${variable}` if no variable is meant",
        &[(
            "jig.toml",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv.X = \"$FOO\"",
        )],
        &[(
            "jig.toml",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv.X = \"${FOO}\"",
        )],
    ),
    (
        "write a variable, such as `\"{before}${{{variable}}}\"`, and set it before jig starts, or a command that prints it: `{{ command = [\"gh\", \"auth\", \"token\"] }}`",
        &[(
            "~",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { MY_TOKEN = \"hunter22\" }",
        )],
        &[(
            "~",
            "[mcp.servers.s]\ncommand = \"sh\"\nenv = { MY_TOKEN = \"${MY_TOKEN}\" }",
        )],
    ),
];
