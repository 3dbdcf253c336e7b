//! What can be known of a component without running it: all that it could ever ask for.

use std::collections::BTreeSet;

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::components::CompiledComponent;
use crate::text;

#[cfg(test)]
mod tests;

/// What a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The size of its binary, in bytes.
    pub size: u64,
    /// What it imports, by name.
    pub imports: Vec<ComponentImport>,
    /// What it exports, by name.
    pub exports: Vec<String>,
    /// Whether it exports the contract of tools.
    pub is_tool: bool,
    /// Whether it describes its own tools.
    pub describes: bool,
    /// All that it could ever ask for. What it gets is up to the rules of the tool.
    pub wants: Vec<ComponentNeed>,
    /// Imports that there is nothing for. A component that has any does not run.
    pub unknown: Vec<String>,
    /// How many memories it has, if that is known.
    pub memories: Option<u32>,
    /// How many bytes the largest of its memories has at the beginning, if that is known.
    pub initial_memory: Option<u64>,
}

/// Something that a component imports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComponentImport {
    /// The name: `wasi:clocks/wall-clock@0.2.6`.
    pub interface: String,
    /// The functions that it uses of it.
    pub functions: Vec<String>,
    /// Whether we have it.
    pub provided: bool,
}

/// What a component could ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ComponentNeed {
    /// To read or change files.
    Files,
    /// To reach servers by HTTP.
    Http,
    /// To run programs.
    Programs,
    /// To ask its caller something while it runs.
    Questions,
    /// To open sockets, which no component may.
    Sockets,
    /// To see variables of the environment.
    Environment,
    /// To print, which is captured.
    Stdio,
    /// To know the time, or to wait.
    Clock,
    /// To have random numbers.
    Random,
}

impl ComponentNeed {
    /// In words: `files`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Http => "http",
            Self::Programs => "programs",
            Self::Questions => "questions",
            Self::Sockets => "sockets",
            Self::Environment => "environment",
            Self::Stdio => "stdio",
            Self::Clock => "clock",
            Self::Random => "random",
        }
    }
}

/// Looks at a component.
pub(crate) fn inspect(ready: &CompiledComponent) -> Inspection {
    let component = &ready.component;
    let imports = imports(component);
    let known = imports.iter().filter_map(|one| provided(&one.interface));
    let wants: BTreeSet<ComponentNeed> = known.flatten().copied().collect();
    let needs = component.resources_required();
    Inspection {
        size: ready.size,
        exports: exports(component),
        is_tool: is_tool(component),
        describes: ready.describe.is_some(),
        wants: wants.into_iter().collect(),
        unknown: unknown(component),
        memories: needs.as_ref().map(|needs| needs.num_memories),
        initial_memory: needs.and_then(|needs| needs.max_initial_memory_size),
        imports,
    }
}

fn imports(component: &Component) -> Vec<ComponentImport> {
    let engine = component.engine();
    let ty = component.component_type();
    let imports = ty.imports(engine).map(|(name, item)| ComponentImport {
        interface: text::plain(name),
        functions: match &item.ty {
            ComponentItem::ComponentInstance(instance) => instance
                .exports(engine)
                .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)))
                .map(|(name, _)| text::plain(name))
                .collect(),
            _ => Vec::new(),
        },
        provided: provided(name).is_some() || !needs_a_host(&item.ty),
    });
    imports.collect()
}

/// The imports that there is nothing for.
pub(crate) fn unknown(component: &Component) -> Vec<String> {
    let imports = imports(component).into_iter();
    let unknown = imports.filter(|one| !one.provided);
    unknown.map(|one| one.interface).collect()
}

/// Whether something that is imported is more than the name of a type.
fn needs_a_host(item: &ComponentItem) -> bool {
    !matches!(item, ComponentItem::Type(_))
}

