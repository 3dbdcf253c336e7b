//! Secrets that stand in a client's file: they become variables, and are not copied.
//!
//! What looks like one is taken for one: a variable too many is told and harmless, a key in a file that is
//! shared is neither.

use std::collections::BTreeMap;

use super::filled_text::{ImportText, ImportTextPart, as_variable, is_variable};

/// The variables that take the place of secrets, for all servers of an import.
#[derive(Debug, Default)]
pub struct SecretVariables {
    /// By name: the value for which a variable stands.
    given: BTreeMap<String, String>,
}

/// A variable that a person has to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub variable: String,
    /// Where its value is now.
    pub from: String,
}

impl SecretVariables {
    /// A variable for a secret: of this name, unless that stands for another one already.
    fn variable(&mut self, wanted: &str, server: &str, value: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 1_usize;
        while self.given.get(&name).is_some_and(|other| other != value) {
            let server = as_variable(server);
            name = match number {
                1 => format!("{server}_{wanted}"),
                number => format!("{server}_{wanted}_{number}"),
            };
            number += 1;
        }
        self.given.insert(name.clone(), value.to_owned());
        name
    }

    /// A text without any of the values that were found.
    pub fn scrubbed(&self, text: &str) -> String {
        let mut values: Vec<&str> = self.given.values().map(String::as_str).collect();
        values.retain(|value| value.len() >= LEAST_SCRUBBED);
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.iter().fold(text.to_owned(), |text, value| {
            text.replace(value, "[secret]")
        })
    }

    /// The variables whose values are so long that they stand nowhere by chance.
    pub fn long(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self
            .given
            .iter()
            .map(|(variable, value)| (variable.as_str(), value.as_str()));
        given.filter(|(_, value)| value.len() >= LEAST_LONG)
    }
}

/// What is looked through for secrets: one server.
pub struct SecretSearch<'a> {
    /// The secrets that were found so far.
    pub secrets: &'a mut SecretVariables,
    /// The name of the server.
    pub server: &'a str,
    /// Gets the variables that a person has to set.
    pub exports: &'a mut Vec<Export>,
}

