//! What a server must not leave behind is moved away while it runs, whoever has made it.

use camino::{Utf8Path, Utf8PathBuf};

use crate::server::{World, until};

/// A server that may write everywhere in its workspace, but for what is guarded.
fn writer() -> World {
    let world = World::new("access.fs = [{ path = '.', read = true, write = true }]\n");
    world.file("ws/src/a", "a");
    world
}

/// The same where nobody supervises what it makes.
fn unsupervised() -> World {
    World {
        is_supervised: false,
        ..writer()
    }
}

/// Where its calls are supervised, it is told at once, and the call that asked for it is told why.
#[test]
fn a_server_cannot_make_what_is_guarded() {
    let world = writer();
    let mut talk = world.start();
    for name in [".env", "jig.toml", ".envrc", "src/.env"] {
        let mark = talk.process.mark();
        let answer = talk.ask(&format!("write {name}"));
        assert!(answer.starts_with("error "), "{name}: {answer}");
        let denials = talk.process.refused_since(&mark);
        let told = denials.iter().find(|one| one.target == name);
        let told = told.unwrap_or_else(|| panic!("{name}: {denials:#?}"));
        assert_eq!(told.operation, "create", "{told}");
        assert!(!world.folder.join("ws").join(name).exists(), "{name}");
    }
    assert_eq!(talk.ask("write src/new"), "ok src/new");
}

/// A name that did not exist cannot be held by the sandbox: where nobody supervises, what appears there is gone when its call is
/// over.
#[test]
fn intruders_are_gone_after_the_call() {
    for name in [".env", "jig.toml", ".envrc", "src/.env"] {
        let world = unsupervised();
        let mut talk = world.start();
        let mark = talk.process.mark();
        let answer = talk.ask(&format!("write {name}"));
        let intruders = talk.process.intruded_since(&mark);
        let denials = talk.process.refused_since(&mark);
        assert_eq!(intruders, denials);
        let path = world.folder.join("ws").join(name);
        assert!(!path.exists(), "{name}: {answer} {denials:#?}");
        if answer.starts_with("ok") {
            let told = denials.iter().find(|one| one.target == name);
            let told = told.unwrap_or_else(|| panic!("{name}: {denials:#?}"));
            assert!(told.why.contains("not allowed"), "{told}");
            let hint = told.hint.as_deref().unwrap_or_default();
            assert!(
                hint.is_empty() || hint.contains("mcp.servers.srv"),
                "{hint}"
            );
        }
        // What it may write stays, and what it may not read is no intruder.
        let mark = talk.process.mark();
        assert_eq!(talk.ask("write src/new"), "ok src/new");
        assert!(talk.ask("read /etc/shadow").starts_with("error "));
        assert_eq!(talk.process.intruded_since(&mark), []);
        drop(talk);
        assert!(world.folder.join("ws/src/new").exists());
    }
}

/// What a server makes while nobody waits for it does not stay either, and is told to whoever asks next.
#[test]
fn intruders_are_gone_when_it_was_no_call() {
    let world = unsupervised();
    let mut talk = world.start();
    let mark = talk.process.mark();
    for name in [".env", "src/.env", "jig.toml"] {
        assert_eq!(talk.ask(&format!("write {name}")), format!("ok {name}"));
        let path = world.folder.join("ws").join(name);
        until("it is moved away", || !path.exists());
    }
    assert!(talk.process.may_have_intruded(&mark));
    let told = talk.process.intruded_since(&mark);
    let targets: Vec<&str> = told.iter().map(|one| one.target.as_str()).collect();
    for name in [".env", "src/.env", "jig.toml"] {
        assert!(targets.contains(&name), "{targets:?}");
    }
    // Who asks for what came later is told nothing.
    let mark = talk.process.mark();
    assert!(talk.ask("read src/a").starts_with("ok"));
    assert_eq!(talk.process.intruded_since(&mark), []);
}

/// However long a server was quiet: nobody can tell who makes something meanwhile, so it is moved, and not lost.
#[test]
fn what_others_make_is_moved_and_kept() {
    let world = unsupervised();
    let mut talk = world.start();
    assert!(talk.ask("read src/a").starts_with("ok"));
    let mark = talk.process.mark();
    let path = world.folder.join("ws/.env");
    std::fs::write(&path, "TOKEN=x").unwrap();
    until("it is moved away", || !path.exists());
    let mut told = Vec::new();
    until("it is told", || {
        told.extend(talk.process.intruded_since(&mark));
        !told.is_empty()
    });
    let removed = walked(&world.folder.join("state/removed"));
    let is_kept =
        |path: &Utf8PathBuf| std::fs::read_to_string(path).is_ok_and(|is| is == "TOKEN=x");
    assert!(removed.iter().any(is_kept), "{removed:?}");
    assert!(told[0].why.contains("it was moved to"), "{told:?}");
    // What was there before it started is nobody's, when it is saved anew.
    drop(talk);
    std::fs::write(&path, "TOKEN=y").unwrap();
    let mut talk = world.start();
    let saved = world.folder.join("ws/saved");
    std::fs::write(&saved, "TOKEN=z").unwrap();
    std::fs::rename(&saved, &path).unwrap();
    assert_eq!(talk.ask("write src/.env"), "ok src/.env");
    let other = world.folder.join("ws/src/.env");
    until("the other is moved away", || !other.exists());
    drop(talk);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "TOKEN=z");
    // No journal is left that would have the next jig do so.
    assert_eq!(walked(&world.folder.join("state/calls")), [""; 0]);
}

/// The files below a directory.
fn walked(directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in directory.read_dir_utf8().into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(walked(entry.path())),
            false => found.push(entry.path().to_owned()),
        }
    }
    found
}
