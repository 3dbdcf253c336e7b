//! Tools of the runtime `stdio` by `jig call`, as they were written for JP. The numbers are those of its
//! contract.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use super::parsed;
use super::workspace_user::{Desk, Ran, for_each_user};

/// A workspace with one tool, `tool`, that runs unasked.
fn tool(settings: &str) -> Desk {
    Desk::with(&format!(
        "[tools.tool]\nsource = 'local'\nrun = 'unattended'\n{settings}"
    ))
}

/// S-004, S-092: a configuration as JP has it, and a program that takes its call in two words and answers with one
/// outcome: both run unchanged, also where the program touches files and asks back.
#[test]
fn j007_a_tool_of_jp_runs_unchanged() {
    for_each_user(|desk| {
        desk.workspace.write(".jp/config.toml", JP_CONFIG);
        desk.workspace.write("tools/main.py", JP_TOOLS);
        desk.workspace.write("notes/a.txt", "alpha\n");

        assert_eq!(desk.result(&["read_note", "path=notes/a.txt"]), "alpha\n");
        let context: Json = serde_json::from_str(&desk.result(&["show_context"])).unwrap();
        // J-005, J-008, J-009, J-010
        assert_eq!(context["root"], desk.workspace.root.as_str());
        assert_eq!(context["action"], "run");
        for id in ["workspace_id", "conversation_id"] {
            assert!(
                context[id].as_str().is_some_and(|id| !id.is_empty()),
                "{context}"
            );
        }
        let rule = &context["access"]["fs"][0];
        assert_eq!(
            (&rule["lexical_path"], &rule["read"]),
            (&json!("notes"), &json!(true))
        );

        // J-011, J-015: its own error.
        let error = desk.error(&["read_note", "path=notes/missing.txt"]);
        assert_eq!(
            (&error["message"], &error["transient"]),
            (&json!("no such note"), &json!(false))
        );
        // J-012, J-016: asked with nobody there, then with the answer known.
        let error = desk.error(&["delete_note", "path=notes/a.txt"]);
        assert!(
            error["message"].as_str().unwrap().contains("Really delete"),
            "{error}"
        );
        assert!(desk.path("notes/a.txt").exists());
        let kept = desk.result(&["delete_note", "path=notes/a.txt", "--answer", "sure=false"]);
        assert_eq!(kept, "kept");
        let gone = desk.result(&["delete_note", "path=notes/a.txt", "--answer", "sure=true"]);
        assert_eq!(gone, "deleted");
        assert!(!desk.path("notes/a.txt").exists());
    });
}

const JP_CONFIG: &str = r#"
[conversation.tools.'*']
run = "unattended"

[conversation.tools.read_note]
enable = true
source = "local"
command = "python3 tools/main.py {{context}} {{tool}}"
description = "Read a note."

[conversation.tools.read_note.parameters.path]
type = "string"
required = true

[conversation.tools.show_context]
source = "local"
command = "python3 tools/main.py {{context}} {{tool}}"

[[conversation.tools.show_context.access.fs]]
path = "notes"
read = true

[conversation.tools.delete_note]
source = "local"
command = { program = "python3", args = ["tools/main.py", "{{context}}", "{{tool}}"] }

[conversation.tools.delete_note.parameters.path]
type = "string"
required = true

[conversation.tools.delete_note.questions.sure]
target = "user"
"#;

const JP_TOOLS: &str = r#"
import json, os, sys

def outcome(**fields):
    print(json.dumps(fields))
    sys.exit(0)

try:
    context, tool = json.loads(sys.argv[1]), json.loads(sys.argv[2])
except Exception as error:
    print("```json\n" + json.dumps({"error": "Unable to parse context", "cause": str(error)}) + "\n```")
    sys.exit(0)
if tool["name"] == "show_context":
    outcome(type="success", content=json.dumps(context))
path = os.path.join(context["root"], tool["arguments"]["path"])
if not os.path.exists(path):
    outcome(type="error", message="no such note", trace=[path], transient=False)
