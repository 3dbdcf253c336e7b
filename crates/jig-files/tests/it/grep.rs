//! Search: what is found, what is left out, and that it is what ripgrep finds.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may panic; tests prepare the directory from outside and ask ripgrep"
)]

use std::collections::BTreeSet;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{Case, DiskFiles, GrepQuery, Matches, MemoryFiles, ProjectFiles};
use jig_proto::ProjectPath;
use proptest::prelude::*;

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

/// The same files on disk and in memory.
struct Field {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    disk: DiskFiles,
    memory: MemoryFiles,
}

impl Field {
    fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let root = above.join("root");
        std::fs::create_dir(&root).unwrap();
        let memory = MemoryFiles::new();
        for (name, content) in files {
            let whole = root.join(name);
            std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
            std::fs::write(&whole, content).unwrap();
            memory
                .put_file(&path(name), content.to_owned(), false)
                .unwrap();
        }
        Self {
            _folder: folder,
            disk: DiskFiles::open(&root).unwrap(),
            root,
            memory,
        }
    }

    fn grep(&self, query: &GrepQuery) -> Matches {
        self.grep_filtered(query, &|_, _| true)
    }

    fn grep_filtered(&self, query: &GrepQuery, may: &jig_files::Filter<'_>) -> Matches {
        let found = self.disk.grep(query, may).unwrap();
        assert_eq!(
            self.memory.grep(query, may).unwrap(),
            found,
            "memory and disk differ"
        );
        found
    }
}

/// As `path:number:line`, with `-` around lines that are only near.
fn lines(found: &Matches) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &found.files {
        for line in &file.lines {
            let mark = if line.is_match { ':' } else { '-' };
            lines.push(format!(
                "{}{mark}{}{mark}{}",
                file.path, line.line_number, line.content
            ));
        }
    }
    lines
}

fn names(found: &Matches) -> Vec<&str> {
    found.files.iter().map(|file| file.path.as_str()).collect()
}

fn sample() -> Field {
    Field::new([
        ("a.rs", "fn main() {\n    let x = 1;\n}\nlast"),
        ("b.txt", "FN MAIN()\r\nfn.main()\r\n"),
        (".hidden/c.rs", "fn main() {}\n"),
        (".gitignore", "ignored/\n*.log\n"),
        ("ignored/d.rs", "fn main() {}\n"),
        ("e.log", "fn main() {}\n"),
        ("sub/.gitignore", "!e.log\n"),
        ("sub/e.log", "fn main() {}\n"),
        ("binary", "fn main() \0\n"),
        ("Makefile", "fn main()\n"),
    ])
}

#[test]
fn v060_to_v064_options() {
    let field = sample();
    let check = |change: &dyn Fn(&mut GrepQuery), expected: &[&str]| {
        let mut query = GrepQuery::new(r"fn main\(\)");
        change(&mut query);
        assert_eq!(lines(&field.grep(&query)), expected, "{query:?}");
    };
    let plain = [
        "Makefile:1:fn main()",
        "a.rs:1:fn main() {",
        "sub/e.log:1:fn main() {}",
    ];
    check(&|_| {}, &plain);
    check(&|query| query.extensions = vec!["rs".into()], &plain[1..2]);
    check(
        &|query| query.extensions = vec![".rs".into(), "log".into()],
        &plain[1..],
    );
    check(
        &|query| query.paths = vec![path("sub"), path("sub/e.log")],
        &plain[2..],
    );
    // V-063: two lines after the match, none before it.
    check(
        &|query| (query.context, query.extensions) = (2, vec!["rs".into()]),
        &["a.rs:1:fn main() {", "a.rs-2-    let x = 1;", "a.rs-3-}"],
    );
    check(
        &|query| (query.pattern, query.literal) = ("fn.main".into(), true),
        &["b.txt:2:fn.main()"],
    );
    let any_case = [
        "Makefile:1:fn main()",
        "a.rs:1:fn main() {",
        "b.txt:1:FN MAIN()",
    ];
    let any_case = [&any_case[..], &plain[2..]].concat();
    check(&|query| query.case = Case::Insensitive, &any_case);
    check(&|query| query.case = Case::Smart, &any_case);
    check(
        &|query| (query.pattern, query.case) = ("FN".into(), Case::Smart),
        &["b.txt:1:FN MAIN()"],
    );
    check(
        &|query| query.hidden = true,
        &[".hidden/c.rs:1:fn main() {}", plain[0], plain[1], plain[2]],
    );
    check(
        &|query| query.ignore_files = false,
        &[
            plain[0],
            plain[1],
            "e.log:1:fn main() {}",
            "ignored/d.rs:1:fn main() {}",
            plain[2],
        ],
    );
    // A file that is named is searched, whatever hides it; a directory shows what it would not.
    check(
        &|query| query.paths = vec![path("e.log")],
        &["e.log:1:fn main() {}"],
    );
    check(
        &|query| query.paths = vec![path("ignored")],
        &["ignored/d.rs:1:fn main() {}"],
    );
    check(
        &|query| query.paths = vec![path(".hidden")],
        &[".hidden/c.rs:1:fn main() {}"],
    );
}

