//! Texts: what is passed through, what is fenced, and how names are shown.

/// How the content of a file is shown (W-054).
pub(crate) enum Language {
    /// As it is.
    Prose,
    /// In a fence that names the language.
    Code(String),
}

impl Language {
    /// By the extension of the file.
    pub(crate) fn of(extension: Option<&str>) -> Self {
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        if matches!(extension.as_str(), "" | "md" | "markdown" | "txt" | "text") {
            return Self::Prose;
        }
        let known = LANGUAGES.iter().find(|(one, _)| *one == extension);
        if let Some((_, language)) = known {
            return Self::Code((*language).to_owned());
        }
        // Most extensions are the name of their language; anything odd must not end up behind a fence.
        let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '_');
        let plain = extension.chars().filter(|one| is_plain(*one));
        Self::Code(plain.take(MOST_LANGUAGE).collect())
    }
}

/// `text` in a fence that is longer than any run of backticks in it.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// Bytes as text; what is no UTF-8 is replaced. Of a text that was cut, half a character at its end is
/// dropped.
pub(crate) fn decoded(bytes: Vec<u8>, is_cut: bool) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let fault = error.utf8_error();
            let bytes = error.as_bytes();
            match (is_cut, fault.error_len()) {
                (true, None) => String::from_utf8_lossy(&bytes[..fault.valid_up_to()]).into_owned(),
                _ => String::from_utf8_lossy(bytes).into_owned(),
            }
        }
    }
}

/// A name on one line: control characters are spelled out, a long one is shortened.
pub(crate) fn clean(name: &str, most: usize) -> String {
    let mut clean = String::new();
    for (count, one) in name.chars().enumerate() {
        if count == most {
            clean.push('…');
            break;
        }
        match one.is_control() {
            true => clean.extend(one.escape_default()),
            false => clean.push(one),
        }
    }
    clean
}

/// A name in backticks, for messages.
pub(crate) fn quote(name: &str) -> String {
    format!("`{}`", clean(name, MOST_QUOTED))
}

/// A size for people: `12 KB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KB", "MB", "GB", "TB"];
    let (mut whole, mut unit) = (bytes, 0);
    while whole >= 1024 * 10 && unit + 1 < UNITS.len() {
        whole = whole.div_ceil(1024);
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}

/// The languages that are not called by their extension.
const LANGUAGES: &[(&str, &str)] = &[
    ("bash", "sh"),
    ("cc", "cpp"),
    ("cjs", "javascript"),
    ("cs", "csharp"),
    ("cxx", "cpp"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("h", "c"),
    ("hpp", "cpp"),
    ("hs", "haskell"),
    ("htm", "html"),
    ("js", "javascript"),
    ("kt", "kotlin"),
    ("mjs", "javascript"),
    ("ml", "ocaml"),
    ("pl", "perl"),
    ("ps1", "powershell"),
    ("py", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("tf", "terraform"),
    ("ts", "typescript"),
    ("yml", "yaml"),
    ("zsh", "sh"),
];

/// The longest name of a language.
const MOST_LANGUAGE: usize = 24;

/// How much of a name is repeated in a message.
const MOST_QUOTED: usize = 120;
