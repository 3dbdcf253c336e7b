//! Ordinary programs.

use super::*;

/// What a script is seen to want, of paths in the workspace: each with its rights, `?` if it only looked.
#[track_caller]
fn check(script: &str, expected: &[(&str, &str)]) {
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("file other directory/below empty/ bin/");
        std::os::unix::fs::symlink("file", workspace.join("link")).expect("it is ours");
        std::os::unix::fs::symlink("nowhere", workspace.join("dangling")).expect("it is ours");
        let ran = run(request(held, &workspace, "/bin/sh", &["-c", script]));
        assert!(ran.exit.is_success(), "{held:?}: {script}: {}", ran.errors);
        let found: Vec<(String, String)> = ran
            .observation
            .seen
            .iter()
            .filter_map(|one| match &one.target {
                ObservedTarget::Path(path) => {
                    let below = path.strip_prefix(workspace.path()).ok()?;
                    Some((below.to_str()?.to_owned(), told(one)))
                }
                _ => None,
            })
            .filter(|(path, _)| !path.is_empty())
            .collect();
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(path, rights)| ((*path).to_owned(), (*rights).to_owned()))
            .collect();
        assert_eq!(found, expected, "{held:?}: {script}");
    }
}

fn told(seen: &ObservedAccess) -> String {
    match seen.looked {
        true => "?".to_owned(),
        false => seen.wanted.to_string(),
    }
}

#[test]
fn the_shell_is_seen_opening_files() {
    check(": < file", &[("file", "read")]);
    check("echo > file", &[("file", "update")]);
    check("echo >> file", &[("file", "update")]);
    check("echo > new", &[("new", "create")]);
    check("echo > new; echo >> new", &[("new", "create, update")]);
    check("test -f .npmrc || true", &[(".npmrc", "?")]);
    check(
        "cd directory; : < ../file",
        &[("directory", "?"), ("file", "read")],
    );
    check(": < ./directory/..//file", &[("file", "read")]);
    check(": < link", &[("file", "read")]);
    check("echo > dangling", &[("nowhere", "create")]);
    check(
        "(: < missing/below) 2>&- || true",
        &[("missing/below", "read")],
    );
}

/// A program on a layer is seen to use the paths that it uses, not those of the layer.
#[test]
fn on_a_layer_paths_are_those_of_the_program() {
    if is_inside() || !all_ways_to_hold().contains(&Held::Confined) {
        return;
    }
    let (workspace, layer) = (Workspace::of("file"), Workspace::of("upper/ work/"));
    let mut profile = profile(&workspace, Layers::ALL);
    profile.overlays.push(jig_sandbox::Overlay {
        path: workspace.path().to_owned(),
        upper: layer.join("upper"),
        work: layer.join("work"),
        cache: false,
    });
    let script = "echo > file; echo > new; mv new newer";
    let mut request = request(Held::Confined, &workspace, "/bin/sh", &["-c", script]);
    request.profile = Some(Arc::new(profile));
    let ran = run(request);
    // The kernel leaves directories that their owner may not look into, and could not remove with the rest.
    let mut left = layer.join("work");
    for part in ["work", "incompat", "volatile"] {
        left.push(part);
        let _ = fs::set_permissions(&left, fs::Permissions::from_mode(0o700));
    }
    assert!(ran.exit.is_success(), "{}", ran.errors);
    assert!(!workspace.join("newer").exists() && layer.join("upper/newer").exists());
    for (name, wanted) in [
        ("file", Rights::UPDATE),
        ("new", Rights::CREATE.with(Rights::DELETE)),
        ("newer", Rights::CREATE),
    ] {
        let seen = seen(&ran.observation, &workspace.join(name));
        assert_eq!(seen.map(|seen| seen.wanted), Some(wanted), "{name}");
    }
}
