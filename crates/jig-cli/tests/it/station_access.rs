//! Who may speak to a station, and what it makes of whatever comes in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Value as Json, json};

use super::parsed;
use super::station::{Hall, for_each_hall, is_alive};
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user, is_root};

/// The next line of a station.
fn line(stream: &UnixStream) -> String {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

/// Only this user can come near: the folder, the socket and the key are closed to others.
#[test]
fn the_socket_is_private() {
    for_each_hall(|hall| {
        hall.spawn(&["echo"]);
        let mode = |path: &std::path::Path| {
            let about = std::fs::symlink_metadata(path).unwrap();
            (about.permissions().mode() & 0o7777, about.file_type())
        };
        assert_eq!(mode(hall.directory().as_std_path()).0, 0o700);
        let socket = hall.files(".sock").pop().unwrap();
        let (bits, kind) = mode(&socket);
        assert!(kind.is_socket());
        assert_eq!(bits, 0o600);
        assert_eq!(mode(&hall.files(".key").pop().unwrap()).0, 0o600);
    });
}

/// Another user cannot speak to it even where the folder lets them through.
#[test]
fn another_user_is_not_served() {
    if !is_root() {
        return;
    }
    for_each_hall(|hall| {
        hall.spawn(&["echo"]);
        let socket = hall.files(".sock").pop().unwrap();
        // Everything is opened on purpose, so that only the station itself is left to say no. The key is
        // known, too.
        let key = hall.key();
        for folder in socket.ancestors().skip(1).take(6) {
            let open = std::fs::Permissions::from_mode(0o777);
            let _ = std::fs::set_permissions(folder, open);
        }
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
        let hello = json!({ "jig": env!("CARGO_PKG_VERSION"), "key": key });
        let script = format!(
            "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.settimeout(20)\ns.connect({:?})\n\
             try:\n    s.sendall(b'{hello}\\n')\n    print(s.recv(1000))\nexcept OSError as e:\n    print(b'')",
            socket.to_str().unwrap(),
        );
        let connect = |user: u32| {
            let mut python = Command::new("/usr/bin/python3");
            python.args(["-c", &script]).uid(user).gid(user);
            Ran::of(python.output().unwrap())
        };
        let owner = std::fs::metadata(&socket).unwrap().uid();
        let own = connect(owner);
        assert!(own.out.contains("workspace"), "{own:?}");
        let other = connect(if owner == 1000 { 1001 } else { 1000 });
        assert_eq!(other.out, "b''\n", "{other:?}");
        let _ = std::fs::set_permissions(hall.directory(), std::fs::Permissions::from_mode(0o700));
    });
}

/// Whoever does not know the key is not served: a confined tool may reach a socket, but not read a file.
#[test]
fn without_the_key_nothing_is_done() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo"]);
    for key in ["", "00", &"0".repeat(64), "not a key"] {
        let mut stream = hall.connect();
        let hello = json!({ "jig": env!("CARGO_PKG_VERSION"), "key": key });
        let lines = format!("{hello}\n{}\n", json!({ "do": "shutdown" }));
        stream.write_all(lines.as_bytes()).unwrap();
        let answer = line(&stream);
        assert!(answer.contains("this is not the key"), "{answer}");
    }
    assert_eq!(hall.ps().len(), 1);
}

/// A tool cannot come near, whatever it was given: not where the home is open to it, and not where the home
/// is the workspace itself.
#[test]
fn a_confined_tool_does_not_reach_the_station() {
    for_each_user(|desk| {
        if !desk.has(&["python3", "--version"]) {
            return;
        }
        let hall = Hall::new(desk);
        hall.spawn(&["echo"]);
        is_out_of_reach(desk, &hall.directory(), [".sock", ".key"]);
    });
}

/// Checks that a tool to which the home is open reaches neither the sockets nor the keys in a folder, which have
/// these endings, and that whoever is not confined does.
#[track_caller]
pub(crate) fn is_out_of_reach(desk: &Desk, folder: &Utf8Path, [socket, key]: [&str; 2]) {
    desk.workspace.write("reach.py", REACH);
    let words = ["python3", "reach.py", folder.as_str(), socket, key];
    assert_eq!(desk.unconfined(&words), "connected\nkey read\n");
    let home = desk.workspace.home.as_str();
    let given = ["run", "--write", home, "--write", ".", "--"];
    let confined = desk.run(&[&given[..], &words].concat());
    assert!(!confined.out.contains("connected"), "{confined:?}");
    assert!(!confined.out.contains("key read"), "{confined:?}");
}

