#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test makes and replaces the files of components"
)]

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ::bytes::Bytes;
use jig_runtime::{Component, ComponentSource};

use super::{CodeSource, Components};
use crate::ComponentError;
use crate::cache::{CacheDirs, ComponentCache};
use crate::engine::WasmMachine;

/// A component that is none of ours, so that nothing but loading it is tried.
fn text(marker: usize) -> String {
    format!("(component (core module (func (export \"f\") (drop (i32.const {marker})))))")
}

fn binary(marker: usize) -> Bytes {
    Bytes::from(wat::parse_str(text(marker)).unwrap())
}

fn component(source: ComponentSource) -> Component {
    Component {
        shown: "tool.wasm".to_owned(),
        source,
        mounts: Vec::new(),
    }
}

fn of_file(path: &Path) -> Component {
    component(ComponentSource::File(Arc::new(File::open(path).unwrap())))
}

fn components(folder: Option<&Path>) -> Arc<Components> {
    let cache = folder.map(|folder| {
        ComponentCache::new(CacheDirs {
            code: folder.join("code"),
            key: folder.join("key/wasm.key"),
        })
    });
    Arc::new(Components::new(WasmMachine::shared().unwrap(), cache))
}

#[track_caller]
fn load(components: &Arc<Components>, component: &Component) -> (blake3::Hash, CodeSource) {
    let (ready, from) = components.get(component, || false).unwrap();
    (ready.hash, from)
}

#[test]
fn w032_a_component_is_compiled_once_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = components(Some(folder.path()));
    let one = component(ComponentSource::Bytes(binary(1)));
    assert!(!first.is_ready(&one));
    assert_eq!(load(&first, &one).1, CodeSource::Compiled);
    assert_eq!(load(&first, &one).1, CodeSource::Memory);
    // The same bytes elsewhere are the same component.
    let same = component(ComponentSource::Bytes(binary(1)));
    assert_eq!(load(&first, &same).1, CodeSource::Memory);
    // Another process.
    let second = components(Some(folder.path()));
    assert!(second.is_ready(&one));
    assert_eq!(load(&second, &one).1, CodeSource::Disk);
    // One without a cache.
    assert_eq!(load(&components(None), &one).1, CodeSource::Compiled);
}

#[test]
fn code_that_was_tampered_with_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let one = component(ComponentSource::Bytes(binary(1)));
    load(&components(Some(folder.path())), &one);
    let entries: Vec<_> = fs::read_dir(folder.path().join("code")).unwrap().collect();
    let [Ok(entry)] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    let whole = fs::read(entry.path()).unwrap();
    let poison = |bytes: &[u8]| fs::write(entry.path(), bytes).unwrap();
    // Changed at many places, and cut at many lengths.
    for index in (0..whole.len()).step_by(whole.len() / 7) {
        let mut changed = whole.clone();
        changed[index] ^= 0xff;
        poison(&changed);
        assert_eq!(
            load(&components(Some(folder.path())), &one).1,
            CodeSource::Compiled
        );
        poison(&whole[..index]);
        assert_eq!(
            load(&components(Some(folder.path())), &one).1,
            CodeSource::Compiled
        );
    }
    // What was compiled again is whole again.
    assert_eq!(
        load(&components(Some(folder.path())), &one).1,
        CodeSource::Disk
    );
}

/// Without the seal the attack works: the engine itself takes changed code, and would run it.
#[test]
fn the_engine_itself_does_not_notice_changed_code() {
    let components = components(None);
    let one = component(ComponentSource::Bytes(binary(0x1234_5678)));
    let (ready, _) = components.get(&one, || false).unwrap();
    let mut code = ready.component.serialize().unwrap();
    // The last byte that is not part of a header; machine code has no check of its own.
    let text = ready.component.text().to_vec();
    let at = code
        .windows(text.len())
        .position(|window| window == text)
        .unwrap();
    code[at] ^= 0xff;
    #[expect(unsafe_code, reason = "this is the attack, and nothing of it is run")]
    // SAFETY: the code is loaded, and dropped without being run.
    let loaded =
        unsafe { wasmtime::component::Component::deserialize(&components.machine.engine, &code) };
    assert!(loaded.is_ok());
}

