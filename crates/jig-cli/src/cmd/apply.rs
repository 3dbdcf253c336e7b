//! `jig apply`: input for a running tool, or the answer to its question.

use anyhow::{Context, anyhow, bail};
use jig_config::QuestionTarget;
use jig_engine::{About, Answer, Ask, Asker as _};
use jig_proto::{HandleId, hint};
use jig_station::client::StationClient;
use jig_station::protocol::{HandleInput, QuestionAuthor, StationQuestion, StationRequest};
use serde_json::json;

use super::fetch::{look, station};
use crate::args::{ApplyArgs, GlobalArgs};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::prompt::PromptTerminal;
use crate::report;

pub(crate) fn run(
    args: &ApplyArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
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
    let request = StationRequest::Apply {
        id,
        input,
        question,
        fetch,
    };
    report::show(client.ask(&request)?, out)
}

/// What the command line gives; `None` if it gives nothing.
fn given(args: &ApplyArgs) -> anyhow::Result<Option<HandleInput>> {
    if let Some(text) = &args.json_input {
        let limits = jig_proto::json::JsonLimits::MESSAGE;
        let value = jig_proto::json::value(text.as_bytes(), &limits);
        let value = value.context("the input is not JSON")?;
        return Ok(Some(HandleInput::Value(value)));
    }
    if let Some(line) = &args.line {
        return Ok(Some(HandleInput::Line(line.clone())));
    }
    if !args.key.is_empty() {
        return Ok(Some(HandleInput::Value(json!({ "keys": args.key }))));
    }
    let words = args.text.join(" ");
    Ok((!args.text.is_empty()).then_some(HandleInput::Words(words)))
}

/// Shows the question that is open, at the terminal, and takes the answer there.
fn asked_here(client: &mut StationClient, id: &HandleId) -> anyhow::Result<(HandleInput, u64)> {
    let asked: Option<StationQuestion> =
        client.ask(&StationRequest::Question { id: id.clone() })?;
    let Some((asked, mut terminal)) = asked.zip(PromptTerminal::open(false, true)) else {
        let hint = hint!("give TEXT, --line TEXT, --key KEY or --json-input JSON");
        return Err(anyhow!(hint).context("there is nothing to apply"));
    };
    let answer = terminal.ask(&Ask {
        tool: &asked.tool,
        question: &asked.question,
        about: match asked.by {
            QuestionAuthor::Policy => About::Access,
            QuestionAuthor::Tool => About::Tool(QuestionTarget::User),
        },
        gone: None,
    });
    let answer = match answer {
        Answer::Given(value) | Answer::GivenForTurn(value) => value,
        Answer::Rejected(reason) if asked.by == QuestionAuthor::Policy => {
            json!(format!("no: {reason}"))
        }
        Answer::Rejected(_) => json!(false),
        _ => bail!("the question is left open"),
    };
    Ok((HandleInput::Value(answer), asked.number))
}
