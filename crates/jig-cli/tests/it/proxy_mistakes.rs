//! What people get wrong with `jig proxy`: each answer names the thing, the reason and the way out.

use insta::assert_snapshot;

use super::workspace_user::Desk;

#[test]
fn mistakes_are_explained() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "a");
    let tool = |name: &str| format!("[tools.{name}]\nsource='local'\ncommand='true'\n");
    std::fs::write(desk.beside("two.toml"), tool("one") + &tool("two")).unwrap();
    std::fs::write(desk.beside("none.toml"), "").unwrap();
    let told = |words: &[&str]| desk.told(&[&["proxy"], words].concat());
    assert_snapshot!(told(&[]), @"
    error: there is no command to run
    hint: it comes after `--`: jig proxy -- ./agent; with --stdio a client is served that somebody else has started
    [exit 2]
    ");
    assert_snapshot!(told(&["-i", "a.txt", "cat"]), @"
    error: there is no command to run
    hint: it comes after `--`: jig proxy -- ./agent; with --stdio a client is served that somebody else has started
    [exit 2]
    ");
    assert_snapshot!(told(&["--stdio", "--", "cat"]), @"
    error: --stdio serves a client that runs already, and starts no `cat`
    hint: leave one of them out: without --stdio the command is started, and asks over descriptor 3
    [exit 2]
    ");
    assert_snapshot!(told(&["--lenint", "--", "cat"]), @"
    error: `--lenint` is no option of jig proxy, and no program
    hint: did you mean `--lenient`? `jig proxy --help` lists the options; the command comes after `--`
    [exit 125]
    ");
    assert_snapshot!(told(&["-i", "nothing", "--", "cat"]), @"
    error: `-i nothing`: there is nothing there
    hint: what may be read is there already; a file that is to be made is named with -o
    [exit 125]
    ");
    assert_snapshot!(told(&["--stdio", "-o", "no/folder/x"]), @"
    error: `-o no/folder/x`: there is no folder for it
    hint: make it first: mkdir -p [workspace]/no/folder
    [exit 1]
    ");
    assert_snapshot!(told(&["--", "sh", "-c", "test -e a.txt"]), @"
    jig: the command asked for nothing over descriptor 3, and has no files of its own; `jig run` is for programs that know nothing of jig
    [exit 1]
    ");
    assert_snapshot!(told(&["--llm", "--", "cat"]), @r#"
    error: --llm needs a model, and the configuration has no [llm]
    hint: add it to your own configuration (~/.config/jig/config.toml): [llm] with model = "…"; the key stays in a variable, which `key_env` names
    [exit 125]
    "#);
    assert_snapshot!(told(&["--tool", "fs_reed_file", "--", "cat"]), @"
    error: there is no tool `fs_reed_file` in the workspace `[workspace]`, which has no file of configuration
    hint: did you mean `fs_read_file`? `jig tools` lists all
    [exit 125]
    ");
    assert_snapshot!(told(&["--policy", "../two.toml", "--", "cat"]), @"
    error: `../two.toml` declares several tools: `one`, `two`
    hint: name the one whose rules apply: --tool one
    [exit 125]
    ");
    assert_snapshot!(told(&["--policy", "../none.toml", "--", "cat"]), @"
    error: `../none.toml` declares no tool of its own
    hint: it needs a [tools.NAME] with `access`; a tool that the workspace declares too is named with --tool
    [exit 125]
    ");
    assert_snapshot!(told(&["--policy", "../missing.toml", "--", "cat"]), @"
    error: cannot read the policy `../missing.toml`
    cause: No such file or directory (os error 2)
    [exit 125]
    ");
    assert_snapshot!(told(&["-i", "a.txt", "--tool", "x", "--", "cat"]), @"
    error: the argument '--input <PATH>...' cannot be used with '--tool <NAME>'

    Usage: jig proxy --input <PATH>... <COMMAND>...

    For more information, try '--help'.
    [exit 2]
    ");
}

/// A directory with `-o` is everything below it; nothing is made but files.
#[test]
fn a_directory_may_be_written_below() {
    let desk = Desk::new();
    desk.workspace.write("out/deep/keep", "");
    let told = desk.told_by(
        &["-o", "out"],
        "proxy.put('out/deep/new', 'new')\ntell(code(proxy.open, 'out/missing/new', 'w'))",
    );
    assert_eq!(told, "E_NOENT");
    assert_eq!(desk.read("out/deep/new"), "new");
}

/// The help teaches by examples, and completions know the command.
#[test]
fn the_help_teaches() {
    let desk = Desk::new();
    let help = desk.ok(&["proxy", "--help"]);
    for taught in [
        "Examples:\n  jig proxy",
        "JIG_PROXY_FD=3",
        "--stdio",
        "--lenient",
        "-i, --input",
    ] {
        assert!(help.contains(taught), "{taught}: {help}");
    }
    assert!(
        desk.ok(&["completions", "bash"])
            .contains("jig__subcmd__proxy")
    );
}
