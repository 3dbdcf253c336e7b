//! `jig doctor`.

use jig_sandbox::{Finding, Level, Tier};
use serde_json::json;

use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN, RED, YELLOW, field};

pub(crate) fn run(out: &mut CliOutput) -> anyhow::Result<Done> {
    let machine = jig_sandbox::probe();
    let assessment = jig_sandbox::assess(&machine);
    if out.is_json() {
        out.json(&json!({
            "tier": assessment.tier,
            "reason": assessment.reason,
            "findings": assessment.findings,
            "machine": machine,
        }))?;
    } else {
        let style = match assessment.tier {
            Tier::A => GREEN,
            Tier::B => YELLOW,
            Tier::None => RED,
        };
        let kernel = machine
            .kernel
            .as_ref()
            .map(|kernel| kernel.release.as_str());
        let mut text = format!(
            "{style}tier {}{style:#}: {}\n{DIM}{} {}, {}{DIM:#}\n\n",
            assessment.tier,
            assessment.reason,
            machine.os,
            kernel.unwrap_or("(kernel unknown)"),
            machine.arch,
        );
        for finding in &assessment.findings {
            text.push_str(&shown(finding));
        }
        out.text(&text)?;
    }
    Ok(if assessment.tier == Tier::None {
        Done::Bad
    } else {
        Done::Ok
    })
}

fn shown(finding: &Finding) -> String {
    let (style, mark) = match finding.level {
        Level::Ok => (GREEN, "ok"),
        Level::Partial => (YELLOW, "partial"),
        _ => (RED, "missing"),
    };
    let mut text = format!("{style}{mark:<8}{style:#} {BOLD}{}{BOLD:#}\n", finding.name);
    text.push_str(&field("found", &finding.what));
    if let Some(gap) = &finding.gap {
        text.push_str(&match gap.strip_prefix("nothing, but ") {
            Some(risk) => field("risk", risk),
            None => field("not held", gap),
        });
    }
    if let Some(remedy) = &finding.remedy {
        text.push_str(&field("remedy", remedy));
    }
    text
}
