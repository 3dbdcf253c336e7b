//! `jig ps` and running proxies: what it shows, and who else may look.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use super::proxy_client::{Foreign, PYTHON};
use super::station_access::is_out_of_reach;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user, is_root};

/// A desk at which a proxy runs, with two files open.
fn with_proxy(desk: &Desk) -> Foreign {
    desk.workspace.write("in.txt", "hello");
    let mut client = Foreign::new(desk, &["-i", "in.txt"]);
    client.open("in.txt", "r");
    client.open("scratch", "rw");
    client
}

fn signal(client: &Foreign, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(client.pid()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The files at the places of proxies.
fn places(desk: &Desk) -> Vec<PathBuf> {
    let folder = desk.workspace.home.join(".local/state/jig/run");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.to_string_lossy().contains(".proxy"))
        .collect()
}

fn keys(row: &Json) -> BTreeSet<&str> {
    row.as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// F-085, F-086: the tables, with the names of the document.
#[test]
fn f085_f086_tables_of_a_running_proxy() {
    for_each_user(|desk| {
        let client = with_proxy(desk);
        let rows = desk.proxies();
        let [proxy] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!(proxy["pid"], client.pid());
        assert_eq!(proxy["workspace"], json!(desk.workspace.root));
        let [row] = proxy["clients"].as_array().unwrap().as_slice() else {
            panic!("{proxy}");
        };
        let of_clients = BTreeSet::from(["id", "pipe_id", "open_files", "connected_at"]);
        assert!(keys(row).is_superset(&of_clients), "{row}");
        assert_eq!(row["open_files"], json!([3, 4]));
        let files = proxy["files"].as_array().unwrap();
        assert_eq!(files.len(), 2);
        for file in files {
            let of_files = BTreeSet::from([
                "fileno",
                "filename",
                "mode",
                "client_id",
                "opened_at",
                "is_top_level",
            ]);
            assert!(keys(file).is_superset(&of_files), "{file}");
            assert_eq!(file["client_id"], row["id"]);
        }
        let text = desk.ok(&["ps"]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("pid "), "{text}");
        assert!(lines[1].starts_with(&client.pid().to_string()), "{text}");
        assert!(lines[2].ends_with("2 open files"), "{text}");
        assert!(lines[3].starts_with("    3    r   "), "{text}");
        assert!(lines[3].contains("in.txt"), "{text}");
        assert!(lines[4].starts_with("    4    rw  "), "{text}");
        assert!(lines[4].contains("scratch"), "{text}");
        assert_eq!(lines.len(), 5, "{text}");
        let (status, ..) = client.end();
        assert_eq!(status.code(), Some(0));
        assert_eq!(desk.proxies(), Vec::<Json>::new());
        assert_eq!(places(desk), Vec::<PathBuf>::new());
    });
}

/// What runs elsewhere is shown only to who asks for it.
#[test]
fn other_workspaces_are_apart() {
    let desk = Desk::new();
    let client = with_proxy(&desk);
    let elsewhere = desk.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let listed = |args: &[&str]| {
        let rows = super::parsed(
            &desk
                .jig(&[&["-C", elsewhere.as_str()], args].concat())
                .output()
                .unwrap(),
        );
        rows.as_array().unwrap().len()
    };
    assert_eq!(listed(&["ps", "--json"]), 0);
    assert_eq!(listed(&["ps", "--json", "--all"]), 1);
    let text = desk.ok(&["-C", elsewhere.as_str(), "ps", "--all"]);
    assert!(text.contains(desk.workspace.root.as_str()), "{text}");
    client.end();
}

/// A proxy that was stopped does not stop `jig ps`; one that was killed is gone, with its files.
#[test]
fn a_hung_and_a_killed_proxy() {
    for_each_user(|desk| {
        let client = with_proxy(desk);
        signal(&client, Signal::STOP);
        let ran = desk.run(&["ps"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
        let note = format!("the proxy with the pid {} does not answer", client.pid());
        assert!(ran.err.contains(&note), "{ran:?}");
        assert!(!ran.err.contains("nothing runs"), "{ran:?}");
        // It lives: nothing of it was removed.
        assert_eq!(places(desk).len(), 3);
        signal(&client, Signal::CONT);
        until("it answers again", || desk.proxies().len() == 1);
        signal(&client, Signal::KILL);
        client.end();
        assert_eq!(places(desk).len(), 3);
        assert_eq!(desk.proxies(), Vec::<Json>::new());
        assert_eq!(places(desk), Vec::<PathBuf>::new());
    });
}

/// The command of a killed proxy holds nothing of it: what starts the command must not have taken the lock
/// along.
#[test]
fn a_proxy_that_is_killed_while_its_command_runs() {
    for_each_user(|desk| {
        let mut proxy = desk.proxy(&[], "proxy.open('scratch', 'w'); proxy.socket.recv(1)");
        let mut proxy = proxy.spawn().unwrap();
        let open_files = || {
            let rows = desk.proxies();
            rows.first()
                .map_or(0, |row| row["files"].as_array().unwrap().len())
        };
        until("its command has opened a file", || open_files() == 1);
        let command = desk.proxies().remove(0)["command"].to_string();
        assert!(command.contains("scratch"), "{command}");
        proxy.kill().unwrap();
        proxy.wait().unwrap();
        until("nothing is left", || {
            desk.proxies().is_empty() && places(desk).is_empty()
        });
    });
}

/// A tool cannot come near, even where the home is open to it.
#[test]
fn a_confined_tool_does_not_reach_a_proxy() {
    for_each_user(|desk| {
        let client = with_proxy(desk);
        let run = desk.workspace.home.join(".local/state/jig/run");
        is_out_of_reach(desk, &run, [".proxy", ".proxy-key"]);
        client.end();
    });
}

/// Another user is told nothing, even where the folder lets them through and the key is known.
#[test]
fn another_user_is_told_nothing() {
    if !is_root() {
        return;
    }
    for_each_user(|desk| {
        let client = with_proxy(desk);
        let find = |ending: &str| {
            let mut all = places(desk).into_iter();
            all.find(|path| path.to_string_lossy().ends_with(ending))
                .unwrap()
        };
        let (socket, key) = (find(".proxy"), find(".proxy-key"));
        let key = std::fs::read_to_string(key).unwrap();
        let folder = socket.parent().unwrap().to_owned();
        let open = || std::fs::Permissions::from_mode(0o777);
        for path in socket.ancestors().take(7) {
            let _ = std::fs::set_permissions(path, open());
        }
        let hello = json!({ "jig": env!("CARGO_PKG_VERSION"), "key": key });
        let script = format!(
            "import socket\ns=socket.socket(socket.AF_UNIX)\ns.settimeout(20)\ns.connect({:?})\n\
             try:\n    s.sendall(b'{hello}\\n')\n    print(s.recv(1000))\nexcept OSError as e:\n    print(b'')",
            socket.to_str().unwrap(),
        );
        let connect = |user: u32| {
            let mut python = Command::new(PYTHON);
            python.args(["-c", &script]).uid(user).gid(user);
            Ran::of(python.output().unwrap())
        };
        let owner = std::fs::metadata(&socket).unwrap().uid();
        let own = connect(owner);
        assert!(own.out.contains("workspace"), "{own:?}");
        let other = connect(if owner == 1000 { 1001 } else { 1000 });
        assert_eq!(other.out, "b''\n", "{other:?}");
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        client.end();
    });
}
