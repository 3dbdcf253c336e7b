//! One tool before and after.

use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use jig_policy::DeclaredAccess;
use jig_proto::ToolAction;
use serde_json::Value as Json;

use super::{ToolComparison, WideningSearch, access, run};
use crate::model::{
    AllowToggle, Config, Enforce, FormatMode, OnUncovered, OverlayMode, Parameter, ProtocolLimits,
    QuestionSettings, QuestionTarget, ResultMode, RunMode, RunModes, RuntimeKind, Sandbox,
    SandboxLimits, SystemPath, Tool,
};
use crate::quoting::{clean_whole as clean, quote_whole as quote};

pub(super) fn compare(pair: &mut ToolComparison<'_>) {
    let new = pair.new;
    let Tool {
        name: _,
        source: _,
        runtime: _,
        enable: _,
        command: _,
        input: _,
        wasm: _,
        // What a tool is called and said to be does not change what it does.
        title: _,
        summary: _,
        description: _,
        examples: _,
        parameters: _,
        // A result that does not fit is an error; one that fits is no more than it was.
        output: _,
        actions: _,
        terminal: _,
        notices: _,
        repeatable,
        overlay,
        run: _,
        result,
        size_threshold,
        format,
        questions: _,
        options,
        // jig does nothing with it.
        style: _,
        on_uncovered,
        access: _,
        default_access: _,
        sandbox: _,
        values: _,
        own_rules: _,
        places: _,
        // What a server says about a tool is held, or not, where it is listed.
        definition: _,
        server: _,
        is_added: _,
    } = new;
    enabled(pair);
    what_runs(pair);
    for action in ToolAction::ALL {
        let rules = (pair.old.run.of(action), new.run.of(action));
        for looser in run::looser(rules.0, rules.1) {
            let of = match action {
                ToolAction::Spawn => String::new(),
                action => format!("`{action}`: "),
            };
            let at = looser.at.or(new.origin("run"));
            pair.changes.add(format!("{of}{}", looser.what), at);
        }
    }
    if *repeatable && !pair.old.repeatable {
        pair.add_at("repeatable", "is now run again when it failed");
    }
    if layers_less(*overlay) > layers_less(pair.old.overlay) {
        let what = match overlay {
            Some(mode) => format!("what it writes to its layer is now treated so: {mode}"),
            None => "now writes to the workspace itself, and not to a layer over it".to_owned(),
        };
        pair.add_at("overlay", what);
    }
    if passes(*result) > passes(pair.old.result) {
        let what = format!("its results now reach the model so: {result}");
        pair.add_at("result", what);
    }
    if *format == FormatMode::Unattended && pair.old.format != FormatMode::Unattended {
        let what = "now formats its arguments without asking";
        pair.add_at("format", what);
    }
    pair.raised(
        "size_threshold",
        "`size_threshold`",
        pair.old.size_threshold,
        *size_threshold,
    );
    if *options != pair.old.options {
        pair.add_at("options", "has other `options`");
    }
    if *on_uncovered == OnUncovered::Ask && pair.old.on_uncovered == OnUncovered::Deny {
        pair.add_at(
            "on_uncovered",
            "somebody is now asked about what no rule covers, where it was denied",
        );
    }
    questions(pair);
    access::compare(pair);
    sandbox(pair);
}

/// What a tool starts, for people.
pub(super) fn started(tool: &Tool) -> String {
    match (&tool.command, &tool.wasm) {
        (Some(command), _) => {
            let words = std::iter::once(&command.program).chain(&command.args);
            let words: Vec<String> = words.map(|word| word_of(word)).collect();
            quote(&words.join(" "))
        }
        (None, Some(wasm)) => format!("the component {}", quote(wasm.as_str())),
        (None, None) => match tool.runtime {
            RuntimeKind::Mcp => format!("{} on a server", quote(&tool.source.to_string())),
            _ => "code of jig".to_owned(),
        },
    }
}

