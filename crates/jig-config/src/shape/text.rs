//! What makes a string valid, beyond being one.

use std::fmt;

use jig_proto::{Hint, ProjectPath, hint};

use crate::model::{Command, SourceError, ToolName, ToolSource, parse_pointer, parse_resolver};

/// A check on strings, the same in the loader and in the JSON Schema.
pub(crate) struct TextRule {
    /// A regular expression for the JSON Schema that refuses no more than `check` does.
    pub(crate) pattern: Option<&'static str>,
    pub(crate) check: fn(&str) -> Result<(), TextComplaint>,
}

impl fmt::Debug for TextRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextRule")
            .field("pattern", &self.pattern)
            .finish()
    }
}

/// What is wrong with a string, and what to write.
#[derive(Debug)]
pub(crate) struct TextComplaint {
    /// Why, as it follows "`KEY` is not valid: ".
    pub(crate) reason: String,
    pub(crate) help: Hint,
}

impl TextComplaint {
    pub(crate) fn new(reason: impl fmt::Display, help: Hint) -> Self {
        Self {
            reason: reason.to_string(),
            help,
        }
    }
}

/// Any string.
pub(crate) static ANY: TextRule = TextRule {
    pattern: None,
    check: |_| Ok(()),
};

/// Any string but the empty one.
pub(crate) static NOT_EMPTY: TextRule = TextRule {
    pattern: Some("^[\\s\\S]"),
    check: |text| {
        if text.is_empty() {
            return Err(TextComplaint::new("it is empty", hint!("write a name")));
        }
        Ok(())
    },
};

/// A file to be extended, or a pattern for such files.
pub(crate) static EXTENDED: TextRule = TextRule {
    pattern: Some("^[^\\u0000]{1,1024}$"),
    check: |text| {
        if text.trim().is_empty() {
            return Err(TextComplaint::new(
                "it is empty",
                hint!("write the path of a file"),
            ));
        }
        if text.contains('\0') {
            return Err(TextComplaint::new(
                "it holds a NUL byte",
                hint!("remove it"),
            ));
        }
        if text.chars().count() > 1024 {
            return Err(TextComplaint::new(
                "it is too long",
                hint!("write a shorter path"),
            ));
        }
        if text.ends_with('/') {
            return Err(TextComplaint::new(
                "it names a folder",
                hint!(
                    "for all files in it write `\"{}*.toml\"`",
                    crate::quoting::clean(text)
                ),
            ));
        }
        Ok(())
    },
};

/// The name of a tool.
pub(crate) static TOOL_NAME: TextRule = TextRule {
    pattern: Some("^(?:\\*|[A-Za-z0-9_.-]{1,64})$"),
    check: |text| {
        if text == "*" {
            return Ok(());
        }
        let help = hint!(
            "use 1 to 64 letters, digits, `_`, `-` and `.`, as model providers demand; `'*'` alone holds defaults for \
             every tool"
        );
        match ToolName::new(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(TextComplaint::new(error, help)),
        }
    },
};

/// The name of an MCP server.
pub(crate) static SERVER_NAME: TextRule = TextRule {
    pattern: Some("^[A-Za-z][A-Za-z0-9_-]{0,31}$"),
    check: |text| {
        let help = hint!(
            "use 1 to 32 letters, digits, `_` and `-`, a letter first: the names of its tools begin with it"
        );
        let fits = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == '-';
        if let Some(bad) = text.chars().find(|one| !fits(*one)) {
            let reason = format!("{bad:?} can't be part of a server's name");
            return Err(TextComplaint::new(reason, help));
        }
        if !text.starts_with(|one: char| one.is_ascii_alphabetic()) {
            return Err(TextComplaint::new("it does not begin with a letter", help));
        }
        if text.len() > MAX_SERVER_NAME {
            let reason = format!("it is longer than {MAX_SERVER_NAME} characters");
            return Err(TextComplaint::new(reason, help));
        }
        Ok(())
    },
};

/// What the names of a server's tools begin with.
pub(crate) static TOOL_PREFIX: TextRule = TextRule {
    pattern: Some("^[A-Za-z0-9_.-]{0,32}$"),
    check: |text| {
        let help = hint!("use at most 32 letters, digits, `_`, `-` and `.`");
        let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
        if let Some(bad) = text.chars().find(|one| !fits(*one)) {
            let reason = format!("{bad:?} can't be part of a tool's name");
            return Err(TextComplaint::new(reason, help));
        }
        if text.len() > MAX_SERVER_NAME {
            let reason = format!("it is longer than {MAX_SERVER_NAME} characters");
            return Err(TextComplaint::new(reason, help));
        }
        Ok(())
    },
};

