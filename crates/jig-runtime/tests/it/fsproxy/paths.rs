//! What paths lead to: real files by the rules, virtual ones otherwise, and no way around.

use std::sync::Arc;

use jig_broker::{Broker, BrokerParts};
use jig_files::FilesLookup;
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::ProjectPath;
use jig_runtime::fsproxy::{ClientOptions, ClientPaths, Manager, ManagerOptions};

use serde_json::{Value, json};

use crate::fsproxy::support::{Backend, Raw, World, broker, on_both};

#[test]
fn x25_f038_rules_decide_what_is_real_and_the_rest_is_virtual() {
    on_both(|world| {
        let mut raw = world.raw();
        // Covered: real.
        assert_eq!(raw.content("in/a.txt").unwrap(), b"hello");
        raw.put("out/new.txt", "w", b"real");
        assert_eq!(world.content("out/new.txt").unwrap(), b"real");
        // A real file that no rule speaks of is not there, and can be hidden by a virtual one without harm.
        assert_eq!(raw.open_code("hidden.txt", "r"), "E_NOENT");
        raw.put("hidden.txt", "w", b"virtual");
        assert_eq!(raw.content("hidden.txt").unwrap(), b"virtual");
        assert_eq!(world.content("hidden.txt").unwrap(), b"unseen");
        // A name that nothing has.
        assert_eq!(raw.open_code("tmp/x", "r"), "E_NOENT");
        raw.put("tmp/x", "a", b"1");
        raw.put("tmp/x", "a", b"2");
        assert_eq!(raw.content("tmp/x").unwrap(), b"12");
        assert!(world.content("tmp/x").is_none());
        // A rule that says no is said, for every mode, whether there is something or not.
        for path in [
            "in/secret/key.txt",
            "in/secret/none",
            "in/secret/none/deeper",
        ] {
            for mode in ["r", "w", "a", "rw"] {
                let (code, message) = raw.open(path, mode).unwrap_err();
                assert_eq!(code, "E_PERM", "{path} {mode}");
                assert!(message.contains("in/secret"), "{message}");
                assert!(message.contains("jig.toml:4"), "{message}");
                assert_eq!(message.lines().count(), 1, "{message}");
                assert!(!message.contains(world.root.as_str()), "{message}");
            }
        }
        assert_eq!(world.content("in/secret/key.txt").unwrap(), b"geheim");
    });
}

/// A refusal that says `update` of what exists and `create` of what does not would tell one from the other.
#[test]
fn x25_a_denial_does_not_tell_whether_something_is_there() {
    on_both(|world| {
        let mut raw = world.raw();
        for mode in ["r", "w", "a", "rw"] {
            let [there, missing] = ["key.txt", "nix.txt"].map(|name| {
                let refused = raw.open(&format!("in/secret/{name}"), mode).unwrap_err();
                (refused.0, refused.1.replace(name, "NAME"))
            });
            assert_eq!(there, missing, "{mode}");
        }
    });
}

/// One virtual namespace for the whole tree, as long as it lives.
#[test]
fn x25_virtual_files_are_shared_and_outlive_their_client() {
    on_both(|world| {
        let (client, mut one) = world.connect();
        let mut two = world.raw();
        let writing = one.open("shared", "w").unwrap();
        one.write(writing, b"first").unwrap();
        let reading = two.open("shared", "r").unwrap();
        assert_eq!(two.read_all(reading), b"first");
        // What comes later is seen by who is at the end.
        one.write(writing, b", second").unwrap();
        assert_eq!(two.read_all(reading), b", second");
        // Emptied by another: the reader stands behind the end, the writer leaves a gap.
        two.put("shared", "w", b"");
        assert_eq!(two.read(reading, 10), Ok((Vec::new(), true)));
        one.write(writing, b"!").unwrap();
        let mut expected = vec![0; 13];
        expected.push(b'!');
        assert_eq!(two.content("shared").unwrap(), expected);
        drop(one);
        client.wait();
        assert_eq!(two.content("shared").unwrap(), expected);
        // Another tree does not know it.
        let other = World::new(world.backend, ManagerOptions::default());
        assert_eq!(other.raw().open_code("shared", "r"), "E_NOENT");
    });
}

