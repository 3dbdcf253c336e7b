//! Layers: what is changed goes into them, and nothing gets past them.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use jig_sandbox::{Enforce, Launch, Overlay, Pool};

use super::*;

const READ: Rights = Rights::READ;
const WRITE: Rights = Rights::READ.with(Rights::WRITE);

/// A workspace, and a layer that lies apart from it.
struct Layered {
    workspace: Workspace,
    layer: Workspace,
}

impl Layered {
    fn of(paths: &str) -> Self {
        let layer = Workspace::of("upper/ work/");
        fs::set_permissions(layer.path(), fs::Permissions::from_mode(0o700)).expect("it is ours");
        Self {
            workspace: Workspace::of(paths),
            layer,
        }
    }

    /// The rules for paths in the workspace, which itself is the empty path and has the layer.
    fn profile(&self, rules: &[(&str, Rights)]) -> Profile {
        let mut profile = system();
        for (path, rights) in rules {
            let path = match *path {
                "" => self.workspace.path().to_owned(),
                path => self.workspace.join(path),
            };
            profile.paths.push(rule(path, *rights));
        }
        profile.overlays.push(self.overlay(self.workspace.path()));
        profile
    }

    fn overlay(&self, path: &Path) -> Overlay {
        Overlay {
            path: path.to_owned(),
            upper: self.layer.join("upper"),
            work: self.layer.join("work"),
            cache: false,
        }
    }

    /// What the layer has at a path.
    fn changed(&self, path: &str) -> Option<String> {
        self.layer.read(&format!("upper/{path}"))
    }

    fn is_removed(&self, path: &str) -> bool {
        let path = self.layer.join(&format!("upper/{path}"));
        let found = fs::symlink_metadata(path);
        found.is_ok_and(|found| found.file_type().is_char_device() && found.rdev() == 0)
    }

    fn run(&self, profile: Profile, script: &str) -> Ran {
        let cwd = self.workspace.path();
        run(request("/bin/sh", &["-c", script], cwd, profile))
    }
}

/// A cache is changed in its layer, whatever the rule says, and stays for the next program. Where there is no layer,
/// the rule holds for the directory itself, and the program starts all the same.
#[test]
fn a_cache_is_changed_in_its_layer_or_not_at_all() {
    if !has_namespaces() {
        return;
    }
    let layered = Layered::of("theirs");
    let profile = |upper: &str, work: &str| {
        let mut profile = layered.profile(&[("", READ)]);
        profile.overlays[0] = Overlay {
            upper: layered.layer.join(upper),
            work: layered.layer.join(work),
            cache: true,
            ..layered.overlay(layered.workspace.path())
        };
        profile
    };
    let script = "cat ours 2>/dev/null; echo ours > ours && echo changed > theirs; cat theirs";
    let ran = layered.run(profile("upper", "work"), script);
    assert_eq!(ran.output, "changed\n", "{}", ran.errors);
    fs::create_dir(layered.layer.join("again")).expect("it is ours");
    let ran = layered.run(profile("upper", "again"), script);
    assert_eq!(ran.output, "ours\nchanged\n", "{}", ran.errors);
    let no_layer = profile("missing", "again");
    let mut no_namespaces = profile("upper", "again");
    no_namespaces.layers = Layers::TIER_B;
    no_namespaces.enforce = Enforce::BestEffort;
    for profile in [no_layer, no_namespaces] {
        let ran = layered.run(profile, script);
        assert_eq!(ran.output, "theirs", "{}", ran.errors);
    }
    let theirs = layered.workspace.read("theirs");
    assert_eq!(theirs.as_deref(), Some("theirs"));
    assert_eq!(layered.workspace.read("ours"), None);
}

