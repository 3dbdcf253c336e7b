//! [`Secrets`]: the values that a tool must not see, and their removal from what it gets.
//!
//! Whatever is resolved from the host's environment during a call is remembered here and replaced by
//! `[REDACTED]` in all that goes back to the tool: file contents, matching lines, bodies, output and
//! messages. Besides the value itself its spelling inside JSON, HTML and URLs is known (whole, as a part of a path or a
//! query), each longer line of a value of several lines, and what a server that echoes a request makes of it: base64, also
//! as a part of something longer such as Basic credentials, and hexadecimal digits. A value that holds Basic credentials itself is known by their text and
//! their password, too.
//!
//! Not known are encodings of encodings, base64 broken into lines, base64 of values of fewer than five bytes, text of
//! which only some characters are escaped that need not be (`%61`, `&#97;`), and whatever needs a key or a program, such as
//! hashes and compression. This keeps secrets out of transcripts; it does not hold against a program that is given a value
//! and changes it (reverses it, say) before printing it. Who may be given a value is the policy's
//! decision, not this module's.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The secrets that were resolved in one call. Clones share them.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<KnownSecrets>>);

#[derive(Default)]
struct KnownSecrets {
    values: Vec<String>,
    /// `None` as long as there is nothing to look for, which is how most calls stay.
    scrubber: Option<Scrubber>,
}

impl Secrets {
    /// No secret yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a value. Values of fewer than [`MIN_SECRET`] bytes are not kept: they occur
    /// everywhere, so replacing them would destroy the text and hide nothing.
    pub fn remember(&self, value: &str) {
        if value.len() < MIN_SECRET {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.values.iter().any(|old| old == value) {
            return;
        }
        known.values.push(value.to_owned());
        known.scrubber = Some(Scrubber::of(&known.values));
    }

    /// What removes the secrets known at this moment; `None` if there are none.
    pub fn scrubber(&self) -> Option<Scrubber> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.scrubber.clone()
    }

    /// The text without secrets.
    pub fn scrub_text(&self, text: String) -> String {
        match self.scrubber() {
            Some(scrubber) => scrubber.text(text),
            None => text,
        }
    }

    /// A scrubber for bytes that arrive in pieces. It also knows the values that are remembered later.
    pub fn stream(&self) -> ScrubStream {
        ScrubStream {
            secrets: self.clone(),
            held: Vec::new(),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Secrets({} values)", known.values.len())
    }
}

/// Replaces a fixed set of secrets.
#[derive(Clone)]
pub struct Scrubber {
    /// `None` if there is more to look for than an automaton can number, which takes gigabytes of
    /// environment. Nothing passes then.
    automaton: Option<AhoCorasick>,
    /// All that is looked for, in order.
    patterns: Arc<[String]>,
    longest: usize,
}

impl Scrubber {
    fn of(values: &[String]) -> Self {
        let mut patterns: Vec<String> = values.iter().flat_map(|value| spellings(value)).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns)
            .ok();
        Self {
            longest: automaton.as_ref().map_or(usize::MAX, |_| longest),
            automaton,
            patterns: patterns.into(),
        }
    }