#[test]
fn x25_every_spelling_of_a_name_is_the_same_file() {
    on_both(|world| {
        let mut raw = world.raw();
        let below = |path: &str| format!("{}/{path}", world.root);
        raw.put("v/x", "w", b"1");
        for path in [
            "./v/x",
            "v//x",
            "v/y/../x",
            "v/x/",
            &below("v/x"),
            &below("in/../v/./x"),
        ] {
            assert_eq!(raw.content(path).unwrap(), b"1", "{path}");
        }
        for path in [
            "./in/a.txt",
            "in//a.txt",
            "v/../in/a.txt",
            &below("in/a.txt"),
        ] {
            assert_eq!(raw.content(path).unwrap(), b"hello", "{path}");
        }
        // Outside of the workspace there are only names.
        for path in [
            "/etc/hostname",
            "/etc/passwd",
            "../x",
            "/../etc/shadow",
            "in/../../../etc/group",
        ] {
            assert_eq!(raw.open_code(path, "r"), "E_NOENT", "{path}");
            raw.put(path, "w", b"mine");
            assert_eq!(raw.content(path).unwrap(), b"mine", "{path}");
        }
        let parent = world.root.parent().unwrap();
        assert_eq!(raw.content(parent.join("x").as_str()).unwrap(), b"mine");
        assert!(world.manager.files().is_empty());
    });
}

#[test]
fn x36_what_may_only_be_read_is_not_written_and_does_not_change() {
    on_both(|world| {
        let mut raw = world.raw();
        for mode in ["w", "a", "rw"] {
            for path in ["in/a.txt", "in/new.txt"] {
                let (code, message) = raw.open(path, mode).unwrap_err();
                assert_eq!(code, "E_PERM", "{path} {mode}: {message}");
            }
        }
        assert_eq!(world.content("in/a.txt").unwrap(), b"hello");
        assert!(world.content("in/new.txt").is_none());
        assert_eq!(raw.open_code("in/new.txt", "r"), "E_NOENT");
        // And the other way round.
        for mode in ["r", "rw"] {
            assert_eq!(raw.open_code("drop/box.txt", mode), "E_PERM", "{mode}");
        }
        raw.put("drop/box.txt", "a", b" twice");
        assert_eq!(world.content("drop/box.txt").unwrap(), b"dropped twice");
    });
}