if tool["name"] == "read_note":
    outcome(type="success", content=open(path).read())
if "sure" not in tool["answers"]:
    question = {"id": "sure", "text": "Really delete?", "pre_amble": None, "answer_type": "Boolean", "default": None}
    outcome(type="needs_input", question=question)
if tool["answers"]["sure"]:
    os.remove(path)
outcome(type="success", content="deleted" if tool["answers"]["sure"] else "kept")
"#;

#[test]
fn j001_a_process_per_call_in_the_workspace_with_little_around_it() {
    for_each_user(|desk| {
        desk.workspace.write(
            "jig.toml",
            "[tools.tool]\nsource = 'local'\nrun = 'unattended'\n\
             command = { program = 'pwd; cat | wc -c; env; echo $$ >> pids', shell = true }\n",
        );
        let mut jig = desk.jig(&["call", "tool", "--json"]);
        jig.env("API_TOKEN", "canary")
            .env("LD_LIBRARY_PATH", "canary")
            .stdin(Stdio::piped());
        let mut child = jig.stdout(Stdio::piped()).spawn().unwrap();
        // What stands on the input of jig is not the tool's.
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"not for the tool\n")
            .unwrap();
        let answer = parsed(&child.wait_with_output().unwrap());
        let text = answer["content"][0]["text"].as_str().unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(desk.workspace.root.as_str()));
        assert_eq!(lines.next().map(str::trim), Some("0"));
        for line in lines {
            let name = line.split_once('=').map_or(line, |(name, _)| name);
            let own = [
                "HOME", "LANG", "PATH", "TERM", "USER", "PWD", "OLDPWD", "SHLVL", "_",
            ];
            assert!(own.contains(&name) || name.starts_with("LC_"), "{line}");
        }
    });
}

/// J-002, J-003, J-004, J-006: what a value may hold, it stays one word, and no shell reads it.
#[test]
fn j002_j003_j004_a_value_is_one_word() {
    let values = [
        "two words",
        "'; touch made; '",
        "$(touch made)",
        "`touch made`",
        "\"; touch made #",
        "a\ntouch made",
        "--flag",
        "*",
        "",
    ];
    for command in [
        "command = \"printf '[%s]' {{tool.arguments.x}}\"",
        "command = { program = 'printf', args = ['[%s]', '{{tool.arguments.x}}'] }",
        "command = { program = 'printf', args = ['[%s]', '{{tool.arguments.x}}'], shell = true }",
        "command = { program = \"printf '[%s]' {{tool.arguments.x}}\", shell = true }",
    ] {
        let desk = tool(&format!("{command}\nparameters.x.type = 'string'\n"));
        for value in values {
            let arguments = json!({ "x": value }).to_string();
            assert_eq!(
                desk.result(&["tool", "--args", &arguments]),
                format!("[{value}]"),
                "{command}"
            );
        }
        assert!(!desk.path("made").exists(), "{command}");
    }
}

