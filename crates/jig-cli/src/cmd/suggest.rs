//! `jig suggest`: a command is watched, and the rules that it needs are proposed.

mod report;

use jig_engine::Learner;
use jig_project::learned_rules::{self, Enough, Lesson, Trial};
use jig_project::shell_word;

use crate::args::{Global, SuggestArgs};
use crate::exit::Done;
use crate::foreground;
use crate::interrupt;
use crate::output::{Output, remark};

pub(crate) fn run(args: &SuggestArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
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
    let trial = Trial {
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
        let told = report::Told {
            lesson: &lesson,
            line: &line,
            proposal: &proposal,
            outcome: report::Outcome::Failed(watched),
        };
        told.print(out)?;
        return Ok(Done::Passed(watched));
    }
    let (proposal, enough) = lesson.tried(&mut learner, &trial)?;
    let (outcome, done) = match enough {
        Enough::Interrupted(exit) => return Ok(Done::Passed(exit)),
        Enough::No(ended) => (
            report::Outcome::NotEnough(ended.exit, ended.tail),
            Done::Bad,
        ),
        Enough::Yes => (report::Outcome::Enough, Done::Ok),
    };
    if args.write && matches!(done, Done::Ok) {
        lesson.write(&proposal)?;
    }
    let told = report::Told {
        lesson: &lesson,
        line: &line,
        proposal: &proposal,
        outcome,
    };
    told.print(out)?;
    Ok(done)
}
