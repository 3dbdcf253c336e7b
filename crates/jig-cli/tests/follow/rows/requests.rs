//! What a tool asks of jig over the VFS protocol, and what it is told about its programs and its large files.

use crate::Row;

/// Some requests of a tool, and those to which the answer leads. `ask` sends pairs of a method and its parameters and
/// prints the answers, of which `right` has none that is an error.
macro_rules! requests {
    ($($name:ident: $hint:literal, $wrong:literal, $right:literal, $works:literal;)+) => {
        $(
            pub(crate) fn $name() -> Row {
                Row {
                    hint: $hint,
                    config: WRITES,
                    wrong: concat!(ask!(), "ask ", $wrong),
                    right: concat!(
                        ask!(),
                        "right() { ask \"$@\" > answers; cat answers; ! grep -q '\"error\"' answers; }\n",
                        $right
                    ),
                    works: $works,
                }
            }
        )+
    };
}

/// `ask METHOD PARAMETERS …`, in the words of a shell.
macro_rules! ask {
    () => {
        r#"ask() {
    number=0
    (
        while [ $# -gt 0 ]; do
            number=$((number + 1))
            printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' $number "$1" "$2"
            shift 2
        done
        echo '{"jsonrpc":"2.0","method":"result","params":{"content":"done"}}'
    ) | jig vfs-host --root . --policy jig.toml | cut -c -1000
}
"#
    };
}

requests! {
    input_of_no_form:
        "`input` is text, or one of {{\"line\": \"ls\"}}, {{\"text\": \"y\"}}, {{\"keys\": [\"ctrl-c\", \"up\"]}}, {{\"resize\": {{\"rows\": 40, \"cols\": 120}}}} and {{\"end\": true}}, or a list of these",
        r#"process.start '{"program":"cat"}' process.write '{"process":1,"input":{"lines":"ls"}}'"#,
        r#"right process.start '{"program":"cat"}' \
    process.write '{"process":1,"input":"text"}' \
    process.write '{"process":1,"input":{"line": "ls"}}' \
    process.write '{"process":1,"input":{"text": "y"}}' \
    process.write '{"process":1,"input":{"end": true}}' &&
right process.start '{"program":"cat","terminal":{"rows":24,"cols":80}}' \
    process.write '{"process":1,"input":[{"resize": {"rows": 40, "cols": 120}}, {"keys": ["ctrl-c", "up"]}]}'"#,
        "\"result\"";
    input_of_an_ended_process:
        "`process.read` still says what it printed and how it ended",
        r#"process.start '{"program":"cat"}' process.write '{"process":1,"input":["milk",{"end":true}]}' \
    process.read '{"process":1,"wait_ms":20000}' process.read '{"process":1,"wait_ms":20000,"after_seq":4}' process.write '{"process":1,"input":"tea"}'"#,
        r#"right process.start '{"program":"cat"}' process.write '{"process":1,"input":["milk",{"end":true}]}' \
    process.read '{"process":1,"wait_ms":20000}' process.read '{"process":1,"wait_ms":20000,"after_seq":4}' «process.read» '{"process":1}'"#,
        "milk";
    too_many_processes:
        "end one of them by `process.stop`",
        r#"$(for one in $(seq 17); do echo process.start '{"program":"cat"}'; done)"#,
        r#"right $(for one in $(seq 16); do echo process.start '{"program":"cat"}'; done) \
    «process.stop» '{"process":1}' process.start '{"program":"cat"}'"#,
        "\"process\":17";
    part_that_is_large:
        "ask for a smaller `length`",
        r#"fs.write '{"path":"large","content":""}' >/dev/null; truncate -s 20M large; ask fs.read '{"path":"large","offset":0,"length":20000000}'"#,
        r#"right fs.read '{"path":"large","offset":0,"«length»":1000}'"#,
        "\"result\"";
    file_that_is_large:
        "read it in parts, with `offset` and `length`",
        r#"fs.write '{"path":"large","content":""}' >/dev/null; truncate -s 20M large; ask fs.read '{"path":"large"}'"#,
        r#"right fs.read '{"path":"large","«offset»":0,"«length»":1000}' fs.read '{"path":"large","offset":1000,"length":1000}'"#,
        "\"result\"";
    answer_that_is_long:
        "ask for less at once, with `offset` and `length`",
        r#"fs.write '{"path":"large","content":""}' >/dev/null; yes '' | head -c 9900000 > large; ask fs.read '{"path":"large"}'"#,
        r#"right fs.read '{"path":"large","«offset»":0,"«length»":1000}' fs.read '{"path":"large","offset":1000,"length":1000}'"#,
        "\"result\"";
    request_that_is_long:
        "send large content in parts, with `fs.append`",
        r#"fs.write "{\"path\":\"new\",\"content\":\"$(head -c 20000000 /dev/zero | tr '\0' x)\"}""#,
        r#"part="{\"path\":\"new\",\"content\":\"$(head -c 5000000 /dev/zero | tr '\0' x)\"}"
right «fs.append» "$part" fs.append "$part" fs.append "$part" fs.append "$part" && stat -c %s new"#,
        "20000000";
}

/// A tool that may change files and run a program.
const WRITES: &str = "[tools.check]\nsource = \"local\"\ncommand = \"true\"\nruntime = \"vfs\"\n\
                      access.fs = [{ path = \".\", read = true, write = true }]\n\
                      [tools.check.access.commands.cat]\nargs = [[]]\n";
