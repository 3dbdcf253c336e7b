//! A profile, carried out: what is there, what is not, and what stays closed.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jig_sandbox::{
    Enforcement, Layers, PathRule, PrivateContent, PrivateDirectory, PrivateFile, ProcessLimit,
    ProcessLimits, Profile, Rights, RuleSource, Tier,
};

use super::*;

/// A workspace with a hidden file, a hidden directory and a read-only one, and what an ordinary tool gets
/// besides: the system's programs, a home and a directory for temporary files of its own.
struct Workspace(tempfile::TempDir);

impl Workspace {
    /// Outside of /tmp, which the tool does not see.
    fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-workspace")
            .tempdir_in("/var/tmp")
            .expect("there is a directory for temporary files");
        let new = Self(directory);
        fs::create_dir(new.at("kept")).expect("writable");
        fs::create_dir(new.at("vault")).expect("writable");
        for name in ["secret", "plain", "kept/file", "vault/file"] {
            fs::write(new.at(name), name).expect("writable");
        }
        new
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::closed();
        let mut rule = |path: &Path, rights, source| {
            profile.paths.push(PathRule {
                path: path.to_owned(),
                rights,
                source,
            });
        };
        let programs = Rights::READ.with(Rights::EXECUTE);
        for path in ["/usr", "/etc"] {
            rule(path.as_ref(), programs, RuleSource::System);
        }
        rule(self.0.path(), Rights::ALL, RuleSource::Declared);
        rule(&self.at("secret"), Rights::NONE, RuleSource::Declared);
        rule(&self.at("vault"), Rights::NONE, RuleSource::Declared);
        rule(&self.at("kept"), Rights::READ, RuleSource::Declared);
        for path in ["/tmp", "/home/tool"] {
            profile.private.push(PrivateDirectory {
                path: path.into(),
                size: 16 << 20,
                executable: true,
            });
        }
        profile
    }

    fn shell(&self, script: &str) -> SpawnRequest {
        let mut request = shell(script);
        request.cwd = self.0.path().to_owned();
        request.env = minimal_environment("/home/tool".as_ref());
        request.limits = ProcessLimits::ROOMY;
        request.profile = Some(Arc::new(self.profile()));
        request
    }

    /// What a script prints, both streams in order.
    fn output(&self, script: &str) -> String {
        let (_, output, errors) = run(self.shell(&format!("exec 2>&1; {script}")));
        assert_eq!(errors, "");
        output
    }
}

/// Each script with all that it prints. Names of the workspace are relative, which makes messages short.
#[track_caller]
fn check_all(workspace: &Workspace, cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        assert_eq!(workspace.output(script), *expected, "{script}");
    }
}

#[test]
fn it_runs_and_says_how() {
    let workspace = Workspace::new();
    let child = spawn(workspace.shell("exit 4")).expect("it starts");
    assert_eq!(child.status.tier, Tier::A);
    for (name, part) in child.status.parts() {
        if name != "ipc" && name != "limits" {
            assert_eq!(*part, Enforcement::Enforced, "{name}");
        }
    }
    assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 4 });
}

#[test]
fn what_is_hidden_or_kept_stays_so() {
    let workspace = Workspace::new();
    check_all(
        &workspace,
        &[
            ("cat plain kept/file", "plainkept/file"),
            // hidden means unreadable, by whatever name and mode.
            ("cat secret", "cat: secret: Permission denied\n"),
            (
                "cat ./kept/../secret",
                "cat: ./kept/../secret: Permission denied\n",
            ),
            (
                "ls vault",
                "ls: cannot open directory 'vault': Permission denied\n",
            ),
            ("cat vault/file", "cat: vault/file: Permission denied\n"),
            (
                "chmod 600 secret",
                "chmod: changing permissions of 'secret': Read-only file system\n",
            ),
            (
                "chmod 700 vault",
                "chmod: changing permissions of 'vault': Read-only file system\n",
            ),
            // Nor does another name show it.
            (
                "rm -f secret",
                "rm: cannot remove 'secret': Device or resource busy\n",
            ),
            (
                "mv secret other",
                "mv: cannot move 'secret' to 'other': Device or resource busy\n",
            ),
            (
                "mv vault other",
                "mv: cannot move 'vault' to 'other': Device or resource busy\n",
            ),
            ("ln secret other 2>&1 | grep -c 'ln: '", "1\n"),
            (
                "rm kept/file",
                "rm: cannot remove 'kept/file': Read-only file system\n",
            ),
            (
                "(echo x >> kept/file) 2>&1 | grep -c 'Read-only file system'",
                "1\n",
            ),
            ("umount secret 2>/dev/null || echo refused", "refused\n"),
            (
                "mount -o remount,rw kept 2>/dev/null || echo refused",
                "refused\n",
            ),
            ("unshare -Ur true 2>/dev/null || echo refused", "refused\n"),
        ],
    );
    for name in ["secret", "plain", "kept/file", "vault/file"] {
        assert_eq!(fs::read_to_string(workspace.at(name)).expect("kept"), name);
    }
}

