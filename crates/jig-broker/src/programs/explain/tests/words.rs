//! What a program that nobody watched was refused, judging by its own words.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare the host that is explained"
)]

use jig_proto::Denial;

use super::Scene;
use crate::programs::explain::{MAX_GUESSED, ProgramWords};
use crate::{CommandedProgram, ProgramReach};

impl Scene {
    /// `$` in the words is the folder that holds `ws` and `home`, `~` the home that the tool has.
    fn guess(&self, said: &str, known: &[Denial]) -> Vec<Denial> {
        let broker = self.broker();
        let command = CommandedProgram {
            program: "/bin/sh".into(),
            ..CommandedProgram::default()
        };
        let confined = broker
            .confine(&command, &self.root(), ProgramReach::Workspace)
            .unwrap();
        let root = self.tree.root().display().to_string();
        let own = confined.home.display().to_string();
        let said = said.replace('$', &root).replace('~', &own);
        let words = ProgramWords {
            said: &said,
            command: "fetch https://argued.test:8443/",
        };
        let inner = &broker.inner;
        inner.guessed(words, &confined, &self.root(), known)
    }

    /// What is guessed: `operation target`, and `!` after those for which a rule is offered.
    #[track_caller]
    fn check_words(&self, said: &str, expected: &[&str]) {
        let root = self.tree.root().display().to_string();
        let denials = self.guess(said, &[]);
        let told: Vec<String> = denials
            .iter()
            .map(|denial| {
                assert!(denial.guessed);
                let mark = if denial.hint.is_some() { " !" } else { "" };
                let target = denial.target.replace(&root, "$");
                format!("{} {target}{mark}", denial.operation)
            })
            .collect();
        assert_eq!(told, expected, "{said}: {denials:#?}");
    }
}

#[test]
fn what_the_words_name_and_the_rules_withhold_is_told() {
    let scene = Scene::new(
        &["ws/src/a", "ws/data/b", "ws/.env"],
        &["src r", "data/b r"],
    );
    scene.check_words("cat: data/c: No such file or directory", &[]);
    scene.check_words("cat: src/a: No such file or directory", &[]);
    scene.check_words("tee: src/new: Permission denied", &["create src/new !"]);
    scene.check_words("tee: src/a: Permission denied", &["update src/a !"]);
    scene.check_words(
        "PermissionError: [Errno 13] Permission denied: 'src/a'",
        &["update src/a !"],
    );
    scene.check_words(
        "rm: cannot remove 'src/a': Permission denied",
        &["delete src/a !"],
    );
    scene.check_words(
        "mv: cannot move 'src/a' to 'src/b': Permission denied",
        &["create src/b !", "delete src/a !"],
    );
    scene.check_words("cat: .env: Permission denied", &["read .env !"]);
    scene.check_words("open $/ws/.env: permission denied", &["read .env !"]);
}