/// The names of what a component exports.
pub(crate) fn exports(component: &Component) -> Vec<String> {
    let engine = component.engine();
    let ty = component.component_type();
    let exports = ty.exports(engine).map(|(name, _)| text::plain(name));
    exports.collect()
}

/// Whether a component exports the function of the contract. Whether it has the right type is seen when it
/// is linked.
pub(crate) fn is_tool(component: &Component) -> bool {
    let ty = component.component_type();
    let run = ty.get_export(component.engine(), "run");
    run.is_some_and(|item| matches!(item.ty, ComponentItem::ComponentFunc(_)))
}

/// What an interface stands for, if we have it: of the same name, and of a version that ours can stand for.
fn provided(interface: &str) -> Option<&'static [ComponentNeed]> {
    let (name, version) = interface.split_once('@').unwrap_or((interface, ""));
    let (_, ours, wants) = PROVIDED.iter().find(|(known, _, _)| *known == name)?;
    let rest = version.strip_prefix(ours)?;
    // No part of a version begins in the middle of a number, and what is not released is its own version.
    let is_ours = rest.starts_with('.') && !version.contains('-');
    is_ours.then_some(*wants)
}

/// Every interface that the linker has, the versions of it, and what it stands for.
const PROVIDED: &[(&str, &str, &[ComponentNeed])] = &[
    ("wasi:io/poll", "0.2", &[]),
    ("wasi:io/error", "0.2", &[]),
    ("wasi:io/streams", "0.2", &[]),
    (
        "wasi:clocks/monotonic-clock",
        "0.2",
        &[ComponentNeed::Clock],
    ),
    ("wasi:clocks/wall-clock", "0.2", &[ComponentNeed::Clock]),
    ("wasi:random/random", "0.2", &[ComponentNeed::Random]),
    ("wasi:random/insecure", "0.2", &[ComponentNeed::Random]),
    ("wasi:random/insecure-seed", "0.2", &[ComponentNeed::Random]),
    ("wasi:cli/environment", "0.2", &[ComponentNeed::Environment]),
    ("wasi:cli/exit", "0.2", &[]),
    ("wasi:cli/stdin", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/stdout", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/stderr", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/terminal-input", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/terminal-output", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/terminal-stdin", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/terminal-stdout", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:cli/terminal-stderr", "0.2", &[ComponentNeed::Stdio]),
    ("wasi:filesystem/types", "0.2", &[ComponentNeed::Files]),
    ("wasi:filesystem/preopens", "0.2", &[ComponentNeed::Files]),
    ("wasi:sockets/network", "0.2", &[ComponentNeed::Sockets]),
    (
        "wasi:sockets/instance-network",
        "0.2",
        &[ComponentNeed::Sockets],
    ),
    (
        "wasi:sockets/ip-name-lookup",
        "0.2",
        &[ComponentNeed::Sockets],
    ),
    ("wasi:sockets/tcp", "0.2", &[ComponentNeed::Sockets]),
    (
        "wasi:sockets/tcp-create-socket",
        "0.2",
        &[ComponentNeed::Sockets],
    ),
    ("wasi:sockets/udp", "0.2", &[ComponentNeed::Sockets]),
    (
        "wasi:sockets/udp-create-socket",
        "0.2",
        &[ComponentNeed::Sockets],
    ),
    ("wasi:http/types", "0.2", &[ComponentNeed::Http]),
    ("wasi:http/outgoing-handler", "0.2", &[ComponentNeed::Http]),
    ("jp:host/filesystem", "0.1", &[ComponentNeed::Files]),
    ("jp:host/http", "0.1", &[ComponentNeed::Http]),
    ("jp:host/process", "0.1", &[ComponentNeed::Programs]),
    (
        "jig:tool/vfs",
        "0.1",
        &[
            ComponentNeed::Files,
            ComponentNeed::Http,
            ComponentNeed::Programs,
            ComponentNeed::Questions,
        ],
    ),
    ("jp:tool/types", "0.1", &[]),
];