#[test]
fn code_of_an_engine_with_other_settings_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let one = component(ComponentSource::Bytes(binary(1)));
    load(&components(Some(folder.path())), &one);
    let mut config = wasmtime::Config::new();
    config.epoch_interruption(true).memory_reservation(1 << 20);
    let machine = WasmMachine::on(wasmtime::Engine::new(&config).unwrap()).unwrap();
    let cache = ComponentCache::new(CacheDirs {
        code: folder.path().join("code"),
        key: folder.path().join("key/wasm.key"),
    });
    let foreign = Arc::new(Components::new(Arc::new(machine), Some(cache)));
    assert!(!foreign.is_ready(&one));
    assert_eq!(load(&foreign, &one).1, CodeSource::Compiled);
}

#[test]
fn x45_a_file_that_is_replaced_or_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool.wasm");
    let components = components(None);
    let mut seen = Vec::new();
    let look = |seen: &mut Vec<blake3::Hash>| {
        let (hash, _) = load(&components, &of_file(&path));
        assert!(!seen.contains(&hash), "it was taken for an earlier one");
        seen.push(hash);
        // And again, as it is.
        assert_eq!(
            load(&components, &of_file(&path)),
            (hash, CodeSource::Memory)
        );
    };
    fs::write(&path, binary(1)).unwrap();
    look(&mut seen);
    // In place, with the same size, at once: within the same tick of the file system's clock.
    assert_eq!(binary(1).len(), binary(2).len());
    fs::write(&path, binary(2)).unwrap();
    look(&mut seen);
    // By another file.
    fs::write(folder.path().join("new"), binary(3)).unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    look(&mut seen);
    // By another file that claims to be as old.
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, binary(4)).unwrap();
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(before)
        .unwrap();
    look(&mut seen);
}

#[test]
fn a_file_that_has_settled_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool.wasm");
    fs::write(&path, binary(1)).unwrap();
    let components = components(None);
    // It is read as long as a change might go unnoticed, and then not any more.
    jig_testkit::until("it is not read any more", || {
        let (hash, bytes) = components.identify(&of_file(&path)).unwrap();
        assert_eq!(hash, blake3::hash(&binary(1)));
        bytes.is_none()
    });
    assert_eq!(load(&components, &of_file(&path)).1, CodeSource::Compiled);
}

#[test]
fn eight_calls_at_once_compile_once() {
    let folder = tempfile::tempdir().unwrap();
    let components = components(Some(folder.path()));
    let one = component(ComponentSource::Bytes(binary(1)));
    let barrier = Barrier::new(8);
    let ready: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    components.get(&one, || false).unwrap().0
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(ready.iter().all(|other| Arc::ptr_eq(other, &ready[0])));
}

#[test]
fn a_call_that_waits_can_be_given_up_and_others_go_on() {
    let components = components(None);
    let slow = component(ComponentSource::Bytes(binary(1)));
    let hash = blake3::hash(&binary(1));
    // As if a thread were at it that never comes to an end.
    components.lock().begin(hash, "slow.wasm", 7);
    let [compiling] = components.compiling().try_into().unwrap();
    assert_eq!((compiling.shown.as_str(), compiling.size), ("slow.wasm", 7));
    let asked = AtomicUsize::new(0);
    let given_up = components.get(&slow, || asked.fetch_add(1, Ordering::SeqCst) == 2);
    assert_eq!(given_up.err(), Some(ComponentError::Cancelled));
    assert!(!components.is_ready(&slow));
    let other = component(ComponentSource::Bytes(binary(2)));
    assert_eq!(load(&components, &other).1, CodeSource::Compiled);
}

