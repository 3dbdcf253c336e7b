//! The profile of the suite: much like what jig gives a tool when nothing is declared.

use std::path::{Path, PathBuf};

use jig_sandbox::{
    Enforce, GatewayProfile, Layers, Network, PathRule, PrivateDirectory, ProcessLimits, Profile,
    Rights, RuleSource,
};
use jig_testkit::{Arena, GATEWAY_PORT};

/// The home of a confined program.
pub(crate) const HOME: &str = "/home/jig";

const READ_AND_RUN: Rights = Rights::READ.with(Rights::EXECUTE);

/// The programs of the system, the workspace with its denied and read-only parts, and private directories.
pub(crate) fn profile(arena: &Arena, layers: Layers) -> Profile {
    let rule = |path: &str, rights: Rights, source: RuleSource| PathRule {
        path: PathBuf::from(path),
        rights,
        source,
    };
    let system = SYSTEM
        .iter()
        .filter(|path| Path::new(path).exists())
        .map(|path| rule(path, READ_AND_RUN, RuleSource::System));
    let programs = arena.host().hostile().parent().unwrap_or(Path::new("/"));
    let own = rule(
        &programs.to_string_lossy(),
        READ_AND_RUN,
        RuleSource::System,
    );
    let inside = WORKSPACE
        .iter()
        .map(|(path, rights, source)| rule(&arena.workspace(path), *rights, *source));
    let beside = [("update", Rights::UPDATE), ("delete", Rights::DELETE)].map(|(path, right)| {
        let rights = Rights::READ.with(right);
        rule(&arena.beside(path), rights, RuleSource::Declared)
    });
    let private = ["/tmp", HOME].map(|path| PrivateDirectory {
        path: PathBuf::from(path),
        size: 16 << 20,
        executable: path == HOME,
    });
    Profile {
        paths: system.chain([own]).chain(inside).chain(beside).collect(),
        private: private.into(),
        pins: PINS
            .iter()
            .map(|path| arena.workspace(path).into())
            .collect(),
        enforce: Enforce::Required,
        layers,
        ..Profile::closed()
    }
}

/// A network that ends at the host. Of the ports, one is for an attack to take, and on others the host itself
/// listens, out of reach.
pub(crate) fn gateway(arena: &Arena) -> Network {
    let mut ports = arena.host().ports();
    ports.extend([80, 443, GATEWAY_PORT]);
    Network::Gateway(GatewayProfile {
        ports,
        ..GatewayProfile::default()
    })
}

/// Far below what the attacks on limits try to use.
pub(crate) const LIMITS: ProcessLimits = ProcessLimits {
    tasks: Some(400),
    memory: Some(128 << 20),
    descriptors: Some(256),
    file_size: Some(16 << 20),
    disk: None,
    files: None,
    core: Some(0),
};

const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/alternatives",
];

const WORKSPACE: &[(&str, Rights, RuleSource)] = &[
    ("", Rights::ALL, RuleSource::Declared),
    (".env", Rights::NONE, RuleSource::Guard),
    ("src/.env", Rights::NONE, RuleSource::Guard),
    ("nested/deep/.env", Rights::NONE, RuleSource::Declared),
    ("locked", READ_AND_RUN, RuleSource::Declared),
    (
        "plain",
        Rights::ALL.without(Rights::EXECUTE),
        RuleSource::Declared,
    ),
    ("jig.toml", Rights::READ, RuleSource::Guard),
    ("jp.toml", Rights::READ, RuleSource::Guard),
    (".jig", Rights::READ, RuleSource::Guard),
    (".git/config", Rights::READ, RuleSource::Guard),
    (".git/commondir", Rights::READ, RuleSource::Guard),
    (".git/hooks", READ_AND_RUN, RuleSource::Guard),
];

/// What lies above the restricted paths.
const PINS: &[&str] = &["", "nested", "nested/deep", ".git", "src"];
