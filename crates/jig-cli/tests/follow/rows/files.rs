//! The `fs_*` tools, and files over the VFS protocol.

use crate::Row;

pub(crate) fn file_that_is_not_there() -> Row {
    Row {
        hint: "look for it with `fs_list_files`",
        wrong: "mkdir docs; echo milk > docs/notes.md; jig call --yes fs_read_file path=notes.md",
        right: "jig call --yes «fs_list_files» | grep notes.md && jig call --yes fs_read_file path=docs/notes.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn directory_that_is_read() -> Row {
    Row {
        hint: "give the path of a file; `fs_list_files` lists what is in it",
        wrong: "mkdir docs; echo milk > docs/notes.md; jig call --yes fs_read_file path=docs",
        right: "jig call --yes «fs_list_files» path=docs | grep notes.md && jig call --yes fs_read_file path=docs/notes.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn file_that_is_listed() -> Row {
    Row {
        hint: "read it with `fs_read_file`",
        wrong: "echo milk > notes.md; jig call --yes fs_list_files path=notes.md",
        right: "jig call --yes «fs_read_file» path=notes.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn file_that_is_there() -> Row {
    Row {
        hint: "choose another path, or change the file with `fs_modify_file`",
        wrong: "echo milk > notes.md; jig call --answer overwrite=false --yes fs_create_file path=notes.md content=tea",
        right: "jig call --yes fs_create_file path=other.md content=tea && \
                jig call --yes «fs_modify_file» path=notes.md --args '{ \"patterns\": [{ \"old\": \"milk\", \"new\": \"tea\" }] }' ; \
                jig call --yes fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ \"old\": \"milk\", \"new\": \"tea\" }] }'; cat notes.md",
        works: "tea",
        ..Row::default()
    }
}

pub(crate) fn moved_to_a_directory() -> Row {
    Row {
        hint: "give the whole new path, such as {}",
        wrong: "mkdir docs; echo milk > notes.md; jig call --yes fs_move_file from=notes.md to=docs",
        right: "jig call --yes fs_move_file from=notes.md to=«docs/notes.md» && cat docs/notes.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn moved_to_a_file() -> Row {
    Row {
        hint: "choose another path",
        wrong: "echo tea > other.md; echo milk > notes.md; jig call --yes --answer overwrite=false fs_move_file from=notes.md to=other.md",
        right: "jig call --yes fs_move_file from=notes.md to=third.md && cat third.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn directory_that_stays() -> Row {
    Row {
        hint: "delete single files in it instead",
        wrong: "mkdir docs; echo milk > docs/notes.md; jig call --yes --answer delete_directory=false fs_delete_file path=docs",
        right: "jig call --yes fs_delete_file path=docs/notes.md && ls -A docs",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn picture_that_is_read() -> Row {
    Row {
        hint: "this tool reads text only",
        wrong: "printf '\\377\\000' > picture; echo milk > notes.md; jig call --yes fs_read_file path=picture",
        right: "jig call --yes fs_read_file path=notes.md",
        works: "milk",
        ..Row::default()
    }
}

pub(crate) fn picture_that_is_changed() -> Row {
    Row {
        hint: "this tool changes text only",
        wrong: "printf '\\377\\000' > picture; echo milk > notes.md; jig call --yes fs_modify_file --args '{ \"path\": \"picture\", \"patterns\": [{ \"old\": \"milk\", \"new\": \"tea\" }] }'",
        right: "jig call --yes fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ \"old\": \"milk\", \"new\": \"tea\" }] }'; cat notes.md",
        works: "tea",
        ..Row::default()
    }
}

pub(crate) fn changes_that_are_not_wanted() -> Row {
    Row {
        hint: "ask what should be different",
        wrong: "echo milk > notes.md; jig call --yes --answer apply_changes=false fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ \"old\": \"milk\", \"new\": \"tea\" }] }'",
        right: "jig call --yes --answer apply_changes=true fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ \"old\": \"milk\", \"new\": \"coffee\" }] }'; cat notes.md",
        works: "coffee",
        ..Row::default()
    }
}

/// A pattern that cannot be applied, and one that can.
macro_rules! pattern {
    ($name:ident, $hint:literal, $text:literal, $wrong:literal, $right:literal, $works:literal) => {
        pub(crate) fn $name() -> Row {
            Row {
                hint: $hint,
                wrong: concat!(
                    "printf '", $text, "' > notes.md\njig call --yes fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ ",
                    $wrong, " }] }'"
                ),
                right: concat!(
                    "jig call --yes fs_modify_file --args '{ \"path\": \"notes.md\", \"patterns\": [{ ",
                    $right, " }] }' && cat notes.md"
                ),
                works: $works,
                ..Row::default()
            }
        }
    };
}

pattern!(
    empty_pattern,
    "give the text that is to be replaced",
    "milk\\n",
    r#""old": "", "new": "tea""#,
    r#""old": "milk", "new": "tea""#,
    "tea"
);
pattern!(
    pattern_that_is_not_there,
    "give the text exactly as it is in the file",
    "some  milk\\n",
    r#""old": "some milk", "new": "tea""#,
    r#""old": "some  milk", "new": "tea""#,
    "tea"
);
pattern!(
    pattern_that_is_no_expression,
    "set `regex` to false to take it as text",
    "milk (cold\\n",
    r#""old": "(cold", "new": "(warm", "regex": true"#,
    r#""old": "(cold", "new": "(warm", "«regex»": false"#,
    "milk (warm"
);
pattern!(
    pattern_of_nothing,
    "make it match the text that is to be replaced",
    "milk\\n",
    r#""old": "x*", "new": "tea", "regex": true"#,
    r#""old": "m.*", "new": "tea", "regex": true"#,
    "tea"
);
pattern!(
    pattern_over_lines,
    "`.` does not match the end of a line; `(?s)` and `(?m)` change that",
    "milk\\ntea\\n",
    r#""old": "milk.tea", "new": "coffee", "regex": true"#,
    r#""old": "«(?s)»milk.tea", "new": "coffee", "regex": true"#,
    "coffee"
);
pattern!(
    pattern_that_is_there_twice,
    "give more of the text around it, or set `all` to true",
    "milk 1\\nmilk 2\\n",
    r#""old": "milk", "new": "tea""#,
    r#""old": "milk", "new": "tea", "«all»": true"#,
    "tea 1\ntea 2"
);
pattern!(
    group_that_is_not_there,
    "write `$$` for a dollar sign, and `${{1}}` before a letter or digit",
    "milk 3\\n",
    r#""old": "milk (.)", "new": "milk $1l", "regex": true"#,
    r#""old": "milk (.)", "new": "milk «${1}»l «$$»2", "regex": true"#,
    "milk 3l $2"
);

pub(crate) fn replaced_by_too_much() -> Row {
    Row {
        hint: "replace less at once",
        wrong: "(echo first; yes line | head -n 20000) > notes.md; new=$(head -c 1000 /dev/zero | tr '\\0' x)\n\
                jig call --yes fs_modify_file --args \"{ \\\"path\\\": \\\"notes.md\\\", \\\"patterns\\\": [{ \\\"old\\\": \\\"line\\\", \\\"new\\\": \\\"$new\\\", \\\"all\\\": true }] }\"",
        right: "new=$(head -c 1000 /dev/zero | tr '\\0' x)\n\
                jig call --yes fs_modify_file --args \"{ \\\"path\\\": \\\"notes.md\\\", \\\"patterns\\\": [{ \\\"old\\\": \\\"first\\\", \\\"new\\\": \\\"$new\\\" }] }\" && wc -c notes.md",
        works: "101001 notes.md",
        ..Row::default()
    }
}

pub(crate) fn empty_search() -> Row {
    Row {
        hint: "to list files, use `fs_list_files`",
        wrong: "echo milk > notes.md; jig call --yes fs_grep_files --args '{ \"pattern\": \"\" }'",
        right: "jig call --yes «fs_list_files»",
        works: "notes.md",
        ..Row::default()
    }
}

pub(crate) fn empty_path_of_a_search() -> Row {
    Row {
        hint: "the workspace itself is `.`",
        wrong: "echo milk > notes.md; jig call --yes fs_grep_files --args '{ \"pattern\": \"milk\", \"paths\": [\"\"] }'",
        right: "jig call --yes fs_grep_files --args '{ \"pattern\": \"milk\", \"paths\": [\"«.»\"] }'",
        works: "notes.md",
        ..Row::default()
    }
}

/// A request of a tool that asks jig for everything, and the one that its answer leads to.
macro_rules! request {
    ($name:ident, $hint:literal, $wrong:literal, $right:expr, $works:literal) => {
        pub(crate) fn $name() -> Row {
            Row {
                hint: $hint,
                config: WRITES,
                wrong: concat!(
                    "mkdir docs; printf 'milk milk' > docs/notes.md\n\
                     asks() { (printf '%s\\n' \"$@\"; echo '{\"jsonrpc\":\"2.0\",\"method\":\"result\",\"params\":{\"content\":\"done\"}}') | \
                     jig vfs-host --root . --policy jig.toml; }\nasks '{\"jsonrpc\":\"2.0\",\"id\":1,", $wrong, "}'"
                ),
                right: concat!(
                    "asks() { (printf '%s\\n' \"$@\"; echo '{\"jsonrpc\":\"2.0\",\"method\":\"result\",\"params\":{\"content\":\"done\"}}') | \
                     jig vfs-host --root . --policy jig.toml; }\n", $right
                ),
                works: $works,
            }
        }
    };
}

request!(
    directory_that_is_deleted,
    "a directory is deleted with all that is in it if `recursive` is true",
    r#""method":"fs.delete","params":{"path":"docs"}"#,
    r#"asks '{"jsonrpc":"2.0","id":1,"method":"fs.delete","params":{"path":"docs","«recursive»":true}}'"#,
    "\"result\":{}"
);
request!(
    version_that_is_old,
    "read it again, and send the new `etag` as `if_match`",
    r#""method":"fs.write","params":{"path":"docs/notes.md","content":"tea","if_match":"old"}"#,
    r#"etag=$(asks '{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"docs/notes.md"}}' | sed -n 's/.*"«etag»":"\([0-9a-f]*\)".*/\1/p')
asks '{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"path":"docs/notes.md","content":"tea","«if_match»":"'$etag'"}}'"#,
    "\"result\":{"
);
request!(
    text_that_is_there_twice,
    "give more of the text around it, or `\"all\": true`",
    r#""method":"fs.patch","params":{"path":"docs/notes.md","edits":[{"old":"milk","new":"tea"}]}"#,
    r#"asks '{"jsonrpc":"2.0","id":1,"method":"fs.patch","params":{"path":"docs/notes.md","edits":[{"old":"milk","new":"tea","all":true}]}}'"#,
    "\"result\":{"
);
request!(
    process_that_is_unknown,
    "`process.start` says the number; after `process.stop` it means nothing",
    r#""method":"process.read","params":{"process":7}"#,
    r#"asks '{"jsonrpc":"2.0","id":1,"method":"«process.start»","params":{"program":"cat"}}' '{"jsonrpc":"2.0","id":2,"method":"process.read","params":{"process":1}}'"#,
    "\"result\":{"
);

/// A tool that may change files and run a program.
const WRITES: &str = "[tools.check]\nsource = \"local\"\ncommand = \"true\"\nruntime = \"vfs\"\n\
                      access.fs = [{ path = \".\", read = true, write = true }]\n\
                      [tools.check.access.commands.cat]\nargs = [[]]\n";
