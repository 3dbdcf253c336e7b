mod attacks;
mod words;

use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_files::DiskFiles;
use jig_proto::Denial;
use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, ProcessLimit, Rights};

use super::MAX_DENIALS;
use super::limit::of_tree;
use super::listening_ports::listed;
use crate::programs::confine::testing::TestTree;
use crate::{
    Broker, BrokerParts, CommandedProgram, ConfineSettings, Preset, ProcessSettings, ProgramReach,
    SystemAccess,
};

/// A workspace `ws` and a home `home` beside it, and what a tool `t` was seen to want there.
struct Scene {
    tree: TestTree,
    rules: Vec<&'static str>,
    settings: ConfineSettings,
}

impl Scene {
    fn new(entries: &[&str], rules: &[&'static str]) -> Self {
        let tree = TestTree::new(&["ws/", "home/"]);
        entries.iter().for_each(|entry| tree.put(entry));
        let root = tree.root();
        Self {
            rules: rules.to_vec(),
            settings: ConfineSettings {
                home: Some(root.join("home")),
                state: Some(root.join("state")),
                host_path: OsString::from(format!("/usr/bin:/bin:{}/home/bin", root.display())),
                ..ConfineSettings::default()
            },
            tree,
        }
    }

    fn root(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.tree.root().join("ws")).unwrap()
    }

    /// Whether it lies where a tool has a directory of its own.
    fn is_in_tmp(&self) -> bool {
        let root = self.root();
        root.starts_with("/tmp") || root.starts_with("/var/tmp")
    }

    fn broker(&self) -> Broker {
        let root = self.root();
        let files = Arc::new(DiskFiles::open(&root).unwrap());
        let policy = Arc::new(self.tree.policy_at(&root, &self.rules));
        Broker::new(BrokerParts {
            process: ProcessSettings {
                confine: Some(self.settings.clone()),
                ..ProcessSettings::default()
            },
            ..BrokerParts::new("t", "c1", files, policy)
        })
    }

    /// `r PATH`: the letters as in rules, `l` for what was only asked about, and `which` for what Python asked about. `ws/…` and `home/…` are those of the scene, `own/…` is in the home
    /// that the tool has, `socket PATH` and `connect ADDRESS` are no paths.
    fn seen(&self, text: &str, own: &std::path::Path) -> ObservedAccess {
        let (letters, place) = text.split_once(' ').unwrap();
        let full = match place.split_once('/') {
            Some(("ws" | "home" | "else", _)) => self.tree.root().join(place),
            Some(("own", below)) => own.join(below),
            _ => PathBuf::from(place),
        };
        let target = match letters {
            "socket" => ObservedTarget::Socket(full),
            "connect" => ObservedTarget::Address(place.parse().unwrap()),
            _ => ObservedTarget::Path(full),
        };
        let wanted = match letters {
            "socket" | "connect" => Rights::NONE,
            "which" => Rights::READ,
            letters => letters.chars().fold(Rights::NONE, |rights, letter| {
                rights.with(match letter {
                    'r' => Rights::READ,
                    'c' => Rights::CREATE,
                    'u' => Rights::UPDATE,
                    'd' => Rights::DELETE,
                    'l' => Rights::READ,
                    _ => Rights::EXECUTE,
                })
            }),
        };
        ObservedAccess {
            target,
            wanted,
            looked: ["l", "which"].contains(&letters),
            programs: vec![
                if letters == "which" {
                    "python3.11"
                } else {
                    "sh"
                }
                .to_owned(),
            ],
            count: 1,
        }
    }

    fn explain(&self, seen: &[&str]) -> Vec<Denial> {
        let broker = self.broker();
        let command = CommandedProgram {
            program: "/bin/sh".into(),
            ..CommandedProgram::default()
        };
        let confined = broker
            .confine(&command, &self.root(), ProgramReach::Workspace)
            .unwrap();
        let observation = Observation {
            seen: seen
                .iter()
                .map(|text| self.seen(text, &confined.home))
                .collect(),
            ..Observation::default()
        };
        broker.inner.explained(
            &observation,
            &confined,
            &self.root(),
            &mut crate::MadePaths::default(),
        )
    }

