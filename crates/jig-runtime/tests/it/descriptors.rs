//! A real tool that is handed open files.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files, and one that fails is a failed test"
)]

use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, MemoryFiles, ProjectFiles, WriteOptions};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, Guards, Policy, RuleOrigin,
    Workspace,
};
use jig_proto::vfs::{Capabilities, Method, ToolInput};
use jig_proto::{Action, Context, ProjectPath, ToolState};
use jig_runtime::{CommandLine, Plan, Runtime as _, VfsRuntime};
use serde_json::{Value, json};

/// The example of this package, which is built with its tests.
fn tool() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(2).unwrap();
    target.join("examples/open_files")
}

struct World {
    folder: tempfile::TempDir,
    files: Arc<dyn ProjectFiles>,
    secret: Option<&'static str>,
    offer: Capabilities,
}

impl World {
    fn on_disk(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = DiskFiles::open(Utf8Path::from_path(folder.path()).unwrap()).unwrap();
        Self::over(folder, Arc::new(disk), files)
    }

    fn over(
        folder: tempfile::TempDir,
        backend: Arc<dyn ProjectFiles>,
        files: &[(&str, &str)],
    ) -> Self {
        for (path, content) in files {
            let place = backend.locate(&ProjectPath::normalize(path).unwrap());
            let options = WriteOptions::default();
            let written = backend.write(&place.unwrap(), content.as_bytes(), &options);
            assert!(written.unwrap(), "{path} is new");
        }
        Self {
            folder,
            files: backend,
            secret: None,
            offer: Capabilities {
                concurrency: std::num::NonZeroU32::new(64),
                blobs: true,
                fd_pass: true,
                ..Capabilities::PLAIN
            },
        }
    }

    /// Runs the tool and gives what it tells.
    fn run(&self, args: &[&str], paths: &[&str]) -> Value {
        let lookup = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(self.files.display_root(), lookup);
        let rule = |path: &str, capabilities: &[Capability]| DeclaredFsRule {
            path: path.to_owned(),
            capabilities: capabilities.iter().copied().collect(),
            origin: RuleOrigin::line("jig.toml", 1),
        };
        let access = DeclaredAccess {
            fs: vec![rule(".", &[Capability::Read]), rule("private", &[])],
            ..DeclaredAccess::default()
        };
        let default = DefaultAccess::READ_ONLY;
        let policy = Policy::compile(&access, default, &Guards::of_workspace(), &workspace);
        let files = Arc::clone(&self.files);
        let parts = BrokerParts::new("open_files", "c1", files, Arc::new(policy.unwrap()));
        if let Some(secret) = self.secret {
            parts.secrets.remember(secret);
        }
        let mut input = ToolInput {
            name: "open_files".to_owned(),
            ..ToolInput::default()
        };
        input.arguments.insert("paths".to_owned(), json!(paths));
        let disk = DiskFiles::open(Utf8Path::from_path(self.folder.path()).unwrap()).unwrap();
        let context = Context::new(self.files.display_root(), Action::Run);
        let program = tool().to_str().unwrap().to_owned();
        let view = Arc::new(disk.materialize().unwrap());
        let args = args.iter().copied();
        let plan = Plan {
            command: Some(CommandLine::literal(program, args, view, "/nonexistent")),
            methods: vec![Method::FsRead],
            offer: self.offer,
            message_limit: 1 << 20,
            ..Plan::new(input, context, Broker::new(parts))
        };
        let session = VfsRuntime.start(plan).unwrap();
        let mut seen = 0;
        loop {
            let update = session.wait(seen, None);
            seen = update.number;
            match update.state {
                ToolState::Stopped { result, .. } => {
                    return serde_json::from_str(&result.unwrap().to_text()).unwrap();
                }
                ToolState::Waiting { question, .. } => panic!("{}", question.text),
                ToolState::Running { .. } => {}
            }
        }
    }
}

/// What the tool tells about a file.
fn told(is_file: bool, content: &str) -> Value {
    json!({ "file": is_file, "content": content, "can_write": false })
}

#[test]
fn the_tool_reads_what_the_host_opened_and_cannot_write_it() {
    let large = "0123456789abcdef".repeat(20_000);
    let world = World::on_disk(&[
        ("a.txt", "alpha"),
        ("private/b.txt", "beta"),
        ("large", &large),
    ]);
    let found = world.run(&[], &["a.txt", "private/b.txt", "large", "none", "."]);
    let expected = json!([
        told(true, "alpha"),
        { "error": "denied_by_rule" },
        told(true, &large),
        { "error": "not_found" },
        { "error": "is_dir" },
    ]);
    assert_eq!(found["each"], expected);
    assert_eq!(found["single"], expected);
    let left = std::fs::read_to_string(world.folder.path().join("a.txt")).unwrap();
    assert_eq!(left, "alpha");
}

#[test]
fn every_file_arrives_with_its_own_answer() {
    let names: Vec<String> = (0..300).map(|number| format!("d/{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], &name[..])).collect();
    let world = World::on_disk(&files);
    // Between them are requests that bring no file.
    let paths: Vec<&str> = names
        .iter()
        .flat_map(|name| [name.as_str(), "none"])
        .collect();
    let found = world.run(&[], &paths);
    for (path, one) in paths.iter().zip(found["each"].as_array().unwrap()) {
        match *path {
            "none" => assert_eq!(*one, json!({ "error": "not_found" })),
            path => assert_eq!(*one, told(true, path)),
        }
    }
}

#[test]
fn content_comes_where_no_file_may_or_can() {
    let check = |world: World, expected: &str| {
        let found = world.run(&[], &["a.txt"]);
        assert_eq!(found["each"], json!([told(false, expected)]));
        assert_eq!(found["single"], json!([told(false, expected)]));
    };
    let disk = || World::on_disk(&[("a.txt", "the password is correct horse")]);

    let mut secret = disk();
    secret.secret = Some("correct horse");
    check(secret, "the password is [REDACTED]");

    let mut plain = disk();
    plain.offer.fd_pass = false;
    check(plain, "the password is correct horse");

    let folder = tempfile::tempdir().unwrap();
    let memory = World::over(folder, Arc::new(MemoryFiles::new()), &[("a.txt", "alpha")]);
    check(memory, "alpha");
}

#[test]
fn a_tool_that_never_takes_its_files_gets_content() {
    let world = World::on_disk(&[("a.txt", "alpha")]);
    let found = world.run(&["2000"], &[]);
    let (passed, sent) = (found["passed"].as_u64(), found["sent"].as_u64());
    assert_eq!(passed.unwrap() + sent.unwrap(), 2000);
    assert!(passed > Some(0) && sent > Some(0), "{found}");
}