#[test]
fn what_lies_outside_is_told_if_it_is_there() {
    let scene = Scene::new(
        &["home/notes.txt", "home/.ssh/id", "home/bin/greet", "else/x"],
        &[". rcudx"],
    );
    scene.check_words(
        "cat: ~/notes.txt: No such file or directory",
        &["read ~/notes.txt !"],
    );
    scene.check_words("cat: ~/none.txt: No such file or directory", &[]);
    scene.check_words(
        "cat: $/else/x: No such file or directory",
        &["read $/else/x !"],
    );
    // A key is told, and no rule is offered for it, whatever the words.
    scene.check_words(
        "cat: ~/.ssh/id: No such file or directory",
        &["read ~/.ssh/id"],
    );
    scene.check_words(
        "cat: ~/bin/../.ssh/id: No such file or directory",
        &["read ~/.ssh/id"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_only_the_host_finds_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(&["home/bin/greet"], &[". rcudx"]);
    let file = scene.tree.root().join("home/bin/greet");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.check_words("sh: 1: greet: not found", &["run greet !"]);
    scene.check_words("sh: 1: greets: not found", &[]);
    // It is there.
    scene.check_words("sh: 1: sh: not found", &[]);
}

#[test]
fn hosts_are_judged_by_the_rules() {
    let scene = Scene::new(&[], &[]);
    scene.check_words("Could not resolve host: api.test", &["look up api.test !"]);
    scene.check_words(
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        &["look up a host"],
    );
    // The port is in its words, in those of its command, or nowhere.
    let offered = |said: &str| {
        let guessed = scene.guess(said, &[]);
        let hint = guessed.first().and_then(|denial| denial.hint.clone());
        hint.expect("a rule")
    };
    let said = offered(
        "fatal: unable to access 'https://git.test:3000/r/': Could not resolve host: git.test",
    );
    assert!(said.contains("port = 3000"), "{said}");
    let argued = offered("Could not resolve host: argued.test");
    assert!(argued.contains("port = 8443"), "{argued}");
    let usual = offered("Could not resolve host: api.test");
    assert!(!usual.contains("port"), "{usual}");
    // Who serves lookups knows which host was wanted.
    let known = Denial::new("look up", "api.test", "no");
    let unnamed = "socket.gaierror: [Errno -3] Temporary failure in name resolution";
    assert_eq!(scene.guess(unnamed, std::slice::from_ref(&known)), []);
    assert_eq!(
        scene.guess("Could not resolve host: api.test", &[known]),
        []
    );
}

#[test]
fn a_service_of_the_host_is_told_if_somebody_listens() {
    let scene = Scene::new(&[], &[]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = format!("connect localhost:{port} !");
    scene.check_words(
        &format!("connect ECONNREFUSED 127.0.0.1:{port}"),
        &[&target],
    );
    drop(listener);
    scene.check_words(&format!("connect ECONNREFUSED 127.0.0.1:{port}"), &[]);
}

/// A tool that says many names learns of a few, and never gets a rule for what is withheld.
#[test]
fn a_flood_of_names_is_answered_by_a_few() {
    let files: Vec<String> = (0..100).map(|n| format!("home/d{n}/secret{n}")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let scene = Scene::new(&files, &[". rcudx"]);
    let said: String = (0..100)
        .map(|n| format!("cat: ~/d{n}/secret{n}: No such file or directory\n"))
        .collect();
    assert_eq!(scene.guess(&said, &[]).len(), MAX_GUESSED);
    let said: String = (0..100)
        .map(|n| format!("Could not resolve host: h{n}.test\n"))
        .collect();
    assert_eq!(scene.guess(&said, &[]).len(), MAX_GUESSED);
}

/// What a name holds reaches no terminal and no rule as it is.
#[test]
fn odd_names_stay_harmless() {
    let scene = Scene::new(&[], &["src r"]);
    let odd = "a\u{1b}]0;title\u{7}\u{202e}b";
    std::fs::write(scene.root().join(odd), "").unwrap();
    for said in [
        format!("cat: {odd}: Permission denied"),
        format!("cat: '{odd}': No such file or directory"),
        format!("Could not resolve host: {odd}"),
    ] {
        for denial in scene.guess(&said, &[]) {
            let told = denial.to_string();
            let is_odd = |c: char| c != '\n' && jig_proto::is_deceptive(c);
            assert!(!told.contains(is_odd), "{told:?}");
        }
    }
}

/// A program makes links and says their names. It is told where its own lead, and not where those lead that it cannot
/// read itself: the host's, and those of jig's process.
#[cfg(target_os = "linux")]
#[test]
fn a_guess_follows_one_link_of_the_program() {
    let scene = Scene::new(
        &["home/other/diary", "home/private/link -> ../other/diary"],
        &[". rcudx"],
    );
    let home = scene.tree.root().join("home");
    for (name, target) in [
        ("direct", home.join("other/diary")),
        ("far", home.join("private/link")),
        ("way", home.join("private")),
        ("program", "/proc/self/exe".into()),
        ("folder", "/proc/self/cwd".into()),
        ("inside", "/proc/self/cwd/Cargo.toml".into()),
    ] {
        std::os::unix::fs::symlink(target, scene.root().join(name)).unwrap();
    }
    scene.check_words(
        "cat: direct: No such file or directory",
        &["read ~/other/diary !"],
    );
    let own = std::env::current_exe().unwrap();
    let folder = std::env::current_dir().unwrap();
    let unknown = ["diary", own.to_str().unwrap(), folder.to_str().unwrap()];
    for name in [
        "far",
        "way/link",
        "program",
        "folder",
        "inside",
        "folder/Cargo.toml",
    ] {
        for reason in ["No such file or directory", "Permission denied"] {
            for denial in scene.guess(&format!("cat: {name}: {reason}"), &[]) {
                let told = format!("{denial:?}");
                let given_away = unknown.iter().find(|text| told.contains(*text));
                assert_eq!(given_away, None, "{name}: {told}");
            }
        }
    }
}

/// A link in the workspace gives a secret an innocent name.
#[test]
fn a_link_does_not_hide_a_secret() {
    let scene = Scene::new(&["home/.ssh/id"], &[". rcudx"]);
    let target = scene.tree.root().join("home/.ssh/id");
    std::os::unix::fs::symlink(target, scene.root().join("notes")).unwrap();
    scene.check_words("cat: notes: No such file or directory", &["read ~/.ssh/id"]);
}
