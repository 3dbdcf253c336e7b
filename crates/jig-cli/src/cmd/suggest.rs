//! `jig suggest`: a command is watched, and the rules that it needs are proposed.

mod report;

use jig_engine::Learner;
use jig_project::learned_rules::{self, Lesson, RulesSufficiency, SuggestTrial};
use jig_project::shell_word;

use crate::args::{GlobalArgs, SuggestArgs};
use crate::exit::Done;
use crate::foreground;
use crate::interrupt;
use crate::output::{CliOutput, remark};

pub(crate) fn run(
    args: &SuggestArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let mut lesson = Lesson::new(
        args.tool.as_deref(),
        &args.command,
        &args.net,
        &global.selection(),
    )?;
    let engine = lesson.engine(&lesson.additions)?;
    let command = learned_rules::started(&args.command)?;
    let learner = Learner::new(&engine, &lesson.tool, &command, args.width);
    let mut learner = learner.map_err(learned_rules::explained)?;
    let trial = SuggestTrial {
        cancel: interrupt::tokens()?.cancel,
        args: args.command[1..].to_vec(),
        cwd: lesson.cwd.clone(),
        time: engine
            .config()
            .tool(&lesson.tool)
            .and_then(|tool| tool.sandbox.limits.time),
        explain: foreground::not_started,
    };

    let line: Vec<String> = args.command.iter().map(|word| shell_word(word)).collect();
    let line = line.join(" ");
    remark(&format!(
        "jig: watching `{line}`; what it changes goes into a layer, and is thrown away"
    ));
    let (watched, interrupted) = learned_rules::watched(&mut learner, &engine, &trial)?;
    if interrupted {
        return Ok(Done::Passed(watched));
    }
    if !watched.is_success() {
        let proposal = lesson.vetted(&mut learner)?;
        let told = report::ProposalReport {
            lesson: &lesson,
            line: &line,
            proposal: &proposal,
            outcome: report::ProposalOutcome::Failed(watched),
        };
        told.print(out)?;
        return Ok(Done::Passed(watched));
    }
    let (proposal, enough) = lesson.tried(&mut learner, &trial)?;
    let (outcome, done) = match enough {
        RulesSufficiency::Interrupted(exit) => return Ok(Done::Passed(exit)),
        RulesSufficiency::No(ended) => (
            report::ProposalOutcome::NotEnough(ended.exit, ended.tail),
            Done::Bad,
        ),
        RulesSufficiency::Yes => (report::ProposalOutcome::Enough, Done::Ok),
    };
    if args.write && matches!(done, Done::Ok) {
        lesson.write(&proposal)?;
    }
    let told = report::ProposalReport {
        lesson: &lesson,
        line: &line,
        proposal: &proposal,
        outcome,
    };
    told.print(out)?;
    Ok(done)
}
