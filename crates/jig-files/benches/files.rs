//! What the care costs: each operation against the plain one of the operating system, interleaved.
//!
//! `cargo bench -p jig-files`. The ratio of the minima is the one to trust on a noisy machine.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the plain side of each comparison uses the operating system, and a person reads this"
)]

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{DiskFiles, GrepQuery, ProjectFiles, WriteOptions};
use jig_proto::ProjectPath;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("a UTF-8 path");
    let root = root.canonicalize_utf8().expect("a directory");
    let files = DiskFiles::open(&root).expect("a workspace");
    small_read(&root, &files);
    many_reads(&root, &files);
    writes(&root, &files);
    search(&root, &files);
}

/// Runs both sides in turn and prints medians and minima per piece of work.
fn compare(
    name: &str,
    rounds: usize,
    pieces: u32,
    mut plain: impl FnMut(),
    mut ours: impl FnMut(),
) {
    let (mut base, mut careful) = (Vec::new(), Vec::new());
    for round in 0..rounds + 2 {
        let times = [time(&mut plain), time(&mut ours)];
        // The first rounds fill the caches.
        if round >= 2 {
            base.push(times[0] / pieces);
            careful.push(times[1] / pieces);
        }
    }
    base.sort_unstable();
    careful.sort_unstable();
    let ratio = |index: usize| careful[index].as_secs_f64() / base[index].as_secs_f64();
    println!(
        "{name:<34} plain {:>9.2?}  ours {:>9.2?}  ratio {:.2} (minima {:.2})",
        base[rounds / 2],
        careful[rounds / 2],
        ratio(rounds / 2),
        ratio(0),
    );
}

fn time(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).expect("a path")
}

fn small_read(root: &Utf8Path, files: &DiskFiles) {
    std::fs::create_dir_all(root.join("src/deep")).expect("a directory");
    let at = path("src/deep/main.rs");
    let whole = at.under(root);
    std::fs::write(&whole, "x".repeat(1024)).expect("a file");
    let plain = || {
        for _ in 0..1000 {
            black_box(std::fs::read(&whole).expect("content"));
        }
    };
    let canonical = || {
        for _ in 0..1000 {
            let real = whole.canonicalize_utf8().expect("a file");
            assert!(real.starts_with(root));
            black_box(std::fs::read(real).expect("content"));
        }
    };
    let ours = || {
        for _ in 0..1000 {
            let place = files.locate(&at).expect("a place");
            black_box(files.read(&place, 1 << 20).expect("content"));
        }
    };
    let locate = || {
        for _ in 0..1000 {
            black_box(files.locate(&at).expect("a place"));
        }
    };
    compare("1 KiB, locate + read", 200, 1000, plain, ours);
    compare(
        "1 KiB, against canonicalize + read",
        200,
        1000,
        canonical,
        ours,
    );
    compare("locate alone, against read", 200, 1000, plain, locate);
}

fn many_reads(root: &Utf8Path, files: &DiskFiles) {
    let names: Vec<ProjectPath> = (0..1000)
        .map(|n| path(&format!("many/d{}/f{n}", n % 20)))
        .collect();
    for name in &names {
        let whole = name.under(root);
        std::fs::create_dir_all(whole.parent().expect("a parent")).expect("a directory");
        std::fs::write(whole, "x".repeat(4096)).expect("a file");
    }
    let plain = || {
        for name in &names {
            black_box(std::fs::read(name.under(root)).expect("content"));
        }
    };
    let ours = || {
        for name in &names {
            let place = files.locate(name).expect("a place");
            black_box(files.read(&place, 1 << 20).expect("content"));
        }
    };
    compare("1,000 files of 4 KiB, per file", 100, 1000, plain, ours);
}

fn writes(root: &Utf8Path, files: &DiskFiles) {
    let content = "y".repeat(4096);
    let (at, durable) = (path("src/out"), path("src/durable"));
    let whole = root.join("src/plain");
    let write = |at: &ProjectPath, options: &WriteOptions| {
        let place = files.locate(at).expect("a place");
        files
            .write(&place, content.as_bytes(), options)
            .expect("a write");
    };
    let options = WriteOptions::default();
    let plain = || (0..100).for_each(|_| std::fs::write(&whole, &content).expect("a write"));
    let ours = || (0..100).for_each(|_| write(&at, &options));
    compare("replace 4 KiB, against truncation", 20, 100, plain, ours);
    let with_hash = || {
        let options = WriteOptions {
            if_match: Some(jig_files::ContentHash::of(content.as_bytes())),
            ..options
        };
        (0..100).for_each(|_| write(&at, &options));
    };
    compare("the same with a content hash", 20, 100, plain, with_hash);
    let synced = || {
        let options = WriteOptions {
            durable: true,
            ..options
        };
        (0..20).for_each(|_| write(&durable, &options));
    };
    let unsynced = || (0..20).for_each(|_| write(&durable, &options));
    compare("durable, against not durable", 10, 20, unsynced, synced);
}

fn search(root: &Utf8Path, files: &DiskFiles) {
    if Command::new("rg").arg("--version").output().is_err() {
        println!("ripgrep is not installed: search is not compared");
        return;
    }
    let words = [
        "alpha", "beta", "gamma", "delta", "return", "struct", "fn", "let",
    ];
    for n in 0..20_000_usize {
        let at = root.join(format!("tree/d{}/e{}/f{n}.rs", n % 40, n % 13));
        std::fs::create_dir_all(at.parent().expect("a parent")).expect("a directory");
        let lines = (0..40 + n % 120).map(|line| {
            let word = |salt: usize| words[(n * 31 + line * 17 + salt * 7) % words.len()];
            format!("    {} {} = {}({line}, {n});\n", word(1), word(2), word(3))
        });
        std::fs::write(at, lines.collect::<String>()).expect("a file");
    }
    std::fs::write(root.join("tree/.gitignore"), "*.log\ntarget/\n").expect("a file");
    for (name, pattern) in [
        ("grep, few matches", "delta\\(77, 1\\d{3}\\)"),
        ("grep, no match", "nowhere at all"),
        ("grep, literal in many lines", "gamma(99, "),
    ] {
        let literal = pattern.starts_with("gamma");
        let rg = || {
            let mut command = Command::new("rg");
            command.args([
                "--no-ignore-parent",
                "--no-ignore-global",
                "--no-require-git",
            ]);
            command.args(["--no-config", "-n", "--no-heading"]);
            if literal {
                command.arg("-F");
            }
            command
                .args(["-e", pattern, "."])
                .current_dir(root.join("tree"));
            let status = command.stdout(Stdio::null()).status();
            assert!(status.is_ok(), "ripgrep ran");
        };
        let ours = || {
            let mut query = GrepQuery::new(pattern);
            query.literal = literal;
            query.paths = vec![path("tree")];
            black_box(files.grep(&query, &|_, _| true).expect("matches"));
        };
        compare(name, 15, 1, rg, ours);
    }
}