    /// What is told, one denial after the other, with the scene's own root left out.
    #[track_caller]
    fn check(&self, seen: &[&str], expected: &[&str]) {
        let root = self.tree.root().display().to_string();
        let told: Vec<String> = self
            .explain(seen)
            .iter()
            .map(|denial| denial.to_string().replace(&root, "$"))
            .collect();
        assert_eq!(told, expected, "{seen:?}");
    }

    /// The rules that are offered.
    #[track_caller]
    fn check_hints(&self, seen: &[&str], expected: &[Option<&str>]) {
        let denials = self.explain(seen);
        let hints: Vec<Option<&str>> = denials
            .iter()
            .map(|denial| denial.hint.as_deref())
            .collect();
        assert_eq!(hints, expected, "{denials:#?}");
    }
}

#[test]
fn what_is_given_and_what_does_not_exist_is_no_denial() {
    let scene = Scene::new(&["ws/a", "ws/src/b", "home/x"], &[]);
    scene.check(
        &[
            "r ws/a",
            "cu ws/new",
            "d ws/a",
            "r ws/missing",
            "r home/missing",
            "r /nowhere/at/all",
            "cu own/.cache/thing",
            "r own/.cache/thing",
            "c own/deep",
            "c own/deep/er",
            "cu own/deep/er/file",
            "cu /tmp/mine",
            "ru /tmp/mine",
            "r /usr/lib",
            "x /bin/sh",
            "r /etc/hostname",
            "r /proc/self/maps",
            "ru /dev/null",
            "r /sys/kernel",
            // On the way to what is shown.
            "r /",
            "r /tmp",
        ],
        &[],
    );
}

