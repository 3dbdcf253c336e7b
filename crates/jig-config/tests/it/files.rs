//! Which files are read, and what happens to those that can't be.

use std::os::unix::fs::symlink;

use jig_config::{Layer, Sources, load};

use crate::follow::{follow, follow_all};
use crate::workspace::Workspace;

/// Loading fails with the message of the snapshot and works without the file.
fn check(name: &str, workspace: &Workspace) {
    let errors = match workspace.load() {
        Ok(_) => panic!("{name}: it loads"),
        Err(errors) => errors,
    };
    insta::assert_snapshot!(name, errors.to_string());
    let problem = &errors.problems()[0];
    assert_eq!(problem.to_json()["file"], "jig.toml");
    assert!(!problem.help().is_empty());
    let path = workspace.path("jig.toml");
    if path.is_dir() {
        std::fs::remove_dir(path).expect("remove the directory");
    } else {
        std::fs::remove_file(path).expect("remove the file");
    }
    let again = workspace
        .load()
        .unwrap_or_else(|errors| panic!("{name}: {errors}"));
    follow(problem, &again.warnings);
}

#[test]
fn what_is_not_a_file_of_text() {
    check(
        "invalid_utf_8",
        &Workspace::new().file("jig.toml", b"# one\n# \xff\n"),
    );

    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("jig.toml")).expect("a directory");
    check("directory", &workspace);

    let workspace = Workspace::new();
    symlink("jig.toml", workspace.path("jig.toml")).expect("a link");
    check("symlink_loop", &workspace);

    let workspace = Workspace::new();
    symlink("/dev/null", workspace.path("jig.toml")).expect("a link");
    check("device", &workspace);
}

#[test]
fn a_pipe_without_a_writer_does_not_block() {
    let workspace = Workspace::new();
    let pipe = workspace.path("jig.toml");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        pipe.as_std_path(),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .expect("a named pipe");
    check("named_pipe", &workspace);
}

/// A socket cannot even be opened.
#[test]
fn a_socket_in_place_of_a_file() {
    let workspace = Workspace::new();
    let path = workspace.path("jig.toml");
    let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let wrong = workspace.load().expect_err("it is no file");
    std::fs::remove_file(&path).expect("remove it");
    follow_all(&wrong, &workspace.load().expect("it loads"));
}

#[test]
fn a_large_file_is_refused_without_being_read() {
    let workspace = Workspace::with("");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(workspace.path("jig.toml"))
        .expect("open it");
    file.set_len(50_000_000).expect("make it large");
    check("too_large", &workspace);
}

#[test]
fn a_file_at_the_limit_loads() {
    let comment = format!("# {}\n", "x".repeat(4 * 1024 * 1024 - 3));
    assert_eq!(comment.len(), 4 * 1024 * 1024);
    assert!(Workspace::with(&comment).load().is_ok());
    assert!(Workspace::with(&format!("{comment}\n")).load().is_err());
}

#[test]
fn a_missing_file_is_an_error_only_when_it_was_named() {
    let workspace = Workspace::new();
    let mut sources = workspace.sources();
    sources.user_config = Some(workspace.path("user/config.toml"));
    assert!(load(&sources).is_ok());

    sources.files.push(workspace.path("other.toml"));
    let errors = match load(&sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors,
    };
    insta::assert_snapshot!("missing_file", errors.to_string());

    let workspace = workspace.file("other.toml", "");
    follow_all(&errors, &load(&sources).expect("it is there"));
    assert!(load(&sources).is_ok(), "{}", workspace.root());
}

#[test]
fn all_places_are_reported_whether_files_are_there_or_not() {
    let workspace = Workspace::with("").file("more/x.toml", "");
    let mut sources = workspace.sources();
    sources.user_config = Some(workspace.path("user.toml"));
    sources.files.push(workspace.path("more/x.toml"));
    let config = load(&sources).expect("it loads").config;
    let files: Vec<(String, Layer, bool)> = config
        .files
        .iter()
        .map(|file| {
            let path = file.path.strip_prefix(workspace.root()).expect("inside");
            (path.to_string(), file.layer, file.found)
        })
        .collect();
    let expected = [
        ("user.toml", Layer::User, false),
        (".jp/config.toml", Layer::Workspace, false),
        ("jig.toml", Layer::Workspace, true),
        (".jig/config.toml", Layer::Workspace, false),
        ("more/x.toml", Layer::File, true),
    ];
    let expected = expected.map(|(path, layer, found)| (path.to_owned(), layer, found));
    assert_eq!(files, expected);
}

#[test]
fn a_file_in_place_of_a_folder_is_a_missing_file() {
    let workspace = Workspace::new().file(".jig", "not a folder");
    assert!(workspace.load().is_ok());
}

#[test]
fn files_of_jp_may_hold_more_than_tools() {
    let jp = r#"
inherit = false
[conversation]
title = "x"
[conversation.attachments]
y = 1
[providers.llm]
z = 1
[conversation.tools.a]
source = "local"
command = "make"
"#;
    let config = Workspace::new().file(".jp/config.toml", jp).config();
    assert!(config.tool("a").is_some());
    // The same text in a file of ours is full of unknown keys.
    let errors = match Workspace::with(jp).load() {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors,
    };
    let keys: Vec<&str> = errors.problems().iter().map(|one| one.key_path()).collect();
    assert_eq!(
        keys,
        [
            "inherit",
            "conversation.title",
            "conversation.attachments",
            "providers.llm"
        ]
    );
    // Inside the tools, unknown keys are errors everywhere.
    let wrong = jp.replace("command", "comand");
    assert!(
        Workspace::new()
            .file(".jp/config.toml", wrong)
            .load()
            .is_err()
    );
}

#[test]
fn sources_of_the_process_name_the_users_file() {
    // Only the shape can be tested: the environment belongs to the whole test process.
    let sources = Sources::from_environment("/workspace");
    assert_eq!(sources.workspace, "/workspace");
    if let Some(path) = &sources.user_config {
        assert!(
            path.is_absolute() && path.ends_with("jig/config.toml"),
            "{path}"
        );
    }
    let ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("JIG_CFG__");
    assert!(sources.environment.iter().all(|(name, _)| ours(name)));
}
