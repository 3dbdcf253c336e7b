//! Layers as the kernel makes them: programs run on a real one, as root and as an ordinary user.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make trees, look at them and run themselves again"
)]

mod attack;
mod trees;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use jig_files::{
    ApplyReport, Change, ChangeKind, ChangeLayer, Diff, DiffLimits, PathKind, UnfitEntry,
};
use jig_sandbox::{
    Overlay, PathRule, PrivateDirectory, Profile, Program, Rights, RuleSource, SpawnRequest, Tier,
    assess, minimal_environment, probe, spawn,
};
use trees::{Times, hash};

const NOBODY: u32 = 65534;

/// As root, every test here runs once more as nobody.
#[test]
fn an_ordinary_user_gets_the_same() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let output = Command::new("/proc/self/exe")
        .arg("layer::")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("root may become nobody");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains(" passed; 0 failed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A tree to work on, and a place for layers.
struct Site {
    lower: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Site {
    /// With a tree that a shell makes.
    fn new(script: &str) -> Self {
        let directory = || {
            tempfile::Builder::new()
                .prefix("jig-layer-")
                .permissions(fs::Permissions::from_mode(0o755))
                .tempdir_in("/var/tmp")
                .expect("there is a directory for temporary files")
        };
        let site = Self {
            lower: directory(),
            state: directory(),
        };
        plainly(site.lower(), script);
        site
    }

    fn lower(&self) -> &Path {
        self.lower.path()
    }

    fn layer(&self) -> ChangeLayer {
        ChangeLayer::create(self.state.path(), self.lower()).expect("it can be made")
    }

    /// A layer in which a shell has run.
    #[track_caller]
    fn run(&self, script: &str) -> ChangeLayer {
        let layer = self.layer();
        run_on(&layer, script);
        layer
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.lower().join(path)).ok()
    }

    fn layers(&self) -> usize {
        fs::read_dir(self.state.path().join("layers")).map_or(0, Iterator::count)
    }
}

/// What scripts closed could not be removed.
impl Drop for Site {
    fn drop(&mut self) {
        for directory in [self.lower.path(), self.state.path()] {
            open_all(directory);
        }
    }
}

fn open_all(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

/// Runs a script without a sandbox.
#[track_caller]
fn plainly(directory: &Path, script: &str) {
    let output = Command::new("/bin/sh")
        .args(["-ec", script])
        .current_dir(directory)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("there is a shell");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a script on a layer.
#[track_caller]
fn run_on(layer: &ChangeLayer, script: &str) {
    let mut profile = Profile::closed();
    let rule = |path: &Path, rights, source| PathRule {
        path: path.to_owned(),
        rights,
        source,
    };
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        let rights = Rights::READ.with(Rights::EXECUTE);
        profile
            .paths
            .push(rule(Path::new(path), rights, RuleSource::System));
    }
    profile
        .paths
        .push(rule(layer.lower(), Rights::ALL, RuleSource::Declared));
    profile.private.push(PrivateDirectory {
        path: "/tmp".into(),
        size: 1 << 20,
        executable: false,
    });
    profile.overlays.push(Overlay {
        path: layer.lower().to_owned(),
        upper: layer.upper().to_owned(),
        work: layer.work().to_owned(),
        cache: false,
    });
    let program = Program::parse("/bin/sh").expect("it is absolute");
    let mut request = SpawnRequest::new(program, layer.lower());
    request.args = ["-ec", script].iter().map(Into::into).collect();
    request.env = minimal_environment("/tmp".as_ref());
    request.profile = Some(Arc::new(profile));
    let mut child = spawn(request).expect("it can be started");
    let mut errors = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        let _ = pipe.read_to_string(&mut errors);
    }
    let exit = child.wait().expect("it can be waited for");
    assert!(exit.is_success(), "{exit:?} {errors}");
}

fn has_layers() -> bool {
    assess(&probe()).tier == Tier::A
}

/// The changes as they are shown to people.
fn shown(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

fn all(_: &Change) -> bool {
    true
}

const BEFORE: &str = "
    mkdir -p src/deep gone/deeper moved becomes-file empty
    for f in kept changed truncated appended removed renamed mode touched becomes-dir becomes-link; do
        printf '%s\\n' $f > $f; done
    for f in src/a src/deep/b gone/c gone/deeper/d moved/e becomes-file/f; do echo $f > $f; done
    ln -s kept link; ln -s kept link-moved; ln -s nowhere dangling; ln -s src link-to-dir
    printf 'x\\0y' > binary; chmod 755 src/a; chmod 700 src/deep
    ln kept second-name
    touch -d 2001-02-03 kept changed touched src gone";

const WORK: &str = "
    echo new > created; printf '' > created-empty; mkdir -p made/deep/er; echo x > made/deep/er/file
    echo other > changed; : > truncated; echo more >> appended; rm removed
    mv renamed new-name; mv moved moved-away; chmod 600 mode; touch -d 2010-01-01 touched
    rm becomes-dir; mkdir becomes-dir; echo x > becomes-dir/x
    rm -r becomes-file; echo now a file > becomes-file
    rm becomes-link; ln -s kept becomes-link
    rm -r gone; mkdir gone; echo again > gone/c; rmdir empty
    ln -sfn src/a link; mv link-moved link-there; rm dangling; mkdir dangling
    rm link-to-dir; echo file > link-to-dir; ln -s ../outside made/out
    chmod 755 src/deep; echo z > src/deep/b; ln kept third-name; ln created created-too
    printf 'a\\0b' > binary; chmod 444 appended; mkdir shut; echo s > shut/s; chmod 500 shut
    mkdir -p 'odd name/with \"quotes\"'; echo x > 'odd name/line
end'; cp -p src/a src/copy; rm second-name; echo separate > second-name; chmod 711 .";

/// Discarded, everything is as it was, to the time of the last modification.
#[test]
fn discard_leaves_the_tree_as_it_was() {
    if !has_layers() {
        return;
    }
    let site = Site::new(BEFORE);
    let before = hash(site.lower(), Times::All);
    let layer = site.run(WORK);
    assert_eq!(hash(site.lower(), Times::All), before);
    assert!(!layer.changes().expect("it can be read").is_empty());
    assert_eq!(hash(site.lower(), Times::All), before, "by looking at it");
    layer.discard().expect("it can be removed");
    assert_eq!(hash(site.lower(), Times::All), before);
    assert_eq!(site.layers(), 0);
}

/// Applied, everything is as if the program had run without a layer.
#[test]
fn apply_equals_a_direct_run() {
    if !has_layers() {
        return;
    }
    let direct = Site::new(BEFORE);
    plainly(direct.lower(), WORK);
    let site = Site::new(BEFORE);
    let layer = site.run(WORK);
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    assert_eq!(applied.kept, None);
    assert_eq!(
        hash(site.lower(), Times::None),
        hash(direct.lower(), Times::None)
    );
    assert_eq!(site.layers(), 0);
    // What the script set, it set.
    let touched = fs::metadata(site.lower().join("touched")).expect("it is there");
    let direct = fs::metadata(direct.lower().join("touched")).expect("it is there");
    assert_eq!(touched.modified().ok(), direct.modified().ok());
}

#[test]
fn changes_are_told_by_what_differs() {
    if !has_layers() {
        return;
    }
    let cases: [(&str, &[&str]); 15] = [
        (
            "echo x > new; mkdir d",
            &["created directory d", "created new"],
        ),
        ("echo x >> f", &["modified f"]),
        ("chmod 600 f", &["modified f (mode 644 to 600)"]),
        ("touch -d 2001-01-01 f", &["modified f (time)"]),
        // Copied up, and the same as before.
        ("cp -p f g; echo x >> f; cp -p g f; rm g", &[]),
        (
            "chmod 600 f; chmod 644 f; chmod 700 dir; chmod 755 dir",
            &[],
        ),
        (
            "rm -r dir",
            &[
                "deleted directory dir",
                "deleted dir/a",
                "deleted directory dir/sub",
                "deleted dir/sub/b",
            ],
        ),
        // Another directory with the same name.
        ("cp -a dir copy; rm -r dir; mv copy dir", &[]),
        (
            "rm -r dir; mkdir dir; echo x > dir/a",
            &[
                "modified dir/a",
                "deleted directory dir/sub",
                "deleted dir/sub/b",
            ],
        ),
        (
            "rm f; mkdir f; touch f/x",
            &["retyped file to directory f", "created f/x"],
        ),
        (
            "rm -r dir; echo x > dir",
            &[
                "retyped directory to file dir",
                "deleted dir/a",
                "deleted directory dir/sub",
                "deleted dir/sub/b",
            ],
        ),
        ("ln -sfn g link", &["modified symlink link"]),
        ("rm link; ln -s f link", &[]),
        ("mv f g", &["deleted f", "created g"]),
        ("chmod 700 .", &["modified directory . (mode 755 to 700)"]),
    ];
    for (script, expected) in cases {
        let site = Site::new(
            "echo f > f; mkdir -p dir/sub; echo a > dir/a; echo b > dir/sub/b; ln -s f link",
        );
        let layer = site.run(script);
        let changes = layer.changes().expect("it can be read");
        assert_eq!(shown(&changes), expected, "{script}");
        assert_eq!(changes, layer.changes().expect("it can be read"), "twice");
    }
}

#[test]
fn a_diff_shows_text_and_says_what_is_none() {
    if !has_layers() {
        return;
    }
    let site = Site::new(
        "printf '1\\n2\\n3\\n' > f; echo old > gone; printf 'a\\0' > bin; head -c 3000000 /dev/zero > big
        ln -s f link; echo m > mode",
    );
    let layer = site.run(
        "printf '1\\ntwo\\n3\\n' > f; rm gone; echo new > made; printf 'b\\0c' > bin; echo >> big
        ln -sfn g link; chmod 600 mode; mkdir d",
    );
    let changes = layer.changes().expect("it can be read");
    let diff = |path: &str, limits: DiffLimits| {
        let change = changes.iter().find(|change| change.path.as_str() == path);
        layer
            .diff(change.expect("it was changed"), limits)
            .expect("it can be read")
    };
    let text = |text: &str| Diff::Text {
        text: text.to_owned(),
        left_off: 0,
    };
    let limits = DiffLimits::default();
    let expected = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    assert_eq!(diff("f", limits), text(expected));
    let expected = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    assert_eq!(diff("gone", limits), text(expected));
    let expected = "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+new\n";
    assert_eq!(diff("made", limits), text(expected));
    let expected = "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-f\n+g\n";
    assert_eq!(diff("link", limits), text(expected));
    let (before, after) = (2, 3);
    assert_eq!(diff("bin", limits), Diff::Binary { before, after });
    let (before, after) = (3_000_000, 3_000_001);
    assert_eq!(diff("big", limits), Diff::TooLarge { before, after });
    assert_eq!(diff("mode", limits), Diff::Nothing);
    assert_eq!(diff("d", limits), Diff::Nothing);
    let short = DiffLimits { lines: 3, ..limits };
    let expected = Diff::Text {
        text: "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n".to_owned(),
        left_off: 4,
    };
    assert_eq!(diff("f", short), expected);
    // A line of any length is cut, between characters, and says so.
    let narrow = DiffLimits { width: 4, ..limits };
    let site = Site::new("printf 'ab\\n' > short");
    let layer = site.run("printf 'äöüßxy\\nabcd\\n' > short");
    let changes = layer.changes().expect("it can be read");
    let cut = layer.diff(&changes[0], narrow).expect("it can be read");
    let Diff::Text { text, .. } = cut else {
        panic!("{cut:?}");
    };
    let expected = "-ab\n+äöü… (3 more characters)\n+abc… (1 more character)\n";
    assert!(text.ends_with(expected), "{text}");
}

/// Only what the caller allows is applied; what lies in a directory that is not made is not either.
#[test]
fn refused_changes_are_not_applied() {
    if !has_layers() {
        return;
    }
    let site = Site::new("echo f > f; echo g > g; mkdir d; echo x > d/x; echo y > d/y");
    let layer =
        site.run("echo 1 > f; echo 1 > g; mkdir new; echo 1 > new/in; echo 1 > new-er; rm -r d");
    let refused = ["f", "new", "new-er", "d/x"];
    let applied = layer
        .apply(&|change| !refused.contains(&change.path.as_str()))
        .expect("it can be applied");
    assert_eq!(shown(&applied.done), ["deleted d/y", "modified g"]);
    assert_eq!(
        shown(&applied.refused),
        [
            "deleted d/x",
            "modified f",
            "created directory new",
            "created new-er",
            "created new/in"
        ]
    );
    let failed: Vec<_> = applied
        .failed
        .iter()
        .map(|failed| (failed.change.path.as_str(), failed.why.as_str()))
        .collect();
    assert_eq!(failed, [("d", "it is not empty")]);
    assert_eq!(site.read("f").as_deref(), Some("f\n"));
    assert_eq!(site.read("g").as_deref(), Some("1\n"));
    assert_eq!(site.read("d/x").as_deref(), Some("x\n"));
}

/// What somebody else changed since the layer was made is not overwritten, and the layer's version is
/// kept.
#[test]
fn what_changed_below_is_a_conflict() {
    if !has_layers() {
        return;
    }
    let make = || {
        let site = Site::new("echo f > f; echo g > g; echo h > h; mkdir d; echo i > d/i");
        let layer = site.run("echo layer > f; rm g; echo layer > h; echo layer > new; rm -r d");
        plainly(
            site.lower(),
            "echo host > f; touch -d 2001-01-01 f; echo host > g; echo host > new; echo host > d/new",
        );
        (site, layer)
    };
    let (site, layer) = make();
    let applied = layer.apply(&all).expect("it can be applied");
    assert_eq!(shown(&applied.done), ["deleted d/i", "modified h"]);
    assert_eq!(
        shown(&applied.conflicts),
        ["deleted d/new", "modified f", "deleted g", "modified new"]
    );
    assert_eq!(site.read("f").as_deref(), Some("host\n"));
    assert_eq!(site.read("h").as_deref(), Some("layer\n"));
    let kept = applied.kept.expect("it is the only copy");
    let version = fs::read_to_string(kept.join("f")).expect("it is ours");
    assert_eq!(version, "layer\n");
    assert!(!kept.with_file_name("work").exists());
    // It stays for a while.
    assert_eq!(
        ChangeLayer::sweep(site.state.path()).expect("it can be read"),
        0
    );
    assert_eq!(site.layers(), 1);

    let (site, layer) = make();
    let applied = layer.apply_over_conflicts(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    assert_eq!(site.read("f").as_deref(), Some("layer\n"));
    assert_eq!(site.read("g"), None);
    assert!(!site.lower().join("d").exists());
}

#[test]
fn a_layer_lies_apart_from_what_it_is_over() {
    let site = Site::new("mkdir -p state/inner");
    let cases = [
        (site.lower().join("state"), site.lower().to_owned()),
        (site.lower().to_owned(), site.lower().to_owned()),
    ];
    for (state, lower) in cases {
        let refused = ChangeLayer::create(&state, &lower).expect_err("they overlap");
        assert!(
            refused.to_string().contains("lies in the other"),
            "{refused}"
        );
    }
    let layer = site.layer();
    let mode = |path: &Path| fs::metadata(path).expect("it is ours").permissions().mode();
    let own = layer.upper().parent().expect("it is below");
    assert_eq!(mode(own) & 0o777, 0o700);
    assert_eq!(mode(own.parent().expect("it is below")) & 0o777, 0o700);
    assert_eq!(mode(layer.upper()) & 0o777, 0o755, "as what it lies on");
    drop(layer);
    assert_eq!(site.layers(), 0);
    // Somebody else could have made it before.
    let home = site.state.path().join("layers");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let refused = ChangeLayer::create(site.state.path(), site.lower()).expect_err("it is open");
    assert!(
        refused.to_string().contains("not the user's alone"),
        "{refused}"
    );
}

/// What a killed process left is removed by another, and what is in use is not.
#[test]
fn sweep_removes_what_was_left() {
    const STATE: &str = "JIG_TEST_STATE";
    const LOWER: &str = "JIG_TEST_LOWER";
    if let (Some(state), Some(lower)) = (std::env::var_os(STATE), std::env::var_os(LOWER)) {
        let layer =
            ChangeLayer::create(Path::new(&state), Path::new(&lower)).expect("it can be made");
        fs::create_dir(layer.upper().join("closed")).expect("it is ours");
        fs::set_permissions(
            layer.upper().join("closed"),
            fs::Permissions::from_mode(0o000),
        )
        .expect("it is ours");
        std::process::abort();
    }
    let site = Site::new("");
    assert_eq!(
        ChangeLayer::sweep(site.state.path()).expect("there is nothing"),
        0
    );
    let used = site.layer();
    let status = Command::new("/proc/self/exe")
        .args(["--exact", "layer::sweep_removes_what_was_left"])
        .env(STATE, site.state.path())
        .env(LOWER, site.lower())
        .output()
        .expect("it can be run")
        .status;
    assert!(!status.success());
    assert_eq!(site.layers(), 2);
    assert_eq!(
        ChangeLayer::sweep(site.state.path()).expect("it can be read"),
        1
    );
    assert_eq!(site.layers(), 1);
    assert!(used.upper().exists());
}
