//! Runs tools from a program of your own: `cargo run -p jig-engine --example embed`.

#![expect(clippy::print_stdout, reason = "it shows what happens")]

use std::error::Error;
use std::io;
use std::sync::Arc;

use jig_broker::{AuditDecision, AuditEntry, AuditSink};
use jig_config::Sources;
use jig_engine::{About, Answer, Ask, Asker, Call, Engine};
use jig_files::MemoryFiles;
use jig_proto::ProjectPath;
use serde_json::json;

/// Stands for the person who is asked: tools may run, but get no access that no rule gives them.
struct Careful;

impl Asker for Careful {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        println!("asked: {}", ask.question.text);
        match ask.about {
            About::Run => Answer::Given(json!(true)),
            About::Access => Answer::Given(json!("no")),
            _ => Answer::Unavailable,
        }
    }
}

/// Prints what was refused.
#[derive(Debug)]
struct Refused;

impl AuditSink for Refused {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        if entry.decision == AuditDecision::Deny {
            println!("refused: {} {}", entry.operation, entry.target);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The workspace. This one is in memory; `DiskFiles::open("/home/me/project")?` is a folder.
    let files = MemoryFiles::new();
    files.put_file(&ProjectPath::normalize("notes.txt")?, "one\ntwo\n", false)?;
    files.put_file(&ProjectPath::normalize(".env")?, "TOKEN=secret\n", false)?;

    // The configuration. A real one is read from the `jig.toml` of the workspace; this one is a single setting.
    let mut sources = Sources::new("/workspace");
    sources.sets = vec!["tools.fs_create_file.access.fs=[{path='docs',create=true}]".to_owned()];
    let config = jig_config::load(&sources)?.config;

    let mut engine = Engine::new(Arc::new(config), Arc::new(files));
    engine.audit = Arc::new(Refused);

    // Reading the workspace needs no rule.
    let call = Call::new("fs_read_file", json!({ "path": "notes.txt" }));
    let read = engine.call(call, &mut Careful)?.into_content();
    println!("{}", read.to_text());

    // A rule lets this tool create files in `docs`, after it was asked whether the tool may run.
    let call = Call::new(
        "fs_create_file",
        json!({ "path": "docs/new.md", "content": "# New\n" }),
    );
    let created = engine.call(call, &mut Careful)?.into_content();
    println!("{}", created.to_text());

    // A sensitive file is asked about, and `Careful` says no. The error says why, and what would allow it.
    let call = Call::new("fs_read_file", json!({ "path": ".env" }));
    match engine.call(call, &mut Careful) {
        Ok(content) => println!("{}", content.into_content().to_text()),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
