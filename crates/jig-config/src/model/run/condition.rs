//! [`RunCondition`]: what a run rule demands of one argument.
//!
//! Arguments come from a model, which may have read them in a file that somebody else wrote. Whoever writes
//! one must not get around a rule by its spelling. So the answer is not only yes or no: what could be meant
//! by a rule, and is written in another way, is [`ConditionMatch::Unclear`].

use std::fmt;

use jig_proto::ProjectPath;
use serde_json::{Map, Number, Value as Json};

use crate::quoting::clean_whole as clean;

/// What a run rule demands of one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCondition {
    /// The steps of the JSON Pointer that finds the argument.
    steps: Vec<String>,
    /// What is asked about it.
    pub test: RunTest,
}

/// What can be asked about an argument.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunTest {
    /// Whether it is this value.
    Equals(Json),
    /// Whether it is a text that begins so, or a list of such texts.
    Prefix(String),
    /// Whether it is one of these values.
    OneOf(Vec<Json>),
    /// Whether it was given at all, or has a default.
    Present(bool),
}

/// Whether a condition, or a rule, is about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionMatch {
    Yes,
    No,
    /// It cannot be told by the text of the arguments.
    Unclear,
}

/// Where a text leads that may be a path, through the links of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
// Exhaustive: whoever decides must know all of them.
pub enum PathMeaning {
    /// There is no link on its way, or it is no path.
    AsWritten,
    /// A link leads to this path.
    To(String),
    /// Out of the workspace, or nobody can tell.
    Unknown,
}

impl ConditionMatch {
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (ConditionMatch::No, _) | (_, ConditionMatch::No) => ConditionMatch::No,
            (ConditionMatch::Yes, ConditionMatch::Yes) => ConditionMatch::Yes,
            _ => ConditionMatch::Unclear,
        }
    }

    fn is(yes: bool) -> Self {
        if yes {
            ConditionMatch::Yes
        } else {
            ConditionMatch::No
        }
    }
}

impl RunCondition {
    pub(super) fn new(steps: Vec<String>, test: RunTest) -> Self {
        Self { steps, test }
    }

    /// The JSON Pointer that finds the argument, such as `/path`.
    pub fn pointer(&self) -> String {
        let escaped = |step: &String| step.replace('~', "~0").replace('/', "~1");
        let steps = self.steps.iter().map(|step| format!("/{}", escaped(step)));
        steps.collect()
    }

    pub(super) fn to_json(&self) -> Map<String, Json> {
        let (name, value) = match &self.test {
            RunTest::Equals(value) => ("equals", value.clone()),
            RunTest::Prefix(prefix) => ("prefix", prefix.as_str().into()),
            RunTest::OneOf(values) => ("one_of", values.clone().into()),
            RunTest::Present(wanted) => ("present", (*wanted).into()),
        };
        let arg = ("arg".to_owned(), self.pointer().into());
        Map::from_iter([arg, (name.to_owned(), value)])
    }

    pub(super) fn matches(
        &self,
        arguments: &Map<String, Json>,
        leads: &dyn Fn(&str) -> PathMeaning,
    ) -> ConditionMatch {
        let found = self.find(arguments);
        if let RunTest::Present(wanted) = self.test {
            return ConditionMatch::is(found.is_some() == wanted);
        }
        let Some(value) = found else {
            return ConditionMatch::No;
        };
        let equals = |wanted: &[Json]| match value {
            Json::String(text) => {
                wherever_it_leads(text, leads, |text| is_one_of(&text.into(), wanted))
            }
            value => is_one_of(value, wanted),
        };
        let begins =
            |text: &str, prefix| wherever_it_leads(text, leads, |text| begins_with(text, prefix));
        match &self.test {
            RunTest::Equals(wanted) => equals(std::slice::from_ref(wanted)),
            RunTest::OneOf(wanted) => equals(wanted),
            RunTest::Prefix(prefix) => match value {
                Json::String(text) => begins(text, prefix),
                // Items that differ are neither all meant nor all left out.
                Json::Array(items) => items
                    .iter()
                    .map(|item| match item {
                        Json::String(text) => begins(text, prefix),
                        _ => ConditionMatch::No,
                    })
                    .reduce(|left, right| {
                        if left == right {
                            left
                        } else {
                            ConditionMatch::Unclear
                        }
                    })
                    .unwrap_or(ConditionMatch::No),
                _ => ConditionMatch::No,
            },
            // Answered above.
            RunTest::Present(_) => ConditionMatch::No,
        }
    }

