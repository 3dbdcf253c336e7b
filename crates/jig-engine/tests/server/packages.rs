//! What a launcher downloads before a server starts. The launcher is one of our own, with the name and the words of
//! uv's: it writes what it is given to the folder that it is told of.

use std::sync::mpsc;
use std::time::Duration;

use jig_engine::{Downloading, NotDownloaded, Packages};

use super::World;

/// A world whose server is started by such a launcher, which does this to download.
fn world(download: &str) -> World {
    let world = World::new("command = 'nothing'");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --from ]; then\n{download}\nexit $?\nfi\n\
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

fn begin(world: &World) -> (Packages, Downloading) {
    let engine = world.engine();
    let server = engine.config().server("srv").unwrap();
    let packages = engine.packages(server).unwrap();
    assert!(packages.are_missing());
    let downloading = engine.download_packages(&packages, server).unwrap();
    (packages, downloading)
}

/// Downloads to the end.
fn download(world: &World) -> (Packages, Result<(), NotDownloaded>) {
    let (packages, downloading) = begin(world);
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
        .arg("--from")
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
    let (packages, downloading) = begin(&world);
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