/// the host's root is gone, not just covered.
#[test]
fn nothing_else_exists() {
    let workspace = Workspace::new();
    let name = workspace.0.path().file_name().expect("it has one");
    let name = name.to_str().expect("temporary names are text");
    check_all(
        &workspace,
        &[
            ("cd /..; ls -d root work mnt opt 2>/dev/null; pwd -P", "/\n"),
            (
                "ls /var /var/tmp",
                &format!("/var:\ntmp\n\n/var/tmp:\n{name}\n"),
            ),
            (
                "ls -A /tmp /home /home/tool",
                "/home:\ntool\n\n/home/tool:\n\n/tmp:\n",
            ),
            (
                "touch /new /var/new 2>&1 | grep -c 'Read-only file system\\|Permission denied'",
                "2\n",
            ),
            (
                "echo x > /tmp/x && echo y > ~/y && cat /tmp/x ~/y",
                "x\ny\n",
            ),
            (
                "ls -A /proc/sys/fs/binfmt_misc 2>&1 | grep -c . || true",
                "0\n",
            ),
            (
                "hostname 2>/dev/null || cat /proc/sys/kernel/hostname",
                "jig\n",
            ),
        ],
    );
    // Every mount is one of ours: of the host's trees only what was asked for.
    let mounts = workspace.output("cat /proc/self/mounts");
    let workspace = workspace
        .0
        .path()
        .to_str()
        .expect("temporary names are text");
    for line in mounts.lines() {
        let target = line.split(' ').nth(1).expect("each has a target");
        let known = [
            "/proc",
            "/dev/",
            "/usr",
            "/etc",
            "/tmp",
            "/home/tool",
            "/sys/devices/system/cpu",
        ];
        assert!(
            target == "/" && line.starts_with("none / tmpfs ro,")
                || known.iter().any(|known| target.starts_with(known))
                || target.starts_with(workspace),
            "{line}"
        );
        assert!(line.contains("nosuid"), "{line}");
    }
    assert_eq!(
        mounts.lines().filter(|line| line.contains(" / ")).count(),
        1
    );
}

/// V-002: no capability, no way to one, a filter, and a keeper that tells nothing.
#[test]
fn privileges_are_gone() {
    let workspace = Workspace::new();
    let status = workspace.output("cat /proc/self/status");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.expect("the kernel tells it").trim().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    assert_eq!(
        (field("NoNewPrivs:"), field("Seccomp:")),
        ("1".into(), "2".into())
    );
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(
        field("Uid:").split('\t').next(),
        Some(uid.to_string().as_str())
    );
    check_all(
        &workspace,
        &[
            ("cat /proc/1/cmdline | tr -d '\\0'; echo", "jig-keeper\n"),
            (
                "for f in environ mem maps auxv; do (: < /proc/1/$f) 2>/dev/null && echo $f; done; true",
                "",
            ),
            (
                "for l in cwd root exe fd/0; do readlink /proc/1/$l; done; true",
                "",
            ),
            // As root it can see the numbers, and no more.
            (
                "ls -l /proc/1/fd /proc/1/root/ 2>/dev/null | grep -- '->'; true",
                "",
            ),
            (
                "kill -KILL 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo alive",
                "alive\n",
            ),
            (
                "(echo x > /proc/sys/kernel/core_pattern) 2>/dev/null; echo $?",
                "2\n",
            ),
            (
                "(echo 1000 > /proc/1/oom_score_adj) 2>/dev/null; echo $?",
                "2\n",
            ),
        ],
    );
}

