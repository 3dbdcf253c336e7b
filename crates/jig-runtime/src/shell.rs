//! Text for a shell, into which no value of a caller is ever pasted.
//!
//! A value that is filled into a script becomes a variable of it: the script holds `"${jig_1}"`, and
//! the value is an argument of the shell. Whatever the value says, and wherever in the script it stands,
//! the shell does not read it as code. Where it stands only decides about the quotes around it.

#[cfg(test)]
mod tests;

/// A script and the values that its variables hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundScript {
    pub(crate) text: String,
    pub(crate) values: Vec<String>,
}

impl BoundScript {
    /// A script without values.
    pub(crate) fn plain(text: String) -> Self {
        Self {
            text,
            values: Vec::new(),
        }
    }

    /// A script from a text in which a [`place`] stands for each value.
    pub(crate) fn of_places(text: &str, values: Vec<String>) -> Self {
        Self {
            text: with_variables(text),
            values,
        }
    }

    /// The arguments that make a shell run it. The script itself sees none of them.
    pub(crate) fn into_arguments(self) -> Vec<String> {
        let count = self.values.len();
        let text = match count {
            0 => self.text,
            count => {
                let set = (1..=count).map(|number| format!("jig_{number}=${{{number}}}"));
                let set: Vec<String> = set.collect();
                format!("{}; shift {count}; {}", set.join(" "), self.text)
            }
        };
        let mut arguments = vec!["-c".to_owned(), text];
        if count > 0 {
            arguments.push("sh".to_owned());
            arguments.extend(self.values);
        }
        arguments
    }
}

/// What stands for the value of this number, counted from one, while a script is put together.
pub(crate) fn place(number: usize) -> String {
    format!("{PLACE}{number}{PLACE}")
}

/// The text with the values of places in it filled in as they are: for a value that is made of others.
pub(crate) fn without_places(text: &str, values: &[String]) -> String {
    let mut pieces = text.split(PLACE);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    while let Some(number) = pieces.next() {
        let value = number.parse::<usize>().ok();
        let value = value.and_then(|number| values.get(number.wrapping_sub(1)));
        out.push_str(value.map_or("", String::as_str));
        out.push_str(pieces.next().unwrap_or_default());
    }
    out
}

/// The text as one word of a shell.
pub(crate) fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:@%+=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('=') {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Puts a variable in each place, in the quotes that it needs there.
fn with_variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within = ScriptContext::default();
    let mut pieces = text.split(PLACE);
    let first = pieces.next().unwrap_or_default();
    within.read(first);
    out.push_str(first);
    while let Some(number) = pieces.next() {
        let variable = format!("${{jig_{number}}}");
        match within.quotes() {
            ShellQuotes::None => out.extend(["\"", &variable, "\""]),
            ShellQuotes::Double => out.push_str(&variable),
            ShellQuotes::Single => out.extend(["'\"", &variable, "\"'"]),
        }
        within.has_word = true;
        let text = pieces.next().unwrap_or_default();
        within.read(text);
        out.push_str(text);
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellQuotes {
    None,
    Double,
    Single,
}

/// What encloses a point of a script. It knows quotes, `$(…)`, backticks, backslashes and comments, and
/// takes the body of a here-document for code. A mistake here can split a value into words; it cannot
/// make it code.
#[derive(Debug, Default)]
struct ScriptContext {
    /// What was opened and not closed, innermost last.
    open: Vec<ShellNesting>,
    is_comment: bool,
    is_escaped: bool,
    /// Whether the next character continues a word: `#` begins a comment only elsewhere.
    has_word: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellNesting {
    Single,
    Double,
    /// `(`, also that of `$(`.
    Parenthesis,
    Backtick,
}

impl ScriptContext {
    fn quotes(&self) -> ShellQuotes {
        match self.open.last() {
            Some(ShellNesting::Single) => ShellQuotes::Single,
            Some(ShellNesting::Double) => ShellQuotes::Double,
            _ => ShellQuotes::None,
        }
    }

    fn read(&mut self, text: &str) {
        let mut previous = None;
        for c in text.chars() {
            self.character(c, previous);
            previous = Some(c);
        }
    }

    fn character(&mut self, c: char, previous: Option<char>) {
        if std::mem::take(&mut self.is_escaped) {
            self.has_word = true;
            return;
        }
        if self.is_comment {
            self.is_comment = c != '\n';
            self.has_word = false;
            return;
        }
        let innermost = self.open.last().copied();
        match (innermost, c) {
            (Some(ShellNesting::Single), '\'') | (Some(ShellNesting::Double), '"') => {
                self.open.pop();
            }
            (Some(ShellNesting::Single), _) => {}
            (_, '\\') => self.is_escaped = true,
            (Some(ShellNesting::Backtick), '`') => {
                self.open.pop();
            }
            (_, '`') => self.open.push(ShellNesting::Backtick),
            (Some(ShellNesting::Double), '(') if previous == Some('$') => {
                self.open.push(ShellNesting::Parenthesis);
            }
            (Some(ShellNesting::Double), _) => {}
            (_, '\'') => self.open.push(ShellNesting::Single),
            (_, '"') => self.open.push(ShellNesting::Double),
            (_, '(') => self.open.push(ShellNesting::Parenthesis),
            (Some(ShellNesting::Parenthesis), ')') => {
                self.open.pop();
            }
            (_, '#') if !self.has_word => self.is_comment = true,
            _ => {}
        }
        self.has_word = !(c.is_whitespace() || ";|&(".contains(c));
    }
}

/// A character that no text can hold.
pub(crate) const PLACE: char = '\u{10fffe}';
