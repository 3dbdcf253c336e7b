//! What a launcher downloads before a server starts. The launcher is one of our own, with the name and the words of
//! uv's: it writes what it is given to the folder that it is told of.

use std::sync::mpsc;
use std::time::Duration;

use jig_engine::{CallError, Downloading, Engine, NotDownloaded, Packages};

use super::{Talk, World};

/// A world whose server is started by such a launcher, which does this to download.
fn world(download: &str) -> World {
    let world = World::new("command = 'nothing'");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'python -c '*)\n{download}\nexit $?;;\nesac\n\
         read line\necho \"ok $(cat \"$UV_CACHE_DIR/kept\") offline=$UV_OFFLINE\"\n"
    );
    world.program(
        "home/bin/uvx",
        &script.replace("ROOT", world.folder.as_str()),
    );
    let settings = format!(
        "[mcp.servers.srv]\ncommand = ['{}/home/bin/uvx', 'thing', '--flag']\n\
         env.TOKEN = '${{TOKEN}}'\nenv.UV_INDEX_URL = 'https://packages.example/simple'\n",
        world.folder
    );
    world.file("user.toml", &settings);
    world.file("ws/secret", "SECRET").file("home/key", "SECRET");
    world.variable("TOKEN", "a-secret-token")
}

/// The same with another command, in which `ROOT` stands for the folder.
fn world_of(command: &str, download: &str) -> World {
    let world = world(download);
    let command = command.replace("ROOT", world.folder.as_str());
    let settings = format!("[mcp.servers.srv]\ncommand = {command}\n");
    world.file("user.toml", &settings);
    world
}

fn begin(engine: &Engine) -> (Packages, Downloading) {
    let server = engine.config().server("srv").unwrap();
    let packages = engine.packages(server).unwrap();
    assert!(packages.are_missing());
    let downloading = engine.download_packages(&packages, server).unwrap();
    (packages, downloading)
}

/// Downloads to the end.
fn download(world: &World) -> (Packages, Result<(), NotDownloaded>) {
    download_by(&world.engine())
}

fn download_by(engine: &Engine) -> (Packages, Result<(), NotDownloaded>) {
    let (packages, downloading) = begin(engine);
    let (tell, over) = mpsc::channel();
    downloading.on_end(move || tell.send(()).unwrap());
    over.recv_timeout(Duration::from_secs(60)).unwrap();
    (packages, downloading.finish())
}

/// All folders that are kept for packages.
fn folders(world: &World) -> usize {
    let shelves = std::fs::read_dir(world.folder.join("state/packages")).unwrap();
    let folders = shelves.flat_map(|shelf| std::fs::read_dir(shelf.unwrap().path()).unwrap());
    folders
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .count()
}

#[test]
fn a_server_starts_from_what_was_downloaded() {
    let world = world("echo \"$*\" > \"$UV_CACHE_DIR/kept\"");
    let (packages, done) = download(&world);
    assert_eq!(done, Ok(()));
    assert!(!packages.are_missing());
    let said = world.start().ask("hello");
    assert_eq!(said, "ok --from thing python -c  offline=1");
}

/// Attack: what is run for a download looks for what it could send away.
#[test]
fn a_download_sees_no_files_and_no_secrets() {
    let look = "for file in ROOT/ws/secret ROOT/home/key; do cat $file; done > \"$UV_CACHE_DIR/kept\"\n\
                echo \"token=$TOKEN index=$UV_INDEX_URL\" >> \"$UV_CACHE_DIR/kept\"";
    let world = world(look);
    // The twin: without a sandbox it finds them.
    let folder = world.folder.join("other");
    let uvx = world.folder.join("home/bin/uvx");
    let mut plain = std::process::Command::new(uvx);
    plain
        .args(["--from", "thing", "python", "-c", ""])
        .env("UV_CACHE_DIR", &folder)
        .env("TOKEN", "x");
    assert!(plain.status().unwrap().success());
    let found = std::fs::read_to_string(folder.join("kept")).unwrap();
    assert_eq!(found, "SECRETSECRETtoken=x index=\n");

    let (_, done) = download(&world);
    assert_eq!(done, Ok(()));
    let said = world.start().ask("hello");
    let expected = "ok token= index=https://packages.example/simple offline=1";
    assert_eq!(said, expected);
}

#[test]
fn a_download_that_fails_leaves_nothing_and_says_why() {
    let world = world("echo x > \"$UV_CACHE_DIR/kept\"; echo 'no such package' >&2; false");
    let (packages, done) = download(&world);
    let not = done.unwrap_err();
    let expected =
        "thing could not be downloaded from packages.example: the launcher exited with code 1";
    assert_eq!(not.why, expected);
    assert!(not.last_words.contains("no such package"), "{not:?}");
    assert!(packages.are_missing());
    assert_eq!(folders(&world), 0);
}

#[test]
fn a_download_that_is_given_up_leaves_nothing() {
    let world = world("echo x > \"$UV_CACHE_DIR/kept\"; exec sleep 600");
    let (packages, downloading) = begin(&world.engine());
    assert_eq!(folders(&world), 1);
    let not = downloading.finish().unwrap_err();
    assert!(
        not.why.contains("thing is still being downloaded"),
        "{not:?}"
    );
    assert!(packages.are_missing());
    assert_eq!(folders(&world), 0);
}

