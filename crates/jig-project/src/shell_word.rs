/// A word as a shell takes it: in quotes if it has to be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
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
    }
}
