//! Where templates may stand in a line that a shell reads (J-004).
//!
//! A value never becomes part of such a line: the line holds a variable, and the shell reads no code
//! out of one. Except where it calculates: bash evaluates what it finds in a variable there, up to
//! running the commands in it. No quotes help against that, so such a line is refused.

use super::CommandSyntaxError;

/// Refuses a template inside arithmetic.
pub(super) fn check(line: &str) -> Result<(), CommandSyntaxError> {
    for (at, _) in line.match_indices("{{") {
        let (before, template) = line.split_at(at);
        if ARITHMETIC.iter().any(|form| is_open(before, form)) {
            let end = template.find("}}").map_or(template.len(), |end| end + 2);
            let template = template[..end].to_owned();
            return Err(CommandSyntaxError::Arithmetic(template));
        }
    }
    Ok(())
}

/// Whether a form was begun and not ended. It looks at the text alone: a form in quotes counts, too.
fn is_open(before: &str, (begin, end): &(&str, &str)) -> bool {
    before.matches(begin).count() > before.matches(end).count()
}

/// How arithmetic begins and ends. A test in double brackets calculates when it compares by size.
const ARITHMETIC: [(&str, &str); 3] = [("((", "))"), ("$[", "]"), ("[[ ", " ]]")];

#[cfg(test)]
mod tests;
