use jig_files::{DiskFiles, ProjectFiles as _};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context};
use serde_json::json;

use super::*;

fn line(program: &str, args: &[&str], shell: bool) -> (tempfile::TempDir, CommandLine) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let view = Arc::new(DiskFiles::open(root).unwrap().materialize().unwrap());
    let command = CommandLine {
        program: CommandWord::parse(program),
        args: args.iter().map(|arg| CommandWord::parse(*arg)).collect(),
        shell,
        view,
        home: "/nonexistent".into(),
        names_files: true,
    };
    (folder, command)
}

fn values(x: &str) -> Values {
    let mut input = ToolInput::default();
    input.arguments.insert("x".to_owned(), json!(x));
    Values::new(&input, &Context::new("/ws", Action::Run), false, None)
}

fn words(program: &str, args: &[&str], shell: bool, x: &str) -> Vec<String> {
    let (_folder, command) = line(program, args, shell);
    let mut words = vec![command.program(&values(x)).unwrap()];
    words.extend(command.arguments(&values(x)).unwrap());
    words
}

#[test]
fn j002_a_value_never_splits_into_more_words() {
    let x = "a b'c\n$(d)";
    assert_eq!(
        words(
            "ls",
            &["-l", "{{tool.arguments.x}}", "--p={{tool.arguments.x}}"],
            false,
            x
        ),
        ["ls", "-l", x, &format!("--p={x}")]
    );
}

#[test]
fn j003_with_a_shell_the_line_is_one_argument() {
    assert_eq!(
        words(
            "grep -c",
            &["two words", "{{tool.arguments.x}}"],
            true,
            "it's"
        ),
        ["sh", "-c", "grep -c 'two words' 'it'\\''s'"]
    );
}

#[test]
fn j004_a_value_in_a_shell_program_is_an_argument() {
    assert_eq!(
        words("ls {{tool.arguments.x}} | wc", &["-l"], true, "; rm x"),
        [
            "sh",
            "-c",
            "jig_1=${1}; shift 1; ls \"${jig_1}\" | wc -l",
            "sh",
            "; rm x"
        ]
    );
}

#[test]
fn a_path_is_one_of_the_workspace() {
    let (_folder, command) = line("bin/tool", &[], false);
    let path = command.root().join("bin/tool").into_string();
    assert_eq!(command.program(&values("")).unwrap(), path);
    assert_eq!(words("/bin/ls", &[], false, "")[0], "/bin/ls");
}

/// Who calls the tool chooses what its command is filled in with, and must not choose its program's place.
#[test]
fn a_program_that_is_filled_in_stays_in_the_workspace() {
    let program = |x: &str| {
        let (_folder, command) = line("{{tool.arguments.x}}", &[], false);
        command.program(&values(x)).map_err(|error| error.reason)
    };
    assert_eq!(program("ls").as_deref(), Ok("ls"));
    assert!(program("scripts/run").is_ok_and(|path| path.ends_with("/scripts/run")));
    let (_folder, command) = line("{{tool.arguments.x}}/run", &[], false);
    assert!(command.program(&values(command.root().as_str())).is_ok());
    for outside in ["/bin/ls", "../x", "a/../../x", "", "a/../b"] {
        assert!(program(outside).is_err(), "{outside}");
    }
}

#[test]
fn a_command_may_name_nothing() {
    for shell in [false, true] {
        let (_folder, command) = line("cat", &["tool.py", "--config=x.toml"], shell);
        assert!(!command.literals().is_empty());
        assert!(command.naming_nothing().literals().is_empty());
    }
}

#[test]
fn only_literal_words_name_files_of_the_tool() {
    let check = |program: &str, args: &[&str], shell: bool, expected: &[&str]| {
        let (_folder, command) = line(program, args, shell);
        assert_eq!(command.literals(), expected, "{program} {args:?}");
    };
    check(
        "python3",
        &[
            "tool.py",
            "-u",
            "--config=tool.toml",
            "{{tool.arguments.x}}",
            "x={{tool}}",
        ],
        false,
        &["tool.py", "-u", "--config=tool.toml"],
    );
    check(
        "python3 'tool.py' {{tool.arguments.x}} | ./filter.sh >$OUT",
        &[],
        true,
        &["python3", "tool.py", "./filter.sh"],
    );
}