impl SecretSearch<'_> {
    /// The value of a variable of the environment.
    pub fn variable(&mut self, name: &str, text: ImportText) -> ImportText {
        let wanted = match is_variable(name) {
            true => name.to_owned(),
            false => as_variable(name),
        };
        let from = format!("`env.{name}`");
        match text.as_plain() {
            None => self.beside(text, &wanted, &from),
            Some(value) if is_secret(name, value) => self.replaced(&wanted, value, from),
            Some(_) => text,
        }
    }

    /// The value of a header. The scheme before credentials stays.
    pub fn header(&mut self, name: &str, text: ImportText) -> ImportText {
        let from = format!("the header `{name}`");
        let wanted = match name.eq_ignore_ascii_case("authorization") {
            true => self.own("TOKEN"),
            false => self.own(name),
        };
        let Some(value) = text.as_plain() else {
            return self.beside(text, &wanted, &from);
        };
        if !is_secret(name, value) {
            return text;
        }
        let split = value.split_once(' ');
        if let Some((scheme, value)) = split.filter(|(scheme, _)| is_scheme(scheme)) {
            let secret = self.replaced(&wanted, value.trim_start(), from);
            let scheme = ImportTextPart::Plain(format!("{scheme} "));
            return ImportText::of([&[scheme], secret.parts()].concat());
        }
        self.replaced(&wanted, value, from)
    }

    /// The words of a command. A flag says what its value is.
    pub fn words(&mut self, words: Vec<ImportText>) -> Vec<ImportText> {
        let mut flag: Option<String> = None;
        let words = words.into_iter().map(|word| {
            let before = flag.take();
            let Some(plain) = word.as_plain().map(str::to_owned) else {
                return self.beside(word, &self.own("ARGUMENT"), "an argument");
            };
            if let Some((name, value)) = plain.split_once('=')
                && !name.is_empty()
                && !name.contains(['/', ':', '?'])
            {
                let label = name.trim_start_matches('-');
                if !is_secret(label, value) {
                    return word;
                }
                let secret =
                    self.replaced(&self.own(label), value, format!("the argument `{name}`"));
                let name = ImportTextPart::Plain(format!("{name}="));
                return ImportText::of([&[name], secret.parts()].concat());
            }
            if plain.starts_with('-') && plain.len() > 1 {
                flag = Some(plain.trim_start_matches('-').to_owned());
                return word;
            }
            let label = before.unwrap_or_default();
            if !is_secret(&label, &plain) {
                return word;
            }
            match label.as_str() {
                "" => self.replaced(&self.own("ARGUMENT"), &plain, "an argument".to_owned()),
                label => self.replaced(
                    &self.own(label),
                    &plain,
                    format!("the argument `--{label}`"),
                ),
            }
        });
        words.collect()
    }

    /// An address: what its query or its path holds.
    pub fn address(&mut self, text: ImportText) -> ImportText {
        let Some(plain) = text.as_plain().map(str::to_owned) else {
            return text;
        };
        let (rest, fragment) = cut(&plain, '#');
        let (base, query) = cut(rest, '?');
        let mut parts = Vec::new();
        let from = base.find("://").map_or(0, |at| at + 3);
        parts.push(ImportTextPart::Plain(base[..from].to_owned()));
        for (index, segment) in base[from..].split('/').enumerate() {
            if index > 0 {
                parts.push(ImportTextPart::Plain("/".to_owned()));
            }
            match index > 0 && is_random(segment) {
                true => {
                    let secret = self.replaced(
                        &self.own("URL_KEY"),
                        segment,
                        "the path of its `url`".to_owned(),
                    );
                    parts.extend_from_slice(secret.parts());
                }
                false => parts.push(ImportTextPart::Plain(segment.to_owned())),
            }
        }
        for (index, pair) in query.split('&').enumerate() {
            if !query.is_empty() {
                parts.push(ImportTextPart::Plain(
                    if index == 0 { "?" } else { "&" }.to_owned(),
                ));
            }
            let (name, value) = cut(pair, '=');
            match is_secret(name, value) {
                true => {
                    parts.push(ImportTextPart::Plain(format!("{name}=")));
                    let from = format!("`{name}` in its `url`");
                    let secret = self.replaced(&self.own(name), value, from);
                    parts.extend_from_slice(secret.parts());
                }
                false => parts.push(ImportTextPart::Plain(pair.to_owned())),
            }
        }
        if !fragment.is_empty() {
            parts.push(ImportTextPart::Plain(format!("#{fragment}")));
        }
        ImportText::of(parts)
    }

    /// A text that holds variables, and may hold a secret beside them.
    fn beside(&mut self, text: ImportText, wanted: &str, from: &str) -> ImportText {
        let mut parts = Vec::new();
        for part in text.parts() {
            match part {
                ImportTextPart::Plain(plain) if plain.split([' ', '=', ',', ';']).any(is_value) => {
                    let secret = self.replaced(wanted, plain, from.to_owned());
                    parts.extend_from_slice(secret.parts());
                }
                part => parts.push(part.clone()),
            }
        }
        ImportText::of(parts)
    }

    /// The name of a variable that belongs to this server.
    fn own(&self, name: &str) -> String {
        format!("{}_{}", as_variable(self.server), as_variable(name))
    }

    fn replaced(&mut self, wanted: &str, value: &str, from: String) -> ImportText {
        let variable = self.secrets.variable(wanted, self.server, value);
        self.exports.push(Export {
            variable: variable.clone(),
            from,
        });
        ImportText::variable(&variable, Some(value))
    }
}

/// Whether a value of this name looks like a secret.
pub fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || is_harmless(value) {
        return false;
    }
    jig_config::looks_secret(name, value)
        || names_secret(name) && could_be(value)
        || is_value(value)
}

/// Whether a value is one whatever it is called.
fn is_value(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut words = value.split(|c| !is_part(c));
    let known = words.any(|word| {
        let mut known = KNOWN.iter();
        known.any(|(begin, least)| word.len() >= begin.len() + least && word.starts_with(begin))
    });
    let (scheme, rest) = cut(value, ' ');
    let is_credential = is_scheme(scheme) && rest.trim().len() >= LEAST_CREDENTIAL;
    let is_key = value.contains("-----BEGIN ");
    known || is_credential || is_key || has_password(value) || is_random(value)
}