#[test]
fn what_cannot_be_compiled_fails_again_without_being_compiled() {
    let components = components(None);
    let broken = component(ComponentSource::Embedded(b"\0asm\x0d\0\x01\0\xff"));
    let first = components.get(&broken, || false).err().unwrap();
    assert!(matches!(first, ComponentError::Compile(_)));
    assert_eq!(components.get(&broken, || false).err(), Some(first));
    assert!(!components.is_ready(&broken));
    assert!(components.compiling().is_empty());
}

#[test]
fn what_is_no_file_cannot_be_read() {
    let components = components(None);
    let folder = tempfile::tempdir().unwrap();
    let error = components.get(&of_file(folder.path()), || false).err();
    assert!(
        matches!(error, Some(ComponentError::Unreadable { .. })),
        "{error:?}"
    );
    // A file of the kernel's says that it is empty, and is not.
    let error = components.get(&of_file(Path::new("/proc/self/cmdline")), || false);
    assert!(matches!(error.err(), Some(ComponentError::Compile(_))));
}

#[test]
fn what_is_remembered_is_bounded() {
    let components = components(None);
    for marker in 0..super::memo::MAX_COMPONENTS + 10 {
        load(
            &components,
            &component(ComponentSource::Bytes(binary(marker))),
        );
    }
    assert!(components.lock().len() <= super::memo::MAX_COMPONENTS);
    // The first is compiled again.
    let first = component(ComponentSource::Bytes(binary(0)));
    assert_eq!(load(&components, &first).1, CodeSource::Compiled);
}

/// A file is known by its stamp, and its component was forgotten: what it has by then is read again. Whatever
/// that is, it is kept under its own name, or whoever replaces a file at the right moment has the code of one
/// component run as another, in every process that shares the cache.
#[test]
fn x45_code_is_never_kept_under_the_name_of_another_component() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool.wasm");
    fs::write(&path, binary(2)).unwrap();
    let first = components(Some(folder.path()));
    let swapped = of_file(&path);
    let stamp = super::bytes::ComponentFileStamp::of(&swapped)
        .unwrap()
        .unwrap();
    first.lock().remember(stamp, blake3::hash(&binary(1)));
    assert_eq!(load(&first, &swapped).0, blake3::hash(&binary(2)));
    // Another process knows nothing of the component whose name the file had.
    let second = components(Some(folder.path()));
    let one = component(ComponentSource::Bytes(binary(1)));
    assert_eq!(load(&second, &one).1, CodeSource::Compiled);
    let other = component(ComponentSource::Bytes(binary(2)));
    assert_eq!(load(&second, &other).1, CodeSource::Disk);
}

/// Files that have no descriptors are read anew with each call, and what is known by its place is held there.
#[test]
fn bytes_that_are_remembered_do_not_fill_the_memory() {
    let components = components(None);
    for _ in 0..30 {
        let large = Bytes::from(vec![0; 8 << 20]);
        let large = component(ComponentSource::Bytes(large));
        components.identify(&large).unwrap();
    }
    assert!(components.lock().held() <= 64 << 20);
    // One that is too large for that is hashed again each time.
    let huge = component(ComponentSource::Bytes(Bytes::from(vec![0; 70 << 20])));
    for _ in 0..2 {
        assert!(components.identify(&huge).unwrap().1.is_some());
    }
    assert!(components.lock().held() <= 64 << 20);
}

/// A bomb for the compiler: nobody waits for it without end, also where nobody can give up.
#[test]
fn nobody_waits_for_ever_for_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let components = Components {
        longest: Duration::from_millis(50),
        ..Arc::into_inner(components(Some(folder.path()))).unwrap()
    };
    let components = Arc::new(components);
    let slow = component(ComponentSource::Bytes(binary(1)));
    components
        .lock()
        .begin(blake3::hash(&binary(1)), "slow.wasm", 7);
    let error = components.get(&slow, || false).err().unwrap();
    assert!(
        error.to_string().contains("has not been compiled"),
        "{error}"
    );
}