/// A word of a command, in quotes where it could be taken for several.
fn word_of(word: &str) -> String {
    match word.is_empty() || word.contains([' ', '"']) {
        true => Json::from(word).to_string(),
        false => word.to_owned(),
    }
}

/// What a tool is given that was not offered before, beyond what any tool of its runtime has.
pub(super) fn whole(old: &Config, new: &Config, tool: &Tool, changes: &mut WideningSearch) {
    over_bare(old, new, tool, &bare(tool), changes);
}

/// The same for a tool of whose settings nobody has seen any: its limits, and how it is treated, are compared with
/// the defaults, too.
pub(super) fn beyond_defaults(
    old: &Config,
    new: &Config,
    tool: &Tool,
    changes: &mut WideningSearch,
) {
    let mut bare = bare(tool);
    bare.repeatable = false;
    if !tool.run.spawn.is_always(RunMode::Unattended) {
        bare.format = FormatMode::Ask;
    }
    bare.sandbox.limits = SandboxLimits::default();
    bare.sandbox.proxy = false;
    bare.sandbox.observe = false;
    over_bare(old, new, tool, &bare, changes);
}

/// The tool without what was declared for it.
fn bare(tool: &Tool) -> Tool {
    let mut bare = tool.clone();
    bare.access = DeclaredAccess::default();
    bare.questions.clear();
    bare.sandbox.system.clear();
    bare.sandbox.presets.clear();
    bare.sandbox.enforce = Enforce::Required;
    bare
}

fn over_bare(old: &Config, new: &Config, tool: &Tool, bare: &Tool, changes: &mut WideningSearch) {
    let mut pair = ToolComparison {
        old_config: old,
        new_config: new,
        old: bare,
        new: tool,
        changes,
    };
    compare(&mut pair);
    let asks = RunModes::of_spawn(RunMode::Ask);
    if ToolAction::ALL
        .iter()
        .any(|action| !run::looser(asks.of(*action), tool.run.of(*action)).is_empty())
    {
        pair.add_at("run", format!("runs so: {}", tool.run));
    }
}

fn enabled(pair: &mut ToolComparison<'_>) {
    let (old, new) = (pair.old.enable, pair.new.enable);
    if new.on && !old.on {
        pair.add_at("enable", "is now offered");
    } else if !new.on && !old.on && switches(new.allow_toggle) > switches(old.allow_toggle) {
        let what = format!("can now be switched on so: {}", new.allow_toggle);
        pair.add_at("enable", what);
    }
}

/// What the tool is, and what it is given.
fn what_runs(pair: &mut ToolComparison<'_>) {
    let (old, new) = (pair.old, pair.new);
    if old.source != new.source {
        let what = format!("now comes from {}", quote(&new.source.to_string()));
        pair.add_at("source", what);
    }
    if old.runtime != new.runtime {
        let what = format!("now has the runtime `{}`", new.runtime);
        pair.add_at("runtime", what);
    }
    if old.command != new.command || old.wasm != new.wasm {
        let key = if new.wasm.is_some() {
            "wasm"
        } else {
            "command"
        };
        pair.add_at(key, format!("now runs {}", started(new)));
    }
    if old.default_access != new.default_access {
        pair.add_at("runtime", "is another tool where nothing is declared");
    }
    if old.input != new.input {
        let what = format!("now gets its call so: {}", new.input);
        pair.add_at("input", what);
    }
    if plain(&old.parameters) != plain(&new.parameters) {
        pair.add_at("parameters", "takes other arguments");
    }
    let more = new.actions.iter().any(|action| !old.actions.has(action));
    if more {
        let what = format!("now has the actions {}", new.actions);
        pair.add_at("stateful", what);
    }
    if new.terminal.is_some() && old.terminal.is_none() {
        pair.add_at("terminal", "now runs on a terminal");
    }
}