#[test]
fn changes_go_into_the_layer_whichever_way_it_is_started() {
    if !has_namespaces() {
        return;
    }
    let pool = Pool::new(1).expect("the launcher is built in");
    let pooled = Launch::Pool(pool);
    for launch in [
        Launch::Direct,
        Launch::Launcher,
        pooled.clone(),
        pooled.clone(),
        pooled,
    ] {
        let layered = Layered::of("kept changed removed d/inner gone/inner");
        let profile = layered.profile(&[("", WRITE)]);
        let script = "set -e; echo new > new; echo more >> changed; rm removed; mkdir e; mv d/inner e/x
            rm -r gone; ln -s kept link; cat new changed kept e/x; ! test -e removed; ls -d gone || true";
        let mut request = request(
            "/bin/sh",
            &["-c", script],
            layered.workspace.path(),
            profile,
        );
        request.launch = launch;
        let ran = run(request);
        assert!(ran.exit.is_success(), "{}", ran.errors);
        assert_eq!(ran.output, "new\nchangedmore\nkeptd/inner");
        // The host has what it had.
        let mut names: Vec<_> = fs::read_dir(layered.workspace.path())
            .expect("it is ours")
            .map(|entry| entry.expect("it is ours").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["changed", "d", "gone", "kept", "removed"]);
        assert_eq!(
            layered.workspace.read("changed").as_deref(),
            Some("changed")
        );
        assert_eq!(
            layered.workspace.read("d/inner").as_deref(),
            Some("d/inner")
        );
        // The layer has the rest.
        assert_eq!(layered.changed("new").as_deref(), Some("new\n"));
        assert_eq!(layered.changed("changed").as_deref(), Some("changedmore\n"));
        assert_eq!(layered.changed("e/x").as_deref(), Some("d/inner"));
        assert!(layered.is_removed("removed") && layered.is_removed("gone"));
        assert_eq!(layered.changed("kept"), None);
    }
}

/// Rules inside of a layered directory count as they do without a layer, and what they let through goes
/// into the layer too: a bind of the host's directory would be a way past it.
#[test]
fn rules_inside_of_a_layer() {
    if !has_namespaces() {
        return;
    }
    let cases: [(&[(&str, Rights)], &str); 7] = [
        // Only a part can be changed.
        (
            &[("", READ), ("open", WRITE)],
            "echo x > open/new; echo x >> open/f; ! touch new; ! rm f; cat f; mv open/f open/g",
        ),
        // A part cannot be.
        (
            &[("", WRITE), ("shut", READ)],
            "touch new; ! touch shut/new; ! rm shut/f; ! mv shut away; cat shut/f; echo x > f",
        ),
        // A file cannot be.
        (
            &[("", WRITE), ("f", READ)],
            "touch new; ! touch f; ! rm f; ! mv f g; ! sh -c 'echo x > f'",
        ),
        // A part is hidden.
        (
            &[("", WRITE), ("shut", Rights::NONE)],
            "touch new; ! ls shut; ! cat shut/f; ! mv shut away; ! rmdir shut",
        ),
        // A part is hidden, but for a part of it that can be changed.
        (
            &[("", WRITE), ("shut", Rights::NONE), ("shut/in", WRITE)],
            "touch new; ! cat shut/f; echo x > shut/in/new; echo x >> shut/in/f; cat shut/in/f",
        ),
        // Nothing can be run but in a part.
        (
            &[("", WRITE), ("open", WRITE.with(Rights::EXECUTE))],
            "! ./prog; open/prog; cp open/prog open/other; open/other; ! mv open away",
        ),
        // Nothing can be changed but a part of what can be run.
        (
            &[
                ("", READ.with(Rights::EXECUTE)),
                ("open", WRITE),
                ("open/bin", READ.with(Rights::EXECUTE)),
            ],
            "./prog; ! touch new; touch open/new; ! open/prog; open/bin/prog; ! touch open/bin/new",
        ),
    ];
    for (rules, script) in cases {
        let layered = Layered::of("f open/f shut/f shut/in/f open/bin/f");
        for prog in ["prog", "open/prog", "open/bin/prog"] {
            fs::copy("/bin/true", layered.workspace.join(prog)).expect("it is ours");
        }
        let before = tree(layered.workspace.path());
        let script: String = script
            .split("; ")
            .map(|line| match line.strip_prefix("! ") {
                Some(line) => format!("( {line} ) 2>/dev/null && echo 'not refused: {line}'\n"),
                None => format!("( {line} ) >/dev/null || echo 'refused: {line}'\n"),
            })
            .collect();
        let ran = layered.run(layered.profile(rules), &script);
        assert_eq!(ran.output, "", "{rules:?}: {}", ran.errors);
        assert_eq!(tree(layered.workspace.path()), before, "{rules:?}");
    }
}

