//! `commit`: a commit of what is staged, made by git alone.
//!
//! The configuration of a repository can name programs that git runs on the way: hooks, filters, a monitor of
//! files, a program that signs. Whoever agrees to a commit has not agreed to any of them, so none is run. A
//! filter would be needed to stage files, so nothing is staged here.

use jig_tool::ToolError;
use jig_tool::vfs::{Host, HostError};

/// Refuses arguments that do more than commit what is staged.
pub(crate) fn check(args: &[String]) -> Result<(), ToolError> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if FLAGS.contains(&arg.as_str()) {
            continue;
        }
        let valued = VALUED.iter().find(|option| {
            arg.strip_prefix(**option).is_some_and(|rest| {
                rest.is_empty() || option.starts_with("--") && rest.starts_with('=')
            })
        });
        match valued {
            Some(option) if arg == option && args.next().is_none() => {
                return Err(ToolError::new(format!("`{option}` needs a value after it")));
            }
            Some(_) => {}
            None => return Err(refused(arg)),
        }
    }
    Ok(())
}

fn refused(arg: &str) -> ToolError {
    let why = match arg.starts_with('-') {
        false => "a path",
        true => "an option",
    };
    ToolError::new(format!(
        "`{arg}` is {why} that `commit` does not take here: it commits what is staged (use the command `stage` \
         before), runs no hooks and signs nothing; it takes {}",
        FLAGS
            .iter()
            .chain(&VALUED)
            .copied()
            .collect::<Vec<_>>()
            .join(", ")
    ))
}

/// Settings that take the place of those that name a program under a name of its own.
pub(crate) fn silenced(host: &mut Host) -> Result<Vec<String>, ToolError> {
    let found = host
        .run("git")
        .args(["config", "--null", "--name-only", "--list"])
        .output();
    let found = found.map_err(|error: HostError| ToolError::from(error))?;
    if found.exit_code != 0 {
        let mut error = ToolError::new("the configuration of the repository cannot be read");
        error.trace.push(found.stderr.trim_end().to_owned());
        return Err(error);
    }
    let mut settings = Vec::new();
    for key in found.stdout.split('\0').filter(|key| !key.is_empty()) {
        let Some((section, last)) = key.rsplit_once('.') else {
            continue;
        };
        if !NAMED.iter().any(|kind| section.starts_with(kind)) {
            continue;
        }
        if section.contains('=') || section.contains(char::REPLACEMENT_CHARACTER) {
            // Such a name cannot be given on a command line, or is not text.
            return Err(ToolError::new(format!(
                "the configuration names a program under `{section}`, and it cannot be kept from running"
            )));
        }
        match (section.split_once('.').map(|(kind, _)| kind), last) {
            (Some("filter"), "clean" | "smudge" | "process") => {
                settings.push(format!("{key}="));
                settings.push(format!("{section}.required=false"));
            }
            (Some("hook"), _) => settings.push(format!("{section}.enabled=false")),
            (Some("protocol"), "allow") => settings.push(format!("{key}=never")),
            _ => {}
        }
    }
    settings.sort();
    settings.dedup();
    Ok(settings)
}

/// Whether something is staged. Git itself would look at all files to say what is not, and at submodules, whose
/// configuration names filters of its own.
pub(crate) fn is_anything_staged(host: &mut Host, silenced: &[String]) -> Result<bool, ToolError> {
    let settings = SETTINGS.iter().map(|word| (*word).to_owned());
    let silenced = silenced
        .iter()
        .flat_map(|setting| ["-c".to_owned(), setting.clone()]);
    let question = [
        "diff",
        "--cached",
        "--quiet",
        "--no-ext-diff",
        "--no-textconv",
    ];
    let words = settings.chain(silenced).chain(question.map(str::to_owned));
    let compared = host.run("git").args(words).output();
    let compared = compared.map_err(|error: HostError| ToolError::from(error))?;
    match compared.exit_code {
        0 => Ok(false),
        1 => Ok(true),
        _ => {
            let mut error = ToolError::new("git cannot tell what is staged");
            error.trace.push(compared.stderr.trim_end().to_owned());
            Err(error)
        }
    }
}

/// What git obeys otherwise: hooks, a monitor, a signature, work afterwards, resolutions that were recorded, objects
/// that are fetched when they are missing, and the state of submodules, which have a configuration of their own.
pub(crate) const SETTINGS: [&str; 30] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "commit.verbose=0",
    "-c",
    "commit.status=false",
    "-c",
    "diff.ignoreSubmodules=all",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "rerere.enabled=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "protocol.file.allow=never",
    "-c",
    "protocol.ssh.allow=never",
    "-c",
    "protocol.git.allow=never",
    "-c",
    "protocol.https.allow=never",
    "-c",
    "protocol.ext.allow=never",
];

/// The settings that name programs, or ways to them, under names of their own.
const NAMED: [&str; 3] = ["filter.", "hook.", "protocol."];

/// Options without a value.
const FLAGS: [&str; 12] = [
    "--amend",
    "--no-edit",
    "--allow-empty",
    "--allow-empty-message",
    "--signoff",
    "-s",
    "--no-signoff",
    "--reset-author",
    "--quiet",
    "-q",
    "--no-verify",
    "-n",
];

/// Options with one, after them or after a `=`.
const VALUED: [&str; 9] = [
    "--message",
    "-m",
    "--author",
    "--date",
    "--cleanup",
    "--fixup",
    "--squash",
    "--reuse-message",
    "-C",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_staged_is_committed() {
        let check = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            check(&args).map_err(|error| error.message)
        };
        for args in [
            &[][..],
            &["--amend", "--no-edit"],
            &["-m", "-a"],
            &["--author=A <a@b.c>", "--date", "now", "-s"],
            &["--fixup", "HEAD~2"],
        ] {
            assert_eq!(check(args), Ok(()), "{args:?}");
        }
        for args in [
            &["-a"][..],
            &["-am", "x"],
            &["--all"],
            &["src"],
            &["--", "src"],
            &["-S"],
            &["--gpg-sign=key"],
            &["-mx"],
            &["--trailer", "a: b"],
            &["-v"],
            &["--authorx"],
            &["--patch"],
            &["-e"],
        ] {
            let error = check(args).expect_err("it is refused");
            assert!(error.contains("does not take here"), "{args:?}: {error}");
        }
        let error = check(&["--author"]).expect_err("it is refused");
        assert!(error.contains("needs a value"), "{error}");
    }
}
