//! Every `hint:` in the source of jig, and who follows it.
//!
//! A hint that nobody tries is wrong sooner or later. So each one is followed by a row of the table or by another
//! test ([`ELSEWHERE`]), or is named in [`OTHERS`] with the reason why none does.

use std::collections::BTreeSet;
use std::path::Path;

use super::cases::Mistake;

/// Each hint of the source is followed by a mistake, or named below; and nothing is named that is gone.
pub(crate) fn check(mistakes: &[Mistake]) {
    let source = in_source();
    assert!(source.len() > 80, "only {} hints were found", source.len());
    let rows = mistakes.iter().map(|one| one.follows);
    let rows: BTreeSet<&str> = rows.filter(|hint| !hint.is_empty()).collect();
    let others = OTHERS.iter().chain(ELSEWHERE);
    let others: BTreeSet<&str> = others.flat_map(|(_, hints)| *hints).copied().collect();
    let known = |hint: &&String| rows.contains(hint.as_str()) || others.contains(hint.as_str());
    let new: Vec<&String> = source.iter().filter(|hint| !known(hint)).collect();
    assert!(
        new.is_empty(),
        "no mistake in `tests/mistakes/cases` follows these hints: {new:#?}"
    );
    let gone: Vec<&&str> = rows
        .union(&others)
        .filter(|hint| !source.contains(**hint))
        .collect();
    assert!(gone.is_empty(), "these hints are gone: {gone:#?}");
    let twice: Vec<&&str> = rows.intersection(&others).collect();
    assert!(twice.is_empty(), "these hints are followed: {twice:#?}");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let tests = std::fs::read_dir(tests).unwrap();
    let tests = tests
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    let tests: String = tests
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for (test, _) in ELSEWHERE {
        assert!(
            tests.contains(&format!("fn {test}()")),
            "there is no test `{test}`"
        );
    }
}

/// Whether a message holds a hint, whatever stands for the `{}` in it.
pub(crate) fn is_said(hint: &str, message: &str) -> bool {
    let mut rest = message;
    parts(hint)
        .iter()
        .all(|part| match rest.split_once(part.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

/// The text of a hint between what is filled in.
fn parts(hint: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = hint.chars().peekable();
    while let Some(character) = characters.next() {
        let is_doubled = characters.peek() == Some(&character);
        match character {
            '{' | '}' if is_doubled => {
                characters.next();
                parts.last_mut().unwrap().push(character);
            }
            '{' => {
                while characters.next().is_some_and(|inside| inside != '}') {}
                parts.push(String::new());
            }
            character => parts.last_mut().unwrap().push(character),
        }
    }
    parts
}

/// The hints in the literals of all crates.
fn in_source() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut hints = BTreeSet::new();
    for folder in ["crates", "tools"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // Its programs speak only to tests.
            if !path.ends_with("jig-testkit") && path.join("src").is_dir() {
                read(&path.join("src"), &mut hints);
            }
        }
    }
    hints
}

fn read(path: &Path, hints: &mut BTreeSet<String>) {
    let name = path.file_name().unwrap().to_str().unwrap();
    if name == "tests" || name == "tests.rs" {
        return;
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            read(&entry.unwrap().path(), hints);
        }
    } else if name.ends_with(".rs") {
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.split("\nmod tests {").next().unwrap();
        for literal in literals(text) {
            let of_line = literal
                .lines()
                .filter_map(|line| line.strip_prefix("hint: "));
            // What only passes a hint on says nothing itself.
            let says = |hint: &&str| parts(hint).concat().chars().any(char::is_alphabetic);
            hints.extend(of_line.filter(says).map(ToOwned::to_owned));
        }
    }
}

/// The plain string literals of a source, as the program has them.
fn literals(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<&str>>().join("\n");
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // A quoted character may be a quote itself.
            '\'' if characters.peek() == Some(&'"') => {
                characters.next();
            }
            '"' => literals.push(literal(&mut characters)),
            _ => {}
        }
    }
    literals
}

/// The rest of a literal, without its last quote.
fn literal(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(character) = characters.next().filter(|character| *character != '"') {
        match (character, (character == '\\').then(|| characters.next())) {
            (_, Some(Some('n'))) => text.push('\n'),
            // A literal that goes on in the next line.
            (_, Some(Some('\n'))) => {
                while characters.peek().is_some_and(|next| next.is_whitespace()) {
                    characters.next();
                }
            }
            (_, Some(Some(escaped))) => text.push(escaped),
            (character, _) => text.push(character),
        }
    }
    text
}