#[test]
fn inside_the_workspace_the_policy_speaks() {
    let scene = Scene::new(&["ws/src/a", "ws/data/b", "ws/.env"], &["src r"]);
    scene.check(
        &["r ws/data/b"],
        &["read on `data/b`: no rule matches
  granted: read on `src`
  to allow it, add:
    [[tools.t.access.fs]]
    path = \"data/b\"
    read = true"],
    );
    scene.check(
        &["ru ws/src/a"],
        &[
            "update on `src/a`: the most specific rule that matches does not grant `update`
  rule: read on `src` (a test)
  granted: read on `src`
  to allow it, add:
    [[tools.t.access.fs]]
    path = \"src/a\"
    read = true
    update = true",
        ],
    );
    // What only a rule that names it covers.
    scene.check_hints(
        &["r ws/.env"],
        &[Some(
            "[[tools.t.access.fs]]\npath = \".env\"\nread = true\n",
        )],
    );
    // Where no rule is declared, the default stays.
    let scene = Scene::new(&["ws/.env"], &[]);
    // The name of what is masked can be seen.
    scene.check(&["l ws/.env"], &[]);
    let hints = scene.explain(&["r ws/.env"]);
    let hint = hints[0].hint.as_deref().unwrap();
    assert!(
        hint.starts_with("[[tools.t.access.fs]]\npath = \".\"\n"),
        "{hint}"
    );
    assert!(hint.ends_with("path = \".env\"\nread = true\n"), "{hint}");
}

#[test]
fn what_is_made_or_removed_needs_a_rule_on_its_directory() {
    let scene = Scene::new(&["ws/out/old", "ws/src/a"], &[". r"]);
    let rule =
        |path: &str, rights: &str| format!("[[tools.t.access.fs]]\npath = \"{path}\"\n{rights}\n");
    let check = |seen: &str, path: &str, rights: &str| {
        scene.check_hints(&[seen], &[Some(&rule(path, rights))]);
    };
    // In the tool's own `/tmp` all changes are allowed, of which the kernel takes back only all.
    let (create, delete) = match scene.is_in_tmp() {
        true => ("read = true\nwrite = true", "read = true\nwrite = true"),
        false => ("read = true\ncreate = true", "read = true\ndelete = true"),
    };
    check("cu ws/out/new", "out", create);
    check("c ws/out/deep", "out", create);
    check("cu ws/top", ".", create);
    check("d ws/out/old", "out", delete);
    check("cu ws/out/old", "out/old", "read = true\nupdate = true");
    // A directory that only leads to what a rule grants.
    let leads = Scene::new(&["ws/out/old"], &["out r"]);
    let only_create = create.trim_start_matches("read = true\n");
    leads.check_hints(&["cu ws/top"], &[Some(&rule(".", only_create))]);
    // What no rule opens is not offered.
    let kept = Scene::new(&["ws/jig.toml"], &[". r"]);
    kept.check_hints(&["d ws/jig.toml"], &[None]);
    kept.check_hints(
        &["c ws/.jig"],
        &[Some(
            "[[tools.t.access.fs]]\npath = \".jig\"\nread = true\ncreate = true\n",
        )],
    );
    // A rule that names a file grants it; the operating system asks about the directory.
    let scene = Scene::new(&["ws/out/old"], &[". r", "out/new rw"]);
    let told = scene.explain(&["cu ws/out/new"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].why.starts_with("a rule grants it, but"), "{told:?}");
    assert_eq!(told[0].hint.as_deref(), Some(rule("out", create).as_str()));
}

#[test]
fn outside_it_is_the_sandbox() {
    let mut scene = Scene::new(&["home/data/a", "home/tool! = x", "else/b"], &[]);
    let why = match scene.is_in_tmp() {
        true => "the tool has a directory of its own for temporary files",
        false => "the sandbox does not show it",
    };
    let told = format!(
        "read on `~/data/a`: it is there, but {why}
  to allow it, add:
    [tools.t.sandbox]
    system = [\"~/data/a\"]"
    );
    scene.check(&["r home/data/a"], &[&told]);
    scene.check(
        &["r /var/log"],
        &[
            "read on `/var/log`: it is there, but the sandbox does not show it
  to allow it, add:
    [tools.t.sandbox]
    system = [\"/var/log\"]",
        ],
    );
    // What the tool has is in the list.
    scene.settings.system = vec![
        SystemAccess {
            path: scene.tree.root().join("home/data"),
            write: false,
            execute: false,
        },
        SystemAccess {
            path: "/var/log".into(),
            write: false,
            execute: true,
        },
    ];
    scene.check(
        &["ru home/data/a"],
        &["update on `~/data/a`: the sandbox shows it for reading only
  granted: read on `~/data`, read, execute on `/var/log`
  to allow it, add:
    [tools.t.sandbox]
    system = [\"~/data\", { path = \"/var/log\", execute = true }, { path = \"~/data/a\", write = true }]"],
    );
    scene.check_hints(
        &["d home/data/a"],
        &[Some("[tools.t.sandbox]\nsystem = [{ path = \"/var/log\", execute = true }, { path = \"~/data\", write = true }]\n")],
    );
    scene.check_hints(
        &["cu home/data/new"],
        &[Some("[tools.t.sandbox]\nsystem = [{ path = \"/var/log\", execute = true }, { path = \"~/data\", write = true }]\n")],
    );
}

/// No rule on it would help the next time.
#[test]
fn a_name_that_is_made_up_anew_each_time_is_no_rule() {
    let scene = Scene::new(&["home/settled/a"], &[]);
    for name in ["graph.json.0183abcd9f.tmp", "x~", "part-0123456789ab"] {
        let told = scene.explain(&[&format!("cu home/{name}")]);
        let [denial] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert_eq!(denial.hint, None, "{denial:?}");
        let advice = denial.advice.as_deref().unwrap_or_default();
        assert!(advice.contains("a name for once"), "{denial:?}");
    }
    let settled = Some("[tools.t.sandbox]\nsystem = [{ path = \"~/settled\", write = true }]\n");
    scene.check_hints(&["cu home/settled/a.tmp"], &[settled]);
    let named = Some("[tools.t.sandbox]\nsystem = [{ path = \"~/notes.txt\", write = true }]\n");
    scene.check_hints(&["cu home/notes.txt"], &[named]);
    let dated = "[tools.t.sandbox]\nsystem = [{ path = \"~/log-20261116\", write = true }]\n";
    scene.check_hints(&["cu home/log-20261116"], &[Some(dated)]);
}

/// What jig gives to a program by itself is nobody's to write down.
#[test]
fn what_jig_gives_is_in_no_rule() {
    let mut scene = Scene::new(&["home/data/a", "state/packages/x/"], &[]);
    scene.settings.provided = vec![SystemAccess {
        path: scene.tree.root().join("state/packages/x"),
        write: true,
        execute: true,
    }];
    let told = scene.explain(&["r home/data/a", "c state/packages/x/new"]);
    let [denial] = told.as_slice() else {
        panic!("{told:?}");
    };
    let hint = "[tools.t.sandbox]\nsystem = [\"~/data/a\"]\n";
    assert_eq!(denial.hint.as_deref(), Some(hint));
    assert!(denial.grants.is_empty(), "{denial:?}");
}

#[test]
fn a_home_that_is_hidden_is_told_as_such() {
    let scene = Scene::new(&["home/.npmrc", "home/.config/x", "home/lib/py/site/"], &[]);
    scene.check(
        &["r own/.npmrc", "r own/.config", "r own", "r own/missing"],
        &[
            "read on `~/.npmrc`: it is there, but the tool has a home of its own, without it
  to allow it, add:
    [tools.t.sandbox]
    system = [\"~/.npmrc\"]",
        ],
    );
    // What the tool put there itself is its own.
    scene.check(&["cu own/.npmrc", "r own/.npmrc"], &[]);
    scene.check(&["c own/lib", "r own/lib/py/site"], &[]);
    scene.check_hints(
        &["r own/lib/py/site"],
        &[Some("[tools.t.sandbox]\nsystem = [\"~/lib/py/site\"]\n")],
    );
}

#[test]
fn a_preset_is_offered_where_it_shows_the_path() {
    let mut scene = Scene::new(
        &[
            "home/.cargo/registry/x/y",
            "home/.rustup/toolchains/s/bin/cargo! = x",
        ],
        &[],
    );
    let rust = Some("[tools.t.sandbox]\npresets = [\"rust\"]\n");
    scene.check_hints(&["r own/.cargo/registry/x/y"], &[rust]);
    scene.check_hints(&["r home/.rustup/toolchains/s/bin/cargo"], &[rust]);
    scene.settings.presets = vec![Preset::Git];
    let both = Some("[tools.t.sandbox]\npresets = [\"git\", \"rust\"]\n");
    scene.check_hints(&["r own/.cargo/registry/x/y"], &[both]);
}

/// With a preset the tool has a folder of its own there, and what it leaves out was left out on purpose.
#[test]
fn a_folder_that_a_preset_arranges_is_no_denial() {
    let mut scene = Scene::new(
        &[
            "home/.cargo/registry/x/y",
            "home/.cargo/.global-cache",
            "home/.rustup/toolchains/s/bin/cargo! = x",
        ],
        &[],
    );
    let seen = ["r own/.cargo", "r own/.cargo/.global-cache"];
    assert_eq!(scene.explain(&seen).len(), 2);
    scene.settings.presets = vec![Preset::Rust];
    scene.check(&seen, &[]);
}

#[test]
fn sensitive_paths_are_named_as_such_and_never_offered() {
    let scene = Scene::new(&["home/.ssh/id", "home/.aws/credentials", "state/x"], &[]);
    scene.check(
        &["r own/.ssh/id"],
        &["read on `~/.ssh/id`: it is a sensitive path (`.ssh`), which the sandbox does not show
  whoever reads it may act as you, so no rule is offered; if that is meant, add \"~/.ssh/id\" to `sandbox.system`"],
    );
    scene.check_hints(&["r home/.aws/credentials"], &[None]);
    scene.check(&["r else/../state/x"], &[]);
    let state = scene.tree.root().join("state/x");
    let told = scene.explain(&[&format!("r {}", state.display())]);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].hint.as_deref(), told[0].advice.as_deref()),
        (
            None,
            Some("it is a file of jig's own, which no tool is shown")
        )
    );
}

#[test]
fn a_program_that_only_the_host_finds_is_named() {
    let scene = Scene::new(&["home/bin/frobnicate! = x"], &[]);
    scene.check(
        &["r /usr/bin/frobnicate", "x /bin/frobnicate"],
        &["run on `frobnicate`: it is installed as `~/bin/frobnicate`, which the sandbox does not show
  to allow it, add:
    [tools.t.sandbox]
    system = [{ path = \"~/bin\", execute = true }]"],
    );
    scene.check(&["x /usr/bin/sh-that-nobody-has"], &[]);
}

/// pip looks for `rustc`, to tell the index of its version, and does without. Whatever compiles starts it.
#[test]
fn a_compiler_that_pip_only_looks_for_is_no_denial() {
    let scene = Scene::new(&["home/bin/rustc! = x"], &[]);
    scene.check(&["which /usr/bin/rustc", "which /bin/rustc"], &[]);
    for wants in ["x /bin/rustc", "l /bin/rustc"] {
        let told = scene.explain(&["which /usr/bin/rustc", wants]);
        assert_eq!(told.len(), 1, "{wants}: {told:?}");
    }
}

#[test]
fn sockets_and_addresses() {
    let scene = Scene::new(&["home/run/"], &[]);
    let socket = scene.tree.root().join("home/run/agent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    // Also if it is not taken for one.
    let opened = scene.explain(&["ru home/run/agent.sock"]);
    let told = scene.explain(&["socket home/run/agent.sock", "socket home/run/none"]);
    assert_eq!(opened, told);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (told[0].operation.as_str(), told[0].target.as_str()),
        ("connect", "~/run/agent.sock")
    );
    assert!(told[0].hint.is_none());
    assert!(
        told[0]
            .advice
            .as_deref()
            .unwrap()
            .contains("add \"~/run/agent.sock\" to `sandbox.system`")
    );

    scene.check_hints(
        &[
            "connect 203.0.113.7:443",
            "connect 198.18.0.17:443",
            "connect [fd6a:6967:6e61:6d65::11]:80",
        ],
        &[Some(
            "[[tools.t.access.net]]\nhost = \"203.0.113.7\"\nallow = true\n",
        )],
    );
    // A service of the host, and a port where nobody is.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = scene.explain(&[&format!("connect 127.0.0.1:{port}"), "connect 127.0.0.1:1"]);
    assert_eq!(told.len(), 1, "{told:?}");
    let hint =
        format!("[[tools.t.access.net]]\nhost = \"localhost\"\nport = {port}\nallow = true\n");
    assert_eq!(told[0].hint.as_deref(), Some(hint.as_str()));
}

#[test]
fn ports_of_the_kernels_tables() {
    let check = |address: &str, state: &str, expected: &[u16]| {
        let table =
            format!("  sl  local_address rem_address st\n 0: {address} 00000000:0000 {state} 0\n");
        let ports: Vec<u16> = listed(&table).collect();
        assert_eq!(ports, expected, "{address}");
    };
    if cfg!(target_endian = "little") {
        check("0100007F:1538", "0A", &[5432]);
        check("3500007F:0035", "0A", &[53]);
        check("00000000:0016", "0A", &[22]);
        check("0101A8C0:0016", "0A", &[]);
        check("0100007F:1538", "01", &[]);
        check("00000000000000000000000000000000:0050", "0A", &[80]);
        check("00000000000000000000000001000000:0051", "0A", &[81]);
        check("0000000000000000FFFF00000100007F:0052", "0A", &[82]);
        check("B80D0120000000000000000001000000:0053", "0A", &[]);
    }
    for garbage in [
        "",
        "\n",
        "x\ny",
        "a\nb c d 0A",
        "a\nb :x x 0A",
        "a\nb ü:1 x 0A",
    ] {
        assert_eq!(listed(garbage).count(), 0, "{garbage:?}");
    }
}

#[test]
fn many_files_of_a_directory_are_told_as_one_and_never_too_many() {
    let files: Vec<String> = (0..30).map(|number| format!("ws/data/f{number}")).collect();
    let entries: Vec<&str> = files.iter().map(String::as_str).collect();
    let scene = Scene::new(&entries, &["src r"]);
    let seen: Vec<String> = files.iter().map(|file| format!("r {file}")).collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    scene.check(
        &seen,
        &["read on `data/`: no rule matches (30 times)
  granted: read on `src`
  to allow it, add:
    [[tools.t.access.fs]]
    path = \"data\"
    read = true"],
    );
    // A directory outside that holds keys is not opened for other files in it.
    let entries = [
        "home/mix/1",
        "home/mix/2",
        "home/mix/3",
        "home/mix/4",
        "home/mix/.env",
    ];
    let mixed = Scene::new(&entries, &[]);
    let wanted = [
        "r home/mix/1",
        "r home/mix/2",
        "r home/mix/3",
        "r home/mix/4",
    ];
    assert_eq!(mixed.explain(&wanted).len(), 4);
    let entries = [
        "home/.docker/1",
        "home/.docker/2",
        "home/.docker/3",
        "home/.docker/4",
        "home/.docker/config.json",
    ];
    let mixed = Scene::new(&entries, &[]);
    let wanted = [
        "r home/.docker/1",
        "r home/.docker/2",
        "r home/.docker/3",
        "r home/.docker/4",
    ];
    assert_eq!(mixed.explain(&wanted).len(), 4);
    // Three are told one by one.
    assert_eq!(scene.explain(&seen[..3]).len(), 3);

    // Files that are strewn over many directories.
    let files: Vec<String> = (0..60)
        .map(|number| format!("home/c/{}/{number}/f", number % 7))
        .collect();
    let entries: Vec<&str> = files.iter().map(String::as_str).collect();
    let scene = Scene::new(&entries, &[]);
    let seen: Vec<String> = files.iter().map(|file| format!("r {file}")).collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    let told = scene.explain(&seen);
    assert!(!told.is_empty() && told.len() <= MAX_DENIALS, "{told:#?}");
    assert_eq!(told.iter().map(|denial| denial.count).sum::<u64>(), 60);
    assert!(
        told.iter().all(|denial| denial.target.starts_with("~/c/")),
        "{told:#?}"
    );
}

#[test]
fn the_most_telling_come_first() {
    let scene = Scene::new(&["ws/a", "ws/b", "ws/c", "ws/d! = x", "ws/e"], &["src r"]);
    let told = scene.explain(&["r ws/a", "u ws/b", "r ws/c", "x ws/d", "l ws/e"]);
    let order: Vec<&str> = told.iter().map(|denial| denial.target.as_str()).collect();
    assert_eq!(order, ["d", "b", "c", "a", "e"]);
}

#[test]
fn names_cannot_forge_lines_and_secrets_do_not_leave() {
    let scene = Scene::new(&["home/a\nto allow it, add: \u{1b}[2J"], &[]);
    let told = scene.explain(&["r home/a\nto allow it, add: \u{1b}[2J"]);
    assert_eq!(told.len(), 1);
    let text = told[0].to_string();
    let lines = text
        .lines()
        .filter(|line| line.trim_start().starts_with("to allow"));
    assert_eq!(lines.count(), 1, "{text}");
    assert!(!told[0].target.contains(['\n', '\u{1b}']), "{told:?}");
    assert!(told[0].hint.as_deref().unwrap().contains("\\n"), "{told:?}");

    let scene = Scene::new(&["home/token-4711-0815"], &[]);
    let broker = scene.broker();
    broker.secrets().remember("token-4711-0815");
    let denial = broker
        .inner
        .clean(scene.explain(&["r home/token-4711-0815"]).remove(0));
    assert!(!format!("{denial:?}").contains("4711"), "{denial:?}");
    assert_eq!(denial.hint, None);
}

#[test]
fn limits_are_offered_twice_as_high() {
    let check = |limit: ProcessLimit, height: u64, expected: &str| {
        let denial = of_tree("tools.\"my.tool\"", limit, height);
        assert_eq!(denial.operation, "use");
        assert_eq!(denial.hint.as_deref(), Some(expected));
    };
    let limits = "[tools.\"my.tool\".sandbox.limits]\n";
    check(
        ProcessLimit::Memory,
        64 << 20,
        &format!("{limits}memory = \"128MiB\"\n"),
    );
    check(
        ProcessLimit::FileSize,
        1000,
        &format!("{limits}file_size = 2000\n"),
    );
    check(
        ProcessLimit::Tasks,
        10,
        &format!("{limits}processes = 20\n"),
    );
    check(
        ProcessLimit::Descriptors,
        64,
        &format!("{limits}descriptors = 128\n"),
    );
}
