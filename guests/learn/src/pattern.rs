//! [`Pattern`]: which subjects are meant.

/// The name of a subject, or a pattern: `*` stands for any part of one component, `?` for one character of
/// it, `**` as a component of its own for any number of them.
///
/// Every text is one: what makes no sense as a path, such as `..`, matches nothing.
pub(crate) struct Pattern {
    text: String,
    components: Vec<Component>,
}

enum Component {
    /// Any number of components.
    Any,
    One(Vec<Piece>),
}

enum Piece {
    /// Any number of characters.
    Star,
    /// One character.
    Question,
    Literal(char),
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim();
        let text = text.strip_prefix("./").unwrap_or(text);
        let mut components: Vec<Component> = Vec::new();
        for component in text.split('/') {
            if component != "**" {
                components.push(Component::One(pieces(component)));
            } else if !matches!(components.last(), Some(Component::Any)) {
                components.push(Component::Any);
            }
        }
        // All that is below a directory is not the directory.
        if matches!(components.last(), Some(Component::Any)) {
            components.push(Component::One(vec![Piece::Star]));
        }
        Self {
            text: text.to_owned(),
            components,
        }
    }

    /// The pattern as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has a wildcard.
    pub(crate) fn is_wild(&self) -> bool {
        self.text.contains(['*', '?'])
    }

    /// Whether it is meant for this name. Every name is meant by itself, also if it holds characters that are
    /// wildcards elsewhere.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.text == name || !self.is_wild() {
            return self.text == name;
        }
        let names: Vec<&str> = name.split('/').collect();
        let is_any = |component: &Component| matches!(component, Component::Any);
        let fits = |component: &Component, name: &&str| match component {
            Component::Any => false,
            Component::One(pieces) => is_like(pieces, name),
        };
        matches_all(&self.components, &names, is_any, fits)
    }

    /// Whether it is an exact name that lies below this directory.
    pub(crate) fn leads_below(&self, directory: &str) -> bool {
        let rest = self.text.strip_prefix(directory);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

fn pieces(component: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for one in component.chars() {
        match one {
            // Two in a row mean the same as one.
            '*' if matches!(pieces.last(), Some(Piece::Star)) => {}
            '*' => pieces.push(Piece::Star),
            '?' => pieces.push(Piece::Question),
            one => pieces.push(Piece::Literal(one)),
        }
    }
    pieces
}

fn is_like(pieces: &[Piece], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let is_star = |piece: &Piece| matches!(piece, Piece::Star);
    let fits = |piece: &Piece, one: &char| match piece {
        Piece::Star => false,
        Piece::Question => true,
        Piece::Literal(literal) => literal == one,
    };
    matches_all(pieces, &name, is_star, fits)
}

/// Whether the pattern fits the whole name, where `is_many` says which steps of it stand for any number of
/// steps of the name.
///
/// It goes back to the last of those only, which is enough, so that the time is at most the product of both
/// lengths, whatever somebody writes.
fn matches_all<P, N>(
    pattern: &[P],
    name: &[N],
    is_many: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &N) -> bool,
) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    while of < name.len() {
        match pattern.get(at) {
            Some(step) if is_many(step) => {
                last_many = Some((at, of));
                at += 1;
            }
            Some(step) if fits(step, &name[of]) => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((many, from)) = last_many else {
                    return false;
                };
                last_many = Some((many, from + 1));
                (at, of) = (many + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(is_many)
}