/// Parameters without what is only said about them.
fn plain(parameters: &IndexMap<String, Parameter>) -> IndexMap<String, Parameter> {
    let entries = parameters.iter();
    let entries = entries.map(|(name, parameter)| (name.clone(), plain_one(parameter)));
    entries.collect()
}

fn plain_one(parameter: &Parameter) -> Parameter {
    let Parameter {
        types,
        values,
        default,
        required,
        summary: _,
        description: _,
        examples: _,
        items,
        properties,
        keywords,
    } = parameter;
    Parameter {
        types: types.clone(),
        values: values.clone(),
        default: default.clone(),
        required: *required,
        items: items.as_deref().map(|items| Box::new(plain_one(items))),
        properties: plain(properties),
        keywords: keywords.clone(),
        ..Parameter::default()
    }
}

/// Questions of the tool: one that nobody speaks of is put to the user.
fn questions(pair: &mut ToolComparison<'_>) {
    let unspoken = QuestionSettings {
        target: QuestionTarget::User,
        answer: None,
        remember: false,
    };
    let (old, new) = (&pair.old.questions, &pair.new.questions);
    let ids: IndexSet<&String> = new.keys().chain(old.keys()).collect();
    for id in ids {
        let before = old.get(id).unwrap_or(&unspoken);
        let after = new.get(id).unwrap_or(&unspoken);
        let QuestionSettings {
            target,
            answer,
            remember,
        } = after;
        let key = format!("questions.{id}");
        let id = quote(id);
        // Also one that was answered with no, and is now put to somebody.
        if *answer != before.answer {
            let what = match answer {
                Some(answer) => format!(
                    "its question {id} is now answered with {}",
                    clean(&answer.to_string())
                ),
                None => format!("its question {id} has no answer of its own any more"),
            };
            pair.add_at(&key, what);
        }
        if *target == QuestionTarget::Assistant && before.target == QuestionTarget::User {
            let what = format!("its question {id} is now answered by the model");
            pair.add_at(&key, what);
        }
        if *remember && !before.remember {
            let what = format!("the answer to its question {id} now holds for the turn");
            pair.add_at(&key, what);
        }
    }
}

fn sandbox(pair: &mut ToolComparison<'_>) {
    let (old, new) = (&pair.old.sandbox, &pair.new.sandbox);
    let Sandbox {
        enforce,
        system,
        presets,
        limits: _,
        sensitive_paths,
        proxy,
        observe,
    } = new;
    if *enforce == Enforce::BestEffort && old.enforce == Enforce::Required {
        pair.add_at(
            "sandbox.enforce",
            "now also runs where its rules can't be enforced",
        );
    }
    for path in system.iter().filter(|path| !gives(&old.system, path)) {
        let mut may = vec!["read"];
        may.extend(path.write.then_some("write"));
        may.extend(path.execute.then_some("execute"));
        let what = format!(
            "may now {} {}, outside the workspace",
            may.join(", "),
            quote(path.path.as_str())
        );
        pair.add(what, Some(&path.origin));
    }
    for preset in presets
        .iter()
        .filter(|preset| !old.presets.contains(preset))
    {
        let what = format!("now has the preset `{preset}`");
        pair.add_at("sandbox.presets", what);
    }
    for pattern in &old.sensitive_paths {
        if !sensitive_paths.contains(pattern) {
            let what = format!("{} is no longer kept from it", quote(pattern));
            pair.add_at("sandbox.sensitive_paths", what);
        }
    }
    if *proxy && !old.proxy {
        pair.add_at("sandbox.proxy", "is now told of a proxy");
    }
    if *observe && !old.observe {
        pair.add_at("sandbox.observe", "is now watched while it runs");
    }
    limits(pair);
}

/// Whether `paths` give all that `wanted` does.
fn gives(paths: &[SystemPath], wanted: &SystemPath) -> bool {
    paths.iter().any(|path| {
        path.path == wanted.path && path.write >= wanted.write && path.execute >= wanted.execute
    })
}