/// Which tools of a server are meant: a name, or a pattern.
pub(crate) static TOOL_PATTERN: TextRule = TextRule {
    pattern: Some("^[^\\u0000-\\u001f]+$"),
    check: |text| one_line(text, MAX_TOOL_PATTERN),
};

/// The name of a header of HTTP.
pub(crate) static HEADER_NAME: TextRule = TextRule {
    pattern: Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
    check: |text| {
        let fits = |one: char| one.is_ascii_alphanumeric() || "!#$%&'*+.^_`|~-".contains(one);
        if text.is_empty() || !text.chars().all(fits) {
            return Err(TextComplaint::new(
                "it is no name of a header",
                hint!("write a name such as `Authorization` or `X-Api-Key`"),
            ));
        }
        Ok(())
    },
};

/// `local[.NAME]`, `builtin[.NAME]`, `mcp.SERVER[.TOOL]`.
pub(crate) static SOURCE: TextRule = TextRule {
    pattern: Some("^(?:(?:local|builtin)(?:\\.[^.]+)*|mcp(?:\\.[^.]+)+)$"),
    check: |text| {
        let Err(error) = text.parse::<ToolSource>() else {
            return Ok(());
        };
        let help = match error {
            SourceError::NoServer => {
                hint!(
                    "name the server, and the tool if it has another name there: `\"mcp.SERVER\"` or \
                     `\"mcp.SERVER.TOOL\"`"
                )
            }
            _ => {
                hint!(
                    "write `\"local\"` for a program or component of this project, `\"mcp.SERVER\"` or \
                     `\"mcp.SERVER.TOOL\"` for a tool of an MCP server, `\"builtin\"` for one of jig's own"
                )
            }
        };
        Err(TextComplaint::new(error, help))
    },
};

/// A command line that can be split into words.
pub(crate) static COMMAND: TextRule = TextRule {
    pattern: Some("\\S"),
    check: |text| {
        let Err(error) = Command::parse(text) else {
            return Ok(());
        };
        use crate::model::CommandSyntaxError as E;
        let help = match &error {
            E::Empty => hint!("name the program, followed by its arguments: `\"python3 tool.py\"`"),
            E::Template { .. } => {
                hint!(
                    "close every `{{{{` with `}}}}` and every `{{%` with `%}}`; for braces that are no template write \
                     `{{{{ '{{{{' }}}}`"
                )
            }
            // Only the table form knows `shell`, which is what calculates.
            E::Line(_) | E::Arithmetic(_) => {
                hint!(
                    "close it, or use the table form, which needs no quoting: `command = {{ program = \"…\", args = \
                     [\"…\"] }}`"
                )
            }
            E::Nul => hint!("remove it"),
        };
        Err(TextComplaint::new(error, help))
    },
};

