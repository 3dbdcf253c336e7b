//! `jig apply`: input for a running tool, or the answer to its question.

use anyhow::{Context, anyhow, bail};
use jig_config::QuestionTarget;
use jig_engine::{About, Answer, Ask, Asker as _};
use jig_proto::{HandleId, hint};
use jig_station::client::Client;
use jig_station::protocol::{Asked, By, Given, Request};
use serde_json::json;

use super::fetch::{look, station};
use crate::args::{ApplyArgs, Global};
use crate::exit::Done;
use crate::output::Output;
use crate::prompt::Terminal;
use crate::report;

pub(crate) fn run(args: &ApplyArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let id: HandleId = args.id.parse()?;
    let given = given(args)?;
    let mut client = station(global, &args.id)?;
    let (input, question) = match given {
        Some(input) => (input, args.question),
        None => {
            let (input, number) = asked_here(&mut client, &id)?;
            (input, Some(number))
        }
    };
    let fetch = look(&args.look, args.wait);
    let request = Request::Apply {
        id,
        input,
        question,
        fetch,
    };
    report::show(client.ask(&request)?, out)
}

/// What the command line gives; `None` if it gives nothing.
fn given(args: &ApplyArgs) -> anyhow::Result<Option<Given>> {
    if let Some(text) = &args.json_input {
        let limits = jig_proto::json::Limits::MESSAGE;
        let value = jig_proto::json::value(text.as_bytes(), &limits);
        let value = value.context("the input is not JSON")?;
        return Ok(Some(Given::Value(value)));
    }
    if let Some(line) = &args.line {
        return Ok(Some(Given::Line(line.clone())));
    }
    if !args.key.is_empty() {
        return Ok(Some(Given::Value(json!({ "keys": args.key }))));
    }
    let words = args.text.join(" ");
    Ok((!args.text.is_empty()).then_some(Given::Words(words)))
}

/// Shows the question that is open, at the terminal, and takes the answer there.
fn asked_here(client: &mut Client, id: &HandleId) -> anyhow::Result<(Given, u64)> {
    let asked: Option<Asked> = client.ask(&Request::Question { id: id.clone() })?;
    let Some((asked, mut terminal)) = asked.zip(Terminal::open(false, true)) else {
        let hint = hint!("give TEXT, --line TEXT, --key KEY or --json-input JSON");
        return Err(anyhow!(hint).context("there is nothing to apply"));
    };
    let answer = terminal.ask(&Ask {
        tool: &asked.tool,
        question: &asked.question,
        about: match asked.by {
            By::Policy => About::Access,
            By::Tool => About::Tool(QuestionTarget::User),
        },
        gone: None,
    });
    let answer = match answer {
        Answer::Given(value) | Answer::GivenForTurn(value) => value,
        Answer::Rejected(reason) if asked.by == By::Policy => json!(format!("no: {reason}")),
        Answer::Rejected(_) => json!(false),
        _ => bail!("the question is left open"),
    };
    Ok((Given::Value(answer), asked.number))
}
