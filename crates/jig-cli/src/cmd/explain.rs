//! `jig policy explain`: one question, answered with the rule that decided.

use anyhow::anyhow;
use jig_config::{OnUncovered, RuntimeKind, Tool};
use jig_policy::{
    Capability, CommandProgram, CommandTarget, ConnectionTarget, DiskLookup, EnvTarget, EnvUse,
    FileTarget, Loser, MoveTarget, MovedEntry, NetTarget, OwnedSpeaks, Policy, ProgramNameError,
    ResolveError, ResolvedPath, Target, Verdict, Workspace,
};
use serde_json::{Value as Json, json};

use crate::args::AccessQuestion;
use crate::output::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, field, indented};

/// The answer to a question about a tool, ready to be shown.
pub(crate) struct PolicyAnswer {
    tool: String,
    operation: String,
    target: String,
    pub(crate) verdict: Verdict,
    why: String,
    rule: Option<(String, String)>,
    lost: Vec<(String, String, &'static str)>,
    grants: Vec<String>,
    suggestion: Option<String>,
    asks: bool,
}

/// Asks the policy of `tool`.
pub(crate) fn answer(
    tool: &Tool,
    policy: &Policy,
    workspace: &Workspace<DiskLookup>,
    question: &AccessQuestion,
) -> anyhow::Result<PolicyAnswer> {
    // The operating system cannot ask; a mediated tool's request can wait for an answer.
    let asks = tool.on_uncovered == OnUncovered::Ask && tool.runtime != RuntimeKind::Stdio;
    let runtime = tool.runtime;
    let table = tool.table();
    let tool = &*tool.label();
    let answer = |target: JudgedTarget<'_>| target.answer(tool, &table, asks);
    let file = |capability: Capability, path: &str| match workspace.resolve(path) {
        Ok(path) => {
            let losers = policy.losers_fs(capability, &path);
            answer(JudgedTarget::new(
                policy,
                &FileTarget { capability, path },
                losers,
            ))
        }
        Err(error) => unresolved(tool, capability.name(), &error),
    };
    Ok(match question {
        AccessQuestion::Read { path } => file(Capability::Read, path),
        AccessQuestion::Create { path } => file(Capability::Create, path),
        AccessQuestion::Update { path } => file(Capability::Update, path),
        AccessQuestion::Delete { path } => file(Capability::Delete, path),
        AccessQuestion::Execute { path } => file(Capability::Execute, path),
        AccessQuestion::Move { from, to } => match (workspace.resolve(from), workspace.resolve(to))
        {
            (Ok(from), Ok(to)) => {
                let losers = policy.losers_fs(Capability::Delete, &from);
                let entry = match is_directory(workspace, &from) {
                    true => MovedEntry::Directory,
                    false => MovedEntry::File,
                };
                let target = MoveTarget { from, to, entry };
                answer(JudgedTarget::new(policy, &target, losers))
            }
            (Err(error), _) | (_, Err(error)) => unresolved(tool, "move", &error),
        },
        AccessQuestion::Net { url, method } => {
            let url = match url.contains("://") {
                true => url.clone(),
                false => format!("https://{url}"),
            };
            let target = NetTarget::parse(&url)
                .map_err(|error| anyhow!(error).context(format!("`{url}` cannot be requested")))?;
            let target = target.with_method(method);
            let losers = policy.losers_net(&target);
            answer(match unseen(runtime, &target) {
                Some(connection) => JudgedTarget {
                    operation: target.operation(),
                    target: shown(&target),
                    ..JudgedTarget::new(policy, &connection, losers)
                },
                None => JudgedTarget {
                    target: shown(&target),
                    ..JudgedTarget::new(policy, &target, losers)
                },
            })
        }
        AccessQuestion::Env { name, header } => {
            let wanted = if *header {
                EnvUse::Header
            } else {
                EnvUse::Read
            };
            let target = EnvTarget {
                wanted,
                name: name.clone(),
            };
            answer(JudgedTarget::new(policy, &target, policy.losers_env(name)))
        }
        AccessQuestion::Run { program, args } => match CommandProgram::parse(program, workspace) {
            Ok(program) => {
                let losers = policy.losers_command(&program);
                let target = CommandTarget {
                    program,
                    args: args.clone(),
                };
                answer(JudgedTarget::new(policy, &target, losers))
            }
            Err(ProgramNameError::Path(error)) => unresolved(tool, "run", &error),
            Err(error) => return Err(error.into()),
        },
    })
}

/// The connection that a program makes for a URL, where it does not show the URL itself.
fn unseen(runtime: RuntimeKind, target: &NetTarget) -> Option<ConnectionTarget> {
    let speaks = match target.scheme() {
        "http" | "ws" => return None,
        "https" | "wss" => OwnedSpeaks::Tls,
        _ => OwnedSpeaks::Other,
    };
    (runtime == RuntimeKind::Stdio).then(|| ConnectionTarget {
        host: target.host().to_owned(),
        port: target.port(),
        speaks,
    })
}

/// The URL, with the method if it is not what a URL alone asks for.
fn shown(target: &NetTarget) -> String {
    match target.method() {
        Some(method) if method != "GET" => format!("{method} {target}"),
        _ => target.to_string(),
    }
}

fn is_directory(workspace: &Workspace<DiskLookup>, path: &ResolvedPath) -> bool {
    use jig_policy::{Lookup, LookupEntry};
    matches!(
        workspace.lookup().entry(path.path()),
        Ok(LookupEntry::Directory)
    )
}

/// A target with the policy's answer and what else is to be said.
struct JudgedTarget<'p> {
    operation: &'static str,
    target: String,
    why: String,
    decision: jig_policy::Decision<'p>,
    losers: Vec<Loser<'p>>,
    grants: Vec<String>,
    suggestion: Option<jig_policy::Suggestion>,
}

