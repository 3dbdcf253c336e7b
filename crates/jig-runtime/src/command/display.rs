//! A command as people are shown it before it runs.

use jig_proto::vfs::ToolInput;
use jig_proto::{Context, is_deceptive};

use super::{CommandWord, SHELL};
use crate::shell::{BoundScript, quote};
use crate::template::{TemplateError, Values};

/// The command of a call, filled in, as one line that a shell would read in the same way.
///
/// It is for eyes: every word is quoted where a shell would see more in it than one word, nothing in it ends the line
/// or moves the cursor, and what is very long is cut. `is_spawned` says whether the call goes on after it is answered.
///
/// # Errors
///
/// If a word cannot be filled in; the call would fail for the same reason.
pub fn command_shown(
    program: &CommandWord,
    args: &[CommandWord],
    shell: bool,
    call: (&ToolInput, &Context),
    is_spawned: bool,
) -> Result<String, TemplateError> {
    let (input, context) = call;
    let values = Values::new(input, context, is_spawned, Some(INPUT_FILE));
    let filled = args.iter().map(|word| word.fill(&values));
    let filled: Vec<String> = filled.collect::<Result<_, _>>()?;
    let mut words = Vec::new();
    if shell {
        let mut script = match program {
            CommandWord::Literal(text) => BoundScript::plain(text.clone()),
            CommandWord::Template(text) => values.fill_script(text)?,
        };
        for arg in &filled {
            script.text.push(' ');
            script.text.push_str(&quote(arg));
        }
        // The values of the script are set before it, as they are when it runs.
        let variables = script.values.iter().zip(1..);
        words.extend(variables.map(|(value, number)| format!("jig_{number}={}", word(value))));
        words.extend([SHELL.to_owned(), "-c".to_owned(), word(&script.text)]);
    } else {
        words.push(word(&program.fill(&values)?));
        let args = args.iter().zip(&filled);
        words.extend(args.map(|(arg, filled)| match arg {
            CommandWord::Template(text) if is_whole(text) => text.clone(),
            _ => word(filled),
        }));
    }
    Ok(cut(&words.join(" "), MAX_LINE))
}

/// Whether a template hands the whole call over, as JSON: its arguments are shown elsewhere, and better.
fn is_whole(template: &str) -> bool {
    let name = template.strip_prefix("{{");
    let name = name.and_then(|rest| rest.strip_suffix("}}"));
    name.is_some_and(|name| matches!(name.trim(), "context" | "tool"))
}

/// One word, of which everything is seen, or how much is not.
fn word(text: &str) -> String {
    let text = &*cut(text, MAX_WORD);
    if !text.contains(is_deceptive) {
        return quote(text);
    }
    let mut word = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\n' => word.push_str("\\n"),
            '\t' => word.push_str("\\t"),
            '\r' => word.push_str("\\r"),
            '\\' => word.push_str("\\\\"),
            '\'' => word.push_str("\\'"),
            c if is_deceptive(c) => word.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}

fn cut(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        None => line.to_owned(),
        Some((end, _)) => {
            let (kept, left_off) = line.split_at(end);
            let count = left_off.chars().count();
            format!("{kept}… ({count} more characters)")
        }
    }
}

/// What stands for the file with the call, which is made when the tool starts.
const INPUT_FILE: &str = "CALL.json";

/// The most characters of a word. A caller can put a whole file into one, and must not hide the others behind it.
const MAX_WORD: usize = 300;

/// The most characters of all words.
const MAX_LINE: usize = 2000;

#[cfg(test)]
mod tests;