    fn find<'a>(&self, arguments: &'a Map<String, Json>) -> Option<&'a Json> {
        let (first, rest) = self.steps.split_first()?;
        let first = arguments.get(first)?;
        rest.iter().try_fold(first, |value, step| match value {
            Json::Object(entries) => entries.get(step),
            Json::Array(items) => items.get(index(step)?),
            _ => None,
        })
    }
}

/// `` `path` begins with "src/" ``.
impl fmt::Display for RunCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clean(&self.steps.join("."));
        let shown = |value: &Json| clean(&value.to_string());
        write!(f, "`{name}` ")?;
        match &self.test {
            RunTest::Equals(value) => write!(f, "is {}", shown(value)),
            RunTest::Prefix(prefix) => {
                write!(f, "begins with {}", shown(&Json::from(prefix.as_str())))
            }
            RunTest::OneOf(values) => {
                let values: Vec<String> = values.iter().map(shown).collect();
                write!(f, "is one of {}", values.join(", "))
            }
            RunTest::Present(true) => f.write_str("is given"),
            RunTest::Present(false) => f.write_str("is not given"),
        }
    }
}

/// The steps of a JSON Pointer (RFC 6901); `Err` says what is wrong with it.
pub(crate) fn parse_pointer(text: &str) -> Result<Vec<String>, &'static str> {
    let Some(steps) = text.strip_prefix('/') else {
        return Err("it does not begin with `/`");
    };
    let mut parsed = Vec::new();
    for step in steps.split('/') {
        let mut rest = step.chars();
        let mut plain = String::with_capacity(step.len());
        while let Some(one) = rest.next() {
            plain.push(match one {
                '~' => match rest.next() {
                    Some('0') => '~',
                    Some('1') => '/',
                    _ => return Err("`~` stands before `0` or `1` only"),
                },
                one => one,
            });
        }
        parsed.push(plain);
    }
    if parsed.iter().any(String::is_empty) {
        return Err("a name in it is empty");
    }
    Ok(parsed)
}

/// The place in a list that a step of a pointer names; `None` where it names none.
pub(super) fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with('0');
    let digits = is_plain && step.bytes().all(|byte| byte.is_ascii_digit());
    if digits { step.parse().ok() } else { None }
}

/// What holds for a text, and for what it leads to. A link must not carry a call past a rule, whether that rule
/// allows or refuses; so where the two differ, it is unclear.
fn wherever_it_leads(
    text: &str,
    leads: &dyn Fn(&str) -> PathMeaning,
    matches: impl Fn(&str) -> ConditionMatch,
) -> ConditionMatch {
    let plainly = matches(text);
    match leads(text) {
        PathMeaning::AsWritten => plainly,
        PathMeaning::To(real) if matches(&real) == plainly => plainly,
        PathMeaning::To(_) | PathMeaning::Unknown => ConditionMatch::Unclear,
    }
}

/// Whether a value is one of those that are wanted. A text that names the same file in another way may be.
fn is_one_of(value: &Json, wanted: &[Json]) -> ConditionMatch {
    if wanted.iter().any(|wanted| same(value, wanted)) {
        return ConditionMatch::Yes;
    }
    let Json::String(text) = value else {
        return ConditionMatch::No;
    };
    let other = text.contains('\\').then(|| text.replace('\\', "/"));
    let spelled = [
        PlainPath::of(text),
        other.and_then(|other| PlainPath::of(&other)),
    ];
    let wanted = wanted.iter().filter_map(Json::as_str);
    let mut wanted = wanted.filter_map(PlainPath::of);
    match wanted.any(|wanted| spelled.iter().flatten().any(|one| *one == wanted)) {
        true => ConditionMatch::Unclear,
        false => ConditionMatch::No,
    }
}

