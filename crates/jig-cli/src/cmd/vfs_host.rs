//! `jig vfs-host`: the host's side of the VFS protocol on stdin and stdout, for tests of tools.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use camino::Utf8PathBuf;
use jig_broker::{Broker, BrokerParts, JudgedRequest, ProcessSettings, Unapproved};
use jig_config::{Layer, Sources, Tool};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::Workspace;
use jig_project::CommandEnvironment;
use jig_proto::vfs::host::{self, ToolLine, ToolLineFault};
use jig_proto::vfs::{Capabilities, ErrorReply, Frame, Init, LineBuffer, Reading, ToolInput};
use jig_proto::{Action, Context as ToolContext, ToolState, hint, visible_line};
use serde_json::{Map, Value as Json};

use crate::args::VfsHostArgs;
use crate::exit::Done;
use crate::output::CliOutput;

pub(crate) fn run(args: &VfsHostArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let root = jig_project::locate::root(Some(&args.root))?;
    let files: Arc<dyn ProjectFiles> =
        Arc::new(DiskFiles::open(&root).with_context(|| format!("cannot open `{root}`"))?);
    let sources = Sources {
        files: args.policy.iter().cloned().collect::<Vec<Utf8PathBuf>>(),
        state: CommandEnvironment::of_this_process().state(),
        ..Sources::new(root)
    };
    let config = jig_config::load(&sources)?.config;
    let tool = tool(&config, args.tool.as_deref())?;
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = config.policy(tool, &workspace)?;
    let arguments = match &args.args {
        Some(text) => match serde_json::from_str(text) {
            Ok(Json::Object(arguments)) => arguments,
            _ => return Err(anyhow!("--args must be one JSON object")),
        },
        None => Map::new(),
    };
    let mut init = Init::new(ToolInput {
        name: tool.name.to_string(),
        arguments,
        options: tool.options.clone(),
        ..ToolInput::default()
    });
    init.capabilities = Capabilities {
        pages: true,
        ranges: true,
        etag: true,
        ..Capabilities::PLAIN
    };
    let context = ToolContext::new(files.display_root(), Action::Run);
    init.context = Some(context.with_access(policy.to_wire()));
    let broker = Broker::new(BrokerParts {
        env: CommandEnvironment::of_this_process().host(),
        process: ProcessSettings::minimal(Path::new("/nonexistent")),
        ..BrokerParts::new(tool.name.as_str(), "vfs-host", files, Arc::new(policy))
    });
    serve(&broker, &init, out)
}

/// The tool that was named, or the only one that is a program.
fn tool<'c>(config: &'c jig_config::Config, name: Option<&str>) -> anyhow::Result<&'c Tool> {
    if let Some(name) = name {
        return config
            .tool(name)
            .ok_or_else(|| anyhow!("there is no tool `{}`", visible_line(name)));
    }
    let mut declared = config
        .tools
        .values()
        .filter(|tool| tool.declared_at().layer() != Layer::BuiltIn);
    match (declared.next(), declared.next()) {
        (Some(tool), None) => Ok(tool),
        (None, _) => config
            .tool("fs_read_file")
            .ok_or_else(|| anyhow!("there is no tool")),
        _ => {
            Err(anyhow!(hint!("name one with --tool")).context("the policy declares several tools"))
        }
    }
}

/// Reads lines of the tool from stdin and answers on stdout, one by one, until its last word.
fn serve(broker: &Broker, init: &Init, out: &mut CliOutput) -> anyhow::Result<Done> {
    let mut stdout = std::io::stdout().lock();
    let mut stdin = std::io::stdin().lock();
    let mut answer = Vec::new();
    host::write_init(&mut answer, init);
    stdout.write_all(&answer)?;
    stdout.flush()?;
    let mut lines = LineBuffer::new(MESSAGE_BYTES);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = stdin.read(&mut buffer)?;
        let mut input = &buffer[..count];
        answer.clear();
        let mut end = None;
        while let Some(frame) = if count == 0 {
            lines.finish()
        } else {
            lines.next(&mut input)
        } {
            end = frame_answer(broker, frame, &mut answer);
            if end.is_some() {
                break;
            }
        }
        stdout.write_all(&answer)?;
        stdout.flush()?;
        match end {
            Some(VfsToolEnd::Result(text)) => {
                out.note(&text);
                return Ok(Done::Ok);
            }
            Some(VfsToolEnd::Error(text)) => {
                out.note(&text);
                return Ok(Done::Bad);
            }
            None if count == 0 => {
                return Err(anyhow!("the tool closed its side without a result"));
            }
            None => {}
        }
    }
}

/// The last word of a tool.
enum VfsToolEnd {
    Result(String),
    Error(String),
}

fn frame_answer(broker: &Broker, frame: Frame<'_>, answer: &mut Vec<u8>) -> Option<VfsToolEnd> {
    let line = match frame {
        Frame::Line(line) => line,
        Frame::LineTooLong => {
            host::write_error(answer, None, &ErrorReply::line_too_long(MESSAGE_BYTES));
            return None;
        }
        _ => return None,
    };
    match host::read_line(line, &Reading::PLAIN) {
        Ok(ToolLine::Request { id, request }) => {
            let result = match broker.judge(&request) {
                JudgedRequest::Ready(work) => work.perform(),
                JudgedRequest::Uncovered(inquiry) => Err(inquiry.deny(Unapproved::Unavailable)),
                JudgedRequest::Refused(error) => Err(error),
            };
            let written = result
                .and_then(|reply| host::write_reply_within(answer, &id, &reply, MESSAGE_BYTES));
            if let Err(error) = written {
                host::write_error(answer, Some(&id), &error);
            }
            None
        }
        Ok(ToolLine::Result(response)) if response.value.is_error => {
            Some(VfsToolEnd::Error(response.value.content.to_text()))
        }
        Ok(ToolLine::Result(response)) => {
            Some(VfsToolEnd::Result(response.value.content.to_text()))
        }
        Ok(ToolLine::Error(error)) => Some(VfsToolEnd::Error(error.message)),
        Ok(ToolLine::State(state)) => match state.value {
            ToolState::Stopped { result, .. } => Some(match result {
                Ok(content) => VfsToolEnd::Result(content.to_text()),
                Err(error) => VfsToolEnd::Error(error.message),
            }),
            _ => None,
        },
        Err(ToolLineFault::BrokenNotification { name, error }) if name != "cancel" => Some(
            VfsToolEnd::Error(format!("`{name}` cannot be read: {error}")),
        ),
        Err(ToolLineFault::Answer { id, error, .. }) => {
            host::write_error(answer, id.as_ref(), &error);
            None
        }
        _ => None,
    }
}

const MESSAGE_BYTES: usize = 16 * 1024 * 1024;