/// Whether the value of something that is called a secret can be it: not where it lies.
fn could_be(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~/"]
        .iter()
        .any(|begin| value.starts_with(begin));
    value.len() >= 4 && !is_path && (!value.contains("://") || has_password(value))
}

/// Whether a name is that of a secret. Its words count, so that `KEYBOARD` and `MONKEY` are none.
fn names_secret(name: &str) -> bool {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before_lower) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        before_lower = c.is_ascii_lowercase();
    }
    words.push(word);
    words
        .iter()
        .any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Whether a value is no secret whatever it is called: a number, a word of a switch.
fn is_harmless(value: &str) -> bool {
    let switches = [
        "true", "false", "yes", "no", "on", "off", "none", "null", "auto",
    ];
    let is_short_number = value.len() < 8 && value.chars().all(|c| c.is_ascii_digit());
    is_short_number || switches.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether an address holds a password.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = host.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':'))
        .is_some_and(|(_, password)| !password.is_empty())
}

/// Whether a text looks as if a machine had drawn it: long, of one piece, of letters and digits mixed.
fn is_random(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=' | '.');
    if value.len() < LEAST_RANDOM || !value.chars().all(is_part) {
        return false;
    }
    if value.len() >= LEAST_HEX && value.chars().all(|c| c.is_ascii_hexdigit()) {
        return true;
    }
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    // Names of packages and versions are words and short numbers with marks between them.
    let longest = value.split(['_', '-', '.', '+', '=']).map(str::len).max();
    digits >= 3 && letters >= 3 && longest.unwrap_or(0) >= LEAST_PIECE && bits(value) >= LEAST_BITS
}

/// How many bits each character of a text says, by how often it has each.
fn bits(text: &str) -> f64 {
    let mut counts = BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0_u32) += 1;
    }
    let all = f64::from(counts.values().sum::<u32>());
    let share = counts.values().map(|count| f64::from(*count) / all);
    -share.map(|share| share * share.log2()).sum::<f64>()
}

fn is_scheme(word: &str) -> bool {
    let schemes = ["bearer", "basic", "token", "apikey", "api-key"];
    schemes
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// A text up to a character, and what follows it.
fn cut(text: &str, at: char) -> (&str, &str) {
    text.split_once(at).unwrap_or((text, ""))
}

/// How secrets of well-known services begin, and how many characters follow at least.
const KNOWN: [(&str, usize); 28] = [
    ("sk-", 12),
    ("sk_", 12),
    ("rk_", 12),
    ("pk_live_", 12),
    ("ghp_", 12),
    ("gho_", 12),
    ("ghu_", 12),
    ("ghs_", 12),
    ("ghr_", 12),
    ("github_pat_", 12),
    ("glpat-", 12),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xapp-", 8),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 16),
    ("eyJ", 16),
    ("npm_", 16),
    ("pypi-", 24),
    ("hf_", 16),
    ("ntn_", 16),
    ("lin_api_", 12),
    ("SG.", 16),
    ("dop_v1_", 16),
    ("figd_", 12),
    ("tvly-", 12),
];

const SECRET_WORDS: [&str; 24] = [
    "key",
    "apikey",
    "token",
    "tokens",
    "accesstoken",
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "pw",
    "pat",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "jwt",
    "dsn",
    "private",
    "signature",
];

/// What is shorter is part of ordinary words.
const LEAST_SCRUBBED: usize = 4;

/// The shortest value that is looked for everywhere.
const LEAST_LONG: usize = 10;

/// The fewest characters behind `Bearer`.
const LEAST_CREDENTIAL: usize = 8;

/// The shortest text that can look random.
const LEAST_RANDOM: usize = 20;

/// The shortest that is random if it has only the digits of hexadecimal numbers.
const LEAST_HEX: usize = 32;

/// The shortest piece of it without a mark.
const LEAST_PIECE: usize = 12;

/// Random text has about four bits a character at that length, words have three.
const LEAST_BITS: f64 = 3.3;

#[cfg(test)]
mod tests;