/// JSON has one kind of number: `1` and `1.0` are the same.
fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left == right || same_number(left, right),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| same(a, b))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, a)| right.get(key).is_some_and(|b| same(a, b)))
        }
        (left, right) => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    // Two integers that differ are different, also where a float could not tell them apart.
    let both_integers = !left.is_f64() && !right.is_f64();
    !both_integers && left.as_f64() == right.as_f64()
}

/// Whether `text` begins with `prefix`, also when both are read as paths.
///
/// Whether it is a path is not known. A path means the same with `.`, `..` and doubled slashes taken out; a
/// line for a shell does not, and what looks like a path in it may run something else. So only what holds in
/// both ways holds, and a prefix that ends with a slash is for paths. It is unclear
/// - where both ways differ, as for `src/../x` and `src/`;
/// - for a path that is not found from the workspace, while the prefix is: it may lead back into it;
/// - for a directory above the prefix, or the one that it names: what is done to it may be done to all in it;
/// - where `\` would be read as `/` by some programs, and the answer then is another one.
fn begins_with(text: &str, prefix: &str) -> ConditionMatch {
    let plainly = begins_as_written(text, prefix);
    if text.contains('\\') && plainly != begins_as_written(&text.replace('\\', "/"), prefix) {
        return ConditionMatch::Unclear;
    }
    plainly
}

fn begins_as_written(text: &str, prefix: &str) -> ConditionMatch {
    if text.is_empty() {
        return ConditionMatch::No;
    }
    let Some(wanted) = PlainPath::of(prefix) else {
        return ConditionMatch::is(text.starts_with(prefix));
    };
    let Some(found) = PlainPath::of(text) else {
        return ConditionMatch::Unclear;
    };
    if found.absolute != wanted.absolute {
        return ConditionMatch::Unclear;
    }
    let is_directory = prefix.ends_with('/');
    // A prefix that ends in a slash means what lies below; one that does not is the beginning of a name.
    let below = if is_directory && !wanted.path.is_root() {
        format!("{}/", wanted.path.as_str())
    } else {
        wanted.path.as_str().to_owned()
    };
    let as_text = text.starts_with(prefix)
        || text.trim_start_matches('/').starts_with(&below)
        || wanted.path.is_root();
    let as_path = found.path.as_str().starts_with(&below);
    match (as_path, as_text) {
        (true, true) => ConditionMatch::Yes,
        (true, false) if is_directory && !climbs(text) => ConditionMatch::Yes,
        (true, false) | (false, true) => ConditionMatch::Unclear,
        (false, false) if wanted.path.starts_with(&found.path) => ConditionMatch::Unclear,
        (false, false) => ConditionMatch::No,
    }
}

/// Whether a path goes up anywhere: what stands before is then left out of it.
fn climbs(text: &str) -> bool {
    text.split('/').any(|name| name == "..")
}

/// A text read as a path, without `.`, `..` and empty names.
#[derive(PartialEq)]
struct PlainPath {
    absolute: bool,
    path: ProjectPath,
}

impl PlainPath {
    /// `None` for what leads out of where it begins, and for what no file is called.
    fn of(text: &str) -> Option<Self> {
        let relative = text.trim_start_matches('/');
        let absolute = relative.len() != text.len();
        let path = match relative.is_empty() && absolute {
            true => ProjectPath::root(),
            false => ProjectPath::normalize(relative).ok()?,
        };
        Some(Self { absolute, path })
    }
}

#[cfg(test)]
mod tests;
