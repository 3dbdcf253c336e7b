//! Rules on files, compiled: the most specific one for a path in one pass over its components.

use std::collections::HashMap;

use jig_proto::ProjectPath;

use crate::decision::{Decision, Reason, Rule};
use crate::guard::{Guards, Protected, ProtectionLevel};
use crate::index::{Index, Levels, SEED, absorb};
use crate::lookup::Lookup;
use crate::policy::{Resource, RuleError, RuleErrorKind};
use crate::resolve::Workspace;
use crate::rules::{FsRule, Origin};
use crate::sensitive::Sensitive;
use crate::{Capabilities, Capability, DefaultAccess};

/// A rule with its path in canonical form.
#[derive(Debug, Clone)]
pub struct CompiledFsRule {
    pub(crate) declared: FsRule,
    pub(crate) path: ProjectPath,
    pub(crate) is_default: bool,
}

impl CompiledFsRule {
    /// The canonical path, to which targets are compared.
    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// The path as it was written.
    pub fn written(&self) -> &str {
        &self.declared.path
    }

    /// What the rule grants.
    pub fn capabilities(&self) -> Capabilities {
        self.declared.capabilities
    }

    /// Where it was declared.
    pub fn origin(&self) -> &Origin {
        &self.declared.origin
    }

    /// Whether nobody declared it: it is the default of the tool's runtime.
    pub fn is_default(&self) -> bool {
        self.is_default
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FsTable {
    rules: Vec<CompiledFsRule>,
    protected: Vec<Protected>,
    sensitive: Sensitive,
    nodes: Vec<Node>,
    /// The paths of all nodes, one after the other: a comparison touches one place in memory.
    text: String,
    index: Index,
    rule_levels: Levels,
    protected_levels: Levels,
}

/// A path at which something is declared, or above such a path.
#[derive(Debug, Clone, Copy)]
struct Node {
    start: u32,
    len: u32,
    /// The last rule declared at exactly this path.
    rule: u32,
    /// The strongest protection at exactly this path.
    protected: u32,
    /// A rule strictly below that withholds `delete` or `create`, if any.
    undeletable_below: u32,
    uncreatable_below: u32,
    /// A protected path strictly below.
    protected_below: u32,
}

const NONE: u32 = u32::MAX;

impl FsTable {
    pub(crate) fn compile<L: Lookup>(
        declared: &[FsRule],
        default: DefaultAccess,
        guards: &Guards,
        workspace: &Workspace<L>,
        errors: &mut Vec<RuleError>,
    ) -> Self {
        let mut rules = Vec::with_capacity(declared.len().max(1));
        for (index, rule) in declared.iter().enumerate() {
            match workspace.resolve(&rule.path) {
                Ok(resolved) => rules.push(CompiledFsRule {
                    declared: rule.clone(),
                    path: resolved.path().clone(),
                    is_default: false,
                }),
                Err(error) => errors.push(RuleError {
                    resource: Resource::Fs,
                    index,
                    origin: rule.origin.clone(),
                    kind: RuleErrorKind::Path(error),
                }),
            }
        }
        if declared.is_empty() {
            rules.push(default_rule(default));
        }
        let mut protected = guards.protected.clone();
        for guard in &guards.protected {
            // A configuration file may be a link: the name and what it leads to are both kept.
            if let Ok(resolved) = workspace.resolve(guard.path.as_str())
                && *resolved.path() != guard.path
            {
                protected.push(Protected {
                    path: resolved.path().clone(),
                    ..guard.clone()
                });
            }
        }
        Self::build(rules, protected, guards.sensitive.clone())
    }

    fn build(rules: Vec<CompiledFsRule>, protected: Vec<Protected>, sensitive: Sensitive) -> Self {
        let mut nodes = Nodes::default();
        let mut rule_levels = Levels::default();
        let mut protected_levels = Levels::default();
        for (number, rule) in (0_u32..).zip(&rules) {
            rule_levels.insert(rule.path.depth());
            nodes.at(rule.path.as_str()).rule = number;
        }
        for (number, guard) in (0_u32..).zip(&protected) {
            protected_levels.insert(guard.path.depth());
            let node = nodes.at(guard.path.as_str());
            let stronger = protected
                .get(node.protected as usize)
                .is_none_or(|other| other.level < guard.level);
            if stronger {
                node.protected = number;
            }
        }
        // Only the last rule at a path counts, so what a path withholds is known from here on.
        for (number, rule) in (0_u32..).zip(&rules) {
            if nodes.at(rule.path.as_str()).rule != number {
                continue;
            }
            let capabilities = rule.capabilities();
            for above in ancestors(rule.path.as_str()) {
                let node = nodes.at(above);
                if !capabilities.has(Capability::Delete) {
                    node.undeletable_below = number;
                }
                if !capabilities.has(Capability::Create) {
                    node.uncreatable_below = number;
                }
            }
        }
        for (number, guard) in (0_u32..).zip(&protected) {
            for above in ancestors(guard.path.as_str()) {
                nodes.at(above).protected_below = number;
            }
        }
        let entries: Vec<(u64, u32)> = (0_u32..)
            .zip(&nodes.nodes)
            .map(|(number, node)| (hash_of(nodes.text_of(node)), number))
            .collect();
        Self {
            index: Index::build(&entries),
            nodes: nodes.nodes,
            text: nodes.text,
            rules,
            protected,
            sensitive,
            rule_levels,
            protected_levels,
        }
    }

    pub(crate) fn rules(&self) -> &[CompiledFsRule] {
        &self.rules
    }

    /// The rule that counts at exactly this path: the last one declared there.
    pub(crate) fn rule_at(&self, path: &ProjectPath) -> Option<&CompiledFsRule> {
        let prefixes = Prefixes::of(path.as_str());
        let node = self.node(&prefixes, prefixes.count() - 1)?;
        self.rules.get(node.rule as usize)
    }

    pub(crate) fn decide(&self, capability: Capability, path: &ProjectPath) -> Decision<'_> {
        let prefixes = Prefixes::of(path.as_str());
        let writes = Capabilities::WRITE.has(capability);
        let guard = if writes { self.guard(&prefixes) } else { None };
        if let Some((guard, _)) = guard
            && guard.level == ProtectionLevel::Never
        {
            return Decision::deny(Reason::Protected(&guard.what), None);
        }
        let Some(rule) = self.winner(&prefixes) else {
            return Decision::uncovered(Reason::NoRule, None);
        };
        if !rule.capabilities().has(capability) {
            return withheld(Rule::Fs(rule));
        }
        let depth = rule.path.depth();
        if let Some(found) = self.sensitive.find(path)
            && depth < found.depth
        {
            return Decision::uncovered(Reason::Sensitive(found.pattern), Some(Rule::Fs(rule)));
        }
        if let Some((guard, guard_depth)) = guard
            && depth < guard_depth
        {
            return Decision::uncovered(Reason::NamedOnly(&guard.what), Some(Rule::Fs(rule)));
        }
        if capability == Capability::Delete
            && let Some(refusal) = self.pinned(path, Capability::Delete)
        {
            return refusal;
        }
        Decision::allow(Rule::Fs(rule))
    }

    /// Why `path` may not be moved away, removed whole, or come into being whole: something below
    /// it is restricted, and would be reached under another name or be brought in from elsewhere.
    pub(crate) fn pinned(&self, path: &ProjectPath, by: Capability) -> Option<Decision<'_>> {
        let prefixes = Prefixes::of(path.as_str());
        if let Some(node) = self.node(&prefixes, prefixes.count() - 1) {
            if let Some(guard) = self.protected.get(node.protected_below as usize) {
                return Some(Decision::deny(Reason::ProtectedBelow(guard), None));
            }
            let below = match by {
                Capability::Delete => node.undeletable_below,
                _ => node.uncreatable_below,
            };
            if let Some(rule) = self.rules.get(below as usize) {
                return Some(Decision::deny(
                    Reason::RestrictedBelow,
                    Some(Rule::Fs(rule)),
                ));
            }
        }
        let pattern = self.sensitive.find_below(path)?;
        let covered = self
            .winner(&prefixes)
            .is_some_and(|rule| rule.path.depth() >= path.depth() && !rule.is_default);
        (!covered).then(|| Decision::uncovered(Reason::SensitiveBelow(pattern), None))
    }