/// The directories of the layer lie in what the tool may change: it gets at neither.
#[test]
fn a_layer_cannot_be_reached_by_its_tool() {
    if !has_namespaces() {
        return;
    }
    let outer = Workspace::of("work/f state/layer/upper/ state/layer/kernel/ other");
    let mut profile = system();
    profile.paths.push(rule(outer.path(), WRITE));
    profile.paths.push(rule(outer.join("work"), WRITE));
    profile.overlays.push(Overlay {
        path: outer.join("work"),
        upper: outer.join("state/layer/upper"),
        work: outer.join("state/layer/kernel"),
        cache: false,
    });
    let script = "cd state/layer; for part in upper kernel; do
            ls $part && echo listed $part; echo x > $part/new && echo made in $part
            mv $part away && echo moved $part; chmod 777 $part && echo opened $part
            rm -r $part && echo removed $part; done
        mv ../layer ../away && echo moved the layer; mv ../../state ../../away && echo moved all
        cd ../..; mv work away && echo moved the workspace; echo x > other; echo x > work/new";
    let ran = run(request("/bin/sh", &["-c", script], outer.path(), profile));
    assert_eq!(ran.output, "", "{}", ran.errors);
    // What has no layer is changed itself.
    assert_eq!(outer.read("other").as_deref(), Some("x\n"));
    assert_eq!(outer.read("state/layer/upper/new").as_deref(), Some("x\n"));
    assert_eq!(outer.read("work/new"), None);
}

/// A layer in a layer: a home, and a workspace in it.
#[test]
fn layers_in_one_another() {
    if !has_namespaces() {
        return;
    }
    let home = Workspace::of("project/f dot");
    let layers = [Workspace::of("upper/ work/"), Workspace::of("upper/ work/")];
    let mut profile = system();
    for (path, layer) in [home.path().to_owned(), home.join("project")]
        .iter()
        .zip(&layers)
    {
        profile.paths.push(rule(path, WRITE));
        profile.overlays.push(Overlay {
            path: path.clone(),
            upper: layer.join("upper"),
            work: layer.join("work"),
            cache: false,
        });
    }
    let before = tree(home.path());
    let script = "echo x > dot; echo x > project/f; echo x > project/new; ! mv project away";
    let ran = run(request("/bin/sh", &["-c", script], home.path(), profile));
    assert!(ran.exit.is_success(), "{}", ran.errors);
    assert_eq!(tree(home.path()), before);
    assert_eq!(layers[0].read("upper/dot").as_deref(), Some("x\n"));
    assert_eq!(layers[1].read("upper/f").as_deref(), Some("x\n"));
    assert_eq!(layers[1].read("upper/new").as_deref(), Some("x\n"));
}

/// Whoever asked for a layer must not have the files themselves changed because there can be none.
#[test]
fn without_namespaces_nothing_is_started() {
    for enforce in [Enforce::Required, Enforce::BestEffort] {
        let layered = Layered::of("f");
        let mut profile = layered.profile(&[("", WRITE)]);
        profile.layers = Layers::TIER_B;
        profile.enforce = enforce;
        let touched = "echo x > f";
        let cwd = layered.workspace.path();
        let refused = try_run(request("/bin/sh", &["-c", touched], cwd, profile));
        let reason = refused.err().map(|error| error.to_string());
        let reason = reason.expect("it is not started");
        assert!(reason.contains("without namespaces"), "{reason}");
        assert!(reason.contains("run it without a layer"), "{reason}");
        assert_eq!(layered.workspace.read("f").as_deref(), Some("f"));
    }
}

#[test]
fn layers_that_cannot_be() {
    if !has_namespaces() {
        return;
    }
    let layered = Layered::of("d/inner f upper/ work/ link-target/");
    let workspace = layered.workspace.path();
    std::os::unix::fs::symlink("link-target", layered.workspace.join("link")).expect("it is ours");
    let own = |path: &str| Overlay {
        path: workspace.to_owned(),
        upper: layered.workspace.join(path),
        work: layered.workspace.join("work"),
        cache: false,
    };
    let cases = [
        (layered.overlay(Path::new("/nowhere")), "no rule shows"),
        (
            layered.overlay(&layered.workspace.join("missing")),
            "no rule shows",
        ),
        (
            layered.overlay(&layered.workspace.join("link")),
            "symbolic link",
        ),
        (
            layered.overlay(&layered.workspace.join("f")),
            "not a directory",
        ),
        (own("upper"), "one lies in the other"),
        (
            Overlay {
                upper: layered.layer.join("missing"),
                ..layered.overlay(workspace)
            },
            "putting a layer over",
        ),
    ];
    for (overlay, expected) in cases {
        let mut profile = system();
        let shown = [
            workspace.to_owned(),
            layered.workspace.join("f"),
            layered.workspace.join("missing"),
        ];
        profile.paths.extend(shown.map(|path| rule(path, WRITE)));
        profile.overlays.push(overlay);
        profile.enforce = Enforce::BestEffort;
        let refused = try_run(request("/bin/true", &[], workspace, profile));
        let reason = refused.err().map(|error| error.to_string());
        let reason = reason.unwrap_or_else(|| panic!("it was started: {expected}"));
        assert!(reason.contains(expected), "{reason}");
    }
}

