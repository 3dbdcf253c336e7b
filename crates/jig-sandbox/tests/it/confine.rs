//! What a profile comes to on the kernel of this machine: each claim by a program that tries it, as root
//! and as an ordinary user, and where that is harmless by a twin without the layer that stops it.
#![expect(
    unsafe_code,
    reason = "the programs make system calls as an attacker would"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make workspaces and run themselves again"
)]

mod attempts;
mod calls;
mod files;
mod overlay;
mod programs;
mod sockets;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jig_sandbox::{
    Exit, Layers, PathRule, PrivateDirectory, ProcessLimits, Profile, Program, Rights, RuleSource,
    SpawnError, SpawnRequest, Status, Tier, assess, minimal_environment, probe, spawn,
};

const NOBODY: u32 = 65534;

/// As root, every test here runs once more as nobody.
#[test]
fn an_ordinary_user_gets_the_same() {
    if !rustix::process::geteuid().is_root() || is_inside() {
        return;
    }
    let output = Command::new("/proc/self/exe")
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

/// A directory of the host to work in, apart from the directories for temporary files that tools hide.
struct Workspace(tempfile::TempDir);

impl Workspace {
    /// With these files, each with its own path as content; a directory ends with a slash.
    fn of(paths: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-confine-")
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

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.join(path)).ok()
    }
}

/// What overlayfs keeps for itself is closed even to whoever owns it, and could not be removed.
impl Drop for Workspace {
    fn drop(&mut self) {
        open_all(self.path());
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

/// The system's programs and, with namespaces, a home and a directory for temporary files.
fn system() -> Profile {
    let mut profile = Profile::closed();
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        profile.paths.push(PathRule {
            path: path.into(),
            rights: Rights::READ.with(Rights::EXECUTE),
            source: RuleSource::System,
        });
    }
    for path in ["/tmp", "/home/tool"] {
        profile.private.push(PrivateDirectory {
            path: path.into(),
            size: 16 << 20,
            executable: true,
        });
    }
    profile
}

fn rule(path: impl Into<PathBuf>, rights: Rights) -> PathRule {
    PathRule {
        path: path.into(),
        rights,
        source: RuleSource::Declared,
    }
}

fn request(program: &str, args: &[&str], cwd: &Path, profile: Profile) -> SpawnRequest {
    let program = Program::parse(program).expect("tests name programs properly");
    let mut request = SpawnRequest::new(program, cwd);
    request.args = args.iter().map(Into::into).collect();
    request.env = minimal_environment("/home/tool".as_ref());
    request.limits = ProcessLimits::ROOMY;
    request.profile = Some(Arc::new(profile));
    request
}

struct Ran {
    exit: Exit,
    output: String,
    errors: String,
    status: Status,
}

/// Runs to the end. Errors must be short.
#[track_caller]
fn run(request: SpawnRequest) -> Ran {
    match try_run(request) {
        Ok(ran) => ran,
        Err(error) => panic!("it does not start: {error:?}"),
    }
}

fn try_run(request: SpawnRequest) -> Result<Ran, SpawnError> {
    let mut child = spawn(request)?;
    let read = |pipe: Option<std::io::PipeReader>| {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("pipes can be read");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (output, errors) = (read(child.stdout.take()), read(child.stderr.take()));
    Ok(Ran {
        exit: child.wait().expect("it can be waited for"),
        output,
        errors,
        status: child.status.clone(),
    })
}

/// The layers to run tests with: those of this machine, and those of one without user namespaces.
fn tiers() -> Vec<Layers> {
    match assess(&probe()).tier {
        Tier::A => vec![Layers::ALL, Layers::TIER_B],
        Tier::B => vec![Layers::TIER_B],
        Tier::None => Vec::new(),
    }
}

/// Whether this machine can hold what only mounts hold.
fn has_namespaces() -> bool {
    assess(&probe()).tier == Tier::A
}

/// Runs a test of this program inside, with these variables. The program is copied into the workspace,
/// because the directories above it may be closed to others.
#[track_caller]
fn run_inside(
    test: &str,
    workspace: &Workspace,
    mut profile: Profile,
    variables: &[(&str, &str)],
) -> Ran {
    let program = workspace.join("program");
    fs::copy("/proc/self/exe", &program).expect("it can be copied");
    profile
        .paths
        .push(rule(&program, Rights::READ.with(Rights::EXECUTE)));
    let args = ["--exact", test, "--nocapture", "--test-threads=1"];
    let program = program.to_str().expect("it is text");
    let mut request = request(program, &args, Path::new("/usr"), profile);
    for (name, value) in [(INSIDE, "1")].iter().chain(variables) {
        request.env.insert(name.into(), value.into());
    }
    run(request)
}

/// Set in a test program that runs confined.
const INSIDE: &str = "JIG_TEST_INSIDE";

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}
