#![expect(
    clippy::disallowed_methods,
    reason = "a test does to the files of the cache what an attacker would"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use super::{CacheDirs, CacheEntryId, CacheKey, ComponentCache, SEAL, SealedBytes};

struct Place {
    folder: tempfile::TempDir,
    identity: CacheEntryId,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            identity: CacheEntryId::description(&blake3::hash(b"component")),
        }
    }

    fn dirs(&self) -> CacheDirs {
        CacheDirs {
            code: self.folder.path().join("a/b/code"),
            key: self.folder.path().join("c/wasm.key"),
        }
    }

    /// As another process would open it.
    fn cache(&self) -> ComponentCache {
        ComponentCache::new(self.dirs())
    }

    fn loaded(&self) -> Option<Vec<u8>> {
        let sealed = self.cache().load(&self.identity)?;
        Some(sealed.to_vec())
    }

    fn entry(&self) -> PathBuf {
        self.dirs().code.join(self.identity.name())
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_kept_is_there_for_the_next_process_and_for_nobody_else() {
    let place = Place::new();
    assert_eq!(place.loaded(), None);
    assert!(!place.cache().has(&place.identity));
    place.cache().store(&place.identity, b"code").unwrap();
    assert!(place.cache().has(&place.identity));
    assert_eq!(place.loaded().unwrap(), b"code");
    assert_eq!(mode(&place.dirs().code), 0o700);
    assert_eq!(mode(&place.entry()), 0o600);
    assert_eq!(mode(&place.dirs().key), 0o600);
    let names = fs::read_dir(place.dirs().code).unwrap().count();
    assert_eq!(names, 1, "nothing is left of writing");
}

/// One way to tamper with an entry.
type Attack = fn(&Place);

#[test]
fn an_entry_that_is_in_doubt_is_not_there() {
    let attacks: [(&str, Attack); 12] = [
        ("a changed byte", |place| {
            let mut bytes = fs::read(place.entry()).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(place.entry(), bytes).unwrap();
        }),
        ("a changed seal", |place| {
            let mut bytes = fs::read(place.entry()).unwrap();
            bytes[0] ^= 1;
            fs::write(place.entry(), bytes).unwrap();
        }),
        ("the end is missing", |place| {
            let bytes = fs::read(place.entry()).unwrap();
            fs::write(place.entry(), &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("only a part of the seal", |place| {
            fs::write(place.entry(), [0; SEAL - 1]).unwrap();
        }),
        ("nothing at all", |place| {
            fs::write(place.entry(), b"").unwrap()
        }),
        ("something more", |place| {
            let bytes = fs::read(place.entry()).unwrap();
            fs::write(place.entry(), [&bytes[..], b"x"].concat()).unwrap();
        }),
        ("others may read it", |place| {
            set_mode(&place.entry(), 0o604)
        }),
        ("the group may write it", |place| {
            set_mode(&place.entry(), 0o620)
        }),
        ("a link in its place", |place| {
            let elsewhere = place.folder.path().join("elsewhere");
            fs::rename(place.entry(), &elsewhere).unwrap();
            symlink(elsewhere, place.entry()).unwrap();
        }),
        ("a second name", |place| {
            fs::hard_link(place.entry(), place.folder.path().join("other")).unwrap();
        }),
        ("a directory in its place", |place| {
            fs::remove_file(place.entry()).unwrap();
            fs::create_dir(place.entry()).unwrap();
        }),
        ("a pipe in its place", |place| {
            fs::remove_file(place.entry()).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, place.entry(), kind, mode, 0).unwrap();
        }),
    ];
    for (what, attack) in attacks {
        let place = Place::new();
        place.cache().store(&place.identity, b"code").unwrap();
        assert!(place.loaded().is_some(), "{what}");
        attack(&place);
        assert_eq!(place.loaded(), None, "{what}");
        // What is compiled again takes its place, but for a directory, which is left to its owner.
        let stored = place.cache().store(&place.identity, b"code");
        match stored {
            Ok(()) => assert!(place.loaded().is_some(), "{what}"),
            Err(_) => assert_eq!(what, "a directory in its place"),
        }
    }
}

#[test]
fn places_that_are_not_the_users_own_are_not_used() {
    let attacks: [(&str, Attack); 7] = [
        ("the directory is open to others", |place| {
            set_mode(&place.dirs().code, 0o755);
        }),
        ("the directory is a link", |place| {
            let elsewhere = place.folder.path().join("elsewhere");
            fs::rename(place.dirs().code, &elsewhere).unwrap();
            symlink(elsewhere, place.dirs().code).unwrap();
        }),
        ("the key is open to others", |place| {
            set_mode(&place.dirs().key, 0o644)
        }),
        ("the key is short", |place| {
            fs::write(place.dirs().key, [1; 31]).unwrap()
        }),
        ("the key is long", |place| {
            fs::write(place.dirs().key, [1; 33]).unwrap()
        }),
        ("the key is a link", |place| {
            let elsewhere = place.folder.path().join("elsewhere");
            fs::rename(place.dirs().key, &elsewhere).unwrap();
            symlink(elsewhere, place.dirs().key).unwrap();
        }),
        ("others may write where the key is", |place| {
            set_mode(place.dirs().key.parent().unwrap(), 0o777);
        }),
    ];
    for (what, attack) in attacks {
        let place = Place::new();
        place.cache().store(&place.identity, b"code").unwrap();
        attack(&place);
        assert_eq!(place.loaded(), None, "{what}");
        assert!(
            place.cache().store(&place.identity, b"code").is_err(),
            "{what}"
        );
    }
}

/// As root, files of another user can be made; as anybody else, the check is the same code.
#[test]
fn the_files_of_another_user_are_not_used() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let nobody = Some(rustix::fs::Uid::from_raw(65534));
    for what in [
        |place: &Place| place.entry(),
        |place: &Place| place.dirs().code,
        |place: &Place| place.dirs().key,
        |place: &Place| place.dirs().key.parent().unwrap().to_owned(),
    ] {
        let place = Place::new();
        place.cache().store(&place.identity, b"code").unwrap();
        assert!(place.loaded().is_some());
        rustix::fs::chown(what(&place), nobody, None).unwrap();
        assert_eq!(place.loaded(), None, "{}", what(&place).display());
    }
}

#[test]
fn an_entry_counts_only_under_its_own_name_and_key() {
    let place = Place::new();
    let cache = place.cache();
    cache.store(&place.identity, b"code").unwrap();
    // Somebody who can write the directory puts the code of one component where another's should be.
    let other = CacheEntryId::description(&blake3::hash(b"another"));
    fs::copy(place.entry(), place.dirs().code.join(other.name())).unwrap();
    assert!(cache.has(&other));
    assert!(cache.load(&other).is_none());
    // What was written with another key is foreign.
    fs::write(place.dirs().key, [7; 32]).unwrap();
    assert_eq!(place.loaded(), None);
}

/// The seal is what decides: the same bytes are taken with the right key and name, and with no other.
#[test]
fn the_seal_is_what_decides() {
    let identity = CacheEntryId::description(&blake3::hash(b"component"));
    let key = CacheKey([1; 32]);
    let seal = key.seal(&identity, b"code");
    let bytes = [seal.as_bytes(), &b"code"[..]].concat();
    let opened = SealedBytes::open(&key, &identity, bytes.clone()).unwrap();
    assert_eq!(&*opened, b"code");
    assert!(SealedBytes::open(&CacheKey([2; 32]), &identity, bytes.clone()).is_none());
    let other = CacheEntryId::description(&blake3::hash(b"another"));
    assert!(SealedBytes::open(&key, &other, bytes.clone()).is_none());
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 0x80;
        assert!(
            SealedBytes::open(&key, &identity, changed).is_none(),
            "{index}"
        );
    }
}

#[test]
fn code_of_another_engine_has_another_name() {
    let component = blake3::hash(b"component");
    let name = |change: fn(&mut wasmtime::Config)| {
        let mut config = wasmtime::Config::new();
        change(&mut config);
        CacheEntryId::code(&component, &wasmtime::Engine::new(&config).unwrap()).name()
    };
    let plain = name(|_| {});
    assert_eq!(plain, name(|_| {}));
    assert_ne!(plain, name(|config| _ = config.epoch_interruption(true)));
    assert_ne!(plain, name(|config| _ = config.memory_reservation(1 << 20)));
    assert_ne!(plain, CacheEntryId::description(&component).name());
    let engine = wasmtime::Engine::default();
    assert_ne!(
        CacheEntryId::code(&blake3::hash(b"another"), &engine).name(),
        plain
    );
}

#[test]
fn many_writers_leave_a_whole_entry_and_one_key() {
    let place = Place::new();
    let content = vec![b'x'; 1 << 20];
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let cache = place.cache();
                for _ in 0..5 {
                    cache.store(&place.identity, &content).unwrap();
                    // Whoever looks meanwhile sees all of it.
                    assert_eq!(&*cache.load(&place.identity).unwrap(), &content[..]);
                }
            });
        }
    });
    assert_eq!(place.loaded().unwrap(), content);
    assert_eq!(fs::read_dir(place.dirs().code).unwrap().count(), 1);
    let keys = place.dirs().key.parent().unwrap().to_owned();
    assert_eq!(fs::read_dir(keys).unwrap().count(), 1);
}

