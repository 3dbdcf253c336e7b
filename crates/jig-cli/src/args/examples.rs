//! How the smaller commands are used, as their help shows it.

macro_rules! first_examples {
    () => {
        "\
Examples:
  jig init                                   ask three questions, and write a jig.toml
  jig tools                                  the tools of this folder, and what each may do
  jig call fs_grep_files pattern='fn main'   run a tool
  jig run -- make                            run any command confined: no network, no home
  jig setup claude-code --write              give an agent all of that, over MCP
  jig log                                    what was decided, and by which rule"
    };
}

/// What is printed at the end of `jig -h`.
pub(super) const START_HELP: &str = first_examples!();

/// What is printed at the end of `jig --help`.
pub(super) const START_LONG_HELP: &str = concat!(
    first_examples!(),
    "

Exit codes:
  0  it worked
  1  it failed, for the reason that was printed
  2  the command line was not understood
  3  the configuration is not valid
  4  with `policy explain --exit-code`: the answer was deny or uncovered

`jig run` and `jig proxy` end as their command does: see `jig run --help`."
);

pub(super) const TOOLS_HELP: &str = "\
Examples:
  jig tools                          every tool, and whether it asks before it runs
  jig tools fs_read_file             one in full: its parameters, its rules, where it was declared
  jig tools my_tool --schema flat    what a model is told about it";

pub(super) const CONFIG_HELP: &str = "\
Examples:
  jig config check                   every mistake at its line, with the way out
  jig config show --origin           every value, and the file and line that set it
  jig config schema > schema.json    for an editor that completes TOML";

pub(super) const CHECK_HELP: &str = "\
Examples:
  jig config check
  jig config check --deny-warnings   for CI: a rule that does nothing fails, too

The exit code is 3 if the configuration is not valid.";

pub(super) const SHOW_HELP: &str = "\
Examples:
  jig config show                    all of it, as TOML
  jig config show --origin my_tool   one tool, with the file and line of every value";

pub(super) const SCHEMA_HELP: &str = "\
Examples:
  jig config schema > jig.schema.json

An editor that knows TOML schemas completes and checks a file that begins with `#:schema ./jig.schema.json`.";

pub(super) const POLICY_HELP: &str = "\
Examples:
  jig policy show fs_read_file                       all its rules, defaults included
  jig policy explain fs_read_file read .env          may it, and why not?
  jig policy explain my_tool net https://pypi.org/   the rule that would allow it";

pub(super) const POLICY_SHOW_HELP: &str = "\
Examples:
  jig policy show shell
  jig policy show mcp.files          the rules of the MCP server `files`";

pub(super) const VFS_HOST_HELP: &str = "\
Examples:
  jig vfs-host --root . --policy jig.toml            type requests by hand, one JSON object on each line
  jig vfs-host --root fixture --policy jig.toml --tool count --args '{\"path\": \"a.txt\"}'

It judges by the real rules, works on the real files below --root, and asks nobody. It prints the result of the tool
to standard error. The exit code is 0 after a `result` and 1 after an `error`. docs/writing-tools.md shows how to
connect a tool to it.";

pub(super) const LOG_HELP: &str = "\
Examples:
  jig log -n 20                            the last twenty lines
  jig log --decision deny --since 10m      what was refused lately, each with the rule that would allow it
  jig log --tool shell -f                  one tool, and go on as new lines are written
  jig log --json                           one object on each line, for programs";

pub(super) const WASM_HELP: &str = "\
Examples:
  jig wasm new word-count                            a project to start from
  jig wasm inspect tools/count.wasm                  all that a component could ever ask for
  jig wasm bench tools/count.wasm path=README.md     what a call of it costs";

pub(super) const DOCTOR_HELP: &str = "\
Examples:
  jig doctor           what is enforced here, and what to do about each gap
  jig doctor --json    for CI";
