#![expect(
    clippy::disallowed_methods,
    reason = "real files are what a command is seen to use"
)]

use std::path::PathBuf;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::Sources;
use jig_files::DiskFiles;
use jig_proto::Denial;

use super::*;

/// A workspace, a home, and a learner for the tool `t` in them.
struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    home: Utf8PathBuf,
    learner: Learner,
}

impl Bench {
    /// `files` are made first; those that end with a slash are directories.
    fn new(files: &[&str], rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let path = path.canonicalize_utf8().unwrap();
        let (root, home) = (path.join("ws"), path.join("home"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        for file in files {
            let place = match file.strip_prefix("~/") {
                Some(file) => home.join(file),
                None => root.join(file),
            };
            if file.ends_with('/') {
                std::fs::create_dir_all(place).unwrap();
            } else {
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                std::fs::write(place, "").unwrap();
            }
        }
        let mut sources = Sources::new(root.clone());
        sources.sets.push("tools.t.source=\"local\"".to_owned());
        sources.sets.push("tools.t.command=\"true\"".to_owned());
        sources.sets.push(format!("tools.t.access.fs=[{rules}]"));
        let config = jig_config::load(&sources).unwrap().config;
        let files = DiskFiles::open(&root).unwrap();
        let mut engine = Engine::new(Arc::new(config), Arc::new(files));
        engine.confine.home = Some(home.clone().into());
        engine.confine.search_path = format!("/usr/bin:/bin:{home}/bin").into();
        let learner = Learner::new(&engine, "t", &["true".to_owned()], WIDTH).unwrap();
        Self {
            _folder: folder,
            root,
            home,
            learner,
        }
    }

    /// A run in which these were asked for, each as `PATH RIGHTS` with `r`, `c`, `u`, `d`, `x`, or `l` for a
    /// mere look; `~` is the private home. What stayed of new names is told by `created`, directories with a
    /// slash.
    fn saw(&mut self, seen: &[&str], created: &[&str]) {
        let seen = seen.iter().map(|line| {
            let (path, letters) = line.rsplit_once(' ').unwrap();
            let path = match path.strip_prefix("~/") {
                Some(path) => self.learner.ground.private_home.join(path),
                None => self
                    .root
                    .join(path)
                    .components()
                    .collect::<Utf8PathBuf>()
                    .into(),
            };
            let right = |letter: char| match letter {
                'r' | 'l' => Rights::READ,
                'c' => Rights::CREATE,
                'u' => Rights::UPDATE,
                'd' => Rights::DELETE,
                'x' => Rights::EXECUTE,
                other => panic!("{other}"),
            };
            ObservedAccess {
                target: ObservedTarget::Path(path),
                wanted: letters.chars().map(right).fold(Rights::NONE, Rights::with),
                looked: letters == "l",
                programs: vec!["prog".to_owned()],
                count: 1,
            }
        });
        let created = created.iter().map(|path| {
            let what = match path.ends_with('/') {
                true => PathKind::Directory,
                false => PathKind::File,
            };
            (ProjectPath::normalize(path).unwrap(), what)
        });
        let run = ObservedRun {
            observation: Observation {
                seen: seen.collect(),
                ..Observation::default()
            },
            created: created.collect(),
            denials: Vec::new(),
        };
        self.learner.saw(run);
    }

    /// The rules as `PATH CAPABILITIES`.
    fn rules(&self) -> Vec<String> {
        let proposal = self.learner.proposal();
        let rules = proposal.fs.iter();
        rules
            .map(|rule| format!("{} {}", rule.path, rule.capabilities))
            .collect()
    }

    fn withheld(&self) -> Vec<String> {
        let proposal = self.learner.proposal();
        proposal
            .withheld
            .iter()
            .map(|withheld| withheld.what.clone())
            .collect()
    }
}

const WIDTH: usize = 2;

#[track_caller]
fn check(files: &[&str], seen: &[&str], created: &[&str], expected: &[&str]) {
    let mut bench = Bench::new(files, "");
    bench.saw(seen, created);
    assert_eq!(bench.rules(), expected, "{seen:?}");
    // What was seen again says nothing new, in whatever order.
    let seen: Vec<&str> = seen.iter().rev().copied().collect();
    bench.saw(&seen, created);
    assert_eq!(bench.rules(), expected, "again");
}

#[test]
fn what_is_read_is_named() {
    check(&["a", "b", "c/"], &["a r"], &[], &["a read"]);
    check(
        &["d/a", "d/b"],
        &["d/a r", "d/b l"],
        &[],
        &["d/a read", "d/b read"],
    );
    // What is not there was not missed, and the workspace itself can always be listed.
    check(&["a", "b"], &["missing r", ". r", "a r"], &[], &["a read"]);
    check(&["a"], &[], &[], &[". nothing"]);
}

#[test]
fn many_entries_become_their_directory() {
    let files = ["d/a", "d/b", "d/c", "e/f", "g", "h", "i", "j", "k"];
    check(&files, &["d/a r", "d/b r", "d/c r"], &[], &["d read"]);
    // A directory that is listed is meant as a whole.
    check(&files, &["d r", "d/a r"], &[], &["d read"]);
    // Directories in directories count as one entry each.
    let deep = [
        "d/a/1", "d/a/2", "d/a/3", "d/b/1", "d/c", "x", "y", "z", "w",
    ];
    let seen = ["d/a/1 r", "d/a/2 r", "d/a/3 r", "d/b/1 r"];
    check(&deep, &seen, &[], &["d/a read", "d/b/1 read"]);
    let seen = ["d/a/1 r", "d/a/2 r", "d/a/3 r", "d/b/1 r", "d/c r"];
    check(&deep, &seen, &[], &["d read"]);
}

#[test]
fn the_workspace_is_read_as_a_whole_only_if_most_of_a_large_one_is() {
    let files = ["a", "b", "c", "d", "e", "f", "g", "h"];
    check(
        &files,
        &["a r", "b r", "c r"],
        &[],
        &["a read", "b read", "c read"],
    );
    check(
        &files,
        &["a r", "b r", "c r", "d r", "e r"],
        &[],
        &["a read", "b read", "c read", "d read", "e read"],
    );
    let files: Vec<String> = (10..60).map(|number| format!("f{number}")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let seen: Vec<String> = files.iter().map(|file| format!("{file} r")).collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    check(&files, &seen[..31], &[], &[". read"]);
}

#[test]
fn rights_are_kept_apart() {
    let files = ["d/a", "d/b", "d/c", "d/d", "x/", "y/", "z/", "q/"];
    let seen = ["d/a r", "d/b r", "d/c r", "d/d u"];
    check(&files, &seen, &[], &["d read", "d/d read + update"]);
    let seen = ["d/a xr", "d/b r", "d/c r"];
    check(&files, &seen, &[], &["d read", "d/a read + execute"]);
}

/// Making and removing names is done to the directory that they are in.
#[test]
fn changes_stay_where_they_were_made() {
    let files = ["out/old", "src/a", "b", "c"];
    // A file that stays is named, so that the others there cannot be changed.
    check(
        &files,
        &["out/new c"],
        &["out/new"],
        &["out read + create", "out/new read + create + update"],
    );
    // One that gets another name each time is not.
    check(
        &files,
        &["out/run-20261115.log c"],
        &["out/run-20261115.log"],
        &["out read + create"],
    );
    // One that came and went, and one that replaced another: what can be removed and made anew can be changed.
    check(
        &files,
        &["out/tmp1 c", "out/tmp1 d"],
        &[],
        &["out read + write"],
    );
    check(
        &files,
        &["out/tmp1 cd", "out/old cd"],
        &[],
        &["out read + write"],
    );
    // What was removed is removed from its directory.
    check(&files, &["out/old d"], &[], &["out read + delete"]);
    check(&files, &["src/a u"], &[], &["src/a read + update"]);
}

/// A new directory at the top is made beforehand, so that the top stays closed.
#[test]
fn new_directories_are_made_beforehand() {
    let files = ["src/a", "b"];
    let seen = ["target c", "target/x c", "target/x xr", "src/a r"];
    let mut bench = Bench::new(&files, "");
    bench.saw(&seen, &["target/"]);
    assert_eq!(
        bench.rules(),
        ["src/a read", "target read + create + update + execute"]
    );
    let make = bench.learner.proposal().make;
    assert_eq!(make, [ProjectPath::normalize("target").unwrap()]);
    // Some programs make it under another name first. If that counts, the top is opened, and what lies there
    // is kept from it.
    bench.saw(&["targetAbc c", "targetAbc d"], &[]);
    assert_eq!(
        bench.rules(),
        ["src/a read", "target read + create + update + execute"]
    );
    assert!(bench.learner.widen());
    assert_eq!(
        bench.rules(),
        [
            ". read + write",
            "b read",
            "src read",
            "target read + write + execute"
        ]
    );
    // And if the command has to make it, nothing is left of it.
    assert!(bench.learner.widen());
    assert!(bench.learner.proposal().make.is_empty());
    assert!(!bench.learner.widen());
}

/// A file at the top needs the top to be made; the directories there are kept from it.
#[test]
fn files_at_the_top() {
    let files = ["src/a", "b"];
    check(
        &files,
        &["new c", "src/a r"],
        &["new"],
        &[". read + create", "new read + create + update", "src read"],
    );
    // What replaces others can replace all: they are kept from it one by one.
    check(
        &files,
        &["tmp c", "tmp d", "b cd"],
        &[],
        &[". read + write", "src read"],
    );
}

#[test]
fn what_is_sensitive_or_protected_is_withheld() {
    let files = [
        ".env",
        ".git/config",
        ".git/hooks/x",
        ".git/HEAD",
        "a",
        "~/.ssh/config",
        "~/.netrc",
    ];
    let mut bench = Bench::new(&files, "");
    let seen = [
        ".env r",
        ".git/config u",
        ".git/config r",
        ".git/hooks/x r",
        "a r",
        "jig.toml c",
    ];
    bench.saw(&seen, &["jig.toml"]);
    bench.saw(&["~/.ssh/config l", "~/.netrc r", ".env.missing r"], &[]);
    assert_eq!(bench.rules(), [".git/config read", "a read"]);
    let withheld = [
        ".env",
        ".git/config",
        ".git/hooks",
        "jig.toml",
        "~/.netrc",
        "~/.ssh/config",
    ];
    assert_eq!(bench.withheld(), withheld);
    assert!(bench.learner.proposal().system.is_empty());
    assert!(!bench.learner.show_more_of_home());
}

/// What a person has said stands: a denial is not lifted, a sensitive path that a rule names is used, and
/// what an old rule grants, no new one takes.
#[test]
fn the_rules_that_are_there_stand() {
    let rules = "{path='no'},{path='.env',read=true},{path='d',read=true,update=true}";
    let mut bench = Bench::new(&["no/a", ".env", "d/a", "d/b"], rules);
    bench.saw(&["no/a r", ".env r", "d/a xr"], &[]);
    assert_eq!(bench.withheld(), ["no"]);
    // What it is granted already needs no other rule.
    assert_eq!(bench.rules(), ["d/a read + update + execute"]);
    bench.saw(&["d/b r", "d/b u"], &[]);
    assert_eq!(bench.rules(), ["d/a read + update + execute"]);
}

/// Files of the home are asked for only if a run failed without them; toolchains and other paths outside are
/// seen as they are.
#[test]
fn what_lies_outside() {
    let files = [
        "a",
        "~/.toolrc",
        "~/bin/tool",
        "~/data/1",
        "~/data/2",
        "~/data/3",
        "~/out",
    ];
    let mut bench = Bench::new(&files, "");
    let home = bench.home.clone();
    let outside = [
        format!("{home}/bin/tool xr"),
        format!("{home}/data/1 r"),
        format!("{home}/data/2 r"),
        format!("{home}/data/3 r"),
        format!("{home}/out u"),
        format!("{home} r"),
        "/usr/bin/env xr".to_owned(),
        "/usr/no-such-file r".to_owned(),
        "/proc/self/status r".to_owned(),
        "/dev/null ru".to_owned(),
        "~/.toolrc r".to_owned(),
    ];
    let outside: Vec<&str> = outside.iter().map(String::as_str).collect();
    bench.saw(&outside, &[]);
    let system = |bench: &Bench| -> Vec<String> {
        let proposal = bench.learner.proposal();
        let paths = proposal.system.iter();
        paths
            .map(|path| format!("{} {}", path.path, path.execute))
            .collect()
    };
    assert_eq!(system(&bench), ["~/bin true", "~/data false"]);
    assert_eq!(bench.withheld(), ["~/out"]);
    assert!(bench.learner.show_more_of_home());
    assert!(!bench.learner.show_more_of_home());
    assert!(system(&bench).contains(&"~/.toolrc false".to_owned()));
}

#[test]
fn hosts_and_sockets_are_told() {
    let mut bench = Bench::new(&["a"], "");
    let seen = |target: ObservedTarget| ObservedAccess {
        target,
        wanted: Rights::NONE,
        looked: false,
        programs: vec!["prog".to_owned()],
        count: 1,
    };
    let address = |text: &str| seen(ObservedTarget::Address(text.parse().unwrap()));
    let run = ObservedRun {
        observation: Observation {
            seen: vec![
                address("127.0.0.1:80"),
                address("[::1]:80"),
                address("198.18.0.17:443"),
                address("[fd6a:6967:6e61:6d65::11]:443"),
                address("192.0.2.1:443"),
                seen(ObservedTarget::Socket(PathBuf::from("@abstract"))),
                seen(ObservedTarget::Socket(PathBuf::from("/run/no-such-socket"))),
            ],
            ..Observation::default()
        },
        created: Vec::new(),
        denials: vec![Denial::new("look up", "example.com", "no rule allows it")],
    };
    bench.learner.saw(run);
    assert_eq!(bench.withheld(), ["192.0.2.1:443", "example.com"]);
}

/// Of a run that failed under the rules, only what it looked for is learned.
#[test]
fn what_a_failing_run_changes_does_not_count() {
    let mut bench = Bench::new(&["a", "b", "c", "d", "e"], "");
    bench.saw(&["a r"], &[]);
    let mut failing = Bench::new(&["a"], "");
    failing.root.clone_from(&bench.root);
    failing.saw(&["b r", "c d", "error.log c"], &["error.log"]);
    let run = failing.learner.runs.pop().unwrap();
    bench.learner.saw_failing(run);
    assert_eq!(bench.rules(), ["a read", "b read"]);
}

#[test]
fn evidence_is_told_in_words_that_last() {
    let mut bench = Bench::new(&["a", "b", "c"], "");
    bench.saw(&["a r", "a u"], &[]);
    let additions = bench.learner.proposal().additions();
    assert_eq!(additions.fs[0].comment, ["read, changed by prog (once)"]);
    bench.saw(&["a r"], &[]);
    let additions = bench.learner.proposal().additions();
    assert_eq!(
        additions.fs[0].comment,
        ["read by prog (repeatedly)", "changed by prog (once)"]
    );
}

/// A program that touches thousands of places gets rules that a person can read, and soon.
#[test]
fn what_touches_everything_is_gathered() {
    let names: Vec<String> = (0..400)
        .map(|n| format!("{}/{}/{}/{}/f", n % 2, n / 2 % 2, n / 4 % 5, n))
        .collect();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut bench = Bench::new(&files, "");
    bench.learner.width = 30;
    let seen: Vec<String> = names.iter().map(|name| format!("{name} r")).collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    bench.saw(&seen, &[]);
    let rules = bench.rules();
    assert!(rules.len() <= 60, "{} rules", rules.len());
    assert!(
        rules.iter().all(|rule| rule.ends_with(" read")),
        "{rules:?}"
    );
}
