//! What an observer tells of real programs: confined and not, as root and as an ordinary user, by every way
//! of starting them; and that observing changes nothing for them.
#![expect(
    unsafe_code,
    reason = "the programs make system calls by their numbers"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make workspaces and run themselves again"
)]

mod basics;
mod calls;
mod harmless;
mod hostile;
mod lifetime;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jig_sandbox::{
    Containment, Exit, Launch, Layers, Observation, ObservedAccess, ObservedTarget, PathRule, Pool,
    PrivateDirectory, ProcessLimits, Profile, Program, Rights, RuleSource, SpawnRequest, Tier,
    assess, minimal_environment, probe, spawn,
};
use jig_testkit::until;

const NOBODY: u32 = 65534;

/// Names the way by which children are started.
const LAUNCH: &str = "JIG_TEST_LAUNCH";

/// Set in a test program that is observed.
const INSIDE: &str = "JIG_TEST_INSIDE";

/// Every test here runs once more for each other way, as root and as nobody.
#[test]
fn every_way_and_an_ordinary_user_get_the_same() {
    if std::env::var_os(LAUNCH).is_some() || is_inside() {
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    for way in ["direct", "launcher", "pool"] {
        for as_nobody in [false, true] {
            if (as_nobody && !is_root) || (way == "direct" && !as_nobody) {
                continue;
            }
            // The program is reached by its link in /proc, because the directories above it may be closed
            // to others.
            let mut command = Command::new("/proc/self/exe");
            command.arg("observe::").current_dir("/").env(LAUNCH, way);
            if as_nobody {
                command.uid(NOBODY).gid(NOBODY);
            }
            let output = command.output().expect("the tests can be run again");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains(" passed; 0 failed"),
                "{way}, as nobody: {as_nobody}\n{text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

fn launch() -> Launch {
    static POOL: OnceLock<Pool> = OnceLock::new();
    match std::env::var(LAUNCH).as_deref() {
        Ok("launcher") => Launch::Launcher,
        Ok("pool") => Launch::Pool(
            POOL.get_or_init(|| Pool::new(2).expect("the launcher is built in"))
                .clone(),
        ),
        _ => Launch::Direct,
    }
}

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// A directory of the host to work in, apart from the directories for temporary files that tools hide.
struct Workspace(tempfile::TempDir);

impl Workspace {
    /// With these files, each with its own path as content; a directory ends with a slash.
    fn of(paths: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-observe-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in("/var/tmp")
            .expect("there is a directory for temporary files");
        for path in paths.split_whitespace() {
            let full = directory.path().join(path);
            if path.ends_with('/') {
                fs::create_dir_all(full).expect("it is ours");
            } else {
                fs::create_dir_all(full.parent().expect("it is below")).expect("it is ours");
                fs::write(full, path).expect("it is ours");
            }
        }
        Self(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }
}

/// How a program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// By a profile, with namespaces.
    Confined,
    /// By a profile, without namespaces.
    Bare,
    /// By nothing but its keeper, with and without namespaces.
    Free,
    Adopted,
}

/// Those that this machine has.
fn all_ways_to_hold() -> Vec<Held> {
    match assess(&probe()).tier {
        Tier::A => vec![Held::Confined, Held::Bare, Held::Free, Held::Adopted],
        Tier::B => vec![Held::Bare, Held::Free, Held::Adopted],
        Tier::None => vec![Held::Free, Held::Adopted],
    }
}

/// A program in a workspace, in which it may do everything but in `secret`, which is hidden, and in `kept`,
/// which can only be read.
fn request(held: Held, workspace: &Workspace, program: &str, args: &[&str]) -> SpawnRequest {
    let program = Program::parse(program).expect("tests name programs properly");
    let mut request = SpawnRequest::new(program, workspace.path());
    request.args = args.iter().map(Into::into).collect();
    request.env = minimal_environment("/home/tool".as_ref());
    request.env.insert("PATH".into(), "/usr/bin:/bin".into());
    request.env.insert("LC_ALL".into(), "C".into());
    request.launch = launch();
    request.observe = true;
    match held {
        Held::Confined => request.profile = Some(Arc::new(profile(workspace, Layers::ALL))),
        Held::Bare => request.profile = Some(Arc::new(profile(workspace, Layers::TIER_B))),
        Held::Free => {}
        Held::Adopted => request.containment = Containment::WithoutNamespaces,
    }
    if request.profile.is_some() {
        request.limits = ProcessLimits::ROOMY;
    }
    request
}

fn profile(workspace: &Workspace, layers: Layers) -> Profile {
    let mut profile = Profile::closed();
    let programs = Rights::READ.with(Rights::EXECUTE);
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        profile.paths.push(rule(path, programs, RuleSource::System));
    }
    let mut declare = |path: &Path, rights| {
        profile.paths.push(rule(path, rights, RuleSource::Declared));
    };
    declare(workspace.path(), Rights::ALL);
    if layers.namespaces {
        for (name, rights) in [("secret", Rights::NONE), ("kept", Rights::READ)] {
            if workspace.join(name).exists() {
                declare(&workspace.join(name), rights);
            }
        }
        for path in ["/tmp", "/home/tool"] {
            profile.private.push(PrivateDirectory {
                path: path.into(),
                size: 16 << 20,
                executable: true,
            });
        }
    }
    profile.layers = layers;
    profile
}

fn rule(path: impl Into<PathBuf>, rights: Rights, source: RuleSource) -> PathRule {
    PathRule {
        path: path.into(),
        rights,
        source,
    }
}

struct Ran {
    exit: Exit,
    output: String,
    errors: String,
    observation: Observation,
}

/// Runs to the end, with all its calls observed. Errors must be short.
#[track_caller]
fn run(request: SpawnRequest) -> Ran {
    let ran = run_partly_read(request);
    assert_eq!(ran.observation.unread, 0);
    ran
}

/// As [`run`], where some of the calls may be closed to inspection.
#[track_caller]
fn run_partly_read(request: SpawnRequest) -> Ran {
    let mut child = match spawn(request) {
        Ok(child) => child,
        Err(error) => panic!("it does not start: {error:?}"),
    };
    let read = |pipe: Option<std::io::PipeReader>| {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("pipes can be read");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (output, errors) = (read(child.stdout.take()), read(child.stderr.take()));
    let exit = child.wait().expect("it can be waited for");
    assert_eq!(child.unobserved, None);
    let observer = child.observer.take().expect("it is observed");
    Ran {
        exit,
        output,
        errors,
        observation: observer.finish(),
    }
}

/// Runs a test of this program inside, observed, which leaves at its start when it is not inside. The program is
/// copied into the workspace, because the directories above it may be closed to others.
#[track_caller]
fn run_inside(held: Held, test: &str, workspace: &Workspace) -> Ran {
    let program = workspace.join("program");
    fs::copy("/proc/self/exe", &program).expect("it can be copied");
    let args = ["--exact", test, "--nocapture", "--test-threads=1"];
    let program = program.to_str().expect("it is text");
    let mut request = request(held, workspace, program, &args);
    request.env.insert(INSIDE.into(), "1".into());
    let ran = run_partly_read(request);
    assert!(
        ran.exit.is_success() && ran.output.contains("1 passed"),
        "{held:?}: {}{}",
        ran.output,
        ran.errors
    );
    ran
}

/// What was seen of a path.
fn seen<'a>(observation: &'a Observation, path: &Path) -> Option<&'a ObservedAccess> {
    let target = ObservedTarget::Path(path.to_owned());
    observation.seen.iter().find(|one| one.target == target)
}