    /// The most specific rule: the deepest node on the way that has one.
    fn winner(&self, prefixes: &Prefixes<'_>) -> Option<&CompiledFsRule> {
        (0..prefixes.count()).rev().find_map(|depth| {
            if !self.rule_levels.may_hold(depth) {
                return None;
            }
            self.rules.get(self.node(prefixes, depth)?.rule as usize)
        })
    }

    /// The strongest protection on the way, with the depth of the path that has it.
    fn guard(&self, prefixes: &Prefixes<'_>) -> Option<(&Protected, usize)> {
        if self.protected_levels.is_empty() {
            return None;
        }
        let mut strongest: Option<(&Protected, usize)> = None;
        for depth in 0..prefixes.count() {
            if !self.protected_levels.may_hold(depth) {
                continue;
            }
            let guard = self
                .node(prefixes, depth)
                .and_then(|node| self.protected.get(node.protected as usize));
            if let Some(guard) = guard
                && strongest.is_none_or(|(other, _)| other.level <= guard.level)
            {
                strongest = Some((guard, depth));
            }
        }
        strongest
    }

    #[inline]
    fn node(&self, prefixes: &Prefixes<'_>, depth: usize) -> Option<&Node> {
        let (hash, prefix) = prefixes.at(depth);
        let number = self.index.find(hash, |number| {
            let node = &self.nodes[number as usize];
            &self.text[node.start as usize..(node.start + node.len) as usize] == prefix
        })?;
        self.nodes.get(number as usize)
    }
}