/// A file of the workspace.
pub(crate) static PROJECT_FILE: TextRule = TextRule {
    pattern: Some("^[^/]"),
    check: |text| match ProjectPath::normalize(text) {
        Ok(path) if path.is_root() => Err(TextComplaint::new(
            "it names the workspace itself",
            hint!("name a file, relative to the workspace"),
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(TextComplaint::new(
            error,
            hint!("put the file into the workspace and name it relative to the workspace"),
        )),
    },
};

/// A directory of the workspace, or the workspace itself.
pub(crate) static PROJECT_DIRECTORY: TextRule = TextRule {
    pattern: Some("^[^/]"),
    check: |text| match ProjectPath::normalize(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(TextComplaint::new(
            error,
            hint!("put the directory into the workspace and name it relative to the workspace"),
        )),
    },
};

/// The name of a topic.
pub(crate) static TOPIC_NAME: TextRule = TextRule {
    pattern: Some("^[^\\u0000-\\u001f]+$"),
    check: |text| one_line(text, MAX_TOPIC_NAME),
};

/// The title of a topic.
pub(crate) static TITLE: TextRule = TextRule {
    pattern: Some("^[^\\u0000-\\u001f]+$"),
    check: |text| one_line(text, MAX_TITLE),
};

/// Which subjects of a topic are meant: a name, or a pattern.
pub(crate) static SUBJECTS: TextRule = TextRule {
    pattern: Some("^[^/]"),
    check: |text| {
        subject(text)?;
        // Other programs give these a meaning, and here they would silently match nothing.
        if text.contains(['[', ']', '{', '}']) {
            return Err(TextComplaint::new(
                "only `*`, `**` and `?` stand for other characters",
                hint!(
                    "write one pattern for each alternative, and `?` where any one character may stand"
                ),
            ));
        }
        Ok(())
    },
};

/// The name of a variable, or a prefix with one `*` behind it.
pub(crate) static ENV_NAME: TextRule = TextRule {
    pattern: Some("^(?:[^*=\\u0000]+\\*?|\\*)$"),
    check: |text| {
        let literal = text.strip_suffix('*').unwrap_or(text);
        if literal.contains('*') {
            return Err(TextComplaint::new(
                "`*` can only stand at the end of a name",
                hint!(
                    "write the exact name, or a prefix that ends in one `*`, such as `\"AWS_*\"`"
                ),
            ));
        }
        variable_name(text, literal)
    },
};

/// The exact name of a variable.
pub(crate) static ENV_EXACT: TextRule = TextRule {
    pattern: Some("^[^*=\\u0000]+$"),
    check: |text| {
        if text.contains('*') {
            return Err(TextComplaint::new(
                "a program is given variables by their exact name",
                hint!("list every variable without `*`"),
            ));
        }
        variable_name(text, text)
    },
};

/// `system`, or the address of a server that answers DNS.
pub(crate) static RESOLVER: TextRule = TextRule {
    pattern: Some("^(?:system|[0-9A-Fa-f.:%\\[\\]]+)$"),
    check: |text| match parse_resolver(text) {
        Ok(_) => Ok(()),
        Err(reason) => Err(TextComplaint::new(
            reason,
            hint!(
                "write `\"system\"`, an address such as `\"1.1.1.1\"`, or one with a port, such as \
                 `\"127.0.0.1:5353\"` or `\"[::1]:5353\"`"
            ),
        )),
    },
};

/// The name of a model, as its provider has it.
pub(crate) static MODEL: TextRule = TextRule {
    pattern: Some("^[^\\u0000-\\u001f]+$"),
    check: |text| one_line(text, MAX_MODEL),
};

/// The URL of a provider. It is checked apart, because it may hold a password, which no message repeats.
pub(crate) static BASE_URL: TextRule = TextRule {
    pattern: Some("^[Hh][Tt][Tt][Pp][Ss]?://[^@?#]+$"),
    check: |_| Ok(()),
};

/// The variable that holds a key, or nothing. It is checked apart, because somebody may have written the key
/// itself, which no message repeats.
pub(crate) static KEY_ENV: TextRule = TextRule {
    pattern: Some("^(?:[A-Za-z_][A-Za-z0-9_]{0,63})?$"),
    check: |_| Ok(()),
};

/// A path outside the workspace.
pub(crate) static SYSTEM_PATH: TextRule = TextRule {
    pattern: Some("^(?:/|~/)"),
    check: |text| {
        if text.contains('\0') {
            return Err(TextComplaint::new(
                "it holds a NUL byte",
                hint!("remove it"),
            ));
        }
        let Some(rest) = text.strip_prefix("~/").or_else(|| text.strip_prefix('/')) else {
            return Err(TextComplaint::new(
                "it is not absolute",
                hint!(
                    "start it with `/` or `~/`; a path inside the workspace belongs in `access.fs`"
                ),
            ));
        };
        if rest.split('/').any(|name| name == "..") {
            return Err(TextComplaint::new(
                "it holds `..`",
                hint!("write the path without `..`"),
            ));
        }
        Ok(())
    },
};

/// A pattern for the list of sensitive paths.
pub(crate) static SENSITIVE: TextRule = TextRule {
    pattern: None,
    check: |text| {
        let mut list = jig_policy::Sensitive::default();
        match list.add(text) {
            Ok(()) => Ok(()),
            Err(error) => Err(TextComplaint::new(
                error,
                hint!(
                    "write a path of the workspace, such as `\"secrets\"` or `\"*.pem\"`; it matches at any depth, or \
                     only at the top with a leading `./`"
                ),
            )),
        }
    },
};

/// A JSON Pointer to an argument.
pub(crate) static POINTER: TextRule = TextRule {
    pattern: Some("^(?:/(?:[^/~]|~[01])+)+$"),
    check: |text| {
        let Err(reason) = parse_pointer(text) else {
            return Ok(());
        };
        let is_name = !text.is_empty() && !text.contains(['/', '~']);
        let help = match is_name {
            true => hint!("write `\"/{}\"`", crate::quoting::clean(text)),
            false => hint!(
                "write a JSON Pointer: `\"/path\"` for the argument `path`, `\"/edit/file\"` for `file` in the \
                 argument `edit`; `~1` stands for a slash in a name, `~0` for `~`"
            ),
        };
        Err(TextComplaint::new(reason, help))
    },
};

/// What an argument begins with.
pub(crate) static PREFIX: TextRule = TextRule {
    pattern: Some("^[\\s\\S]"),
    check: |text| {
        if text.is_empty() {
            return Err(TextComplaint::new(
                "everything begins with it",
                hint!(
                    "write `present = true` if the argument can be anything, or the beginning of it"
                ),
            ));
        }
        let relative = text.trim_start_matches('/');
        match relative.is_empty() || ProjectPath::normalize(relative).is_ok() {
            true => Ok(()),
            false => Err(TextComplaint::new(
                "as a path, it leads out of where it begins, and nothing would ever match it",
                hint!("write it without `..`"),
            )),
        }
    },
};

fn one_line(text: &str, most: usize) -> Result<(), TextComplaint> {
    if text.trim().is_empty() {
        return Err(TextComplaint::new("it is empty", hint!("write a name")));
    }
    if text.chars().any(char::is_control) {
        return Err(TextComplaint::new(
            "it holds a line break or another control character",
            hint!("write it on one line"),
        ));
    }
    if text.chars().count() > most {
        return Err(TextComplaint::new(
            format!("it is longer than {most} characters"),
            hint!("shorten it"),
        ));
    }
    Ok(())
}

/// The pattern of a subject, as `learn` matches it: components between slashes, `**` for any number of
/// them.
fn subject(text: &str) -> Result<(), TextComplaint> {
    if text.is_empty() {
        return Err(TextComplaint::new(
            "it is empty",
            hint!("write the name of a subject"),
        ));
    }
    if text.contains(['\0', '\\']) {
        return Err(TextComplaint::new(
            "it holds a character that no name of a subject has",
            hint!("separate directories by `/`"),
        ));
    }
    if text.starts_with('/') {
        return Err(TextComplaint::new(
            "it begins with `/`",
            hint!("name subjects relative to the directory of the topic"),
        ));
    }
    if text.ends_with('/') {
        return Err(TextComplaint::new(
            "it names a directory",
            hint!("for all that is below it write `\"{text}**\"`"),
        ));
    }
    for part in text.split('/') {
        match part {
            "" => return Err(TextComplaint::new("it holds `//`", hint!("write one `/`"))),
            "." | ".." => {
                return Err(TextComplaint::new(
                    format!("it holds `{part}`"),
                    hint!("name subjects relative to the directory of the topic"),
                ));
            }
            "**" => {}
            part if part.contains("**") => {
                return Err(TextComplaint::new(
                    "`**` stands for whole directories",
                    hint!("put it between slashes, as in `\"rust/**\"`, or write one `*`"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn variable_name(text: &str, literal: &str) -> Result<(), TextComplaint> {
    if text.is_empty() {
        return Err(TextComplaint::new(
            "it is empty",
            hint!("write the name of a variable"),
        ));
    }
    if literal.contains(['=', '\0']) {
        return Err(TextComplaint::new(
            "a variable's name holds neither `=` nor NUL",
            hint!("write the name alone; the value comes from the host's environment"),
        ));
    }
    Ok(())
}

/// The longest name of a topic: it is repeated in messages and in what a model reads.
const MAX_TOPIC_NAME: usize = 64;

/// The longest title of a topic, for the same reason.
const MAX_TITLE: usize = 200;

/// The longest name of a model, for the same reason.
const MAX_MODEL: usize = 200;

/// The longest name of a server: with it before them, most names of tools still fit.
const MAX_SERVER_NAME: usize = 32;

/// The longest pattern for names of tools; those are no longer.
const MAX_TOOL_PATTERN: usize = 256;
