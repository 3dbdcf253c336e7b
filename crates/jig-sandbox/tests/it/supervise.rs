//! Names that may not come into being: what a supervisor refuses, whatever a tool tries, and that all else is as
//! without one. As root and as an ordinary user, observed and not, by every way of starting programs.
#![expect(
    unsafe_code,
    reason = "the programs make system calls by their numbers"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make workspaces and run themselves again"
)]

mod guards;
mod honest;
mod keeper;
mod races;
mod work;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use jig_sandbox::{
    Enforcement, Exit, GuardVerdict, GuardedName, Launch, PathRule, Pool, PrivateDirectory,
    ProcessLimits, Profile, Program, RefusedNames, Rights, RuleSource, SpawnRequest, Tier, assess,
    minimal_environment, probe, spawn,
};

const NOBODY: u32 = 65534;

/// Names the way by which children are started, and whether they are observed too.
const LAUNCH: &str = "JIG_TEST_LAUNCH";

/// Set in a test program that is supervised.
const INSIDE: &str = "JIG_TEST_INSIDE";

/// How long each race lasts, in milliseconds.
const RACE: &str = "JIG_TEST_RACE";

/// Every test here runs once more for each other way, as root and as nobody.
#[test]
fn every_way_and_an_ordinary_user_get_the_same() {
    if std::env::var_os(LAUNCH).is_some() || is_inside() {
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    for (way, as_nobody) in [
        ("launcher", false),
        ("pool observed", false),
        ("direct observed", true),
        ("pool", true),
    ] {
        let as_nobody = as_nobody && is_root;
        let mut command = Command::new("/proc/self/exe");
        command.arg("supervise::").current_dir("/").env(LAUNCH, way);
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

fn way() -> String {
    std::env::var(LAUNCH).unwrap_or_default()
}

fn launch() -> Launch {
    static POOL: OnceLock<Pool> = OnceLock::new();
    match way().split(' ').next() {
        Some("launcher") => Launch::Launcher,
        Some("pool") => Launch::Pool(
            POOL.get_or_init(|| Pool::new(2).expect("the launcher is built in"))
                .clone(),
        ),
        _ => Launch::Direct,
    }
}

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Whether this is no place for a test: inside of one, or where there are no namespaces.
fn is_elsewhere() -> bool {
    is_inside() || assess(&probe()).tier != Tier::A
}

/// A directory of the host to work in, apart from those that tools hide.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-supervise-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in("/var/tmp")
            .expect("there is a directory for temporary files");
        Self(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }
}

/// The names that are guarded in a workspace: some at any depth, one in its own folder, and one that is free.
fn guards(workspace: &Path) -> Vec<GuardedName> {
    let guard = |pattern: &str, at_any_depth, verdict| GuardedName {
        base: workspace.to_owned(),
        pattern: pattern.into(),
        at_any_depth,
        verdict,
        not_below: None,
    };
    let itself = GuardVerdict::RefusedItself;
    vec![
        guard("free/.env", false, GuardVerdict::Free),
        guard(".env*", true, GuardVerdict::Refused),
        guard(".git/config", true, GuardVerdict::Refused),
        guard("a/b/c", true, GuardVerdict::Refused),
        guard("top", false, itself),
        guard(".hg", true, itself),
        GuardedName {
            not_below: Some("node_modules".into()),
            ..guard(".vscode", true, GuardVerdict::Refused)
        },
        guard("", true, GuardVerdict::BareRepository),
    ]
}

fn profile(workspace: &Workspace) -> Profile {
    let mut profile = Profile::closed();
    let programs = Rights::READ.with(Rights::EXECUTE);
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        profile.paths.push(rule(path, programs, RuleSource::System));
    }
    profile
        .paths
        .push(rule(workspace.path(), Rights::ALL, RuleSource::Declared));
    for path in ["/tmp", "/home/tool"] {
        profile.private.push(PrivateDirectory {
            path: path.into(),
            size: 64 << 20,
            executable: true,
        });
    }
    profile
}

fn rule(path: impl Into<PathBuf>, rights: Rights, source: RuleSource) -> PathRule {
    PathRule {
        path: path.into(),
        rights,
        source,
    }
}

/// A program in a workspace in which it may do everything. With `guarded`, but for making guarded names.
fn request(workspace: &Workspace, guarded: bool, program: &str, args: &[&str]) -> SpawnRequest {
    let program = Program::parse(program).expect("tests name programs properly");
    let mut request = SpawnRequest::new(program, workspace.path());
    request.args = args.iter().map(Into::into).collect();
    request.env = minimal_environment("/home/tool".as_ref());
    request.env.insert("PATH".into(), "/usr/bin:/bin".into());
    request.env.insert("LC_ALL".into(), "C".into());
    request.launch = launch();
    request.observe = way().contains("observed");
    let mut profile = profile(workspace);
    if guarded {
        profile.guarded_names = guards(workspace.path());
    }
    request.profile = Some(Arc::new(profile));
    request.limits = ProcessLimits::ROOMY;
    request
}

struct Ran {
    exit: Exit,
    output: String,
    errors: String,
    refused: RefusedNames,
}

/// Runs to the end. Errors must be short.
#[track_caller]
fn run(request: SpawnRequest) -> Ran {
    let is_guarded = |profile: &Arc<Profile>| !profile.guarded_names.is_empty();
    let is_guarded = request.profile.as_ref().is_some_and(is_guarded);
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
    let guarded = is_guarded.then_some(Enforcement::Enforced);
    assert_eq!(child.status.guarded_names, guarded);
    assert_eq!(child.supervisor.is_some(), is_guarded);
    let refused = child.supervisor.take().map(|supervisor| supervisor.take());
    Ran {
        exit,
        output,
        errors,
        refused: refused.unwrap_or_default(),
    }
}

/// Runs a test of this program inside, which leaves at its start when it is not inside. The program is copied into
/// the workspace, because the directories above it may be closed to others.
#[track_caller]
fn run_inside(test: &str, workspace: &Workspace, guarded: bool) -> Ran {
    let program = workspace.join("program");
    fs::copy("/proc/self/exe", &program).expect("it can be copied");
    let args = ["--exact", test, "--nocapture", "--test-threads=1"];
    let program = program.to_str().expect("it is text");
    let mut request = request(workspace, guarded, program, &args);
    request.env.insert(INSIDE.into(), "1".into());
    if let Some(period) = std::env::var_os(RACE) {
        request.env.insert(RACE.into(), period);
    }
    let ran = run(request);
    assert!(
        ran.exit.is_success() && ran.output.contains("1 passed"),
        "{}{}",
        ran.output,
        ran.errors
    );
    ran
}

/// All names below a directory, with what they are: sorted, and with a directory before what is in it.
fn listing(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(here) = todo.pop() {
        for entry in fs::read_dir(&here).expect("it can be read").flatten() {
            let path = entry.path();
            let kind = entry.metadata().expect("it is there");
            let content = match kind {
                ref kind if kind.is_dir() => {
                    todo.push(path.clone());
                    String::new()
                }
                ref kind if kind.is_symlink() => {
                    format!("{:?}", fs::read_link(&path).expect("it is a link"))
                }
                ref kind if kind.is_file() => {
                    let bytes = fs::read(&path).expect("it can be read");
                    let text = String::from_utf8_lossy(&bytes);
                    let own = directory.to_string_lossy();
                    format!("{} {}", bytes.len(), text.replace(&*own, "WORKSPACE"))
                }
                _ => String::new(),
            };
            let path = path.strip_prefix(directory).expect("it is below");
            found.push(format!(
                "{} {:o} {content}",
                path.display(),
                kind.permissions().mode()
            ));
        }
    }
    found.sort();
    found
}