/// Files that the tool makes are the user's, and programs in the workspace run.
#[test]
fn ordinary_work_works() {
    use std::os::unix::fs::MetadataExt;
    let workspace = Workspace::new();
    let script = "mkdir -p a/b && echo text > a/b/c && mv a/b/c a/d && ln -s d a/link && cat a/link
        printf '#!/bin/sh\\necho ran\\n' > program && chmod +x program && ./program
        sort /etc/passwd | head -n 1 | wc -l; echo $HOME; id -u
        (sleep 0.01 & wait) && echo waited; : > /dev/null; head -c 4 /dev/zero | wc -c";
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(
        workspace.output(script),
        format!("text\nran\n1\n/home/tool\n{uid}\nwaited\n4\n")
    );
    let made = fs::metadata(workspace.at("a/d")).expect("it was made");
    assert_eq!(made.uid(), uid);
}

/// A private directory and its files exist for the tool alone.
#[test]
fn private_files_are_the_tools_own() {
    let workspace = Workspace::new();
    let mut request = workspace.shell("cat ~/.config/tool; ~/program; readlink ~/link; ls -A /tmp");
    let mut profile = workspace.profile();
    let mut file = |path: &str, content| {
        profile.files.push(PrivateFile {
            path: path.into(),
            content,
        });
    };
    file(
        "/home/tool/.config/tool",
        PrivateContent::Text(b"configured\n".to_vec()),
    );
    file(
        "/home/tool/program",
        PrivateContent::Program(b"#!/bin/sh\necho ran\n".to_vec()),
    );
    file(
        "/home/tool/link",
        PrivateContent::Link("/usr/bin/env".into()),
    );
    request.profile = Some(Arc::new(profile));
    let (exit, output, errors) = run(request);
    assert!(exit.is_success(), "{errors}");
    assert_eq!(output, "configured\nran\n/usr/bin/env\n");
    assert!(!Path::new("/home/tool").exists());
}

/// The host listens where the tool finds it, though it is in no directory of the host's.
#[test]
fn the_door_leads_to_the_host() {
    let workspace = Workspace::new();
    let script = "exec /usr/bin/python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(\"/tmp/door\"); s.sendall(b\"knock\")
sys.stdout.write(s.recv(9).decode())'";
    let mut request = workspace.shell(script);
    let mut profile = workspace.profile();
    profile.door = Some("/tmp/door".into());
    request.profile = Some(Arc::new(profile));
    let mut child = spawn(request).expect("it starts");
    let door = UnixListener::from(child.door.take().expect("the profile has one"));
    let (mut stream, _) = door.accept().expect("the tool connects");
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes).expect("it sends");
    assert_eq!(&bytes, b"knock");
    stream.write_all(b"come in").expect("it listens");
    drop(stream);
    let mut output = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_to_string(&mut output).expect("readable");
    assert_eq!(output, "come in");
    assert!(child.wait().expect("waitable").is_success());
}

