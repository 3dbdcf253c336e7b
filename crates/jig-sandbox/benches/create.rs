//! What it costs that a supervisor performs what makes names: the same work free, confined, and confined with a
//! supervisor, in turns, as ratios to the free one of the same run: medians, and the fastest of each.
//!
//! `cargo xtask bench create`
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "a workspace is made and removed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_sandbox::{
    Enforcement, GuardVerdict, GuardedName, Launch, PathRule, PrivateDirectory, Profile, Program,
    Rights, RuleSource, SpawnRequest, Stdio, minimal_environment, spawn,
};

const ROUNDS: usize = 7;

/// How many files an archive and a repository have, unless `JIG_BENCH_FILES` says so.
const FILES: usize = 10_000;

#[derive(Clone, Copy, PartialEq)]
enum BenchedAs {
    Free,
    Confined,
    Supervised,
}

const ALL: [BenchedAs; 3] = [BenchedAs::Free, BenchedAs::Confined, BenchedAs::Supervised];

fn main() {
    let place =
        std::env::var_os("JIG_BENCH_PLACE").map_or_else(|| "/var/tmp".into(), PathBuf::from);
    let workspace = tempfile::tempdir_in(place).expect("there is a place for it");
    let path = workspace.path();
    let files = std::env::var("JIG_BENCH_FILES").ok();
    let files: usize = files.and_then(|text| text.parse().ok()).unwrap_or(FILES);
    let made = format!(
        "mkdir tree && cd tree && i=0 && while [ $i -lt {files} ]; do d=d$((i % 100)); \
         [ $i -lt 100 ] && mkdir $d; echo file $i > $d/f$i; i=$((i+1)); done && cd .. && \
         tar cf tree.tar tree && export GIT_CONFIG_GLOBAL=/dev/null && git -C tree init -q && \
         git -C tree add . && git -C tree -c user.name=a -c user.email=a@b commit -qm all && \
         mkdir -p small/src && cd small && \
         printf '[package]\\nname = \"small\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml && \
         echo 'fn main() {{ println!(\"{{:?}}\", std::env::args().collect::<Vec<_>>()); }}' > src/main.rs"
    );
    assert!(run(path, BenchedAs::Free, &made).is_some(), "it is made");
    println!(
        "{:34}{:>10}{:>18}{:>18}",
        "", "free", "confined", "supervised"
    );
    for (name, before, work) in [
        (
            "unpack the files",
            "rm -rf out && mkdir out",
            "tar xf tree.tar -C out",
        ),
        (
            "git checkout of the files",
            "rm -rf tree/d*",
            "git -C tree -c safe.directory='*' checkout -q -- .",
        ),
        (
            "open the files for reading",
            "true",
            "cat tree/d*/f* > /dev/null",
        ),
        (
            "build a small crate",
            "rm -rf small/target",
            "cd small && cargo build -q --offline",
        ),
    ] {
        compare(path, name, before, work);
    }
}

fn compare(path: &Path, name: &str, before: &str, work: &str) {
    let mut times = ALL.map(|_| Vec::new());
    for round in 0..=ROUNDS {
        for (how, times) in ALL.into_iter().zip(&mut times) {
            if run(path, BenchedAs::Free, before).is_none() {
                return println!("{name:34} it cannot be prepared");
            }
            let Some(time) = run(path, how, work) else {
                return println!("{name:34} it cannot be done");
            };
            // The first is for the caches.
            if round > 0 {
                times.push(time.as_secs_f64());
            }
        }
    }
    let [free, confined, supervised] = times.map(|mut times| {
        times.sort_unstable_by(f64::total_cmp);
        [times[times.len() / 2], times[0]]
    });
    let ratio = |of: [f64; 2]| format!("{:.2} / {:.2}", of[0] / free[0], of[1] / free[1]);
    println!(
        "{name:34}{:>8.0}ms{:>18}{:>18}",
        free[0] * 1000.0,
        ratio(confined),
        ratio(supervised)
    );
}

/// How long a script takes; `None` if it fails.
fn run(path: &Path, how: BenchedAs, script: &str) -> Option<Duration> {
    let mut request = SpawnRequest::new(Program::parse("/bin/sh").ok()?, path);
    request.args = vec!["-c".into(), script.into()];
    let home = std::env::var_os("HOME").map_or_else(|| "/nonexistent".into(), PathBuf::from);
    request.env = minimal_environment(&home);
    request
        .env
        .insert("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
    request.stdout = Stdio::Null;
    request.launch = Launch::Launcher;
    if how != BenchedAs::Free {
        request.profile = Some(Arc::new(profile(path, &home, how)));
    }
    let start = Instant::now();
    let child = spawn(request).expect("it starts");
    let exit = child.wait().expect("it can be waited for");
    let time = start.elapsed();
    if how == BenchedAs::Supervised {
        assert_eq!(child.status.guarded_names, Some(Enforcement::Enforced));
    }
    exit.is_success().then_some(time)
}

fn profile(path: &Path, home: &Path, how: BenchedAs) -> Profile {
    let mut profile = Profile::closed();
    let programs = Rights::READ.with(Rights::EXECUTE);
    let rule = |path: &Path, rights, source| PathRule {
        path: path.to_owned(),
        rights,
        source,
    };
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        let path = Path::new(path);
        profile.paths.push(rule(path, programs, RuleSource::System));
    }
    for name in [".cargo", ".rustup"] {
        if let Ok(path) = fs::canonicalize(home.join(name)) {
            profile
                .paths
                .push(rule(&path, programs, RuleSource::System));
        }
    }
    let declared = RuleSource::Declared;
    profile.paths.push(rule(path, Rights::ALL, declared));
    profile.private.push(PrivateDirectory {
        path: "/tmp".into(),
        size: 256 << 20,
        executable: true,
    });
    if how == BenchedAs::Supervised {
        // As many as a policy has.
        let guards = (0..30).map(|number| format!(".guarded{number}"));
        let guards = guards.chain([".env*".to_owned(), ".docker/config.json".to_owned()]);
        profile.guarded_names = guards
            .map(|pattern| GuardedName {
                base: path.to_owned(),
                pattern: pattern.into(),
                at_any_depth: true,
                verdict: GuardVerdict::Refused,
                not_below: None,
            })
            .collect();
    }
    profile
}