#[test]
fn j005_j006_templates() {
    for (template, expected) in [
        ("{{tool.name}}", "tool"),
        ("{{tool.arguments.n}}", "3"),
        ("{{tool.arguments.flag}}", "true"),
        ("{{tool.arguments.list}}", r#"["a",1]"#),
        ("{{tool.arguments.missing}}", "(no output)"),
        ("{{tool.arguments.missing|default('none')}}", "none"),
        ("{{tool.arguments.list|tojson}}", r#"["a",1]"#),
        ("{{tool.options.depth}}", "2"),
        ("{{tool.answers.known}}", "yes"),
        ("{{context.action}}", "run"),
    ] {
        let desk = tool(&format!(
            "command = {{ program = 'printf', args = ['%s', '''{template}'''] }}\noptions.depth = 2\n\
             questions.known.answer = 'yes'\nparameters.n.type = 'integer'\nparameters.flag.type = 'boolean'\n\
             parameters.list = {{ type = 'array', items = {{}} }}\nparameters.missing.type = 'string'\n",
        ));
        let arguments = json!({ "n": 3, "flag": true, "list": ["a", 1] }).to_string();
        assert_eq!(
            desk.result(&["tool", "--args", &arguments]),
            expected,
            "{template}"
        );
    }
}

/// A tool that prints this text and ends with this code.
fn prints(text: &str, code: u8) -> Desk {
    let desk = tool("command = 'sh tool.sh'\n");
    desk.workspace.write("text", text);
    desk.workspace
        .write("tool.sh", format!("echo noise >&2; cat text; exit {code}"));
    desk
}

/// J-011, J-014, J-018, S-004, S-092: the result, whatever stands on the other stream.
#[test]
fn j011_j014_j018_results() {
    for (text, expected) in [
        (r#"{"type":"success","content":"done"}"#, "done"),
        (r#"{"type":"stopped","result":"done"}"#, "done"),
        ("plain text\n", "plain text\n"),
        (r#"{"some":"json"}"#, r#"{"some":"json"}"#),
        // X-61: a program that ends well and prints nothing succeeded. Then the other stream is all that it said.
        ("", "(no output)\n\nstderr:\nnoise"),
    ] {
        assert_eq!(prints(text, 0).result(&["tool"]), expected, "{text}");
    }
}

/// J-011, J-013, J-014, J-015 and X-61: what is an error, though the program may have ended well.
#[test]
fn j013_j014_j015_x61_errors() {
    let cases = [
        (
            r#"{"type":"error","message":"no","trace":["why"],"transient":true}"#,
            0,
            json!({ "message": "no", "trace": ["why"], "transient": true }),
        ),
        (
            "```json\n{\"error\":\"Unable to parse context\",\"cause\":\"eof\"}\n```\n",
            0,
            json!({ "message": "Unable to parse context", "trace": ["eof"], "transient": false }),
        ),
    ];
    for (text, code, expected) in cases {
        assert_eq!(prints(text, code).error(&["tool"]), expected, "{text}");
    }
    let error = prints("partial\n", 3).error(&["tool"]);
    let told: Json = serde_json::from_str(error["message"].as_str().unwrap()).unwrap();
    assert_eq!(
        told,
        json!({ "message": "Tool 'tool' execution failed.", "stderr": "noise\n", "stdout": "partial\n" })
    );
}

/// J-014: a person sees what a failed program printed, each stream where it belongs; only programs are told
/// of it in JSON.
#[test]
fn j014_a_person_sees_the_output_of_a_failed_program() {
    let desk = prints("say \"half\"\n", 3);
    let ran = desk.run(&["call", "tool"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (
            Some(1),
            "say \"half\"\n",
            "noise\nerror: `tool` exited with code 3\n"
        )
    );
    let silent = prints("", 0).run(&["call", "tool"]);
    assert_eq!(
        (silent.code, silent.out.as_str()),
        (Some(0), "(no output)\n\nstderr:\nnoise\n")
    );
}

/// J-012, J-016: every kind of question; the tool runs again with all answers, which may be known before.
#[test]
fn j012_j016_questions() {
    let script = r#"
import json, sys
answers = json.loads(sys.argv[1])["answers"]
open("runs", "a").write("run\n")
for id, kind in [("flag", "Boolean"), ("text", "Text"), ("pick", {"Select": {"options": ["a", "b"]}})]:
    if id not in answers:
        print(json.dumps({"type": "needs_input", "question": {"id": id, "text": id + "?", "answer_type": kind}}))
        sys.exit(0)
print(json.dumps({"type": "success", "content": json.dumps(answers, sort_keys=True)}))
"#;
    let desk = tool("command = 'python3 tool.py {{tool}}'\nquestions.text.answer = 'known'\n");
    desk.workspace.write("tool.py", script);
    let answers = ["tool", "--answer", "flag=true", "--answer", "pick=b"];
    assert_eq!(
        desk.result(&answers),
        r#"{"flag": true, "pick": "b", "text": "known"}"#
    );
    assert_eq!(desk.read("runs"), "run\n");
    let error = desk.error(&["tool", "--answer", "flag=true"]);
    assert_eq!(
        error["message"],
        "the tool asks `pick?`, and nobody can answer"
    );
}

#[test]
fn j017_arguments_are_checked_before_anything_starts() {
    let desk = tool(
        "command = { program = 'touch ran; printf %s', args = ['{{tool.arguments}}'], shell = true }\n\
         parameters.n = { type = 'integer', required = true }\n\
         parameters.mode = { type = 'string', enum = ['a', 'b'], default = 'a' }\n",
    );
    for (arguments, expected) in [
        ("{}", "`n` is missing"),
        (r#"{"n":1,"other":2}"#, "`other` is not known"),
        (r#"{"n":"x"}"#, "`n` must be integer"),
        (r#"{"n":1,"mode":"c"}"#, "`mode`"),
    ] {
        let ran = desk.run(&["call", "tool", "--args", arguments]);
        assert!(
            ran.code == Some(1) && ran.err.contains(expected),
            "{arguments}: {ran:?}"
        );
        assert!(!desk.path("ran").exists(), "{arguments}");
    }
    let text = desk.result(&["tool", "--args", r#"{"n":"3"}"#]);
    assert_eq!(
        serde_json::from_str::<Json>(&text).unwrap(),
        json!({ "n": 3, "mode": "a" })
    );
}

/// J-020, X-61: a large call says how to pass it, and both other ways do.
#[test]
fn j020_x61_large_calls() {
    let large = json!({ "x": "ü".repeat(100_000) }).to_string();
    let call = |settings: &str| {
        let desk = tool(&format!("parameters.x.type = 'string'\n{settings}"));
        desk.workspace.write("tool.py", "import json, sys\ncall = json.load(open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin)\nprint(len(call['tool']['arguments']['x']), call['context']['action'])\n");
        let mut jig = desk.jig(&["call", "tool", "--args", "-"]);
        let mut child = jig
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(large.as_bytes())
            .unwrap();
        Ran::of(child.wait_with_output().unwrap())
    };
    let refused = call("command = 'printf %s {{tool.arguments.x}}'\n");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for part in ["200000 bytes", "131071", "`input = \"stdin\"`"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    for settings in [
        "command = 'python3 tool.py'\ninput = 'stdin'\n",
        "command = 'python3 tool.py {{input.file}}'\ninput = 'file'\n",
    ] {
        let ran = call(settings);
        assert_eq!(
            (ran.out.as_str(), ran.code),
            ("100000 run\n", Some(0)),
            "{ran:?}"
        );
    }
}

/// J-021 … J-024, J-026, J-028: what a configuration may say, as JP reads it.
#[test]
fn j021_to_j028_configuration() {
    let check = |settings: &str, problem: Option<&str>| {
        let desk = Desk::with(&format!("[conversation.tools.tool]\n{settings}\n"));
        let ran = desk.run(&["config", "check"]);
        match problem {
            None => assert_eq!(ran.code, Some(0), "{settings}: {ran:?}"),
            Some(problem) => {
                let told = format!("{}{}", ran.out, ran.err);
                assert!(
                    ran.code == Some(3) && told.contains(problem),
                    "{settings}: {told}"
                );
            }
        }
    };
    let local = "source = 'local'\ncommand = 'true'\n";
    check(local, None);
    check("source = 'local.other'\ncommand = 'true'", None);
    check("source = 'mcp'", Some("mcp"));
    check("source = 'mcp..search'", Some("mcp"));
    for enable in [
        "true",
        "false",
        "'on'",
        "'off'",
        "'always'",
        "'explicit'",
        "{ state = 'on', allow_toggle = 'if_named' }",
    ] {
        check(&format!("{local}enable = {enable}"), None);
    }
    check(&format!("{local}enable = 'sometimes'"), Some("`sometimes`"));
    for run in ["ask", "unattended", "edit", "skip"] {
        check(&format!("{local}run = '{run}'\nresult = '{run}'"), None);
    }
    check(&format!("{local}run = 'always'"), Some("`always`"));
    check(
        &format!(
            "{local}parameters.a = {{ type = ['string', 'null'], enum = ['x'], default = 'x', examples = ['x'] }}\n\
            parameters.b = {{ type = 'array', items = {{ type = 'object', properties.c = {{ type = 'integer', required = true }} }} }}"
        ),
        None,
    );
    check(
        "source = 'builtin.describe_tools'\naccess.fs = [{ path = '.', read = true }]",
        Some("local"),
    );
    check(
        &format!("{local}access.fs = [{{ path = '../outside', read = true }}]"),
        Some("workspace"),
    );
}

/// J-025: one tool in two files.
#[test]
fn j025_a_tool_may_be_spread_over_files() {
    let desk = tool(
        "command = 'printf %s-%s {{tool.arguments.a}} {{tool.arguments.b}}'\nparameters.a.type = 'string'\n",
    );
    desk.workspace.write(
        ".jig/config.toml",
        "[tools.tool.parameters.b]\ntype = 'string'\n",
    );
    assert_eq!(desk.result(&["tool", "a=1", "b=2"]), "1-2");
}

/// J-027: rules that cover nothing that exists leave nothing open.
#[test]
fn j027_rules_never_compile_away() {
    for_each_user(|desk| {
        desk.workspace.write("data.txt", "content\n");
        // A file that the command itself names is its own.
        desk.workspace
            .write("tool.sh", "cat data.txt; ls; touch new");
        desk.workspace.write(
            "jig.toml",
            "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = 'sh tool.sh'\n\
             access.fs = [{ path = 'nowhere', read = true }]\n",
        );
        let answer = desk.call(&["tool"]).to_string();
        assert!(
            !answer.contains("content\\n") && !answer.contains("jig.toml\\n"),
            "{answer}"
        );
        assert!(!desk.path("new").exists());
    });
}

/// Each limit ends a tool or fails it, and is told by its name.
#[test]
fn limits_are_told_by_name() {
    for_each_user(|desk| {
        desk.workspace.write("children.py", CHILDREN);
        desk.workspace.write("files.py", FILES);
        for (limit, command, told) in [
            (
                "time = '300ms'",
                "'sleep 60'",
                "`tool` ran longer than 300ms and was ended",
            ),
            (
                "output = '64KiB'",
                "'yes'",
                "`tool` printed more than 64 KiB and was ended",
            ),
            (
                "memory = '96MiB'",
                "{ program = 'for i in 1 2 3 4; do (head -c 40000000 /dev/zero; sleep 60) | tail -c 40000000 & done; wait', shell = true }",
                "`tool` used more than 96 MiB of memory and was ended",
            ),
            (
                "file_size = '1MiB'",
                "{ program = 'exec head -c 2000000 /dev/zero > big', shell = true }",
                "`tool` could not write a file of more than 1 MiB",
            ),
            (
                "processes = 40",
                "'python3 children.py'",
                "it could not start more than 40 processes and threads",
            ),
            (
                "descriptors = 30",
                "'python3 files.py'",
                "it could not open more than 30 files in one process",
            ),
        ] {
            desk.workspace.write(
                "jig.toml",
                format!(
                    "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = {command}\nsandbox.limits.{limit}\n"
                ),
            );
            let error = desk.error(&["tool"]);
            let text = error.to_string();
            assert!(text.contains(told), "{limit}: {error:#}");
            // A flood leaves no room for more words.
            let name = limit.split(' ').next().unwrap();
            let named = text.contains(&format!("`sandbox.limits.{name}`"));
            assert!(named || name == "output", "{limit}: {error:#}");
            assert_eq!(error["transient"], false);
        }
    });
}

const CHILDREN: &str = "
import subprocess, sys, time
children = []
try:
    while True:
        children.append(subprocess.Popen(['sleep', '60']))
except OSError:
    # The limit is noticed by looking from time to time.
    time.sleep(0.5)
    sys.exit(3)
";

const FILES: &str = "
import os, sys, time
try:
    while True:
        os.open('/dev/null', 0)
except OSError:
    time.sleep(0.5)
    sys.exit(3)
";