fn withheld(rule: Rule<'_>) -> Decision<'_> {
    if rule.is_default() {
        Decision::uncovered(Reason::DefaultWithholds, Some(rule))
    } else {
        Decision::deny(Reason::Withheld, Some(rule))
    }
}

fn default_rule(default: DefaultAccess) -> CompiledFsRule {
    CompiledFsRule {
        declared: FsRule {
            path: ".".to_owned(),
            capabilities: default.fs,
            origin: Origin::named("default of the runtime"),
        },
        path: ProjectPath::root(),
        is_default: true,
    }
}

/// Nodes while they are collected.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Node>,
    text: String,
    numbers: HashMap<String, usize>,
}

impl Nodes {
    fn at(&mut self, path: &str) -> &mut Node {
        let number = match self.numbers.get(path) {
            Some(number) => *number,
            None => {
                let number = self.nodes.len();
                self.nodes.push(Node {
                    start: self.text.len() as u32,
                    len: path.len() as u32,
                    rule: NONE,
                    protected: NONE,
                    undeletable_below: NONE,
                    uncreatable_below: NONE,
                    protected_below: NONE,
                });
                self.text.push_str(path);
                self.numbers.insert(path.to_owned(), number);
                number
            }
        };
        &mut self.nodes[number]
    }

    fn text_of(&self, node: &Node) -> &str {
        &self.text[node.start as usize..(node.start + node.len) as usize]
    }
}

/// The paths strictly above `path`, down from its parent to the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = (!path.is_empty()).then_some(path);
    std::iter::from_fn(move || {
        let current = rest?;
        let above = &current[..current.rfind('/').unwrap_or(0)];
        rest = (!above.is_empty()).then_some(above);
        Some(above)
    })
}

fn hash_of(path: &str) -> u64 {
    path.split('/')
        .filter(|name| !name.is_empty())
        .fold(SEED, |state, name| absorb(state, name.as_bytes()))
}

/// Every prefix of a path with its hash: number 0 is the root, the last one the path itself.
struct Prefixes<'a> {
    path: &'a str,
    near: [(u64, u32); NEAR],
    far: Vec<(u64, u32)>,
    count: usize,
}

/// Paths up to this depth are handled without allocating.
const NEAR: usize = 24;

impl<'a> Prefixes<'a> {
    fn of(path: &'a str) -> Self {
        let mut prefixes = Self {
            path,
            near: [(SEED, 0); NEAR],
            far: Vec::new(),
            count: 1,
        };
        let (mut state, mut start) = (SEED, 0);
        while start < path.len() {
            let rest = &path.as_bytes()[start..];
            let len = rest
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(rest.len());
            state = absorb(state, &rest[..len]);
            prefixes.push((state, (start + len) as u32));
            start += len + 1;
        }
        prefixes
    }

    fn push(&mut self, prefix: (u64, u32)) {
        match self.near.get_mut(self.count) {
            Some(place) => *place = prefix,
            None => self.far.push(prefix),
        }
        self.count += 1;
    }

    fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn at(&self, depth: usize) -> (u64, &'a str) {
        let (hash, end) = match self.near.get(depth) {
            Some(near) => *near,
            None => self.far[depth - NEAR],
        };
        (hash, &self.path[..end as usize])
    }
}
