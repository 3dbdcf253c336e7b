//! What whoever was refused something is told, wherever it was refused.

use jig_proto::vfs::{FsPath, FsWrite, HttpGet, ProcessRun, VfsRequest};

use crate::confined::shell;
use crate::staying::{self, Running};
use crate::world::{World, read};

#[test]
fn every_refusal_says_what_was_wanted_and_what_is_granted() {
    let world = World::on_disk()
        .with("src/a", "a")
        .with("b", "b")
        .with_link("out", "/etc")
        .allow("src", "r")
        .net("example.org", 443, true)
        .command("make", Some(&[&["test"]]), &[]);
    let check = |request: VfsRequest<'_>, operation: &str, target: &str, grants: &[&str]| {
        let error = world.ask(&request).unwrap_err();
        assert!(error.kind().is_denial(), "{error:?}");
        let data = &error.data;
        let wanted = (data.operation.as_deref(), data.target.as_deref());
        assert_eq!(wanted, (Some(operation), Some(target)), "{error:?}");
        assert_eq!(data.grants, grants, "{error:?}");
        // The same is kept for the result of the call.
        let broker = world.broker();
        let _ = crate::world::ask(&broker, &request);
        let kept = broker.refusals();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(
            (kept[0].operation.as_str(), kept[0].target.as_str()),
            (operation, target)
        );
        assert_eq!((&kept[0].hint, &kept[0].rule), (&data.hint, &data.rule));
        assert!(!kept[0].why.contains("granted:"), "{kept:?}");
    };
    let files = ["read on `src`"];
    check(read("b"), "read", "b", &files);
    check(
        VfsRequest::FsWrite(FsWrite::new("src/a", "x")),
        "update",
        "src/a",
        &files,
    );
    check(
        VfsRequest::FsWrite(FsWrite::new("src/new", "x")),
        "create",
        "src/new",
        &files,
    );
    check(
        VfsRequest::FsExists(FsPath::new("../x")),
        "exists",
        "../x",
        &files,
    );
    check(read("out/passwd"), "read", "out/passwd", &files);
    let get = |url: &'static str| {
        VfsRequest::HttpGet(HttpGet {
            url: url.into(),
            headers: Vec::new(),
        })
    };
    let hosts = ["allow `example.org:443`"];
    check(
        get("https://example.com/a?q"),
        "reach",
        "https://example.com/a?…",
        &hosts,
    );
    // The address, which is judged when the name has been looked up.
    world.names.put("example.org", &[&["10.0.0.1"]]);
    check(
        get("https://example.org/"),
        "reach",
        "https://example.org/",
        &hosts,
    );
    let run = VfsRequest::ProcessRun(ProcessRun {
        program: "make".into(),
        args: vec!["install".into()],
        envs: Vec::new(),
        cwd: None,
    });
    check(run, "run", "make install", &["run `make` with `test`"]);
}

#[cfg(target_os = "linux")]
#[test]
fn programs_that_a_tool_has_run_are_told_of_hosts_and_limits() {
    let script = "python3 -c 'import socket; socket.getaddrinfo(\"denied.example\", 443)' 2>&1";
    let mut world = World::on_disk()
        .with(".env", "TOKEN=x")
        .allow(".", "rcudx")
        .net("example.org", 443, true)
        .command("sh", None, &[])
        .confined();
    let told = "jig: denied: look up on `denied.example`: ";
    let rule = "    [[tools.editor.access.net]]\n    host = \"denied.example\"\n    allow = true";
    let reply = shell(&world, script);
    assert_ne!(reply.exit_code, 0);
    assert!(
        reply.stderr.contains(told) && reply.stderr.contains(rule),
        "{}",
        reply.stderr
    );
    // One that got along without it is left alone.
    let reply = shell(&world, &format!("{script}; true"));
    assert_eq!((reply.exit_code, reply.stderr.as_ref()), (0, ""));

    let mut running = Running::new(&world, staying::shell(script));
    running.until("allow = true");
    assert!(
        running.seen.contains(told) && running.seen.contains(rule),
        "{}",
        running.seen
    );

    // Watched, it is told of files, too, in the words of the rules.
    world.confine.as_mut().unwrap().observe = true;
    let reply = shell(&world, "cat < .env");
    assert_ne!(reply.exit_code, 0);
    assert!(
        reply.stderr.contains("jig: denied: read on `.env`: "),
        "{}",
        reply.stderr
    );
}
