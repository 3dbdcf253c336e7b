//! [`TrialSite`]: where projects are tried, and who tries them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::foreign_programs;

/// A folder for projects, and the person who works there: whoever runs this, or a plain user with a home of
/// their own.
pub(crate) struct TrialSite {
    jig: PathBuf,
    pub(crate) folder: PathBuf,
    /// The search path of the person.
    pub(crate) path: String,
    /// The home of the plain user.
    home: Option<PathBuf>,
}

impl TrialSite {
    /// The site of whoever runs this.
    pub(crate) fn own() -> Result<Self, String> {
        let folder = folder("own")?;
        Ok(Self {
            jig: copy_of_jig(&folder)?,
            folder,
            path: std::env::var("PATH").unwrap_or_default(),
            home: None,
        })
    }

    /// The site of a plain user, which only root can make.
    ///
    /// The programs of rustup are lent to that user. Otherwise there is what the system has.
    pub(crate) fn plain() -> Result<Self, String> {
        let folder = folder("plain")?;
        let home = folder.join("home");
        for lent in LENT {
            make(&home.join(lent))?;
        }
        let jig = copy_of_jig(&folder)?;
        let path = format!("{}/.cargo/bin:/usr/local/bin:/usr/bin:/bin", home.display());
        Ok(Self {
            jig,
            folder,
            path,
            home: Some(home),
        })
    }

    /// Whether a plain user works here.
    pub(crate) fn is_plain(&self) -> bool {
        self.home.is_some()
    }

    /// Whether the person finds a program.
    pub(crate) fn has(&self, program: &str) -> bool {
        let find = format!("command -v {program}");
        output(self.command("sh").args(["-c", &find])).is_ok()
    }

    /// A program that the person starts.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = match &self.home {
            None => Command::new(program.as_ref()),
            Some(home) => {
                let mut command = Command::new("unshare");
                command.args(["--mount", "sh", "-c", AS_PLAIN_USER, "sh"]);
                command.arg(home).arg(program.as_ref());
                command.env("HOME", home);
                for name in ["CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR"] {
                    command.env_remove(name);
                }
                command
            }
        };
        // Cargo sets the first for this program.
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        // What jig keeps for these workspaces goes with them.
        command
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .env("PATH", &self.path)
            .env_remove("VIRTUAL_ENV");
        command
    }

    /// The command line `jig run` in a shell, since hints are made to be pasted there. The words are written as they
    /// are.
    pub(crate) fn jig_run(&self, words: &str) -> Command {
        let mut command = self.command("sh");
        let line = format!("exec \"$0\" run {words}");
        command.arg("-c").arg(line).arg(&self.jig);
        command
    }

    /// Writes a file below the folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        make(path.parent().unwrap_or(&path))?;
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        self.hand_over()
    }

    /// Makes everything here the person's own.
    pub(crate) fn hand_over(&self) -> Result<(), String> {
        match &self.home {
            None => Ok(()),
            Some(_) => {
                let args = ["-R", "-h", "1000:1000"];
                output(Command::new("chown").args(args).arg(&self.folder)).map(drop)
            }
        }
    }
}

impl Drop for TrialSite {
    fn drop(&mut self) {
        // Go makes what it downloads read-only.
        let _ = Command::new("chmod")
            .args(["-R", "u+w"])
            .arg(&self.folder)
            .output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What a program prints; an error if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// The program as it is now, whatever is built meanwhile.
fn copy_of_jig(folder: &Path) -> Result<PathBuf, String> {
    let jig = folder.join("jig");
    let built = foreign_programs::target().join("debug/jig");
    output(Command::new("cp").arg(built).arg(&jig))?;
    Ok(jig)
}

/// A new folder, not in the checkout, whose own settings of cargo and git would count.
fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("jig-trial-{}-{name}", std::process::id()));
    make(&folder)?;
    folder.canonicalize().map_err(|error| error.to_string())
}

fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// What of root's home a plain user gets.
const LENT: [&str; 2] = [".rustup", ".cargo/bin"];

/// Lends root's toolchain to the home that is the first argument, and starts the rest as its user.
const AS_PLAIN_USER: &str = r#"
for lent in .rustup .cargo/bin; do
    if [ -d ~root/$lent ]; then mount --bind ~root/$lent "$1/$lent" || exit; fi
done
shift
exec setpriv --reuid 1000 --regid 1000 --clear-groups -- "$@"
"#;