/// The hints that another test of jig-cli follows, by its name.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "a_program_that_cannot_be_started_is_told_before_and_at_the_first_call",
        &["it is a folder: name the program in it"],
    ),
    (
        "without_a_terminal_it_says_what_to_pass",
        &[
            "`jig init --yes` takes the defaults (--preset {presets} --changes ask --net none); with all three options nothing is asked",
        ],
    ),
    (
        "nothing_is_overwritten",
        &[
            "`jig config check` says whether it is right, `jig init --print` shows what a new one would be; a folder below gets one of its own by `jig -C FOLDER init`",
        ],
    ),
    (
        "a_refused_call_is_allowed_once",
        &[
            "`jig approve ID` shows a question, and asks",
            "`jig approve` lists the questions that there are",
            "`jig approve` lists them",
        ],
    ),
    (
        "a_person_answers_at_the_terminal",
        &["read it and answer at a terminal: `jig approve {id}`"],
    ),
    (
        "people_are_told_what_to_do_next",
        &[
            "`jig fetch {id}` shows what comes next, {input}`jig attach {id}` shows it live, `jig abort {id}` ends it",
            "give TEXT, --line TEXT, --key KEY or --json-input JSON",
        ],
    ),
    ("s034_a_question_is_answered", &["answer with `{}`"]),
    (
        "a_cloned_repository_gets_nothing_started",
        &[
            "`jig servers accept {name}` shows what it may do, and asks",
            "`jig servers accept {} --yes` accepts what was shown",
            "`jig servers accept {}` shows what there is to accept, and accepts it",
            "a file of this workspace declares `{name}`, which is not started before you accept it: `jig servers accept {name}`",
            "see what it may do and accept it with `jig servers accept {0}`",
        ],
    ),
    (
        "a_changed_definition_is_held",
        &[
            "`jig servers accept {name}` shows what it says, and asks",
            "tools of `{name}` are new or have changed: `jig servers accept {name}` shows how",
        ],
    ),
    (
        "another_entry_is_replaced_by_force_only",
        &["see both without --write; replace it with --force, or take another --name"],
    ),
];