#[test]
fn nothing_above_the_root_or_of_the_user_counts() {
    let field = sample();
    std::fs::write(field.root.with_file_name(".gitignore"), "*\n").unwrap();
    std::fs::write(field.root.with_file_name(".ignore"), "*\n").unwrap();
    assert_eq!(field.grep(&GrepQuery::new("fn main")).files.len(), 3);
}

#[test]
fn limits_give_the_first_matches_always() {
    let many: Vec<(String, String)> = (0..300)
        .map(|n| {
            (
                format!("d{}/f{n}", n % 7),
                format!("{}x\n", "x {n}\n".repeat(n % 5)),
            )
        })
        .collect();
    let field = Field::new(many.iter().map(|(name, content)| (&**name, &**content)));
    let whole = field.grep(&GrepQuery::new("x"));
    assert!(!whole.truncated);
    let all = lines(&whole);
    for max in [
        0,
        1,
        7,
        100,
        all.len() as u64 - 1,
        all.len() as u64,
        100_000,
    ] {
        for _ in 0..5 {
            let mut query = GrepQuery::new("x");
            query.max_matches = max;
            let found = field.grep(&query);
            let expected = &all[..all.len().min(usize::try_from(max).unwrap())];
            assert_eq!(lines(&found), expected, "{max}");
            assert_eq!(found.truncated, expected.len() < all.len(), "{max}");
        }
    }
    for max in [0, 10, 1000, 1_000_000] {
        let mut query = GrepQuery::new("x");
        query.max_bytes = max;
        let found = field.grep(&query);
        let bytes: usize = found
            .files
            .iter()
            .flat_map(|file| &file.lines)
            .map(|line| line.content.len())
            .sum();
        assert!(bytes as u64 <= max);
        assert!(all.starts_with(&lines(&found)));
        assert_eq!(found.truncated, lines(&found).len() < all.len());
    }
}

#[test]
fn a_line_without_end_fills_no_memory() {
    let field = Field::new([("small", "needle\n")]);
    std::fs::write(field.root.join("long"), "needle ".repeat(10_000)).unwrap();
    std::fs::write(field.root.join("endless"), vec![b'x'; 40 << 20]).unwrap();
    let found = field
        .disk
        .grep(&GrepQuery::new("needle"), &|_, _| true)
        .unwrap();
    assert_eq!(names(&found), ["long", "small"]);
    assert_eq!(found.unreadable, 1);
    let line = &found.files[0].lines[0];
    assert!(line.cut && line.content.len() <= 16 * 1024 && line.content.starts_with("needle"));
}

/// X-52: the kernel itself is asked what was opened.
#[cfg(target_os = "linux")]
#[test]
fn x52_what_the_filter_denies_is_never_opened() {
    use rustix::fs::inotify;
    let field = Field::new([
        ("open/a", "needle\n"),
        ("open/denied", "needle\n"),
        ("shut/b", "needle\n"),
        (".gitignore", "open\n"),
    ]);
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    for name in ["open/denied", "shut", ".gitignore"] {
        let at = field.root.join(name);
        inotify::add_watch(&watch, at.as_str(), inotify::WatchFlags::OPEN).unwrap();
    }
    let opened = || {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        inotify::Reader::new(&watch, &mut buffer).next().is_ok()
    };
    let denied = [path("open/denied"), path("shut"), path(".gitignore")];
    let may = |path: &ProjectPath, _: bool| !denied.contains(path);
    let found = field.grep_filtered(&GrepQuery::new("needle"), &may);
    assert_eq!(names(&found), ["open/a"]);
    assert_eq!(found.skipped, 2);
    assert!(!opened(), "something that was denied was opened");
    let mut query = GrepQuery::new("needle");
    query.paths = denied.to_vec();
    assert_eq!(field.grep_filtered(&query, &may).skipped, 3);
    assert!(!opened(), "something that was denied was opened");
    // The watch works: without the filter there is something to see.
    field.grep(&GrepQuery::new("needle"));
    assert!(opened());
}

