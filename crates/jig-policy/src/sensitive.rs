//! Paths that a broad rule does not cover: credentials, secrets and what runs by itself.
//!
//! A rule on `.` says "the project", and nobody who writes it means the keys that happen to lie
//! there. So a sensitive path is covered only by a rule that names it, or something below it. The
//! list can be extended and never reduced.

use jig_proto::ProjectPath;

/// The list of sensitive paths: the built-in one and what was added to it.
#[derive(Debug, Clone)]
pub struct Sensitive {
    patterns: Vec<SensitivePattern>,
    /// Whether all patterns begin with a dot, as the built-in ones do: then a component that
    /// doesn't is passed over at once.
    all_dotted: bool,
}

impl Default for Sensitive {
    fn default() -> Self {
        Self {
            patterns: BUILT_IN
                .iter()
                .map(|text| SensitivePattern::built_in(text))
                .collect(),
            all_dotted: BUILT_IN.iter().all(|text| text.starts_with('.')),
        }
    }
}

impl Sensitive {
    /// Adds a pattern.
    ///
    /// It matches at any depth, or only at the root when it begins with `/` or `./`. `*` stands
    /// for any run of characters within one component; a leading `**/` says "at any
    /// depth" once more, also after `/`.
    pub fn add(&mut self, pattern: &str) -> Result<(), PatternError> {
        let pattern = SensitivePattern::parse(pattern)?;
        self.all_dotted &= pattern
            .components
            .first()
            .is_some_and(|name| name.starts_with('.'));
        self.patterns.push(pattern);
        Ok(())
    }

    /// The patterns as text, built-in ones first.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.text.as_str())
    }

    /// The sensitive path that `path` is or lies in; of several, one in the other, the deepest.
    pub fn find(&self, path: &ProjectPath) -> Option<SensitiveMatch<'_>> {
        let text = path.as_str();
        let mut deepest: Option<SensitiveMatch<'_>> = None;
        let mut start = 0;
        let mut depth = 0;
        while start < text.len() {
            let rest = &text[start..];
            if rest.starts_with('.') || !self.all_dotted {
                for pattern in &self.patterns {
                    let end = depth + pattern.components.len();
                    let deeper = deepest.is_none_or(|found| found.depth < end);
                    if deeper && (depth == 0 || !pattern.anchored) && pattern.matches_start(rest) {
                        deepest = Some(SensitiveMatch {
                            pattern: &pattern.text,
                            depth: end,
                        });
                    }
                }
            }
            start += rest.find('/').map_or(rest.len(), |slash| slash + 1);
            depth += 1;
        }
        deepest
    }

    /// The sensitive paths that would lie below `path`: moving `.git` moves `.git/hooks`.
    pub(crate) fn find_below<'a>(
        &'a self,
        path: &ProjectPath,
    ) -> impl Iterator<Item = SensitiveBelow<'a>> + use<'a> {
        let names: Vec<&str> = path.components().collect();
        let mut found = Vec::new();
        for pattern in &self.patterns {
            for count in 1..pattern.components.len().min(names.len() + 1) {
                let (above, below) = pattern.components.split_at(count);
                let tail = &names[names.len() - count..];
                let matches = above
                    .iter()
                    .zip(tail)
                    .all(|(glob, name)| glob_matches(glob, name));
                if matches && (!pattern.anchored || count == names.len()) {
                    found.push(SensitiveBelow::new(pattern, path, below));
                }
            }
        }
        found.into_iter()
    }
}

/// Where a path is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SensitiveMatch<'a> {
    /// The pattern of the list that matched.
    pub pattern: &'a str,
    /// How many components of the path make up the sensitive part. A rule must be at least as
    /// deep to name it.
    pub depth: usize,
}

/// A sensitive path below another path.
#[derive(Debug, Clone)]
pub(crate) struct SensitiveBelow<'a> {
    /// The pattern of the list.
    pub(crate) pattern: &'a str,
    /// The path; `None` if the pattern leaves its name open, so that no rule can name it.
    pub(crate) path: Option<ProjectPath>,
}

impl<'a> SensitiveBelow<'a> {
    fn new(pattern: &'a SensitivePattern, above: &ProjectPath, below: &[String]) -> Self {
        let literal = !below.iter().any(|name| name.contains('*'));
        let below = ProjectPath::normalize(&below.join("/")).ok();
        Self {
            pattern: &pattern.text,
            path: below.filter(|_| literal).map(|below| above.join(&below)),
        }
    }
}

#[derive(Debug, Clone)]
struct SensitivePattern {
    text: String,
    components: Vec<String>,
    anchored: bool,
}

impl SensitivePattern {
    fn built_in(text: &str) -> Self {
        let components: Vec<String> = text.split('/').map(str::to_owned).collect();
        Self {
            text: text.to_owned(),
            components,
            anchored: false,
        }
    }

    fn parse(text: &str) -> Result<Self, PatternError> {
        if text.starts_with('~') {
            return Err(PatternError::Home);
        }
        let at_root = text.starts_with('/') || text.starts_with("./");
        let body = text.trim_start_matches("./").trim_start_matches('/');
        let (anchored, body) = match body.strip_prefix("**/") {
            Some(anywhere) => (false, anywhere),
            None => (at_root, body),
        };
        let path = ProjectPath::normalize(body).map_err(PatternError::Path)?;
        if path.is_root() {
            return Err(PatternError::Everything);
        }
        let components: Vec<String> = path.components().map(str::to_owned).collect();
        if let Some(bad) = components.iter().find(|name| name.contains("**")) {
            return Err(PatternError::Stars(bad.clone()));
        }
        if components.iter().all(|name| name == "*") {
            return Err(PatternError::Everything);
        }
        Ok(Self {
            text: text.to_owned(),
            components,
            anchored,
        })
    }

    fn matches_start(&self, rest: &str) -> bool {
        let mut names = rest.split('/');
        self.components
            .iter()
            .all(|glob| names.next().is_some_and(|name| glob_matches(glob, name)))
    }
}

/// Matches one component; `*` stands for any run of characters.
fn glob_matches(glob: &str, name: &str) -> bool {
    let Some((head, tail)) = glob.split_once('*') else {
        return glob == name;
    };
    let Some(mut rest) = name.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = tail.split('*').collect();
    let last = parts.pop().unwrap_or("");
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Why a text is no pattern for a sensitive path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It names the home directory, which no tool sees.
    #[error("the home directory is hidden from tools as a whole; patterns are for the workspace")]
    Home,
    /// It matches every path.
    #[error("it matches everything; leave the capability out of the rules instead")]
    Everything,
    /// `**` anywhere but in front.
    #[error("`**` in `{0}`: only a leading `**/` is understood, and `*` within one component")]
    Stars(String),
    /// It is no path of the workspace.
    #[error(transparent)]
    Path(jig_proto::PathSyntaxError),
}

/// ssh, gpg, cloud, cluster and registry credentials, `.env` files, shell start-up files and git
/// hooks. All begin with a dot.
const BUILT_IN: &[&str] = &[
    ".env*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git/hooks",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish",
];

#[cfg(test)]
mod tests;
