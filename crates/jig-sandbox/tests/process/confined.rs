//! A profile, carried out: what is there, what is not, and what stays closed.

use std::path::Path;
use std::sync::Arc;

use jig_sandbox::{Limits, Network, PathRule, PrivateDirectory, Profile, Rights, RuleSource, Tier};

use super::*;

/// What an ordinary tool gets: the system's programs, a home and a directory for temporary files of its
/// own, and a workspace, in which one file is hidden and one directory read-only.
fn profile(workspace: &Path) -> Profile {
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
    rule(workspace, Rights::ALL, RuleSource::Declared);
    rule(
        &workspace.join("secret"),
        Rights::NONE,
        RuleSource::Declared,
    );
    rule(&workspace.join("kept"), Rights::READ, RuleSource::Declared);
    let mut private = |path: &str| {
        profile.private.push(PrivateDirectory {
            path: path.into(),
            size: 16 << 20,
            executable: true,
        });
    };
    private("/tmp");
    private("/home/tool");
    profile.network = Network::None;
    profile
}

/// A workspace outside of /tmp, which the tool does not see.
fn workspace() -> tempfile::TempDir {
    let directory = tempfile::Builder::new()
        .prefix("jig-workspace")
        .tempdir_in("/var/tmp")
        .expect("there is a directory for temporary files");
    fs::write(directory.path().join("secret"), "hidden").expect("writable");
    fs::write(directory.path().join("plain"), "plain").expect("writable");
    fs::create_dir(directory.path().join("kept")).expect("writable");
    fs::write(directory.path().join("kept/file"), "kept").expect("writable");
    directory
}

fn confined(script: &str, workspace: &Path) -> SpawnRequest {
    let mut request = shell(script);
    request.cwd = workspace.to_owned();
    request.env = minimal_environment("/home/tool".as_ref());
    request.limits = Limits::ROOMY;
    request.profile = Some(Arc::new(profile(workspace)));
    request
}

#[test]
fn it_runs() {
    let workspace = workspace();
    let request = confined(
        "id -u; pwd; cat plain; ls /; cat /proc/self/status; cat /proc/mounts; cat /proc/sys/kernel/pid_max",
        workspace.path(),
    );
    let mut child = spawn(request).expect("it starts");
    let mut text = String::new();
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut text)
        .expect("readable");
    child
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut text)
        .expect("readable");
    println!("{text}");
    println!("{:#?}", child.status);
    assert_eq!(child.status.tier, Tier::A);
    assert!(child.wait().expect("waitable").is_success());
}
