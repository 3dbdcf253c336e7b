//! Compiled code on disk: the second process starts warm, and what is in doubt is compiled again.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test does to the files of the cache what an attacker would"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::{Tried, guest};
use jig_wasm::{CacheDirs, CodeSource, Settings, WasmRuntime};
use serde_json::json;

/// A runtime as a fresh process has it.
fn runtime(folder: &Path) -> WasmRuntime {
    let mut settings = Settings::default();
    settings.cache = Some(CacheDirs {
        code: folder.join("cache/jig/wasm"),
        key: folder.join("state/jig/wasm.key"),
    });
    WasmRuntime::new(settings).unwrap()
}

fn tried(runtime: &WasmRuntime) -> Tried {
    Tried::memory("test")
        .file("a", "hello")
        .arguments(json!({"path": "a"}))
        .runtime(runtime)
}

/// Where the code came from, after a call that has worked.
#[track_caller]
fn from(folder: &Path) -> CodeSource {
    let runtime = runtime(folder);
    let prepared = runtime.prepare(&tried(&runtime).component()).unwrap();
    assert_eq!(tried(&runtime).run().text(), "hello");
    prepared.from
}

fn entry(folder: &Path) -> PathBuf {
    let mut entries = fs::read_dir(folder.join("cache/jig/wasm")).unwrap();
    entries.next().unwrap().unwrap().path()
}

#[test]
fn a_second_process_starts_warm_and_doubt_means_compiling() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(from(folder), CodeSource::Compiled);
    assert_eq!(from(folder), CodeSource::Disk);
    let whole = fs::read(entry(folder)).unwrap();

    // Poisoned in the middle of the code.
    let mut poisoned = whole.clone();
    let middle = poisoned.len() / 2;
    poisoned[middle] ^= 0xff;
    fs::write(entry(folder), poisoned).unwrap();
    assert_eq!(from(folder), CodeSource::Compiled);
    assert_eq!(from(folder), CodeSource::Disk);

    // Truncated.
    fs::write(entry(folder), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(from(folder), CodeSource::Compiled);

    // With rights for others.
    fs::set_permissions(entry(folder), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(from(folder), CodeSource::Compiled);
    assert_eq!(from(folder), CodeSource::Disk);

    // With another key.
    fs::remove_file(folder.join("state/jig/wasm.key")).unwrap();
    assert_eq!(from(folder), CodeSource::Compiled);
    assert_eq!(from(folder), CodeSource::Disk);
}

#[test]
fn a_place_that_cannot_be_used_only_costs_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cache"), b"no directory").unwrap();
    let runtime = runtime(folder.path());
    let component = tried(&runtime).component();
    assert!(!runtime.is_ready(&component));
    let prepared = runtime.prepare(&component).unwrap();
    assert_eq!(prepared.from, CodeSource::Compiled);
    assert!(prepared.not_kept.is_some());
    assert!(runtime.is_ready(&component));
    assert_eq!(
        runtime.prepare(&component).unwrap().from,
        CodeSource::Memory
    );
    assert_eq!(tried(&runtime).run().text(), "hello");
}

#[test]
fn w044_nothing_is_compiled_that_is_not_called() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(folder.path());
    assert!(!runtime.is_ready(&tried(&runtime).component()));
    assert!(!folder.path().join("cache").exists());
    assert!(!folder.path().join("state").exists());
}

#[test]
fn x45_a_component_that_is_replaced_between_two_calls_is_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(folder.path());
    let path = folder.path().join("tool.wasm");
    let call = || {
        #[expect(
            clippy::disallowed_types,
            reason = "a test opens the file of a component"
        )]
        let file = fs::File::open(&path).unwrap();
        let source = jig_runtime::ComponentSource::File(file.into());
        let done = Tried::of(crate::common::On::Memory, "tool.wasm", source)
            .file("a", "hello")
            .arguments(json!({"path": "a", "action": "echo"}))
            .runtime(&runtime)
            .run();
        done.text().to_owned()
    };
    fs::write(&path, guest("test")).unwrap();
    assert_eq!(call(), "hello");
    fs::write(folder.path().join("new"), guest("hostile")).unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    assert!(call().contains("\"root\""));
    fs::write(&path, guest("test")).unwrap();
    assert_eq!(call(), "hello");
}
