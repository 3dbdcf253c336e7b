//! [`Engine`]: from a call to its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jig_broker::Unapproved;
use jig_broker::{
    Approvals, AuditSink, Broker, BrokerParts, HostEnv, HttpSettings, Limits, NullSink,
    ProcessSettings,
};
use jig_config::{Config, OnUncovered, QuestionTarget, ResultMode, RunMode, Tool};
use jig_files::{FilesLookup, ProjectFiles};
use jig_policy::{Policy, Workspace};
use jig_proto::vfs::{Capabilities, ToolInput};
use jig_proto::{Action, Content, Context, Question, ToolState};
use jig_runtime::{
    AskedBy, BuiltinRuntime, CommandLine, Plan, Runtime, Session, Timing, VfsRuntime,
};
use serde_json::{Map, Value};

use crate::arguments::complete;
use crate::asker::{About, Answer, Ask, Asker};
use crate::bound::{MAX_RESULT, bound, bound_error};
use crate::call::{Call, CallError};
use crate::methods;
use crate::template::render;

/// Runs the tools of one workspace, for one turn.
///
/// It can be shared between threads: calls run beside each other. What somebody approves for the turn
/// is remembered as long as the engine lives.
#[derive(Debug)]
pub struct Engine {
    config: Arc<Config>,
    files: Arc<dyn ProjectFiles>,
    approvals: Arc<Approvals>,
    calls: AtomicU64,
    /// The variables that rules decide about. Default: none.
    pub env: HostEnv,
    /// How much one request of a tool may take.
    pub limits: Limits,
    /// How servers are reached.
    pub http: HttpSettings,
    /// How long a tool may take for what.
    pub timing: Timing,
    /// Where decisions are written. Default: nowhere.
    pub audit: Arc<dyn AuditSink>,
    /// The jig program, which runs the predefined tools as subprocesses where the configuration
    /// wants that: it is started with `__tool NAME`. Default: none.
    pub program: Option<PathBuf>,
    /// The most text of a result, in bytes. Default: 256 KiB.
    pub max_result: usize,
}

/// A tool that runs.
#[derive(Debug)]
pub struct Started {
    /// The running tool.
    pub session: Session,
    tool: String,
}