#[test]
fn the_oldest_entries_go_first_and_so_does_what_dead_writers_left() {
    let place = Place::new();
    let cache = place.cache();
    let names: Vec<CacheEntryId> = (0_u8..4)
        .map(|number| CacheEntryId::description(&blake3::hash(&[number])))
        .collect();
    let old = |path: &Path, seconds: i64| {
        let time = rustix::fs::Timespec {
            tv_sec: seconds,
            tv_nsec: 0,
        };
        let times = rustix::fs::Timestamps {
            last_access: time,
            last_modification: time,
        };
        let flags = rustix::fs::AtFlags::empty();
        rustix::fs::utimensat(rustix::fs::CWD, path, &times, flags).unwrap();
    };
    for (index, identity) in names.iter().enumerate() {
        cache.store(identity, &[0; 1000]).unwrap();
        old(
            &place.dirs().code.join(identity.name()),
            1000 + index as i64,
        );
    }
    let left = place.dirs().code.join(".new-dead");
    fs::write(&left, b"x").unwrap();
    old(&left, 1000);
    let fresh = place.dirs().code.join(".new-alive");
    fs::write(&fresh, b"x").unwrap();
    // What somebody else keeps there is not ours to remove.
    let foreign = place.dirs().code.join("thesis.tex");
    fs::write(&foreign, [0; 5000]).unwrap();
    old(&foreign, 1);
    let folder = cache.folder().unwrap();
    folder.prune(2200);
    assert!(foreign.exists());
    let there: Vec<bool> = names.iter().map(|name| cache.has(name)).collect();
    assert_eq!(there, [false, false, true, true]);
    assert!(!left.exists());
    assert!(fresh.exists());
}