/// X-52: what is ignored can be written by a tool. No pattern tells by the numbers of a search whether something has
/// a name that the tool may not know.
#[test]
fn x52_patterns_do_not_tell_what_the_filter_denies() {
    let denied = [path("secret-plan"), path(".secret"), path("shut")];
    let may = |path: &ProjectPath, _: bool| !denied.contains(path);
    let numbers = |pattern: &str| {
        let field = Field::new([
            ("open", "needle\n"),
            ("secret-plan", "needle\n"),
            (".secret", "needle\n"),
            ("shut/b", "needle\n"),
            (".gitignore", pattern),
        ]);
        let found = field.grep_filtered(&GrepQuery::new("needle"), &may);
        assert_eq!(names(&found), ["open"], "{pattern:?}");
        (found.skipped, found.ignored)
    };
    let plain = numbers("");
    assert_eq!(plain.0, 2);
    for pattern in ["secret-p*\n", "shut/\n", "!.sec*\n", "!.secret\nsecret*\n"] {
        assert_eq!(numbers(pattern), plain, "{pattern:?}");
    }
    // They count where the filter has nothing against it.
    let field = Field::new([("open", "needle\n"), (".gitignore", "open\n")]);
    let found = field.grep_filtered(&GrepQuery::new("needle"), &may);
    assert_eq!((names(&found).len(), found.ignored), (0, 2));
}

#[test]
fn a_filter_that_panics_ends_the_search() {
    let many: Vec<String> = (0..200).map(|n| format!("d{n}/f")).collect();
    let field = Field::new(many.iter().map(|name| (&**name, "x")));
    let query = GrepQuery::new("x");
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        field.disk.grep(&query, &|path, _| match path.as_str() {
            "d150/f" => panic!("the filter is broken"),
            _ => true,
        })
    }));
    assert!(result.is_err());
}

/// Every file that ripgrep's own walker would search.
fn walked(root: &Utf8Path, hidden: bool) -> BTreeSet<String> {
    let mut builder = ignore::WalkBuilder::new(root);
    builder
        .hidden(!hidden)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .add_custom_ignore_filename(".rgignore");
    let files = builder.build().filter_map(|entry| {
        let entry = entry.unwrap();
        let relative = entry.path().strip_prefix(root).unwrap().to_str().unwrap();
        entry.file_type()?.is_file().then(|| relative.to_owned())
    });
    files.collect()
}

fn random_rules() -> impl Strategy<Value = String> {
    let rule = prop::sample::select(vec![
        "a", "/a", "a/", "b/c", "**/c", "*.x", "!c.x", "!.h", ".h", "a/**", "*", "!*/", "!b",
        "# no", "", "\\!a", "[", "c*", "/b/a", "!a/b",
    ]);
    prop::collection::vec(rule, 1..4).prop_map(|rules| rules.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    /// Ignore files mean here what they mean to ripgrep.
    #[test]
    fn ignore_files_are_understood_as_ripgrep_does(
        rules in prop::collection::vec((
            prop::sample::select(vec!["", "a/", "b/", "b/a/", "c.x/"]),
            prop::sample::select(vec![".gitignore", ".ignore", ".rgignore", ".git/info/exclude"]),
            random_rules(),
        ), 0..4),
        hidden: bool,
    ) {
        let mut files = Vec::new();
        for directory in ["", "a/", "b/", "b/a/", "b/a/b/", "c.x/", ".h/"] {
            for name in ["f", "d.x", "c", ".h2"] {
                files.push((format!("{directory}{name}"), "x".to_owned()));
            }
        }
        for (directory, name, rules) in &rules {
            files.push((format!("{directory}{name}"), rules.clone()));
        }
        let field = Field::new(files.iter().map(|(name, content)| (&**name, &**content)));
        let mut query = GrepQuery::new("");
        query.hidden = hidden;
        let found = field.grep(&query);
        let found: BTreeSet<_> = names(&found).into_iter().map(str::to_owned).collect();
        // An empty file has no line to match.
        let mut expected = walked(&field.root, hidden);
        expected.retain(|name| !std::fs::read(field.root.join(name)).unwrap().is_empty());
        prop_assert_eq!(found, expected, "{:#?}", rules);
    }
}

#[test]
fn the_same_lines_as_the_program_grep() {
    let many: Vec<(String, String)> = (0..200)
        .map(|n| {
            let content = (0..n % 40).map(|line| format!("line {line} of {n}: {}\n", line * n));
            (format!("d{}/e{}/f{n}.txt", n % 5, n % 3), content.collect())
        })
        .collect();
    let field = Field::new(many.iter().map(|(name, content)| (&**name, &**content)));
    for pattern in ["7", "line 1[0-9] of", "^line 0", "nowhere", "0$"] {
        let output = Command::new("grep")
            .args(["-rnE", "-e", pattern])
            .current_dir(&field.root)
            .output()
            .unwrap();
        let mut expected: Vec<_> = std::str::from_utf8(&output.stdout)
            .unwrap()
            .lines()
            .collect();
        let found = lines(&field.grep(&GrepQuery::new(pattern)));
        let mut found: Vec<_> = found.iter().map(String::as_str).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{pattern}");
    }
}