    /// The bytes without secrets.
    pub fn bytes<'a>(&self, bytes: impl Into<Cow<'a, [u8]>>) -> Cow<'a, [u8]> {
        let bytes = bytes.into();
        if self.find(&bytes).next().is_none() {
            return bytes;
        }
        let end = bytes.len();
        Cow::Owned(self.part(&bytes, 0..end))
    }

    /// The text without secrets.
    pub fn text(&self, text: String) -> String {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            // Whole UTF-8 texts were cut out of UTF-8 text, so what is left is UTF-8.
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// The text of a screen without secrets, also those that the end of a row breaks in two.
    ///
    /// Rows stay rows: what stands for such a secret is followed by the line ends that were in it.
    pub fn lines(&self, text: String) -> String {
        self.rows(&text, 0..text.len())
    }

    /// The part `inner` of a screen's text, as [`lines`](Self::lines) gives it for the whole: without secrets
    /// and without the parts of secrets that reach across its borders.
    ///
    /// # Panics
    ///
    /// If `inner` does not lie within `text`, or begins or ends inside a character.
    pub fn rows(&self, text: &str, inner: Range<usize>) -> String {
        // Without line ends, and where each byte stands in the text.
        let (places, joined): (Vec<usize>, Vec<u8>) = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte != b'\n')
            .unzip();
        let broken = self.find(&joined).filter_map(|found| {
            let last = found.end.checked_sub(1)?;
            Some(*places.get(found.start)?..places.get(last)? + 1)
        });
        let mut all: Vec<Range<usize>> = self.find(text.as_bytes()).chain(broken).collect();
        all.sort_unstable_by_key(|found| (found.start, found.end));
        let mut clean = String::with_capacity(inner.len());
        let mut done = inner.start;
        for found in all {
            let (start, end) = (found.start.max(done), found.end.min(inner.end));
            if start >= end {
                continue;
            }
            // What overlaps the one before is one with it.
            if found.start >= done || done == inner.start {
                clean.push_str(&text[done..start]);
                clean.push_str(REDACTED);
            }
            clean.extend(text[start..end].chars().filter(|c| *c == '\n'));
            done = end;
        }
        clean.push_str(&text[done..inner.end]);
        clean
    }

    /// The bytes of `window` that lie in `inner`, without secrets and without the parts of secrets
    /// that reach across its borders.
    ///
    /// A tool that may read ranges would otherwise get a secret in two halves. `inner` must lie
    /// within `window`; [`margin`](Self::margin) says how much larger the window should be.
    pub fn part(&self, window: &[u8], inner: Range<usize>) -> Vec<u8> {
        let mut clean = Vec::with_capacity(inner.len());
        let mut done = inner.start;
        if inner.is_empty() {
            return clean;
        }
        for found in self.find(window) {
            if found.end <= inner.start {
                continue;
            }
            if found.start >= inner.end {
                break;
            }
            clean.extend_from_slice(&window[done..found.start.max(done)]);
            clean.extend_from_slice(REDACTED.as_bytes());
            done = found.end.min(inner.end);
        }
        clean.extend_from_slice(&window[done..inner.end]);
        clean
    }

    /// The bytes of `window` that lie in `inner`, with a `*` for each byte of a secret, also of one that
    /// reaches across its borders. What is left stays where it was, for who reads and writes by offsets.
    ///
    /// `inner` must lie within `window`; [`margin`](Self::margin) says how much larger the window should
    /// be.
    pub fn masked(&self, window: &[u8], inner: Range<usize>) -> Vec<u8> {
        let mut clean = window[inner.clone()].to_vec();
        for found in self.find(window) {
            let start = found.start.clamp(inner.start, inner.end) - inner.start;
            let end = found.end.clamp(inner.start, inner.end) - inner.start;
            clean[start..end].fill(b'*');
        }
        clean
    }

    /// Whether it looks for the same secrets as another one of the same [`Secrets`].
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.patterns, &other.patterns)
    }

    /// By how much a secret can reach across the border of a range.
    pub fn margin(&self) -> usize {
        self.longest.saturating_sub(1)
    }

    /// Where the longest end of `bytes`, from `start` on, begins that more bytes could make a secret of; the
    /// length of `bytes` if there is none.
    fn unfinished(&self, bytes: &[u8], start: usize) -> usize {
        let first = bytes.len().saturating_sub(self.margin()).max(start);
        let mut starts = first..bytes.len();
        starts
            .find(|at| self.begins_secret(&bytes[*at..]))
            .unwrap_or(bytes.len())
    }

    /// Whether some spelling of a secret begins with this text and goes on.
    fn begins_secret(&self, text: &[u8]) -> bool {
        let place = self
            .patterns
            .partition_point(|pattern| pattern.as_bytes() <= text);
        let next = self.patterns.get(place);
        next.is_some_and(|pattern| pattern.as_bytes().starts_with(text))
    }

    fn find<'h>(&self, bytes: &'h [u8]) -> impl Iterator<Item = Range<usize>> + use<'_, 'h> {
        let everything = (self.automaton.is_none() && !bytes.is_empty()).then_some(0..bytes.len());
        let automaton = self.automaton.iter();
        let found = automaton.flat_map(move |automaton| automaton.find_iter(bytes));
        found.map(|one| one.range()).chain(everything)
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns = self.automaton.as_ref().map(AhoCorasick::patterns_len);
        write!(f, "Scrubber({patterns:?} patterns)")
    }
}

/// Scrubs bytes that arrive in pieces, as [`Secrets::stream`] gives it.
///
/// It holds back an end that may be the beginning of a secret, and nothing else: a prompt passes at once.
/// What is held back comes with the next piece, or at the end; never because time has passed, since a
/// program that prints a secret letter by letter could wait as well.
#[derive(Debug)]
pub struct ScrubStream {
    secrets: Secrets,
    held: Vec<u8>,
}

impl ScrubStream {
    /// Takes a piece and appends to `out` what is certain by now.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let Some(scrubber) = self.secrets.scrubber() else {
            out.extend_from_slice(piece);
            return;
        };
        self.held.extend_from_slice(piece);
        if scrubber.automaton.is_none() {
            // Nothing passes, and the end says so once.
            self.held.truncate(1);
            return;
        }
        let mut certain = scrubber.unfinished(&self.held, 0);
        let mut done = 0;
        for found in scrubber.find(&self.held) {
            // What begins there may yet become a longer one.
            if found.start >= certain {
                break;
            }
            out.extend_from_slice(&self.held[done..found.start]);
            out.extend_from_slice(REDACTED.as_bytes());
            done = found.end;
            if done > certain {
                certain = scrubber.unfinished(&self.held, done);
            }
        }
        out.extend_from_slice(&self.held[done..certain]);
        self.held.drain(..certain);
    }

    /// Appends the rest to `out`.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self.secrets.scrubber() {
            Some(scrubber) => out.extend_from_slice(&scrubber.bytes(self.held)),
            None => out.extend_from_slice(&self.held),
        }
    }
}

