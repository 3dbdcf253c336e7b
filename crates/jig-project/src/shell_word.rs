//! [`shell_word`]: a word as a person can paste it into a shell.

use jig_proto::is_deceptive;

/// A word as a shell takes it: in quotes if it has to be. A line break, and what a reader does not see as itself, is
/// written as an escape (`$'a\nb'`, which bash and zsh know), so that the word stays on the line that says it.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let is_unseen = |c: char| is_deceptive(c) || matches!(c, '\n' | '\r' | '\t');
    if !word.contains(is_unseen) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str(r"\n"),
            '\t' => quoted.push_str(r"\t"),
            c if is_unseen(c) => quoted.push_str(&format!(r"\U{:08x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let check = |word: &str, expected: &str| assert_eq!(shell_word(word), expected);
        check("tools/a-b", "tools/a-b");
        check("my tools", "'my tools'");
        check("it's", r"'it'\''s'");
        check("", "''");
        check("$(x)", "'$(x)'");
        check("a\nb", r"$'a\nb'");
        check("a\u{1b}'\\", r"$'a\U0000001b\'\\'");
    }
}