/// The hints that no mistake follows, by the reason.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "it says what there is, or who knows more, and no step mends the command",
        &[
            "`jig tools` lists all",
            "`jig approve --all` lists the questions of all servers",
            "`jig fetch {} --view screen` prints the screen",
            "`jig servers {name}` lists those that it has",
            "`jig servers {}` shows how it is reached",
            "`tools` and `hide` in `[mcp.servers.{name}]` say which are offered",
            "a call knows only what it spawned itself; `jig fetch`, `jig apply` and `jig abort` reach what `jig spawn` started",
            "abort some of them first",
            "an agent's client starts one (`jig setup`), or you do: `jig mcp`",
            "an agent's client starts one (`jig setup`), or you do: `jig mcp`; `jig approve --all` looks in all workspaces",
            "arguments and environment together may take 1 MiB",
            "fetch `{id}` later; nothing more can be done to it",
            "fetch `{id}` to see the question",
            "fetch `{id}` to see what came of it",
            "fetch `{id}` to see where it stands",
            "fetch `{id}` to see whether it was decided",
            "it goes on as long as this process does; a later call may find it ready",
            "it would be declared by `[mcp.servers.{plain}]`; none is",
            "live handles are {live}",
            "no handle is live; `spawn` starts one",
            "nothing runs in this workspace; `jig spawn` starts a tool, `jig ps --all` lists what runs in others",
            "the description of the tool `{tool}` says what it takes",
            "there are {}",
            "there is {}",
            "try again in a moment",
            "write the rules by hand; `jig run` says what a command is refused",
        ],
    ),
    (
        "it takes another machine, another build of jig, or a program that is not here",
        &[
            "`jig doctor` says what this machine can enforce",
            "`jig doctor` says what this machine can enforce; with --best-effort the command runs with that",
            "`jig doctor` says what this machine can enforce; with `sandbox.enforce = \"best-effort\"` the tool runs with that",
            "`jig doctor` says what this machine can enforce; without --overlay the command runs, and changes the files themselves",
            "`jig doctor` says what this machine can enforce; write the rules by hand, and `jig run` says what a command is refused",
            "`jig abort --all` ends it and what it runs; then this jig can start its own",
            "`wasm-tools parse` makes a binary of it",
            "build for `wasm32-wasip2`, which makes components, or turn it into one with `wasm-tools component new`",
            "build jig with its default features",
            "functions that are `async`, and WASI 0.3, are not supported: build for WASI 0.2 (`wasm32-wasip2`)",
            "if npx has to download `{}`, write `command = [\"npx\", \"-y\", …]`: then jig downloads it before, and starts it offline, without a rule for the registry",
            "install `{interpreter}`, or name another program in the first line of the script",
            "install it with the feature `wasm-tools`, which is there by default",
            "install it, or write its whole path",
            "install it, or write its whole path in `command`",
            "let Zed start jig itself: `jig setup zed`",
        ],
    ),
    (
        "nobody has tried it yet",
        &[
            "outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig sh …",
            "set XDG_STATE_HOME to a folder that can be written; to run tools without a log, use --optional-log, or set log.required = false in your own configuration",
            "`{name}` was not asked yet: `jig servers refresh {name}` starts it and tells",
            "to have jig confine it, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …; a program that serves processes which need no sandbox starts them itself (`Relay` of the SDK)",
            "--file names another file",
            "127.0.0.1:{} is for programs on this machine; --allow-remote lets others in, too",
            "`[tools.learn]` is another tool: declare one with `source = \"builtin.learn\"`",
            "`jig -C {} approve {id}`",
            "`jig approve --watch --json` is for programs",
            "`jig wasm new` makes a tool that does",
            "a link that leaves the project, or leads nowhere, is not followed: edit what it leads to",
            "a program that uses its descriptor 3 itself has to hand on another one (`Relay` of the SDK); outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …",
            "add it to your own configuration (~/.config/jig/config.toml): [llm] with model = \"…\"; the key stays in a variable, which `key_env` names",
            "another program may use this port; port 0 is any that is free",
            "build it, or correct `wasm`, which is relative to the workspace",
            "call `{tool}` with `id` `{id}`",
            "call `{}`",
            "call it with --yes, or set mcp.servers.{server}.run = \"unattended\"; for this tool alone, `run` beside source = \"mcp.{server}.{at}\" in a table [tools.NAME]",
            "chmod 600 {file}",
            "chmod 700 {path}",
            "choose another id, or leave `id` out",
            "choose another name, or another folder with --dir; nothing was changed",
            "declare one: `[kb.topic.NAME]` with `subjects = \"docs/NAME\"`",
            "did you mean `{other}`? `jig servers {name}` lists all",
            "give the arguments that it needs as NAME=VALUE or with --input; here it may only read the workspace",
            "if it needs more time, set `time` in `[mcp.servers.{name}]`",
            "it comes after `--`: jig proxy -- ./agent; with --stdio a client is served that somebody else has started",
            "it needs a [tools.NAME] with `access`; a tool that the workspace declares too is named with --tool",
            "leave it out, or give it to the outermost `jig proxy`",
            "name one with --tool",
            "name one with --tool: {}",
            "name the client that the file belongs to: claude, codex, cursor or vscode",
            "run {command}",
            "say which: {}",
            "set HOME",
            "set HOME or XDG_STATE_HOME",
            "set `input = \"argv\"` or `input = \"file\"` for the tool",
            "set `input = \"stdin\"` or `input = \"file\"` for the tool, and have it read the call there",
            "set `{variable}` where jig is started, or have `llm.key_env` name another variable; `key_env = \"\"` is for a provider that needs no key",
            "set it in the environment in which jig, or the agent that starts jig, runs, or give a default: `${{{name}:-…}}`",
            "set it to the key alone, on one line",
            "start it in a project, or name one with -C DIR; with -C the folder is served all the same",
            "start one command after the other, or from a program that serves all of them (`Relay` of the SDK)",
            "the token comes from the variable {TOKEN}",
            "the workspace must not hold the directory of jig's state: set XDG_STATE_HOME to one elsewhere; nothing was run",
            "what may be read is there already; a file that is to be made is named with -o",
            "write HOST, HOST:PORT or SCHEME://HOST",
            "write name=value, or all of them as one object with --args",
            "write name=value, or all of them as one object with --input",
            "{problem}; did you mean `{other}`?",
        ],
    ),
];