const REACH: &str = r#"
import glob, socket, sys
for path in glob.glob(sys.argv[1] + "/*" + sys.argv[2]):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected")
    except OSError as error:
        print(error)
for path in glob.glob(sys.argv[1] + "/*" + sys.argv[3]):
    try:
        open(path).read()
        print("key read")
    except OSError as error:
        print(error)
"#;

/// Who has the key and sits in namespaces of their own is told why nothing is done: that is how a tool would
/// come, should it ever get so far.
#[test]
fn other_namespaces_are_not_served() {
    for_each_user(|desk| {
        let other = ["unshare", "--user", "--map-current-user", "--mount"];
        if !desk.has(&[&other[..], &["true"]].concat()) {
            return;
        }
        let hall = Hall::new(desk);
        hall.spawn(&["echo"]);
        let jig = desk.jig(&["abort", "--all"]);
        let mut inside = desk.command(other[0]);
        inside.args(&other[1..]).arg(jig.get_program());
        let ran = Ran::of(inside.args(jig.get_args()).output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains("container or sandbox"), "{ran:?}");
        assert_eq!(hall.ps().len(), 1);
    });
}

/// The same where the home of the user is the workspace: by no door.
#[test]
fn a_home_that_is_the_workspace_does_not_show_the_station() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let jig = |args: &[&str]| {
        let mut jig = desk.jig(&[&["-C", "."], args].concat());
        jig.env("HOME", &desk.workspace.root);
        Ran::of(jig.output().unwrap())
    };
    assert_eq!(jig(&["spawn", "echo"]).code, Some(0));
    let run = desk.path(".local/state/jig/run");
    let names = std::fs::read_dir(&run).unwrap().flatten();
    let key = names
        .map(|entry| entry.file_name().into_string().unwrap())
        .find(|name| name.ends_with(".key"))
        .unwrap();
    let secret = std::fs::read_to_string(run.join(&key)).unwrap();
    let path = format!("path=.local/state/jig/run/{key}");
    let read = jig(&["call", "--no-interaction", "fs_read_file", &path]);
    let written = jig(&[
        "call",
        "--no-interaction",
        "--yes",
        "fs_create_file",
        "path=.local/state/jig/run/new",
        "content=x",
    ]);
    let shown = jig(&["run", "--", "sh", "-c", "cat .local/state/jig/run/*"]);
    for ran in [&read, &written, &shown] {
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.contains(&secret), "{ran:?}");
    }
    assert!(!run.join("new").exists());
    assert_eq!(jig(&["abort", "--all"]).code, Some(0));
    drop(hall);
}

/// Whatever comes in, the station goes on.
#[test]
fn hostile_clients_do_no_harm() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo"]);
    let hello = json!({ "jig": env!("CARGO_PKG_VERSION"), "key": hall.key() }).to_string();
    let deep = "[".repeat(100_000);
    let long = "x".repeat(3 << 20);
    let requests = [
        "",
        "\0\0\0",
        "{",
        "null",
        "{\"do\":\"nonsense\"}",
        "{\"do\":\"fetch\",\"id\":\"h_1\",\"fetch\":{\"view\":7}}",
        "{\"do\":\"fetch\",\"id\":\"h_1\",\"fetch\":{\"max_bytes\":18446744073709551615}}",
        "{\"do\":\"fetch\",\"id\":\"h_1\",\"fetch\":{\"after_seq\":18446744073709551615}}",
        "{\"do\":\"await\",\"ids\":[],\"all\":true,\"timeout_ms\":0}",
        "{\"do\":\"apply\",\"id\":\"h_1\",\"input\":{\"value\":[[[]]]},\"fetch\":{}}",
        "{\"do\":\"attach\",\"id\":\"h_1\",\"input\":true}\nnonsense",
        &deep,
        &long,
    ];
    // A few that say nothing at all, and stay.
    let silent: Vec<UnixStream> = (0..20).map(|_| hall.connect()).collect();
    for request in requests {
        let mut stream = hall.connect();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let _ = writeln!(stream, "{hello}\n{request}");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    for garbage in [&[0xff_u8; 100][..], b"\n\n\n", b"{\"jig\":1}\n"] {
        let mut stream = hall.connect();
        let _ = stream.write_all(garbage);
    }
    let report = hall.json(&["apply", "h_1", "--line", "well"]);
    assert_eq!(report["content"], "well\n", "{report}");
    drop(silent);
}

