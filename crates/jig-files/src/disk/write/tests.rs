//! A crash at every step of a write.

#![expect(
    clippy::disallowed_methods,
    reason = "the test starts a copy of itself that kills itself, and looks at what it left"
)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;
use rustix::process::{Signal, getpid, kill_process};

use crate::{DiskFiles, DiskOptions, ProjectFiles, WriteOptions};

static STEPS: AtomicU32 = AtomicU32::new(0);

/// Counts, and ends the process as a power cut of its own at the step that the variable names.
pub(super) fn step() {
    let Ok(fatal) = std::env::var("JIG_CRASH_STEP") else {
        return;
    };
    let number = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if number.to_string() == fatal {
        kill_process(getpid(), Signal::KILL).unwrap();
    }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

fn open(above: &Utf8Path, portable: bool) -> DiskFiles {
    let options = DiskOptions {
        state: Some(above.join("state")),
        portable,
    };
    DiskFiles::with_options(above.join("root"), &options).unwrap()
}

const OLD: &str = "old content";
const NEW: &str = "new content, which is longer";

/// What the killed process does; without the variable it does nothing.
#[test]
fn writer() {
    let Ok(above) = std::env::var("JIG_CRASH_ABOVE") else {
        return;
    };
    let portable = std::env::var("JIG_CRASH_PORTABLE").is_ok();
    let files = open(Utf8Path::new(&above), portable);
    for name in ["replaced", "created"] {
        let place = files.locate(&path(name)).unwrap();
        files
            .write(&place, NEW.as_bytes(), &WriteOptions::default())
            .unwrap();
    }
}

/// At every step: the old content or the new one, and nothing else after the next start.
fn crash_at_every_step(portable: bool) -> u32 {
    for step in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let root = above.join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("replaced"), OLD).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "disk::write::tests::writer"])
            .env("JIG_CRASH_ABOVE", &above)
            .env("JIG_CRASH_STEP", step.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if portable {
            command.env("JIG_CRASH_PORTABLE", "1");
        }
        let status = command.status().unwrap();
        let survived = status.success();
        assert!(
            survived || status.signal() == Some(9),
            "step {step}: {status}"
        );

        let files = open(&above, portable);
        let content = std::fs::read_to_string(root.join("replaced")).unwrap();
        assert!(
            [OLD, NEW].contains(&content.as_str()),
            "step {step}: {content}"
        );
        let created = std::fs::read_to_string(root.join("created"));
        assert!(
            created.as_deref().is_ok_and(|text| text == NEW) || created.is_err(),
            "step {step}"
        );
        let names = std::fs::read_dir(&root).unwrap();
        let others: Vec<_> = names
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name != "replaced" && name != "created")
            .collect();
        assert!(others.is_empty(), "step {step}: {others:?} is left");
        drop(files);
        if survived {
            assert_eq!(content, NEW);
            return step - 1;
        }
    }
    0
}

#[test]
fn a_crash_at_any_step_leaves_old_or_new() {
    let steps = crash_at_every_step(false);
    assert!(steps >= 8, "only {steps} steps were tried");
}

#[test]
fn a_crash_at_any_step_leaves_old_or_new_without_nameless_files() {
    let steps = crash_at_every_step(true);
    assert!(steps >= 8, "only {steps} steps were tried");
}