impl Engine {
    /// An engine for the tools of `config` on `files`.
    pub fn new(config: Arc<Config>, files: Arc<dyn ProjectFiles>) -> Self {
        Self {
            config,
            files,
            approvals: Arc::new(Approvals::new()),
            calls: AtomicU64::new(0),
            env: HostEnv::default(),
            limits: Limits::default(),
            http: HttpSettings::default(),
            timing: Timing::default(),
            audit: Arc::new(NullSink),
            program: None,
            max_result: MAX_RESULT,
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Runs a tool to its end. Questions go to `asker`.
    pub fn call(&self, call: Call, asker: &mut dyn Asker) -> Result<Content, CallError> {
        let tool = self.tool(&call.tool)?;
        let mut call = call;
        call.arguments = self.arguments(tool, call.arguments)?;
        call.arguments = self.agreed(tool, call.arguments, asker)?;
        let cancel = call.cancel.clone();
        let answers = call.answers.clone();
        let session = Arc::new(self.start(call)?.session);
        let running = Arc::downgrade(&session);
        let _hook = cancel.map(|cancel| {
            cancel.on_cancel(move || {
                if let Some(session) = running.upgrade() {
                    session.cancel();
                }
            })
        });
        let result = self.drive(tool, &session, answers, asker);
        let content =
            result.map_err(|error| CallError::Tool(bound_error(error, self.max_result)))?;
        self.passed_on(tool, bound(content, self.max_result), asker)
    }

    /// Starts a tool whose arguments are settled, without asking anybody.
    pub fn start(&self, call: Call) -> Result<Started, CallError> {
        let tool = self.tool(&call.tool)?;
        let arguments = self.arguments(tool, call.arguments.clone())?;
        let plan = self.plan(tool, Call { arguments, ..call })?;
        let fail = |error| CallError::Start {
            tool: tool.name.to_string(),
            error,
        };
        let session = match tool.runtime {
            jig_config::Runtime::Builtin => BUILTINS.start(plan).map_err(fail)?,
            jig_config::Runtime::Vfs => VfsRuntime.start(plan).map_err(fail)?,
            other => {
                return Err(CallError::Runtime {
                    tool: tool.name.to_string(),
                    runtime: other.name().to_owned(),
                });
            }
        };
        Ok(Started {
            session,
            tool: tool.name.to_string(),
        })
    }

    fn tool(&self, name: &str) -> Result<&Tool, CallError> {
        let tool = self.config.tool(name);
        let tool = tool.ok_or_else(|| CallError::UnknownTool(name.to_owned()))?;
        if !tool.enable.on {
            return Err(CallError::Disabled(name.to_owned()));
        }
        Ok(tool)
    }

    fn arguments(
        &self,
        tool: &Tool,
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        complete(given, &tool.parameters).map_err(|errors| CallError::Arguments {
            tool: tool.name.to_string(),
            errors,
        })
    }

    /// Compiles the policy, and puts everything together that running needs.
    fn plan(&self, tool: &Tool, call: Call) -> Result<Plan, CallError> {
        let root = self.files.display_root().to_owned();
        let workspace = Workspace::new(root.clone(), FilesLookup(Arc::clone(&self.files)));
        let policy = self
            .config
            .policy(tool, &workspace)
            .map_err(|errors| CallError::Policy {
                tool: tool.name.to_string(),
                errors,
            })?;
        let context = Context::new(root, Action::Run).with_access(policy.to_wire());
        let mut answers = call.answers;
        for (id, question) in &tool.questions {
            if let Some(answer) = &question.answer {
                answers.entry(id.clone()).or_insert_with(|| answer.clone());
            }
        }
        let input = ToolInput {
            name: tool.name.to_string(),
            arguments: call.arguments,
            answers,
            options: tool.options.clone(),
        };
        let command = match tool.runtime {
            jig_config::Runtime::Vfs => Some(self.command(tool, &input, &context)?),
            _ => None,
        };
        let asks = tool.on_uncovered == OnUncovered::Ask;
        Ok(Plan {
            implementation: tool.implementation().map(str::to_owned),
            methods: methods::open(&policy, asks),
            broker: self.broker(tool, call.id, Arc::new(policy)),
            input,
            context,
            command,
            offer: offer(),
            timing: self.timing,
            message_limit: MESSAGE_BYTES,
            stateful: false,
            tracer: call.tracer,
        })
    }

    fn broker(&self, tool: &Tool, id: Option<String>, policy: Arc<Policy>) -> Broker {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let id = id.unwrap_or_else(|| format!("c{}-{number}", std::process::id()));
        let files = Arc::clone(&self.files);
        Broker::new(BrokerParts {
            env: self.env.clone(),
            limits: self.limits,
            http: self.http.clone(),
            process: ProcessSettings::minimal(Path::new(NO_HOME)),
            audit: Arc::clone(&self.audit),
            approvals: Arc::clone(&self.approvals),
            ..BrokerParts::new(tool.name.as_str(), id, files, policy)
        })
    }

    /// What a tool that is a program is started as.
    fn command(
        &self,
        tool: &Tool,
        input: &ToolInput,
        context: &Context,
    ) -> Result<CommandLine, CallError> {
        let view = Arc::new(self.files.materialize()?);
        let home = PathBuf::from(NO_HOME);
        let fail = |error| CallError::Template {
            tool: tool.name.to_string(),
            error,
        };
        let Some(command) = &tool.command else {
            let name = tool.implementation().unwrap_or(tool.name.as_str());
            let program = self.program.as_ref().ok_or_else(|| CallError::Start {
                tool: tool.name.to_string(),
                error: jig_runtime::StartError::NoCommand,
            })?;
            return Ok(CommandLine {
                program: program.to_string_lossy().into_owned(),
                args: vec!["__tool".to_owned(), name.to_owned()],
                view,
                home,
            });
        };
        let program = render(&command.program, input, context).map_err(fail)?;
        // A path is one of the workspace, not of the directory in which somebody called us.
        let program = match program.contains('/') {
            true => view.path().join(&program).into_string(),
            false => program,
        };
        let words = command.args.iter().map(|word| render(word, input, context));
        Ok(CommandLine {
            program,
            args: words.collect::<Result<_, _>>().map_err(fail)?,
            view,
            home,
        })
    }

    /// Asks whether the tool may run, as its run mode says.
    fn agreed(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<Map<String, Value>, CallError> {
        let name = tool.name.as_str();
        let shown = serde_json::to_string_pretty(&arguments).unwrap_or_default();
        match tool.run {
            RunMode::Unattended => Ok(arguments),
            RunMode::Skip => Err(CallError::Skipped(name.to_owned())),
            RunMode::Ask => {
                let mut question = Question::yes_no("run", format!("Run `{name}`?"));
                question.context = Some(shown);
                match ask(asker, name, &question, About::Run) {
                    Answer::Given(Value::Bool(true)) => Ok(arguments),
                    Answer::Given(_) | Answer::Cancel => Err(CallError::Declined(name.to_owned())),
                    _ => Err(CallError::NobodyToAsk(name.to_owned())),
                }
            }
            RunMode::Edit => {
                let text = format!("Edit the arguments of `{name}`.");
                let question = Question::new("arguments", text, tool.input_schema());
                let question = question.with_default(Value::Object(arguments));
                match ask(asker, name, &question, About::Arguments) {
                    Answer::Given(Value::Object(edited)) => self.arguments(tool, edited),
                    Answer::Given(_) | Answer::Cancel => Err(CallError::Declined(name.to_owned())),
                    _ => Err(CallError::NobodyToAsk(name.to_owned())),
                }
            }
        }
    }

    /// Hands the result on, as the tool's result mode says.
    fn passed_on(
        &self,
        tool: &Tool,
        content: Content,
        asker: &mut dyn Asker,
    ) -> Result<Content, CallError> {
        let name = tool.name.as_str();
        let withheld = || CallError::ResultWithheld(name.to_owned());
        match tool.result {
            ResultMode::Unattended => Ok(content),
            ResultMode::Skip => Err(withheld()),
            ResultMode::Ask => {
                let text = format!("Pass on the result of `{name}`?");
                let mut question = Question::yes_no("result", text);
                question.context = Some(content.to_text());
                match ask(asker, name, &question, About::Result) {
                    Answer::Given(Value::Bool(true)) => Ok(content),
                    _ => Err(withheld()),
                }
            }
            ResultMode::Edit => {
                let question = Question::text("result", format!("Edit the result of `{name}`."));
                let question = question.with_default(content.to_text());
                match ask(asker, name, &question, About::EditResult) {
                    Answer::Given(Value::String(edited)) => Ok(Content::text(edited)),
                    _ => Err(withheld()),
                }
            }
        }
    }

    /// The one loop: drives a session until it has stopped.
    fn drive(
        &self,
        tool: &Tool,
        session: &Session,
        mut answers: Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<Content, jig_proto::ToolError> {
        let mut seen = 0;
        loop {
            let update = session.wait(seen, None);
            seen = update.number;
            match update.state {
                ToolState::Stopped { result, .. } => return result,
                ToolState::Running { content } => {
                    if !content.is_empty() {
                        asker.progress(tool.name.as_str(), &content.to_text());
                    }
                }
                ToolState::Waiting { question, .. } => {
                    // Each answer that came with the call is used once: a tool that asks again is
                    // not satisfied by it.
                    let known = match update.asker {
                        Some(AskedBy::Policy) => None,
                        _ => answers.remove(&question.id),
                    };
                    let answer = match known {
                        Some(answer) => Answer::Given(answer),
                        None => self.answer(tool, &question, update.asker, asker),
                    };
                    // A tool that stops while it is asked needs no answer any more.
                    let _ = match answer {
                        Answer::Given(value) => session.apply(seen, value),
                        Answer::Cancel => {
                            session.cancel();
                            Ok(())
                        }
                        Answer::TimedOut => session.decline(seen, Unapproved::TimedOut),
                        _ => session.decline(seen, Unapproved::Unavailable),
                    };
                }
            }
        }
    }

    fn answer(
        &self,
        tool: &Tool,
        question: &Question,
        asked_by: Option<AskedBy>,
        asker: &mut dyn Asker,
    ) -> Answer {
        let name = tool.name.as_str();
        if asked_by == Some(AskedBy::Policy) {
            return match tool.on_uncovered {
                OnUncovered::Ask => ask(asker, name, question, About::Access),
                OnUncovered::Deny => Answer::Unavailable,
            };
        }
        let known = tool.questions.get(&question.id);
        if let Some(answer) = known.and_then(|known| known.answer.clone()) {
            return Answer::Given(answer);
        }
        let target = known.map_or(QuestionTarget::User, |known| known.target);
        ask(asker, name, question, About::Tool(target))
    }
}

impl Started {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

fn ask(asker: &mut dyn Asker, tool: &str, question: &Question, about: About) -> Answer {
    asker.ask(&Ask {
        tool,
        question,
        about,
    })
}

/// The predefined tools.
const BUILTINS: BuiltinRuntime = BuiltinRuntime {
    names: &jig_fs_tools::NAMES,
    run: jig_fs_tools::run,
};

/// What every tool is offered beyond the plain protocol.
fn offer() -> Capabilities {
    Capabilities {
        concurrency: std::num::NonZeroU32::new(MAX_IN_FLIGHT),
        pending: true,
        pages: true,
        ranges: true,
        etag: true,
        blobs: true,
        fd_pass: true,
    }
}

/// How many requests a tool may have open at once. Each that takes long holds a thread of the host.
const MAX_IN_FLIGHT: u32 = 32;

/// The most bytes of one message in either direction.
const MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// What a tool sees as its home: nothing. What lies in the real one is not its business.
const NO_HOME: &str = "/nonexistent";
