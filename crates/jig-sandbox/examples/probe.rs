//! Prints what this machine can enforce: the facts as JSON, then the judgement.
#![expect(clippy::print_stdout, reason = "an example that prints")]

fn main() -> Result<(), serde_json::Error> {
    let machine = jig_sandbox::probe();
    println!("{}\n", serde_json::to_string_pretty(&machine)?);
    let assessment = jig_sandbox::assess(&machine);
    println!("tier {}: {}", assessment.tier, assessment.reason);
    for finding in assessment.findings {
        println!(
            "{:8} {:15} {}",
            finding.level.to_string(),
            finding.name,
            finding.what
        );
        for (label, text) in [("gap", finding.gap), ("remedy", finding.remedy)] {
            if let Some(text) = text {
                println!("{:24} {label}: {text}", "");
            }
        }
    }
    Ok(())
}