/// Whoever keeps packages somewhere themselves is left to it.
#[test]
fn an_entry_with_a_cache_of_its_own_has_nothing_downloaded() {
    let world = world("true");
    let engine = world.engine();
    assert!(
        engine
            .packages(engine.config().server("srv").unwrap())
            .is_some()
    );
    world.paste("[mcp.servers.srv.env]\nUV_CACHE_DIR = '/somewhere'\n");
    let engine = world.engine();
    assert!(
        engine
            .packages(engine.config().server("srv").unwrap())
            .is_none()
    );
}

/// Attack: a repository has a link to the home where uv is looked for.
#[test]
fn what_lies_beside_a_launcher_in_the_workspace_is_not_shown() {
    let world = world_of(
        "['uvx', 'thing']",
        "cat ROOT/home/key > \"$UV_CACHE_DIR/kept\"; true",
    );
    let bin = world.folder.join("ws/.venv/bin");
    world.program("ws/.venv/bin/uvx", "#!/bin/sh\nexit 1\n");
    std::os::unix::fs::symlink(world.folder.join("home"), bin.join("uv")).unwrap();
    let mut engine = world.engine();
    let path = engine.confine.search_path.clone().into_string().unwrap();
    engine.confine.search_path = format!("{bin}:{path}").into();
    check_home_unseen(&world, &engine);
}

/// Attack: the same in a folder of the user's own, by whoever could write there once.
#[test]
fn what_is_no_program_of_uv_is_not_shown() {
    let world = world_of(
        "['uvx', 'thing']",
        "cat ROOT/home/key > \"$UV_CACHE_DIR/kept\"; true",
    );
    let uv = world.folder.join("home/bin/uv");
    for other in ["home", "home/key"] {
        std::os::unix::fs::symlink(world.folder.join(other), &uv).unwrap();
        check_home_unseen(&world, &world.engine());
        std::fs::remove_file(&uv).unwrap();
    }
}

/// Neither the download nor the server is shown the home.
#[track_caller]
fn check_home_unseen(world: &World, engine: &Engine) {
    let (packages, done) = download_by(engine);
    assert_eq!(done, Ok(()));
    let access = engine.packages_access(&packages, &[]).unwrap();
    let home = world.folder.join("home");
    let mut shown = access.system.iter().map(|one| one.path.as_path());
    assert!(!shown.any(|path| path.starts_with(&home)), "{access:?}");
    let server = engine.config().server("srv").unwrap();
    let said = Talk::new(engine.start_server(server).unwrap()).ask("hello");
    assert_eq!(said, "ok  offline=1");
    packages.remove();
}

/// A launcher of the workspace is whatever the workspace makes of it.
#[test]
fn a_launcher_in_the_workspace_has_nothing_downloaded() {
    let world = world_of("['ROOT/ws/bin/uvx', 'thing']", "true");
    world.program("ws/bin/uvx", "#!/bin/sh\n");
    let link = world.folder.join("link");
    std::os::unix::fs::symlink(world.folder.join("ws"), &link).unwrap();
    let engine = world.engine();
    let server = engine.config().server("srv").unwrap();
    assert!(engine.packages(server).is_none());
    for program in ["ws/bin/uvx", "link/bin/uvx", "other/../ws/bin/uvx"] {
        let program = world.folder.join(program).into_string();
        let packages = engine.packages_of(&[program.clone(), "thing".to_owned()], &[]);
        assert!(packages.is_none(), "{program}");
    }
}

/// Attack: a package that has the name of a file, which whatever is installed could then read.
#[test]
fn a_download_is_not_shown_what_its_words_name() {
    let world = world_of(
        "['ROOT/home/bin/uvx', '--with', 'customers.csv', 'thing']",
        "cat ROOT/ws/customers.csv > \"$UV_CACHE_DIR/kept\"; true",
    );
    world.file("ws/customers.csv", "SECRET");
    let (_, done) = download(&world);
    assert_eq!(done, Ok(()));
    assert_eq!(world.start().ask("hello"), "ok  offline=1");
}

/// Attack: a server that changed its own packages waits for wider rules.
#[test]
fn other_rules_are_other_packages() {
    let world = world("echo x > \"$UV_CACHE_DIR/kept\"");
    let are_missing = || {
        let engine = world.engine();
        let server = engine.config().server("srv").unwrap();
        engine.packages(server).unwrap().are_missing()
    };
    let (_, done) = download(&world);
    assert_eq!(done, Ok(()));
    assert!(!are_missing());
    let rule = "[[mcp.servers.srv.access.net]]\nhost = 'example.com'\nallow = true\n";
    world.paste(rule);
    assert!(are_missing());
    let (_, done) = download(&world);
    assert_eq!(done, Ok(()));
    world.paste("[mcp.servers.srv.sandbox]\nsystem = [{ path = '/opt' }]\n");
    assert!(are_missing());
}

/// A server whose packages are gone does not start with others.
#[test]
fn a_server_does_not_start_without_its_packages() {
    let world = world("echo x > \"$UV_CACHE_DIR/kept\"");
    let (packages, done) = download(&world);
    assert_eq!(done, Ok(()));
    packages.set_aside().unwrap();
    let error = world.try_start().err().unwrap();
    assert!(matches!(error, CallError::PackagesGone(_)), "{error}");
    packages.take_back();
    assert_eq!(world.start().ask("hello"), "ok x offline=1");
}