/// A station of another version is not spoken to, and can be ended.
#[test]
fn another_version_is_told_apart() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo"]);
    let mut stream = hall.connect();
    let hello = json!({ "jig": "0.0.1", "key": hall.key() });
    writeln!(stream, "{hello}\n{}", json!({ "do": "list" })).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut next = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        serde_json::from_str::<Json>(&line).unwrap()
    };
    assert_eq!(next()["ok"]["jig"], env!("CARGO_PKG_VERSION"));
    let refused = next();
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("version"),
        "{refused}"
    );
    let station = hall.station();
    writeln!(stream, "{}", json!({ "do": "shutdown" })).unwrap();
    assert_eq!(next(), json!({ "ok": null }));
    until("it has gone", || !is_alive(station));
}

/// A client finds a station of another version: it says so, and how to go on; and it can end it.
#[test]
fn a_station_of_another_version_is_told_apart() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    // Where the station of this workspace is.
    hall.spawn(&["echo"]);
    let (socket, key) = (hall.files(".sock").remove(0), hall.files(".key").remove(0));
    hall.json(&["abort", "--all"]);
    until("it has gone", || hall.files("").is_empty());
    std::fs::write(&key, "0".repeat(64)).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let root = desk.workspace.root.clone();
    let other = thread::spawn(move || {
        let mut heard = Vec::new();
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.next().unwrap().unwrap();
            let welcome = json!({ "ok": { "jig": "99.0.0", "workspace": root, "pid": 1 } });
            writeln!(stream, "{welcome}").unwrap();
            if let Some(Ok(line)) = lines.next() {
                writeln!(stream, "{}", json!({ "ok": null })).unwrap();
                heard.push(line);
            }
        }
        heard
    });
    for args in [&["ps"][..], &["spawn", "echo"]] {
        let ran = desk.run(args);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.err.contains("is jig 99.0.0, and this is jig"),
            "{ran:?}"
        );
        assert!(ran.err.contains("`jig abort --all`"), "{ran:?}");
    }
    assert_eq!(desk.run(&["abort", "--all"]).code, Some(0));
    assert_eq!(
        other.join().unwrap(),
        [json!({ "do": "shutdown" }).to_string()]
    );
    std::fs::remove_file(socket).unwrap();
    std::fs::remove_file(key).unwrap();
}

/// A folder that is a link, or open to others, is not used.
#[test]
fn a_folder_that_is_not_ours_alone_is_refused() {
    for_each_hall(|hall| {
        let directory = hall.directory();
        let elsewhere = hall.0.beside("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::create_dir_all(directory.parent().unwrap()).unwrap();
        symlink(&elsewhere, &directory).unwrap();
        let ran = hall.0.run(&["spawn", "echo"]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("is not a folder"), "{}", ran.err);
        std::fs::remove_file(&directory).unwrap();
        std::fs::create_dir(&directory).unwrap();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = hall.0.run(&["spawn", "echo"]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("open to other users"), "{}", ran.err);
        assert!(ran.err.contains("chmod 700"), "{}", ran.err);
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(hall.spawn(&["echo"]), "h_1");
    });
}

/// A station holds nothing of whoever started it: a lock, a pipe, a folder.
#[test]
fn the_station_inherits_nothing() {
    for_each_hall(|hall| {
        let desk = hall.0;
        let jig = desk.jig(&[]);
        let mut shell = desk.command("bash");
        let script = "exec 7<>kept.txt 8<.; \"$0\" spawn echo --json";
        shell.args(["-c", script, jig.get_program().to_str().unwrap()]);
        shell.env("SECRET_OF_THE_CLIENT", "value");
        // The end of the output is the end of the command: nothing holds the pipe.
        let report = parsed(&shell.output().unwrap());
        assert_eq!(report["id"], "h_1", "{report}");
        let station = hall.station();
        let held = std::fs::read_dir(format!("/proc/{station}/fd"))
            .unwrap()
            .flatten();
        let held: Vec<PathBuf> = held
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .filter(|path| path.starts_with(&desk.workspace.root))
            .filter(|path| path.ends_with("kept.txt"))
            .collect();
        assert_eq!(held, Vec::<PathBuf>::new());
        let environ = std::fs::read(format!("/proc/{station}/environ")).unwrap();
        assert!(!String::from_utf8_lossy(&environ).contains("SECRET_OF_THE_CLIENT"));
        let cwd = std::fs::read_link(format!("/proc/{station}/cwd")).unwrap();
        assert_eq!(cwd, PathBuf::from("/"));
    });
}
