//! The options of a command, as programs for shells take them.

use crate::stream::CommandFailure;

/// What a command was given.
#[derive(Debug, Default)]
pub(crate) struct CommandOptions {
    flags: Vec<char>,
    values: Vec<(char, String)>,
    /// What is no option.
    pub(crate) operands: Vec<String>,
}

impl CommandOptions {
    /// Takes `words` apart: `flags` are options without a value, `valued` those with one. Options may
    /// stand after operands; `--` ends them.
    pub(crate) fn read(
        words: &[String],
        flags: &str,
        valued: &str,
    ) -> Result<Self, CommandFailure> {
        let mut given = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                given.operands.extend(words.cloned());
                break;
            }
            match word.strip_prefix('-') {
                None | Some("") => given.operands.push(word.clone()),
                Some(long) if long.starts_with('-') => {
                    return Err(unknown(&format!("--{}", &long[1..]), flags, valued));
                }
                Some(letters) => given.letters(letters, &mut words, flags, valued)?,
            }
        }
        Ok(given)
    }

    fn letters<'w>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'w String>,
        flags: &str,
        valued: &str,
    ) -> Result<(), CommandFailure> {
        for (at, letter) in letters.char_indices() {
            if flags.contains(letter) {
                self.flags.push(letter);
                continue;
            }
            if !valued.contains(letter) {
                return Err(unknown(&format!("-{letter}"), flags, valued));
            }
            let value = match &letters[at + letter.len_utf8()..] {
                "" => words.next().cloned(),
                rest => Some(rest.to_owned()),
            };
            let Some(value) = value else {
                return Err(CommandFailure::Usage(format!(
                    "`-{letter}` needs a value after it"
                )));
            };
            self.values.push((letter, value));
            break;
        }
        Ok(())
    }

    /// Whether a flag was given.
    pub(crate) fn has(&self, flag: char) -> bool {
        self.flags.contains(&flag)
    }

    /// The last value of an option.
    pub(crate) fn value(&self, option: char) -> Option<&str> {
        self.all(option).last()
    }

    /// All values of an option.
    pub(crate) fn all(&self, option: char) -> impl Iterator<Item = &str> {
        let values = self.values.iter();
        values
            .filter(move |(letter, _)| *letter == option)
            .map(|(_, value)| value.as_str())
    }

    /// The value of an option as a number.
    pub(crate) fn number(&self, option: char) -> Result<Option<usize>, CommandFailure> {
        self.value(option)
            .map(|value| number(option, value))
            .transpose()
    }
}

/// A count from an option.
pub(crate) fn number(option: char, value: &str) -> Result<usize, CommandFailure> {
    value.parse().map_err(|_| {
        CommandFailure::Usage(format!(
            "`{value}` is not a number; `-{option}` takes one from 0"
        ))
    })
}

fn unknown(option: &str, flags: &str, valued: &str) -> CommandFailure {
    let known: Vec<String> = flags
        .chars()
        .map(|flag| format!("-{flag}"))
        .chain(valued.chars().map(|option| format!("-{option} VALUE")))
        .collect();
    CommandFailure::Usage(match known.is_empty() {
        true => format!("`{option}` is not known here: this command has no options"),
        false => format!(
            "`{option}` is not known here; there are {}",
            known.join(", ")
        ),
    })
}