/// the tree is ended, or a call fails, and the host is told why.
#[test]
fn limits_hold_and_are_told() {
    #[track_caller]
    fn check(
        script: &str,
        change: impl FnOnce(&mut ProcessLimits),
        expected: &[ProcessLimit],
    ) -> Exit {
        let workspace = Workspace::new();
        let mut request = workspace.shell(script);
        change(&mut request.limits);
        let mut child = spawn(request).expect("it starts");
        let exit = child.wait().expect("waitable");
        let mut errors = String::new();
        let mut stderr = child.stderr.take().expect("piped");
        stderr.read_to_string(&mut errors).expect("readable");
        assert_eq!(child.reached(), expected, "{script}: {exit} {errors}");
        exit
    }
    let python = |script: &str| format!("exec /usr/bin/python3 -c '{script}'");
    check("exit", |_| {}, &[]);
    let exit = check(
        "head -c 100000 /dev/zero > big; exit 1",
        |limits| limits.file_size = Some(5000),
        &[],
    );
    assert_eq!(exit, Exit::Exited { code: 1 });
    let exit = check(
        "exec head -c 100000 /dev/zero > big",
        |limits| limits.file_size = Some(5000),
        &[ProcessLimit::FileSize],
    );
    assert!(matches!(
        exit,
        Exit::Killed {
            signal: libc::SIGXFSZ,
            ..
        }
    ));

    // Each process has little; together they have too much.
    let hoard = python(
        "import os, time
for i in range(8):
    if os.fork() == 0: break
x = bytearray(40 << 20); time.sleep(300)",
    );
    let start = Instant::now();
    let exit = check(
        &hoard,
        |limits| limits.memory = Some(200 << 20),
        &[ProcessLimit::Memory],
    );
    assert!(matches!(
        exit,
        Exit::Killed {
            signal: libc::SIGKILL,
            ..
        }
    ));
    assert!(start.elapsed() < Duration::from_secs(20));
    // So does a directory in memory.
    let exit = check(
        "head -c 14000000 /dev/zero > /tmp/x; head -c 14000000 /dev/zero > ~/x; sleep 300",
        |limits| limits.memory = Some(20 << 20),
        &[ProcessLimit::Memory],
    );
    assert!(matches!(
        exit,
        Exit::Killed {
            signal: libc::SIGKILL,
            ..
        }
    ));

    let open = python(
        "import time
files = []
try:
    while True: files.append(open(\"/dev/null\"))
except OSError: time.sleep(0.4)",
    );
    check(
        &open,
        |limits| limits.descriptors = Some(50),
        &[ProcessLimit::Descriptors],
    );

    // The kernel stops it at the limit, root too: the bomb itself is one of the 64.
    let bomb = python(
        "import os, sys, time
made = 0
try:
    while made < 5000:
        if os.fork() == 0: time.sleep(300)
        made += 1
except OSError: time.sleep(0.4); sys.exit(0 if made == 63 else 1)
sys.exit(2)",
    );
    let exit = check(
        &bomb,
        |limits| limits.tasks = Some(64),
        &[ProcessLimit::Tasks],
    );
    assert!(exit.is_success(), "{exit}");
}

/// Tier B: no namespaces, and still only what rules allow.
#[test]
fn without_namespaces_landlock_stands_alone() {
    let workspace = Workspace::new();
    let mut profile = workspace.profile();
    profile.layers = Layers::TIER_B;
    profile.private.clear();
    let outside = tempfile::NamedTempFile::new_in("/var/tmp").expect("there is a place for it");
    let script = format!(
        "cat plain; cat /etc/passwd >/dev/null && echo etc; echo new > plain && cat plain
        (echo new > made) 2>/dev/null || echo refused; cat secret 2>/dev/null || echo refused
        cat {0} 2>/dev/null || echo refused; (echo x > {0}) 2>/dev/null || echo refused",
        outside.path().display()
    );
    let mut request = workspace.shell(&script);
    request.profile = Some(Arc::new(profile));
    let mut child = spawn(request).expect("it starts");
    assert_eq!(child.status.tier, Tier::B);
    assert!(matches!(
        child.status.tree,
        Enforcement::PartlyEnforced { .. }
    ));
    let mut output = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_to_string(&mut output).expect("readable");
    assert_eq!(
        output,
        "plainetc\nnew\nrefused\nrefused\nrefused\nrefused\n"
    );
}

/// What the tool cannot see cannot be its program or its directory.
#[test]
fn programs_and_directories_are_those_of_the_new_root() {
    let workspace = Workspace::new();
    let outside = tempfile::tempdir_in("/var/tmp").expect("there is a directory for it");
    let mut request = workspace.shell("exit");
    request.cwd = outside.path().to_owned();
    let error = spawn(request).expect_err("it is not there");
    assert!(
        matches!(error, jig_sandbox::SpawnError::WorkingDirectory { .. }),
        "{error:?}"
    );

    let mut request = request_in(&workspace, "/opt/no/such/program");
    request.cwd = workspace.0.path().to_owned();
    let error = spawn(request).expect_err("it is not there");
    assert!(
        matches!(error, jig_sandbox::SpawnError::NotFound { .. }),
        "{error:?}"
    );
}

fn request_in(workspace: &Workspace, program: &str) -> SpawnRequest {
    let mut request = request(program, &[]);
    request.profile = Some(Arc::new(workspace.profile()));
    request
}