/// With the default of a workspace that is only read, writing is uncovered everywhere. A new name is virtual; one
/// that exists must not seem to be written.
#[test]
fn x25_x36_a_virtual_file_never_stands_in_front_of_a_real_one_that_is_read() {
    on_both(|world| {
        let manager = read_only(&world);
        let (_client, socket) = manager.connect(ClientOptions::default()).unwrap();
        let mut raw = Raw::new(socket);
        for mode in ["w", "a", "rw"] {
            let (code, message) = raw.open("in/a.txt", mode).unwrap_err();
            assert_eq!(code, "E_PERM", "{mode}");
            let said = "this may be read, not written: access denied: update on `in/a.txt`";
            assert!(message.starts_with(said), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert_eq!(raw.open_code("in", mode), "E_PERM", "{mode}");
        }
        assert_eq!(world.content("in/a.txt").unwrap(), b"hello");
        raw.put("in/report.txt", "w", b"mine");
        assert_eq!(raw.content("in/report.txt").unwrap(), b"mine");
        assert!(world.content("in/report.txt").is_none());
        // A real one that comes later counts.
        world.put("in/report.txt", b"theirs");
        assert_eq!(raw.content("in/report.txt").unwrap(), b"theirs");
        assert_eq!(raw.open_code("in/report.txt", "a"), "E_PERM");
    });
}

/// A virtual file that reading does not find again would swallow what is written: where reading says why there can
/// be no file, writing says the same.
#[test]
fn x25_what_is_written_can_be_read_again() {
    on_both(|world| {
        let manager = read_only(&world);
        let (_client, socket) = manager.connect(ClientOptions::default()).unwrap();
        let mut raw = Raw::new(socket);
        let mut paths = vec![
            "in/a.txt/x",
            "in/a.txt/x/y",
            "in/new/x",
            "new",
            "hidden.txt/x",
        ];
        if world.backend == Backend::Disk {
            let link = |to: &str, name: &str| {
                std::os::unix::fs::symlink(to, world.root.join(name)).unwrap();
            };
            link("/etc", "away");
            link("nowhere", "dangling");
            link("loop", "loop");
            paths.extend([
                "away/x",
                "away/passwd",
                "dangling",
                "dangling/x",
                "loop",
                "loop/x",
            ]);
        }
        for path in paths {
            for mode in ["a", "rw", "w"] {
                let Ok(handle) = raw.open(path, mode) else {
                    continue;
                };
                raw.write(handle, b"mine").unwrap();
                raw.close(handle).unwrap();
                let found = raw.content(path);
                assert!(
                    found.is_ok_and(|found| found.ends_with(b"mine")),
                    "{path} {mode}"
                );
            }
        }
        assert_eq!(raw.content("in/new/x").unwrap(), b"mine");
        if world.backend == Backend::Disk {
            for mode in ["r", "w", "a", "rw"] {
                assert_eq!(raw.open_code("away/x", mode), "E_PERM", "{mode}");
            }
        }
    });
}

/// A manager on the same files whose policy has no rules.
fn read_only(world: &World) -> Manager {
    let lookup = FilesLookup(Arc::clone(&world.files));
    let workspace = Workspace::new(world.files.display_root(), lookup);
    let access = DefaultAccess::READ_ONLY;
    let guards = Guards::of_workspace();
    let policy = Policy::compile(&DeclaredAccess::default(), access, &guards, &workspace).unwrap();
    let files = Arc::clone(&world.files);
    let broker = Broker::new(BrokerParts::new("shell", "c1", files, Arc::new(policy)));
    Manager::new(broker, ManagerOptions::default())
}

#[test]
fn what_tends_to_hold_secrets_needs_a_rule_that_names_it() {
    on_both(|world| {
        let mut raw = world.raw();
        for mode in ["r", "w", "a", "rw"] {
            let (code, message) = raw.open("in/.env", mode).unwrap_err();
            assert_eq!(code, "E_PERM", "{mode}: {message}");
            assert!(message.contains(".env"), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        assert_eq!(world.content("in/.env").unwrap(), b"TOKEN=1");
    });
}

#[test]
fn f091_paths_of_any_shape_are_answered() {
    on_both(|world| {
        let mut raw = world.raw();
        let deep = |levels: usize| vec!["a"; levels].join("/");
        let up = |levels: usize| "../".repeat(levels) + "etc/passwd";
        assert_eq!(raw.open_code(&deep(10_000), "r"), "E_RANGE");
        assert_eq!(raw.open_code(&"x".repeat(4097), "r"), "E_RANGE");
        assert_eq!(raw.open_code(&"x".repeat(700_000), "w"), "E_RANGE");
        for path in [
            deep(2000),
            up(1300),
            "x".repeat(4096),
            format!("in/{}", "y".repeat(4000)),
        ] {
            assert_eq!(raw.open_code(&path, "r"), "E_NOENT", "{path:.40}");
        }
        let handle = raw.open(&deep(2000), "w").unwrap();
        raw.close(handle).unwrap();
        for path in [
            "\u{202e}txt",
            "a\nb",
            "\u{1b}[31m",
            "%2e%2e/x",
            "..\\x",
            "C:\\x",
            "~/x",
            "-",
            " ",
        ] {
            assert_eq!(raw.open_code(path, "r"), "E_NOENT", "{path:?}");
            raw.put(path, "w", b"1");
            assert_eq!(raw.content(path).unwrap(), b"1");
        }
        // A file where a directory would have to be.
        assert_eq!(raw.open_code("in/a.txt/x", "r"), "E_NOENT");
        assert_eq!(raw.open_code("out/old.txt/x", "w"), "E_ARG");
        // Directories are not made.
        assert_eq!(raw.open_code("out/none/x", "w"), "E_NOENT");
        assert_eq!(raw.open_code("out", "w"), "E_ARG");
    });
}

#[test]
fn relative_paths_begin_at_the_working_directory() {
    let mut options = ManagerOptions::default();
    let world = World::new(Backend::Memory, options.clone());
    let cwd = ProjectPath::normalize("in/deeper").unwrap();
    let data = ProjectPath::normalize("in").unwrap();
    options.names = ClientPaths::new(world.root.clone(), cwd).with_alias("/data", data);
    let broker = broker(&world.files);
    let manager = Manager::new(broker, options);
    let (_client, socket) = manager.connect(ClientOptions::default()).unwrap();
    let mut raw = Raw::new(socket);
    assert_eq!(raw.content("../a.txt").unwrap(), b"hello");
    assert_eq!(raw.content("/data/a.txt").unwrap(), b"hello");
    assert_eq!(raw.open_code("/data/secret/key.txt", "r"), "E_PERM");
    assert_eq!(raw.open_code("a.txt", "r"), "E_NOENT");
}

mod links {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::fsproxy::support::LONG;

    #[test]
    fn f090_links_are_judged_by_where_they_lead() {
        let world = World::new(Backend::Disk, ManagerOptions::default());
        let root = world.root.as_std_path();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("host.txt"), "host").unwrap();
        symlink("../in/secret/key.txt", root.join("out/to-secret")).unwrap();
        symlink("../in/a.txt", root.join("out/to-readable")).unwrap();
        symlink("../hidden.txt", root.join("out/to-hidden")).unwrap();
        symlink(outside.path(), root.join("out/away")).unwrap();
        symlink("/etc/passwd", root.join("out/passwd")).unwrap();
        symlink("/proc/self/fd/0", root.join("out/magic")).unwrap();
        let mut raw = world.raw();
        assert_eq!(raw.content("out/to-readable").unwrap(), b"hello");
        for mode in ["r", "w", "a", "rw"] {
            assert_eq!(raw.open_code("out/to-secret", mode), "E_PERM", "{mode}");
            for path in [
                "out/away/host.txt",
                "out/away/new.txt",
                "out/passwd",
                "out/magic",
            ] {
                let (code, message) = raw.open(path, mode).unwrap_err();
                assert_eq!(code, "E_PERM", "{path} {mode}");
                let outside = outside.path().to_str().unwrap();
                assert!(!message.contains(outside), "{message}");
            }
        }
        for mode in ["w", "a", "rw"] {
            assert_eq!(raw.open_code("out/to-readable", mode), "E_PERM", "{mode}");
        }
        assert_eq!(raw.open_code("out/to-hidden", "r"), "E_NOENT");
        raw.put("out/to-hidden", "w", b"over");
        assert_eq!(world.content("hidden.txt").unwrap(), b"unseen");
        assert_eq!(world.content("in/a.txt").unwrap(), b"hello");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    /// Opening a pipe would wait for whoever writes to it, and opening a device does what the device likes.
    #[test]
    fn what_is_no_file_is_not_opened() {
        let world = World::new(Backend::Disk, ManagerOptions::default());
        let made = Command::new("mkfifo")
            .arg(world.root.join("out/fifo"))
            .status();
        assert!(made.unwrap().success());
        let _listening = UnixListener::bind(world.root.join("out/socket")).unwrap();
        let mut raw = world.raw();
        for path in ["out/fifo", "out/socket"] {
            for mode in ["r", "w", "a", "rw"] {
                assert_eq!(raw.open_code(path, mode), "E_ARG", "{path} {mode}");
            }
        }
    }

    /// A name that is swapped between a file and a link to what is denied, while a client opens it again and
    /// again: it gets the file or a refusal, never what the link leads to.
    #[test]
    fn f090_a_link_that_is_swapped_in_leads_nowhere() {
        let world = World::new(Backend::Disk, ManagerOptions::default());
        let root = world.root.as_std_path().to_owned();
        fs::write(root.join("out/bait"), "bait").unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let swapping = {
            let (root, stop) = (root.clone(), Arc::clone(&stop));
            thread::spawn(move || {
                let (bait, link, name) = ("out/.file", "out/.link", root.join("out/swapped"));
                while !stop.load(Ordering::Relaxed) {
                    fs::write(root.join(bait), "bait").unwrap();
                    fs::rename(root.join(bait), &name).unwrap();
                    symlink("../in/secret/key.txt", root.join(link)).unwrap();
                    fs::rename(root.join(link), &name).unwrap();
                }
            })
        };
        let mut raw = world.raw();
        let (mut got, mut refused, start) = (0, 0, Instant::now());
        // Until both were met often enough.
        for mode in ["r", "rw", "w"].into_iter().cycle() {
            if got > 300 && refused > 300 {
                break;
            }
            assert!(start.elapsed() < LONG, "{got} opened, {refused} refused");
            match raw.open("out/swapped", mode) {
                Ok(handle) => {
                    got += 1;
                    if mode != "w" {
                        let content = raw.read_all(handle);
                        assert!(content.is_empty() || content == b"bait", "{content:?}");
                    }
                    raw.close(handle).unwrap();
                }
                Err((code, message)) => {
                    refused += 1;
                    let expected = ["E_PERM", "E_NOENT", "E_IO"];
                    assert!(expected.contains(&&*code), "{code} {message}");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert_eq!(fs::read(root.join("in/secret/key.txt")).unwrap(), b"geheim");
    }
}

/// X-52, F-008: a listing shows what may be read, and the virtual files; it tells nothing about the rest.
#[test]
fn x52_f008_a_listing_shows_what_a_client_may_know() {
    on_both(|world| {
        let mut raw = world.raw();
        let mut list = |path: &str| {
            let names = |listed: Value| {
                assert_eq!(listed["more"], json!(false));
                let entries = listed["entries"].as_array().unwrap().iter();
                let name = |entry: &Value| format!("{} {}", entry["kind"], entry["name"]);
                entries
                    .map(name)
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace('"', "")
            };
            match raw.ask("list", json!({"path": path})) {
                Ok(listed) => names(listed),
                Err((code, message)) => {
                    assert!(!message.contains(world.root.as_str()), "{message}");
                    code
                }
            }
        };
        // The denied folder and the sensitive file are left out.
        assert_eq!(list("in"), "file a.txt, file empty.txt");
        assert_eq!(
            list(&format!("{}/in/.", world.root)),
            "file a.txt, file empty.txt"
        );
        assert_eq!(list("in/secret"), "E_PERM");
        assert_eq!(list("in/secret/none"), "E_PERM");
        assert_eq!(list("drop"), "E_PERM");
        assert_eq!(list("in/none"), "E_NOENT");
        assert_eq!(list("in/a.txt"), "E_ARG");
        assert_eq!(list("/pipe"), "E_NOENT");
        assert_eq!(list("."), "E_PERM");

        raw.put("/pipe/a/1", "w", b"");
        raw.put("/pipe/b", "w", b"");
        raw.put("tmp/x", "w", b"");
        let mut raw = world.raw();
        let mut names = |path: &str| {
            let listed = raw.ask("list", json!({"path": path})).unwrap();
            listed["entries"].clone()
        };
        let (file, dir) = (
            |name| json!({"name": name, "kind": "file"}),
            |name| json!({"name": name, "kind": "dir"}),
        );
        assert_eq!(names("/pipe"), json!([dir("a"), file("b")]));
        assert_eq!(names("/pipe/a/"), json!([file("1")]));
        assert_eq!(names("tmp"), json!([file("x")]));
        // Nothing speaks of the root: it holds what was made there.
        assert_eq!(names("."), json!([dir("tmp")]));
    });
}

/// What does not fit into an answer comes with the next one; what is no listing is refused.
#[test]
fn a_long_listing_comes_in_parts() {
    let options = ManagerOptions {
        max_frame: 4096,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    for number in 0..100 {
        world.put(&format!("out/many/{number:03}"), b"");
    }
    let mut raw = world.raw();
    let (mut names, mut after, mut answers) = (Vec::new(), Value::Null, 0);
    loop {
        let listed = raw.ask("list", json!({"path": "out/many", "after": after}));
        let listed = listed.unwrap();
        let entries = listed["entries"].as_array().unwrap();
        names.extend(
            entries
                .iter()
                .map(|entry| entry["name"].as_str().unwrap().to_owned()),
        );
        after = json!(names.last());
        answers += 1;
        if listed["more"] == json!(false) {
            break;
        }
    }
    let expected: Vec<String> = (0..100).map(|number| format!("{number:03}")).collect();
    assert_eq!(names, expected);
    assert!(answers > 1);
    for params in [
        json!({}),
        json!({"path": ""}),
        json!({"path": 1}),
        json!({"path": "out", "after": 1}),
    ] {
        assert_eq!(raw.ask("list", params).unwrap_err().0, "E_ARG");
    }
    drop(raw);
    let world = World::new(Backend::Memory, ManagerOptions::default());
    let mut raw = world.raw();
    let long = "x/".repeat(5000);
    assert_eq!(
        raw.ask("list", json!({"path": long})).unwrap_err().0,
        "E_RANGE"
    );
}
