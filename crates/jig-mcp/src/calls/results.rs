//! What a client gets of a call: its content, or why there is none, as one [`CallToolResult`].
//!
//! The bytes of a tool's text are passed on as they are. What is too large to be sent goes to the caller's
//! [`OutputStore`](crate::calls::large_outputs::OutputStore), and a link stands in its place.

mod blocks;
mod client_version;
mod errors;
mod foreign_blocks;
mod long_texts;

use jig_config::Tool;
use jig_engine::{CallError, Engine, Reply};
use jig_proto::{Block, Content, HandleReport, StateName, ToolError, ToolState};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use crate::caller::Caller;
pub(crate) use client_version::for_version;
use long_texts::Shortener;

/// What the client is told of a call that came to `outcome`.
///
/// `notes` are jig's own words about it, such as how a person can allow what was refused. What has become of
/// handles since the caller last heard of them is told at the end, whatever the call was about.
pub(crate) fn result(
    caller: &Caller,
    engine: &Engine,
    tool: &Tool,
    outcome: Result<Reply, CallError>,
    notes: &[String],
) -> CallToolResult {
    let limit = usize::try_from(engine.config().mcp.link_above).unwrap_or(usize::MAX);
    let mut shortener = Shortener::new(&caller.outputs, tool.name.as_str(), limit);
    let mut told = match outcome {
        Ok(Reply::Content(content)) => of_content(engine, tool, content, &mut shortener),
        Ok(Reply::Handle(report)) => {
            let seen = foreign_blocks::seen(&report.state);
            let report = json!(of_report(report, &mut shortener));
            let mut told = of_reports(report.to_string(), report);
            let seen = seen
                .into_iter()
                .map(|one| foreign_blocks::block(one, &mut shortener));
            told.content.extend(seen);
            told
        }
        Ok(Reply::Awaited(reports)) => {
            let reports = reports.into_iter();
            let reports: Vec<HandleReport> = reports
                .map(|report| of_report(report, &mut shortener))
                .collect();
            // What stands beside the text must be an object.
            let reports = json!(reports);
            of_reports(reports.to_string(), json!({ "handles": reports }))
        }
        Err(CallError::Tool(mut error)) if !error.content.is_empty() => {
            let content = std::mem::take(&mut error.content);
            of_failure(content, &error, &mut shortener)
        }
        Err(error) => {
            let text = shortener.text(errors::text(&error), None);
            CallToolResult::error(vec![ContentBlock::text(text)])
        }
    };
    let links = shortener.into_links();
    told.content
        .extend(links.into_iter().map(ContentBlock::resource_link));
    let notices = engine.notices();
    if !notes.is_empty() || !notices.is_empty() {
        let notices = notices.iter().map(ToString::to_string);
        let said: Vec<String> = notes.iter().cloned().chain(notices).collect();
        told.content.push(ContentBlock::text(said.join("\n")));
    }
    told
}

/// The result of a tool that ran to its end.
fn of_content(
    engine: &Engine,
    tool: &Tool,
    content: Content,
    shortener: &mut Shortener<'_>,
) -> CallToolResult {
    let structured = match tool.actions.is_one_shot() {
        true => engine.structured(tool, &content),
        // The schema that is listed for a stateful tool is that of a report.
        false => {
            let text = shortener.peek(content.to_text());
            Some(json!({ "state": StateName::Stopped, "result": text }))
        }
    };
    let (content, meta) = without_meta(content);
    let mut told = CallToolResult::success(blocks::content(content, shortener));
    told.structured_content = structured;
    told.meta = meta;
    told
}

/// The result of a tool that a server says has failed: what the server sent, and then what jig knows about it.
fn of_failure(
    content: Content,
    error: &ToolError,
    shortener: &mut Shortener<'_>,
) -> CallToolResult {
    let structured = content.structured().cloned();
    let (content, meta) = without_meta(content);
    let mut told = CallToolResult::error(blocks::content(content, shortener));
    let known = errors::known(error);
    if !known.is_empty() {
        let known = shortener.text(known, None);
        told.content.push(ContentBlock::text(known));
    }
    told.structured_content = structured;
    told.meta = meta;
    told
}

/// The blocks of a content, and what it says about itself.
fn without_meta(content: Content) -> (Content, Option<MetaObject>) {
    let is_meta = |block: &Block| matches!(block, Block::Meta(_));
    if !content.blocks().iter().any(is_meta) {
        return (content, None);
    }
    let mut meta = None;
    let blocks = content.into_blocks().into_iter();
    let blocks = blocks.filter_map(|block| match block {
        Block::Meta(said) => {
            meta = foreign_blocks::meta(said);
            None
        }
        block => Some(block),
    });
    let blocks: Vec<Block> = blocks.collect();
    (Content::from(blocks), meta)
}

fn of_reports(text: String, structured: Value) -> CallToolResult {
    let mut told = CallToolResult::success(vec![ContentBlock::text(text)]);
    told.structured_content = Some(structured);
    told
}

/// A report whose texts are of a size that can be sent.
fn of_report(report: HandleReport, shortener: &mut Shortener<'_>) -> HandleReport {
    let HandleReport { id, state, details } = report;
    let mut short = |content: Content| shortener.content(content);
    let state = match state {
        ToolState::Running { content } => ToolState::Running {
            content: short(content),
        },
        ToolState::Waiting { content, question } => ToolState::Waiting {
            content: short(content),
            question,
        },
        ToolState::Stopped { content, result } => {
            let content = short(content);
            let result = match result {
                Ok(result) => Ok(short(result)),
                Err(mut error) => {
                    error.message = shortener.text(error.message, None);
                    let trace = error.trace.into_iter();
                    error.trace = trace.map(|cause| shortener.text(cause, None)).collect();
                    Err(error)
                }
            };
            ToolState::Stopped { content, result }
        }
    };
    HandleReport { id, state, details }
}

#[cfg(test)]
mod tests;
