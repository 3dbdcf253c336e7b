//! Files that a tool finds in place of the host's, wherever those are, while the host keeps its own.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jig_sandbox::{
    Enforcement, PathRule, PrivateContent, PrivateDirectory, PrivateFile, ProcessLimits, Profile,
    Rights, RuleSource,
};

use super::*;

/// Two directories of the host: the tool sees the first, and the second only if that is said.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-replaced")
            .tempdir_in("/var/tmp")
            .expect("there is a directory for temporary files");
        let place = Self(directory);
        for name in ["etc", "run"] {
            fs::create_dir(place.at(name)).expect("writable");
        }
        for name in ["etc/plain", "etc/other", "run/stub"] {
            fs::write(place.at(name), "host").expect("writable");
        }
        let link = |to: &Path, name| symlink(to, place.at(name)).expect("writable");
        link(&place.at("run/stub"), "etc/absolute");
        link("../run/stub".as_ref(), "etc/relative");
        link("plain".as_ref(), "etc/beside");
        link("../run/missing/deep".as_ref(), "etc/dangling");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What a script prints that runs in the first directory, which it may change or not, with these
    /// files replaced.
    fn output(&self, rights: Rights, replaced: &[&str], script: &str) -> (String, Enforcement) {
        let mut profile = Profile::closed();
        for path in ["/usr", "/etc"] {
            profile.paths.push(PathRule {
                path: path.into(),
                rights: Rights::READ.with(Rights::EXECUTE),
                source: RuleSource::System,
            });
        }
        profile.paths.push(PathRule {
            path: self.at("etc"),
            rights,
            source: RuleSource::Declared,
        });
        profile.private.push(PrivateDirectory {
            path: "/tmp".into(),
            size: 1 << 20,
            executable: false,
        });
        profile.replaced = replaced
            .iter()
            .map(|path| PrivateFile {
                path: self.at(path),
                content: PrivateContent::Text(b"ours".to_vec()),
            })
            .collect();
        let mut request = shell(&format!("exec 2>&1; {script}"));
        request.cwd = self.at("etc");
        request.limits = ProcessLimits::ROOMY;
        request.profile = Some(Arc::new(profile));
        let mut child = spawn(request).expect("it starts");
        let mut output = String::new();
        let mut pipe = child.stdout.take().expect("it is piped");
        pipe.read_to_string(&mut output).expect("it is text");
        child.wait().expect("waitable");
        (output, child.status.files.clone())
    }

    /// All that the host has, with its content.
    fn content(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        for directory in ["etc", "run"] {
            for entry in fs::read_dir(self.at(directory)).expect("it is there") {
                let path = entry.expect("it is there").path();
                let text = match fs::read_link(&path) {
                    Ok(to) => to.display().to_string(),
                    Err(_) => fs::read_to_string(&path).expect("it is a file"),
                };
                all.push((path, text));
            }
        }
        all.sort();
        all
    }
}

#[test]
fn the_tool_finds_ours_and_the_host_keeps_its_own() {
    let cases: &[(&str, &str, &str)] = &[
        // A file, and nothing but that.
        ("etc/plain", "cat plain other", "ourshost"),
        // Links that lead to what is not shown: it is made at the place that they lead to.
        ("etc/absolute", "cat absolute", "ours"),
        ("etc/relative", "cat relative; ls ../run", "oursstub\n"),
        ("etc/dangling", "cat dangling", "ours"),
        // A link to what is shown.
        ("etc/beside", "cat plain", "ours"),
        // One that is not shown at all.
        ("run/own", "cat ../run/own", "ours"),
        ("run/new/deep", "cat ../run/new/deep", "ours"),
        ("etc/plain", "stat -c '%a %s' plain", "444 4\n"),
        // Its own name in the new root is gone.
        ("etc/plain", "ls -a / | grep replaced", ""),
    ];
    let place = Place::new();
    let before = place.content();
    for (path, script, expected) in cases {
        for rights in [Rights::READ, Rights::ALL] {
            let (output, _) = place.output(rights, &[path], script);
            assert_eq!(output, *expected, "{path}, {script}, {rights}");
        }
    }
    assert_eq!(place.content(), before);
}

/// Also where the tool may change everything around it, and as root.
#[test]
fn ours_cannot_be_changed() {
    let place = Place::new();
    let before = place.content();
    let refused = "refused refused refused refused refused host";
    let script = "
        try() { \"$@\" 2>/dev/null && printf 'done ' || printf 'refused '; }
        try sh -c 'echo x > plain'
        try chmod 600 plain
        try rm -f plain
        try mv plain gone
        try umount plain
        cat other";
    let (output, _) = place.output(Rights::ALL, &["etc/plain"], script);
    assert_eq!(output, refused);
    assert_eq!(place.content(), before);
}

/// Nothing is made in a directory of the host, so what is missing there stays missing.
#[test]
fn what_is_missing_is_passed_over_and_told() {
    let place = Place::new();
    let before = place.content();
    for rights in [Rights::READ, Rights::ALL] {
        let (output, files) = place.output(rights, &["etc/missing"], "ls missing");
        assert!(output.contains("No such file"), "{output}");
        let gap = format!(
            "`{}` is not replaced, because the host has nothing there",
            place.at("etc/missing").display()
        );
        assert!(files.to_string().contains(&gap), "{files}");
    }
    assert_eq!(place.content(), before);
}