/// The ways in which a value is spelled in what servers and programs send.
fn spellings(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    let lines = value.lines().map(str::trim);
    all.extend(
        lines
            .filter(|line| line.len() >= MIN_LINE)
            .map(str::to_owned),
    );
    let mut more = Vec::new();
    for plain in &all {
        let quoted = serde_json::Value::from(plain.as_str()).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        more.push(escaped.replace('/', "\\/"));
        more.push(escaped);
        for stay in [UNRESERVED_STAY, SLASH_STAYS, COMPONENT_STAYS, URI_STAYS] {
            let encoded = utf8_percent_encode(plain, stay).to_string();
            more.push(encoded.replace("%20", "+"));
            more.push(lowercase_escapes(&encoded));
            more.push(encoded);
        }
        more.extend(in_html(plain));
        let digits = hexadecimal(plain);
        more.push(plain.bytes().map(|byte| format!("%{byte:02X}")).collect());
        more.push(plain.bytes().map(|byte| format!("%{byte:02x}")).collect());
        more.push(digits.to_uppercase());
        more.push(digits);
        more.extend(in_base64(plain.as_bytes()));
    }
    if let Some(credentials) = basic_credentials(value) {
        let password = credentials.split_once(':').map(|(_, password)| password);
        let password = password.filter(|password| password.len() >= MIN_SECRET);
        more.extend(password.map(str::to_owned));
        more.push(credentials);
    }
    all.append(&mut more);
    all
}

/// A value as pages show it, by the entities that libraries write. None if it needs no entity.
fn in_html(plain: &str) -> Vec<String> {
    if !plain.contains(['&', '<', '>', '"', '\'']) {
        return Vec::new();
    }
    let text = plain.replace('&', "&amp;");
    let text = text.replace('<', "&lt;").replace('>', "&gt;");
    let quotes = [
        ("\"", "'"),
        ("&quot;", "'"),
        ("&quot;", "&#39;"),
        ("&quot;", "&#039;"),
        ("&quot;", "&#x27;"),
        ("&quot;", "&apos;"),
        ("&#34;", "&#39;"),
    ];
    let quoted = quotes.map(|(double, single)| text.replace('"', double).replace('\'', single));
    quoted.into()
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// As libraries write `%c3` that take the digits from a table of their own.
fn lowercase_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut lower = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        lower.push('%');
        lower.push_str(&digits.to_lowercase());
        lower.push_str(rest);
    }
    lower
}

/// A value in base64: whole, and what is the same of it wherever it stands in something longer. Both alphabets, and the
/// slash as JSON may escape it.
fn in_base64(value: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for alphabet in [base64_simd::STANDARD, base64_simd::URL_SAFE] {
        let mut texts = vec![alphabet.encode_to_string(value)];
        // Three bytes are four digits, so that there are three ways to stand in something longer.
        for before in 0..3 {
            let longer = [&[0; 2][..before], value].concat();
            let digits = alphabet.encode_to_string(&longer);
            // The digits on the borders hold bits of what stands around it.
            let (first, last) = ((before * 8).div_ceil(6), longer.len() * 8 / 6);
            if last - first >= MIN_DIGITS {
                texts.push(digits[first..last].to_owned());
            }
        }
        if texts.len() > 1 {
            let escaped: Vec<String> = texts.iter().map(|one| one.replace('/', "\\/")).collect();
            all.extend(texts);
            all.extend(escaped);
        }
    }
    all
}

/// The `user:password` that a value is in base64, as it stands after `Basic`.
fn basic_credentials(value: &str) -> Option<String> {
    let digits = value.trim().trim_start_matches("Basic ").trim();
    let bytes = base64_simd::STANDARD.decode_to_vec(digits).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let is_plain = !text.contains(char::is_control);
    (is_plain && text.contains(':') && text.len() >= MIN_SECRET).then_some(text)
}

/// What stands where a secret was.
pub const REDACTED: &str = "[REDACTED]";

/// The shortest value that is replaced, in bytes.
pub const MIN_SECRET: usize = 4;

/// The shortest line of a longer value that is replaced by itself: `}` is no secret.
const MIN_LINE: usize = 8;

/// The fewest digits of base64 that are replaced by themselves: fewer occur by chance.
const MIN_DIGITS: usize = 6;

/// As most libraries do it.
const UNRESERVED_STAY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// As `quote` of Python and most libraries for paths do it.
const SLASH_STAYS: &AsciiSet = &UNRESERVED_STAY.remove(b'/');

/// As `encodeURIComponent` of JavaScript does it.
const COMPONENT_STAYS: &AsciiSet = &UNRESERVED_STAY
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// As `encodeURI` of JavaScript does it.
const URI_STAYS: &AsciiSet = &COMPONENT_STAYS
    .remove(b';')
    .remove(b'/')
    .remove(b'?')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b'#');

#[cfg(test)]
mod tests;