fn limits(pair: &mut ToolComparison<'_>) {
    let old = pair.old.sandbox.limits;
    let SandboxLimits {
        processes,
        memory,
        file_size,
        disk,
        files,
        descriptors,
        output,
        time,
        protocol,
    } = pair.new.sandbox.limits;
    let counts = [
        ("processes", old.processes, processes),
        ("memory", old.memory, memory),
        ("file_size", old.file_size, file_size),
        ("disk", old.disk, disk),
        ("files", old.files, files),
        ("descriptors", old.descriptors, descriptors),
        ("output", old.output, output),
        ("time", old.time.map(in_millis), time.map(in_millis)),
    ];
    for (name, old, new) in counts {
        let key = format!("sandbox.limits.{name}");
        pair.raised(&key, &format!("its limit `{name}`"), old, new);
    }
    protocol_limits(pair, old.protocol, protocol);
    // What is kept running has only the limits that somebody declared.
    if pair.new.actions.is_one_shot() {
        return;
    }
    let declared = [
        (
            "time",
            pair.old.declared_time().map(in_millis),
            pair.new.declared_time().map(in_millis),
        ),
        (
            "output",
            pair.old.declared_output(),
            pair.new.declared_output(),
        ),
    ];
    for (name, old, new) in declared {
        let key = format!("sandbox.limits.{name}");
        let what = format!("its limit `{name}` while it is kept running");
        pair.raised(&key, &what, old, new);
    }
}

/// Those of its protocol. A lower one that is given up raises it too: the default is what holds then.
fn protocol_limits(pair: &mut ToolComparison<'_>, old: ProtocolLimits, new: ProtocolLimits) {
    let ProtocolLimits {
        cancel_grace,
        kill_grace,
        silence,
        response,
        message,
        file,
        http_time,
        program_time,
        frame,
        chunk,
    } = new;
    let millis = |time: Option<Duration>| time.map(in_millis);
    let all = [
        (
            "cancel_grace",
            5_000,
            millis(old.cancel_grace),
            millis(cancel_grace),
        ),
        (
            "kill_grace",
            5_000,
            millis(old.kill_grace),
            millis(kill_grace),
        ),
        ("silence", 60_000, millis(old.silence), millis(silence)),
        ("response", 30_000, millis(old.response), millis(response)),
        ("message", 16 << 20, old.message, message),
        ("file", 10_000_000, old.file, file),
        (
            "http_time",
            30_000,
            millis(old.http_time),
            millis(http_time),
        ),
        (
            "program_time",
            120_000,
            millis(old.program_time),
            millis(program_time),
        ),
        ("frame", 1 << 20, old.frame, frame),
        ("chunk", 4096, old.chunk, chunk),
    ];
    for (name, default, old, new) in all {
        let key = format!("sandbox.limits.{name}");
        let (old, new) = (old.unwrap_or(default), new.unwrap_or(default));
        pair.raised(&key, &format!("its limit `{name}`"), Some(old), Some(new));
    }
}

fn in_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How much of what a tool writes reaches the workspace.
fn layers_less(overlay: Option<OverlayMode>) -> u8 {
    match overlay {
        Some(OverlayMode::Discard) => 0,
        Some(OverlayMode::Ask) => 1,
        Some(OverlayMode::Apply) => 2,
        None => 3,
    }
}

/// How freely a result reaches the model.
fn passes(mode: ResultMode) -> u8 {
    match mode {
        ResultMode::Skip => 0,
        ResultMode::Ask | ResultMode::Edit => 1,
        ResultMode::Unattended => 2,
    }
}

/// How easily a tool that is off is switched on.
fn switches(toggle: AllowToggle) -> u8 {
    match toggle {
        AllowToggle::Never => 0,
        AllowToggle::IfNamed => 1,
        AllowToggle::IfNamedOrGroup => 2,
        AllowToggle::Any => 3,
    }
}
