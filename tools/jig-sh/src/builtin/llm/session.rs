//! A session: a model that runs lines of this shell.
//!
//! Its lines run in this process, over the connection that everything else goes over: the same rules decide about
//! files, and the same quota pays for the questions. They start no program, so a session can do no more than
//! whoever began it.

use jig_tool::proxy::{LlmCmd, LlmMessage, LlmRole};
use jig_tool::visible_words;

use crate::Shell;
use crate::builtin::TABLE;
use crate::stage::CommandContext;
use crate::stream::CommandFailure;

/// Asks, runs what the model wants run, and asks again, until there is an answer without a line in it.
pub(super) fn run(
    stage: &mut CommandContext<'_>,
    mut command: LlmCmd,
) -> Result<String, CommandFailure> {
    let message = |role, content| LlmMessage { role, content };
    command
        .messages
        .insert(0, message(LlmRole::System, rules()));
    for _ in 0..ROUNDS {
        let reply = stage.client.llm(&command)?;
        let said = reply.content.unwrap_or_default();
        let Some(line) = line(&said) else {
            return Ok(said);
        };
        for shown in line.lines() {
            stage.note(&format!("$ {}", visible_words(shown)));
        }
        let (code, printed) = Shell::run_kept(stage.client.clone(), line);
        let asked = command.prompt.replace(format!(
            "{printed}{}(exit code {code})",
            if printed.is_empty() || printed.ends_with('\n') {
                ""
            } else {
                "\n"
            }
        ));
        let asked = asked.unwrap_or_default();
        command.messages.push(message(LlmRole::User, asked));
        command.messages.push(message(LlmRole::Assistant, said));
    }
    Err(CommandFailure::Said(format!(
        "there is no answer after {ROUNDS} lines"
    )))
}

/// What a fenced block of the answer holds, if it is one of shell.
fn line(said: &str) -> Option<&str> {
    let mut rest = said;
    loop {
        let (_, after) = rest.split_once("```")?;
        let (language, block) = after.split_once('\n')?;
        let (block, after) = block.split_once("```")?;
        if matches!(language.trim(), "sh" | "bash" | "shell") {
            return Some(block.trim());
        }
        rest = after;
    }
}

fn rules() -> String {
    let usages: Vec<&str> = TABLE.iter().map(|builtin| builtin.usage).collect();
    format!(
        "You can work on files with a small shell. To run a line, answer with one block that begins with ```sh and \
         ends with ```, and nothing else; you are then told what it prints and its exit code. When you know the \
         answer, give it without such a block. The shell starts no programs. Its commands are:\n{}\nThere are \
         pipes, redirections, quotes, `&&`, `||`, `;` and `*`, and no variables or loops. You can use only the files \
         that you are given.",
        usages.join("\n")
    )
}

/// The most lines of a session: each question costs.
const ROUNDS: usize = 25;

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_is_what_stands_in_a_block_of_shell() {
        for (said, expected) in [
            ("no block", None),
            ("```sh\nls\n```", Some("ls")),
            (
                "I look.\n```bash\nls\ncat a\n```\nThen more.",
                Some("ls\ncat a"),
            ),
            ("```python\nx\n```\n```sh\nls\n```", Some("ls")),
            ("```\nls\n```", None),
            ("```sh\nls", None),
        ] {
            assert_eq!(line(said), expected, "{said}");
        }
    }
}
