//! Every backend means the same: one list of scripts runs over all of them, and random scripts must
//! have the same outcome on each.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may panic; tests put things into workspaces from outside"
)]

mod support;

use std::sync::Arc;

use jig_files::FilesLookup;
use jig_policy::Workspace;
use proptest::prelude::*;
use support::{Bench, check};

fn check_all(script: &str) {
    for mut bench in Bench::all() {
        check(&mut bench, script);
    }
}

macro_rules! scripts {
    ($($name:ident: $script:expr;)*) => { $( #[test] fn $name() { check_all($script); } )* };
}

mod handles;

scripts! {
    v044_read: "
        read a => NotFound
        write a hello => created
        read a => hello
        read a 5 => hello
        read a 4 => TooLarge
        read . => IsDirectory
        read a/b => NotFound
    ";
    x24_ranged_reads: "
        write a 0123456789 => created
        range a 2 3 => 234
        range a 8 10 => 89
        range a 10 1 => -
        range a 99 1 => -
        range a 0 0 => -
        range a 18446744073709551615 18446744073709551615 => -
        range . 0 1 => IsDirectory
    ";
    v050_write_makes_parents: "
        write a/b/c.txt x => created
        list . => a/
        list a => b/
        list a/b => c.txt
        write a/b/c.txt yy => updated
        read a/b/c.txt => yy
        write-durable a/b/c.txt zz => updated
        write-durable a/b/d.txt z => created
        write-here n/m x => NotFound
        write-here a/n x => created
        write a - => IsDirectory
        write a/n/o x => NotADirectory
        write a/n - => updated
        read a/n => -
    ";
    x57_exclusive_writes: "
        create a x => created
        create a y => AlreadyExists
        mkdir d
        create d y => AlreadyExists
        read a => x
    ";
    if_match: "
        write a one => created
        swap a one two => updated
        swap a one three => Stale
        swap b one two => Stale
        read a => two
        entry b => missing
    ";
    append: "
        append a one => created
        append a two => updated
        read a => onetwo
        append-to a onetwo 3 => updated
        append-to a onetwo 4 => Stale
        read a => onetwo3
        mkdir d
        append d x => IsDirectory
    ";
    patch: "
        write a one-two => created
        patch a two 2
        read a => one-2
        patch a two 2 => Edit
        patch b x y => NotFound
        read a => one-2
    ";
    v052_v057_exists_and_metadata: "
        write a/f hello => created
        program a/p #!
        locate . => dir
        locate a => dir
        locate a/f => file 5
        locate a/p => program 2
        locate a/g => missing
        locate a/f/g => missing
        locate g/h/i => missing
    ";
    v053_listing: "
        write d/b x => created
        write d/a x => created
        mkdir d/c
        write .hidden x => created
        list d => a b c/
        list d/c => nothing
        list . => .hidden d/
        list d/a => NotADirectory
        list n => NotFound
    ";
    the_executable_bit_is_kept: "
        program p one
        write p two => updated
        locate p => program 3
        append p 3 => updated
        locate p => program 4
        write q x => created
        locate q => file 1
    ";
    mkdir: "
        mkdir a
        mkdir a => AlreadyExists
        mkdirs a
        mkdir b/c => NotFound
        mkdirs b/c/d
        list b/c => d/
        write f x => created
        mkdir f => AlreadyExists
        mkdirs f => AlreadyExists
        mkdirs f/g => NotADirectory
        mkdirs .
        mkdir . => AlreadyExists
    ";
    v058_x49_delete: "
        write a x => created
        delete a
        delete a => NotFound
        mkdir d
        delete d => IsDirectory
        write d/f x => created
        link l d/f
        delete l
        read d/f => x
        link dangling nowhere
        delete dangling
        list . => d/
        delete d/f/g => NotFound
        delete . => IsDirectory
    ";
    delete_tree: "
        write d/a x => created
        write d/e/b x => created
        link d/l ROOT/keep
        write keep/k x => created
        delete-tree d d/e/b => Refused
        delete-tree d d/l => Refused
        delete-tree d d/e => Refused
        list d => a e/ l/>keep
        list d/e => b
        delete-tree d => 5 gone
        list . => keep/
        list keep => k
        delete-tree keep/k keep/k => Refused
        delete-tree keep/k => 1 gone
        delete-tree d => NotFound
        delete-tree . => Refused
    ";
    v059_rename: "
        write a x => created
        rename a b
        entry a => missing
        read b => x
        write c y => created
        rename b c
        read c => x
        rename c new/deep/d
        read new/deep/d => x
        rename a b => NotFound
    ";
    x57_rename_without_overwrite: "
        write a x => created
        write b y => created
        move a b => AlreadyExists
        read b => y
        move a c
        read c => x
        move c c => AlreadyExists
        rename c c
        read c => x
    ";
    rename_directories: "
        write d/f x => created
        rename d e
        read e/f => x
        mkdir empty
        rename e empty
        read empty/f => x
        write full/f x => created
        rename empty full => NotEmpty
        write file x => created
        rename file empty => IsDirectory
        rename empty file => NotADirectory
        rename empty empty/below => IntoItself
        rename empty empty
        rename . x => IntoItself
        rename empty . => NotEmpty
        rename full/f full => NotEmpty
    ";
    rename_moves_a_link_and_not_its_target: "
        write a x => created
        mkdir d
        link d/l ROOT/a
        rename d/l m
        entry m => link
        read m => x
        read a => x
        list d => nothing
    ";
    links_are_followed_and_stay: "
        write real/f one => created
        link alias real
        link f real/f
        locate alias/f => file 3 at real/f
        locate alias => dir at real
        locate alias/new => missing at real/new
        entry f => link
        entry alias/f => file 3 at real/f
        write f two => updated
        entry f => link
        read real/f => two
        write alias/new x => created
        read real/new => x
        append f 3 => updated
        read alias/f => two3
        list . => alias/>real f>real/f real/
    ";
    absolute_links_under_the_root: "
        write a/f x => created
        mkdir b
        link b/l ROOT/a
        locate b/l/f => file 1 at a/f
        link b/r ROOT
        locate b/r/a/f => file 1 at a/f
        locate b/r => dir at .
        link b/o ROOT/../x
        locate b/o => Escape
        link b/p ROOTx/f
        locate b/p => Escape
    ";
    x12_escapes: "
        mkdir d
        link out /etc
        link up ..
        link d/up2 ../..
        link d/ok ../d
        link dangling nowhere
        link d/loop loop
        link a b
        link b a
        locate out => Escape
        locate out/passwd => Escape
        locate up => Escape
        locate up/x => Escape
        locate d/up2/x => Escape
        locate d/ok => dir at d
        locate dangling => Escape
        write dangling x => Escape
        write dangling/x x => Escape
        locate d/loop => Escape
        locate a => Escape
        list . => a! b! d/ dangling! out! up!
        list d => loop! ok/>d up2!
        grep root out => Escape
        mkdirs out/x => Escape
        rename d out => Escape
        entry out => link
    ";
    links_through_files_dangle: "
        write f x => created
        link l f/x
        locate l => Escape
        link m f/../f
        locate m => Escape
        link n ./f
        locate n => file 1 at f
    ";
    a_place_that_was_missing_is_only_created: "
        hold p d/f
        write d/f theirs => created
        write @p mine => Changed
        create @p mine => AlreadyExists
        append @p mine => Changed
        mkdirs @p => AlreadyExists
        read d/f => theirs
    ";
    a_place_that_went_away: "
        write f one => created
        hold p f
        delete f
        write @p two => Changed
        append @p two => Changed
        delete @p => Changed
        rename @p g => Changed
        list . => nothing
    ";
    a_place_that_became_something_else: "
        write f one => created
        write g two => created
        hold p f
        delete f
        link f g
        write @p x => Changed
        delete @p => Changed
        rename @p h => Changed
        delete-tree @p => Changed
        read g => two
        entry f => link
    ";
    a_parent_that_became_a_link: "
        write d/f one => created
        write secret/f two => created
        hold p d/f
        hold n d/new
        rename d old
        link d secret
        write @p x => Changed
        write @n x => Changed
        delete @p => Changed
        rename @p h => Changed
        mkdir @n => Changed
        list secret => f
        read secret/f => two
    ";
    reading_uses_what_was_located: "
        write d/f one => created
        hold p d/f
        rename d old
        write d/f two => created
        read @p => one
        range @p 1 2 => ne
    ";
    v060_grep: r"
        write a.rs fn_main\nlet_x\nlet_y => created
        write b/c.rs no\nfn_other => created
        grep fn_ => a.rs:1:fn_main b/c.rs:2:fn_other
        grep fn_ b => b/c.rs:2:fn_other
        grep fn_ a.rs => a.rs:1:fn_main
        grep fn_ a.rs b b/c.rs => a.rs:1:fn_main b/c.rs:2:fn_other
        grep ^let_[xy]$ => a.rs:2:let_x a.rs:3:let_y
        grep nothing => nothing
        grep fn_ n => NotFound
        grep ( => Pattern
        link l b
        grep fn_ l => b/c.rs:2:fn_other
    ";
}

#[test]
fn names_of_five_thousand_characters() {
    let long = "n".repeat(5000);
    for mut bench in Bench::all() {
        assert_eq!(bench.run(&format!("locate {long}")), "missing");
        assert_eq!(bench.run(&format!("locate a/{long}/b")), "missing");
        assert_eq!(bench.run(&format!("write {long} x")), "NameTooLong");
        assert_eq!(bench.run(&format!("write {long}/b x")), "NameTooLong");
        assert_eq!(bench.run(&format!("mkdir {long}")), "NameTooLong");
        assert_eq!(bench.run("write f x"), "created");
        assert_eq!(bench.run(&format!("rename f {long}")), "NameTooLong");
        assert_eq!(bench.run("list ."), "f");
    }
}

/// V-041 to V-043, X-11: what is no path inside the workspace never gets as far as a backend.
#[test]
fn what_is_no_project_path_cannot_be_asked_for() {
    for text in ["", "/etc/passwd", "..", "a/../../b", "a\0b"] {
        assert!(jig_proto::ProjectPath::normalize(text).is_err(), "{text:?}");
    }
}

#[test]
fn the_null_backend_has_nothing_and_takes_nothing() {
    check(
        &mut Bench::null(),
        "
        locate . => dir
        locate a => missing
        entry a => missing
        list . => nothing
        read a => NotFound
        read . => IsDirectory
        range a 0 1 => NotFound
        write a x => ReadOnly
        append a x => ReadOnly
        patch a x y => NotFound
        open h r a => NotFound
        open h rwt a => NotFound
        open h wc a => ReadOnly
        open h r . => IsDirectory
        mkdir a => ReadOnly
        rmdir a => ReadOnly
        delete a => ReadOnly
        delete-tree . => ReadOnly
        rename a b => ReadOnly
        grep x => nothing
        ",
    );
    assert!(Bench::null().files.materialize().is_err());
}

#[test]
fn a_place_of_other_files_is_refused() {
    let (one, two) = (Bench::memory(), Bench::disk(false));
    let other = Bench::disk(false);
    for (from, to) in [(&one, &two), (&two, &one), (&two, &other)] {
        let place = from.files.locate(&support::path("a")).unwrap();
        let written = to.files.write(&place, b"x", &Default::default());
        let error = written.unwrap_err();
        assert_eq!(support::name_of(&error), "ForeignPlace");
    }
}

#[test]
fn errors_name_no_path_of_the_host() {
    use std::error::Error;
    let mut bench = Bench::disk(false);
    bench.run("link out /etc/passwd");
    bench.run("write d/f x");
    for line in ["out", "missing/x", "d/f/x", "out/x"] {
        let located = bench.files.locate(&support::path(line));
        let error = match located.and_then(|place| bench.files.read(&place, 10)) {
            Ok(_) => panic!("{line} can be read"),
            Err(error) => error,
        };
        let mut whole = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            whole += &format!(": {error}");
            source = error.source();
        }
        assert!(
            !whole.contains(bench.root.as_str()) && !whole.contains("/etc"),
            "{whole}"
        );
    }
}

fn random_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "l", "m"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn random_line() -> impl Strategy<Value = String> {
    let targets = vec![
        "a",
        "b",
        "../a",
        "..",
        "../..",
        "b/c",
        "ROOT/a",
        "ROOT",
        "/etc",
        "nowhere",
        "../b/../a",
        "l",
        "m",
        "./a/",
        "ROOT/b/c",
        "a/l",
    ];
    let path = random_path;
    prop_oneof![
        (path(), prop::sample::select(targets)).prop_map(|(at, to)| format!("link {at} {to}")),
        (
            prop::sample::select(vec![
                "locate",
                "entry",
                "read",
                "list",
                "mkdir",
                "mkdirs",
                "delete",
                "delete-tree",
                "rmdir",
            ]),
            path()
        )
            .prop_map(|(verb, at)| format!("{verb} {at}")),
        (
            prop::sample::select(vec!["write", "write-here", "create", "append"]),
            path(),
            "[xyz]"
        )
            .prop_map(|(verb, at, content)| format!("{verb} {at} {content}")),
        (path(), "[xyz]", "[xyz]").prop_map(|(at, old, new)| format!("swap {at} {old} {new}")),
        (prop::sample::select(vec!["rename", "move"]), path(), path())
            .prop_map(|(verb, from, to)| format!("{verb} {from} {to}")),
        path().prop_map(|at| format!("grep x {at}")),
        (
            "[hk]",
            prop::sample::select(vec!["r", "w", "rw", "rt", "wt", "wc", "rwc", "wct", "wcx"]),
            path()
        )
            .prop_map(|(name, flags, at)| format!("open {name} {flags} {at}")),
        (prop::sample::select(vec![
            ":read h 0 9",
            ":read k 1 2",
            ":write h 0 xy",
            ":write k 4 z",
            ":append h y",
            ":append k x",
            ":resize h 2",
            ":resize k 6",
            ":size h",
            ":size k",
        ]))
        .prop_map(str::to_owned),
        Just("grep [xyz]".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// The same script has the same outcome everywhere, line by line, and on a quiet tree a path
    /// leads where `jig-policy` says.
    #[test]
    fn random_scripts_agree(lines in prop::collection::vec(random_line(), 1..40)) {
        let mut benches = Bench::all();
        for line in &lines {
            // Only memory makes the directories above a link from outside.
            if let Some(at) = line.strip_prefix("link ").and_then(|rest| rest.split_once(' ')) {
                let above = benches[0].root.join(at.0);
                let real = above.parent().and_then(|above| above.canonicalize_utf8().ok());
                if real.is_none_or(|real| Some(&*real) != above.parent()) {
                    continue;
                }
            }
            let outcomes: Vec<String> = benches.iter_mut().map(|bench| bench.run(line)).collect();
            prop_assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{line}: {outcomes:?} in {lines:#?}");
            if let Some(at) = line.strip_prefix("locate ") {
                let workspace = Workspace::on_disk(benches[0].root.clone()).unwrap();
                let expected = workspace.resolve(at).map(|resolved| (resolved.path().clone(), resolved.exists()));
                for bench in &benches {
                    let found = bench.files.locate(&support::path(at)).map(|place| (place.path().clone(), place.exists()));
                    prop_assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{} on {}", at, bench.name);
                    // Rules are compiled through the same backend, and must see the same tree.
                    let lookup = FilesLookup(Arc::clone(&bench.files));
                    let seen = Workspace::new(bench.root.clone(), lookup).resolve(at);
                    let seen = seen.map(|resolved| (resolved.path().clone(), resolved.exists()));
                    prop_assert_eq!(seen.as_ref().ok(), expected.as_ref().ok(), "{} on {}", at, bench.name);
                }
            }
        }
    }
}