/// What overlayfs writes down for itself are attributes of files. A tool that could set them could make
/// others disappear from the layer, or appear in it.
#[test]
fn attributes_of_a_layer_cannot_be_forged() {
    const LOWER: &str = "JIG_TEST_LOWER";
    if let Some(lower) = std::env::var_os(LOWER) {
        return forge(Path::new(&lower));
    }
    if !has_namespaces() {
        return;
    }
    let layered = Layered::of("f d/inner");
    let lower = layered.workspace.path().to_str().expect("it is text");
    let ran = run_inside(
        "confine::overlay::attributes_of_a_layer_cannot_be_forged",
        // The program itself is not under the layer.
        &Workspace::of(""),
        layered.profile(&[("", WRITE)]),
        &[(LOWER, lower)],
    );
    assert!(
        ran.output.contains("1 passed"),
        "{}{}",
        ran.output,
        ran.errors
    );
    for path in ["f", "d", "new"] {
        let path = layered.layer.join(&format!("upper/{path}"));
        let names = attributes(&path);
        for (forged, _) in FORGED {
            let forged = forged.to_str().expect("it is text");
            assert!(!names.iter().any(|name| name == forged), "{names:?}");
        }
    }
    assert_eq!(layered.changed("f").as_deref(), Some("f"));
    assert!(!layered.is_removed("device") && !layered.is_removed("f"));
}

const FORGED: [(&std::ffi::CStr, &[u8]); 5] = [
    (c"user.overlay.opaque", b"y"),
    (c"user.overlay.whiteout", b""),
    (c"user.overlay.redirect", b"/f"),
    (c"user.overlay.metacopy", b""),
    (c"user.overlay.protattr", b"x"),
];

/// Inside: tries to set every attribute, by path and by descriptor, and to make what stands for nothing.
fn forge(lower: &Path) {
    use std::os::unix::ffi::OsStrExt;
    let c_path = |path: &Path| std::ffi::CString::new(path.as_os_str().as_bytes());
    fs::write(lower.join("new"), "").expect("it may be made");
    for path in ["f", "d", "new"] {
        let path = c_path(&lower.join(path)).expect("it has no NUL");
        for (name, value) in FORGED {
            // SAFETY: path and name are C strings, the value is as long as is said.
            unsafe {
                let value = (value.as_ptr().cast(), value.len());
                libc::setxattr(path.as_ptr(), name.as_ptr(), value.0, value.1, 0);
                let fd = libc::open(path.as_ptr(), libc::O_RDONLY);
                libc::fsetxattr(fd, name.as_ptr(), value.0, value.1, 0);
                libc::close(fd);
            }
        }
    }
    for path in ["device", "f"] {
        let path = c_path(&lower.join(path)).expect("it has no NUL");
        // SAFETY: the path is a C string.
        let made = unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, 0) };
        assert_eq!(made, -1);
    }
}

fn attributes(path: &Path) -> Vec<String> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("it has no NUL");
    let mut list = vec![0_u8; 4096];
    // SAFETY: the path is a C string, the list as long as is said.
    let length = unsafe { libc::llistxattr(path.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    let length = usize::try_from(length).unwrap_or(0);
    list[..length]
        .split(|byte| *byte == 0)
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// Every path below with its mode, content and time of the last change of any kind.
fn tree(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let found = fs::symlink_metadata(&path).expect("it is ours");
        let content = match found.is_file() {
            true => fs::read(&path).expect("it is ours").len(),
            false => 0,
        };
        let changed = (found.ctime(), found.ctime_nsec());
        lines.push(format!("{path:?} {:o} {content} {changed:?}", found.mode()));
        if found.is_dir() {
            let entries = fs::read_dir(&path).expect("it is ours");
            left.extend(entries.map(|entry| entry.expect("it is ours").path()));
        }
    }
    lines.sort();
    lines
}