impl<'p> JudgedTarget<'p> {
    fn new<T: Target>(policy: &'p Policy, target: &T, losers: Vec<Loser<'p>>) -> Self {
        let decision = target.decide(policy);
        Self {
            operation: target.operation(),
            target: target.to_string(),
            why: target.why(policy, &decision),
            decision,
            losers,
            grants: policy.grants(target.resource()),
            suggestion: target.suggestion(policy).filter(|_| !decision.is_allowed()),
        }
    }

    fn answer(self, tool: &str, table: &str, asks: bool) -> PolicyAnswer {
        let deciding = self.decision.rule.map(|rule| rule.origin());
        let losers = self.losers.iter().filter(|loser| {
            // What decided in another way, as a rule on something below does, has not lost.
            deciding.is_none_or(|origin| !std::ptr::eq(origin, loser.rule.origin()))
        });
        PolicyAnswer {
            tool: tool.to_owned(),
            operation: self.operation.to_owned(),
            verdict: self.decision.verdict,
            why: self.why,
            rule: self
                .decision
                .rule
                .map(|rule| (rule.to_string(), rule.origin().to_string())),
            lost: losers
                .map(|loser| {
                    let origin = loser.rule.origin().to_string();
                    (loser.rule.to_string(), origin, loser.why.words())
                })
                .collect(),
            grants: self.grants,
            suggestion: self
                .suggestion
                .map(|rules| jig_proto::offered_rule(rules.to_toml_in(table))),
            target: self.target,
            asks,
        }
    }
}

/// A path that cannot be in the workspace: no rule is needed to refuse it, and none can allow it.
fn unresolved(tool: &str, operation: &str, error: &ResolveError) -> PolicyAnswer {
    PolicyAnswer {
        tool: tool.to_owned(),
        operation: operation.to_owned(),
        target: error.path.clone(),
        verdict: Verdict::Deny,
        why: format!(
            "{}: {}",
            error
                .to_string()
                .trim_end_matches(&format!(": {}", error.path)),
            error.reason
        ),
        rule: None,
        lost: Vec::new(),
        grants: Vec::new(),
        suggestion: None,
        asks: false,
    }
}

impl PolicyAnswer {
    pub(crate) fn json(&self) -> Json {
        let lost: Vec<Json> = self
            .lost
            .iter()
            .map(|(rule, origin, why)| json!({ "rule": rule, "origin": origin, "why": why }))
            .collect();
        json!({
            "decision": self.verdict.name(),
            "rule": self.rule.as_ref().map(|(text, _)| text),
            "origin": self.rule.as_ref().map(|(_, origin)| origin),
            "suggestion": self.suggestion,
            "tool": self.tool,
            "operation": self.operation,
            "target": self.target,
            "why": self.why,
            "lost": lost,
            "grants": self.grants,
        })
    }

    pub(crate) fn text(&self) -> String {
        let style = match self.verdict {
            Verdict::Allow => GREEN,
            Verdict::Deny => RED,
            Verdict::Uncovered => YELLOW,
        };
        let mut text = format!(
            "{style}{}{style:#}  {} {BOLD}{}{BOLD:#} {DIM}for{DIM:#} {}\n",
            self.verdict, self.operation, self.target, self.tool
        );
        if let Some((rule, origin)) = &self.rule {
            text.push_str(&field("rule", format!("{rule} {CYAN}({origin}){CYAN:#}")));
        }
        text.push_str(&field("why", &self.why));
        if self.verdict == Verdict::Uncovered {
            let next = match self.asks {
                true => "jig asks you; where nobody can answer, it is denied",
                false => "jig denies it: for this tool nobody is asked",
            };
            text.push_str(&field("so", next));
        }
        for (rule, origin, why) in &self.lost {
            text.push_str(&field(
                "lost",
                format!("{rule} {CYAN}({origin}){CYAN:#}: {why}"),
            ));
        }
        if self.verdict == Verdict::Uncovered && self.rule.is_none() {
            for grant in &self.grants {
                text.push_str(&field("granted", grant));
            }
        }
        if let Some(suggestion) = &self.suggestion {
            text.push_str("\nThe smallest addition that allows it:\n\n");
            text.push_str(&indented(suggestion, 4));
        }
        text
    }
}
