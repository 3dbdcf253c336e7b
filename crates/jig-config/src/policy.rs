//! Compiling the rules of a tool, and showing what is wrong with one at its place.

use std::io;
use std::sync::Arc;

use camino::Utf8Path;
use jig_policy::{
    CommandRuleError, DefaultAccess, EnvNameError, FileCapabilities, Guards, Lookup, LookupEntry,
    NetRuleError, Planter, Planters, Policy, ProgramNameError, ProtectionLevel, ResolveError,
    ResolveReason, RuleError, RuleErrorKind, RuleErrors, RuleKind, Sensitive, Workspace,
};
use jig_proto::{Hint, ProjectPath, hint};
use url::Url;

use crate::loading::files;
use crate::loading::sources::Sources;
use crate::model::{Config, Preset, Tool};
use crate::problem::{ConfigErrors, Problem};
use crate::quoting::{clean, quote};
use crate::value::ConfigNode;
use crate::{ConfigFile, ToolName};

/// What a guard on configuration says that it guards.
pub const LOADED: &str = "configuration that jig loads";

impl Config {
    /// The policy of a tool in `workspace`, or its rules that can't be compiled, each at its place.
    ///
    /// [`load`](crate::load()) has already compiled every rule once; this fails only when the
    /// workspace has changed since, or is another one.
    pub fn policy<L: Lookup>(
        &self,
        tool: &Tool,
        workspace: &Workspace<L>,
    ) -> Result<Policy, ConfigErrors> {
        let guards = self.guards(tool, workspace.root());
        let compiled = Policy::compile(&tool.access, tool.default_access, &guards, workspace);
        compiled.map_err(|errors| tool.rule_errors(&errors))
    }

    /// The same for a call: what the tool may not change is looked for when a decision first needs it.
    pub fn policy_of_call<L>(
        self: &Arc<Self>,
        tool: &Tool,
        workspace: &Workspace<L>,
    ) -> Result<Policy, ConfigErrors>
    where
        L: Lookup + Clone + Send + 'static,
    {
        let root = workspace.root().to_owned();
        let state = self.state_inside(&root);
        let sensitive = tool.sensitive(&state);
        let (config, of) = (Arc::clone(self), Guarded::of(tool));
        let guards = move || config.protection(&of, &root, &state);
        let (access, default) = (&tool.access, tool.default_access);
        let compiled = Policy::compile_lazily(access, default, sensitive, guards, workspace);
        compiled.map_err(|errors| tool.rule_errors(&errors))
    }

    /// What stands above the rules of a tool in the workspace at `root`: the sensitive paths with
    /// the tool's own, every file of configuration, the programs of the other tools and of servers, and, unless
    /// the tool has the preset `git`, what makes git run programs.
    pub fn guards(&self, tool: &Tool, root: &Utf8Path) -> Guards {
        let state = self.state_inside(root);
        let mut guards = self.protection(&Guarded::of(tool), root, &state);
        guards.sensitive = tool.sensitive(&state);
        guards
    }

    /// The [`guards`](Self::guards) without the sensitive paths.
    fn protection(&self, tool: &Guarded, root: &Utf8Path, state: &[String]) -> Guards {
        let mut guards = Guards::of_workspace();
        if tool.configures_git {
            guards = guards.without_git();
        }
        let folders = self.folders.iter();
        let folders = folders.map(|folder| (&folder.path, &folder.inside));
        // What lies in a guarded folder needs no guard of its own, if its real place lies there, too: a link in the
        // folder may lead to a file elsewhere in the workspace.
        let is_covered = |file: &ConfigFile| {
            self.folders.iter().any(|folder| {
                let really = match (&file.inside, &folder.inside) {
                    (None, _) => true,
                    (Some(file), Some(folder)) => {
                        Utf8Path::new(file.as_str()).starts_with(folder.as_str())
                    }
                    (Some(_), None) => false,
                };
                really && file.path.starts_with(&folder.path)
            })
        };
        let files = self.files.iter().filter(|file| !is_covered(file));
        let files = files.map(|file| (&file.path, &file.inside));
        for (path, inside) in folders.chain(files) {
            let named = path.strip_prefix(root).ok().map(Utf8Path::as_str);
            let real = inside.as_ref().map(ProjectPath::as_str);
            let real = real.filter(|real| Some(*real) != named);
            for path in named.into_iter().chain(real) {
                guards.protect(path, ProtectionLevel::Never, LOADED);
            }
        }
        for path in self
            .own_folders
            .iter()
            .flat_map(|own| places_inside(own, root))
        {
            guards.protect(&path, ProtectionLevel::Never, LOADED);
        }
        for path in state {
            // A name that is no pattern is protected against changes at least.
            guards.protect(path, ProtectionLevel::Never, "the state of jig");
        }
        let mut planters = vec![self.planting_command()];
        for other in self.confined() {
            let code = other.code(root);
            if other.name == tool.name && other.server == tool.server {
                guards.own = code;
                continue;
            }
            let name = other.in_words();
            let what = format!("the program of {name}");
            for path in &code {
                guards.protect(path.as_str(), ProtectionLevel::Named, &what);
            }
            planters.push(Planter {
                name,
                rules: other.access.fs.clone(),
                default: other.default_access.fs,
                sensitive: other.sandbox.sensitive_paths.clone(),
                configures_git: other.sandbox.presets.contains(&Preset::Git),
                own: code,
            });
        }
        // What waits for a person must be what they were shown when they accept it.
        let held_back = self.held_back.iter();
        let held_back = held_back.flat_map(|held_back| held_back.config.confined());
        for other in
            held_back.filter(|other| other.name != tool.name || other.server != tool.server)
        {
            let what = format!("the program of {}", other.in_words());
            for path in other.code(root) {
                guards.protect(path.as_str(), ProtectionLevel::Named, &what);
            }
        }
        planters.retain(Planter::writes);
        guards.planters = Planters::These(planters);
        guards
    }

    /// Who may leave links in any workspace: a command of `jig run`, which every person may start.
    fn planting_command(&self) -> Planter {
        Planter {
            name: "a command of `jig run`".to_owned(),
            rules: self.shared_rules.clone(),
            default: DefaultAccess::STDIO.fs,
            sensitive: Vec::new(),
            configures_git: false,
            own: Vec::new(),
        }
    }

    /// Where the state of jig lies in the workspace at `root`: by its name, and where that really leads.
    pub fn state_inside(&self, root: &Utf8Path) -> Vec<String> {
        let Some(state) = &self.state else {
            return Vec::new();
        };
        places_inside(state, root)
    }
}

/// Where a path lies in the workspace at `root`: by its name, and where that really leads. Nothing if it does not lie
/// there.
fn places_inside(path: &Utf8Path, root: &Utf8Path) -> Vec<String> {
    let (real, real_root) = (files::real_path(path), files::real_path(root));
    let by_name = path.strip_prefix(root).ok();
    let really = real.as_deref().and_then(|real| {
        let by_name = real.strip_prefix(root).ok();
        by_name.or_else(|| real.strip_prefix(real_root.as_deref()?).ok())
    });
    let mut inside: Vec<String> = by_name
        .into_iter()
        .chain(really)
        .map(|path| path.to_string())
        .filter(|path| !path.is_empty())
        .collect();
    inside.dedup();
    inside
}

/// The tool that guards are for: what they have to know of it.
struct Guarded {
    name: ToolName,
    server: Option<String>,
    configures_git: bool,
}

impl Guarded {
    fn of(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            server: tool.server.clone(),
            configures_git: tool.sandbox.presets.contains(&Preset::Git),
        }
    }
}

impl Tool {
    /// The paths that only a rule which names them covers: those of every tool with the tool's own, and the
    /// state of jig, [wherever it lies](Config::state_inside) in the workspace.
    pub fn sensitive(&self, state: &[String]) -> Sensitive {
        let mut sensitive = Sensitive::default();
        for pattern in &self.sandbox.sensitive_paths {
            // Patterns were checked when they were loaded.
            let _ = sensitive.add(pattern);
        }
        for path in state {
            let _ = sensitive.add(&format!("/{path}"));
        }
        sensitive
    }

    /// The tool, or the program of a server, in words.
    pub(crate) fn in_words(&self) -> String {
        let kind = if self.is_server() { "server" } else { "tool" };
        format!("the {kind} `{}`", self.name)
    }

    /// The rules of this tool that can't be compiled, each at its place.
    pub fn rule_errors(&self, errors: &RuleErrors) -> ConfigErrors {
        let problems = errors.0.iter().map(|error| self.rule_error(error));
        ConfigErrors::of(problems.collect())
    }

    /// What is wrong with a rule of this tool, at the place where it was written.
    pub fn rule_error(&self, error: &RuleError) -> Problem {
        let places = match error.resource {
            RuleKind::Fs => &self.places.fs,
            RuleKind::Net => &self.places.net,
            RuleKind::Env => &self.places.env,
            RuleKind::Commands => &self.places.commands,
        };
        let (message, help) = explain(&error.kind);
        let problem = Problem::error(message, help);
        match places.get(error.index) {
            Some(place) => problem
                .at(place.part(blamed_key(&error.kind)), "")
                .key(place.key.clone()),
            None => problem.key(format!("{}.access.{}", self.table(), error.resource.name())),
        }
    }

    /// What of the workspace at `root` the tool's command [runs](jig_programs::workspace_code()), and its component.
    fn code(&self, root: &Utf8Path) -> Vec<ProjectPath> {
        // The commands that jig itself declares run nothing of the workspace.
        let written = self.values.get("command");
        let command = self.command.as_ref();
        let command = command.filter(|_| !written.is_some_and(ConfigNode::is_built_in));
        let mut code = command.map_or_else(Vec::new, |command| command.workspace_code(root));
        code.extend(self.wasm.iter().filter_map(|component| {
            let path = component.strip_prefix(root).unwrap_or(component);
            ProjectPath::normalize(path.as_str()).ok()
        }));
        code
    }
}

/// Compiles the declared rules of all tools: on the disk, or, where the workspace can't be looked
/// at, by their text alone.
///
/// What only the tree says against a rule is no mistake of the configuration: a tool may have left the link there.
/// Then the calls of that tool fail, and [`lint_links`] tells.
pub(crate) fn check_rules(sources: &Sources, config: &Config, errors: &mut Vec<Problem>) {
    let mut declaring = config
        .confined()
        .filter(|tool| tool.declares_rules())
        .peekable();
    if declaring.peek().is_none() {
        return;
    }
    let disk = Workspace::on_disk(sources.workspace.clone());
    let text = Workspace::new(sources.workspace.clone(), EmptyTree);
    for tool in declaring {
        errors.extend(rules_on_the_home(tool));
        errors.extend(rules_with_patterns(tool));
        errors.extend(rules_on_numbers(tool));
        let compiled = match &disk {
            Ok(disk) => {
                Policy::compile(&tool.access, tool.default_access, &Guards::default(), disk)
            }
            Err(_) => Policy::compile(&tool.access, tool.default_access, &Guards::default(), &text),
        };
        if let Err(rules) = compiled {
            let rules = rules.0.iter().filter(|error| !error.kind.is_of_the_tree());
            errors.extend(rules.map(|error| tool.rule_error(error)));
        }
    }
}

/// Says which rules of a tool do not reach where the links on their paths lead, and which none can be compiled with.
pub(crate) fn lint_links(
    sources: &Sources,
    config: &Config,
    tool: &Tool,
    problems: &mut Vec<Problem>,
) {
    let Ok(disk) = Workspace::on_disk(sources.workspace.clone()) else {
        return;
    };
    let guards = config.guards(tool, &sources.workspace);
    let policy = match Policy::compile(&tool.access, tool.default_access, &guards, &disk) {
        Ok(policy) => policy,
        Err(rules) => {
            let rules = rules.0.iter().filter(|error| error.kind.is_of_the_tree());
            problems.extend(rules.map(|error| tool.rule_error(error)));
            return;
        }
    };
    for (rule, place) in policy.fs_rules().iter().zip(&tool.places.fs) {
        let Some(link) = rule.unfollowed() else {
            continue;
        };
        let message = format!(
            "the rule on {} does not give {} where its path leads: {link}",
            quote(rule.written()),
            link.capabilities
        );
        let help = hint!(
            "if that place is meant, name it in the rule: `path = \"{}\"`",
            clean(&link.real.to_string())
        );
        let problem = Problem::warning(message, help);
        problems.push(problem.at(&place.origin, "").key(place.key.clone()));
    }
}

/// Whether a path is written as one of the user's home.
pub(crate) fn is_of_home(path: &str) -> bool {
    path == "~" || path.starts_with("~/")
}

/// The rules of a tool on files of the home. They would be rules on a folder of the workspace with the name `~`,
/// which nobody means who writes that, and nobody sees who reads it.
fn rules_on_the_home(tool: &Tool) -> impl Iterator<Item = Problem> {
    let rules = tool.access.fs.iter().zip(&tool.places.fs);
    let rules = rules.filter(|(rule, _)| is_of_home(&rule.path));
    rules.map(|(rule, place)| {
        let path = clean(&rule.path);
        let changes = !(rule.capabilities & FileCapabilities::WRITE).is_empty();
        let needed = match (path.as_str(), changes) {
            ("~" | "~/", _) => {
                "something there, add that to it, such as `sandbox.system = [\"~/notes\"]`"
                    .to_owned()
            }
            (_, true) => {
                let entry = format!("{{ path = \"{path}\", write = true }}");
                format!("the path, add `sandbox.system = [{entry}]` to it")
            }
            (_, false) => format!("the path, add `sandbox.system = [\"{path}\"]` to it"),
        };
        let message = format!(
            "the path {} is in your home, and rules on files stay inside the workspace",
            quote(&rule.path)
        );
        let help = hint!(
            "remove the rule; if the tool needs {needed}; a folder of the workspace with the name `~` is written \
             `./{path}`"
        );
        let problem = Problem::error(message, help);
        problem.at(&place.origin, "").key(place.key.clone())
    })
}

/// The rules of a tool on files that hold a `*`. They would be rules on a file of that very name: what was meant to be
/// denied would not be.
fn rules_with_patterns(tool: &Tool) -> impl Iterator<Item = Problem> {
    let rules = tool.access.fs.iter().zip(&tool.places.fs);
    let rules = rules.filter(|(rule, _)| rule.path.contains('*') && !rule.path.starts_with("./"));
    rules.map(|(rule, place)| {
        let fixed = rule.path.split('/').take_while(|part| !part.contains('*'));
        let folder = match fixed.collect::<Vec<_>>().join("/") {
            folder if folder.is_empty() => ".".to_owned(),
            folder => folder,
        };
        let message = format!(
            "the path {} holds `*`, and the paths of rules are no patterns",
            quote(&rule.path)
        );
        let help = hint!(
            "a rule holds for all that is below its path: write `path = \"{}\"`; names that are to be kept from a \
             tool wherever they lie are listed in `sandbox.sensitive_paths`, which knows patterns; a file whose name \
             holds `*` is written `./{}`",
            clean(&folder),
            clean(&rule.path)
        );
        let problem = Problem::error(message, help);
        problem.at(&place.origin, "").key(place.key.clone())
    })
}

/// The rules of a tool on hosts that are numbers. As a host, `8080` is the address 0.0.31.144.
fn rules_on_numbers(tool: &Tool) -> impl Iterator<Item = Problem> {
    let rules = tool.access.net.iter().zip(&tool.places.net);
    rules.filter_map(|(rule, place)| {
        let host = rule.host.as_str();
        let Ok(url::Host::Ipv4(address)) = url::Host::parse(host) else {
            return None;
        };
        if host == address.to_string() {
            return None;
        }
        let (message, help) = match host.parse::<u16>() {
            Ok(port) => (
                format!("{} is a port, not a host", quote(host)),
                hint!("write both: `host = \"localhost\", port = {port}`"),
            ),
            Err(_) => (
                format!(
                    "{} is no name of a host, but the address {address} in another form",
                    quote(host)
                ),
                hint!("write `host = \"{address}\"`, or the name that is meant"),
            ),
        };
        let problem = Problem::error(message, help);
        Some(problem.at(&place.origin, "").key(place.key.clone()))
    })
}

impl Tool {
    pub(crate) fn declares_rules(&self) -> bool {
        let access = &self.access;
        !access.fs.is_empty()
            || !access.net.is_empty()
            || !access.env.is_empty()
            || access.commands.is_some()
    }
}

/// A tree in which nothing exists: paths are judged by their text.
pub(crate) struct EmptyTree;

impl Lookup for EmptyTree {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}

/// The key of a rule whose value is wrong; empty where it is what tells the rule apart.
fn blamed_key(kind: &RuleErrorKind) -> &'static str {
    match kind {
        RuleErrorKind::Net(NetRuleError::Scheme(_) | NetRuleError::NoDefaultPort(_)) => "scheme",
        RuleErrorKind::Net(NetRuleError::PathPrefix(_)) => "path_prefix",
        RuleErrorKind::Net(NetRuleError::PortZero) => "port",
        RuleErrorKind::Net(
            NetRuleError::NoMethods | NetRuleError::Method(_) | NetRuleError::MethodsOfScheme(_),
        ) => "methods",
        RuleErrorKind::Command(CommandRuleError::RestInside(_)) => "args",
        RuleErrorKind::Command(CommandRuleError::EnvPattern(_) | CommandRuleError::Env(_)) => {
            "envs"
        }
        _ => "",
    }
}

/// The reason, and what to do about it.
fn explain(kind: &RuleErrorKind) -> (String, Hint) {
    match kind {
        RuleErrorKind::Path(error) => explain_path(error),
        RuleErrorKind::Net(error) => explain_net(error),
        RuleErrorKind::Env(error) => explain_env(error),
        RuleErrorKind::Command(error) => explain_command(error),
        other => (other.to_string(), hint!("correct the rule, or remove it")),
    }
}

fn explain_path(error: &ResolveError) -> (String, Hint) {
    let path = quote(&error.path);
    match &error.reason {
        ResolveReason::Outside => (
            format!("the path {path} is outside the workspace, and rules on files stay inside"),
            hint!(
                "remove the rule; if the tool needs the path, add `sandbox.system = [\"{}\"]` to it",
                clean(&error.path)
            ),
        ),
        ResolveReason::DotDot => (
            format!("the path {path} leaves the workspace by `..`, and rules on files stay inside"),
            hint!(
                "write a path inside the workspace; if the tool needs one outside, list it, absolute, in \
                 `sandbox.system`"
            ),
        ),
        ResolveReason::LinkLeaves => (
            format!("the path {path} leads out of the workspace through a symbolic link"),
            hint!(
                "replace the link by a directory, or remove the rule and list the link's target in `sandbox.system`"
            ),
        ),
        ResolveReason::Dangling => (
            format!("the path {path} goes through a symbolic link that points to nothing"),
            hint!("create what the link points to, or remove the link"),
        ),
        ResolveReason::Loop => (
            format!("the path {path} goes through symbolic links that form a loop"),
            hint!("remove one of the links"),
        ),
        reason => (
            format!("{path} is no path of the workspace: {reason}"),
            hint!("write a path relative to the workspace; the workspace itself is `.`"),
        ),
    }
}

fn explain_net(error: &NetRuleError) -> (String, Hint) {
    match error {
        NetRuleError::Host(host) => {
            let help = parts_of_url(host).unwrap_or_else(|| {
                hint!("write a host name or an address, such as `api.example.com`")
            });
            (format!("{} is not a host", quote(host)), help)
        }
        NetRuleError::Wildcard(host) => (
            format!("{} holds `*` where no host has one", quote(host)),
            hint!(
                "write `*.example.com` for all names below one, `*` for all public hosts, or a whole name"
            ),
        ),
        NetRuleError::NoMethods => (
            "`methods` is empty, so that the rule is about no request".to_owned(),
            hint!(
                "name the methods, such as `methods = [\"GET\", \"HEAD\"]`, or remove `methods` for all of them"
            ),
        ),
        NetRuleError::Method(method) => (
            format!("{} is not a method that a request can have", quote(method)),
            hint!("write one word for each method, such as `methods = [\"GET\", \"HEAD\"]`"),
        ),
        NetRuleError::MethodsOfScheme(scheme) => (
            format!("{} has no methods", quote(scheme)),
            hint!("remove `methods`, or write `scheme = \"https\"`"),
        ),
        NetRuleError::NoDefaultPort(scheme) => (
            format!("the scheme {} has no port of its own", quote(scheme)),
            hint!("add `port` to the rule"),
        ),
        NetRuleError::Scheme(scheme) => (
            format!("{} is not the scheme of a URL", quote(scheme)),
            hint!("write the part before `://` alone, such as `https`"),
        ),
        NetRuleError::PathPrefix(prefix) => (
            format!(
                "`path_prefix` is {}, and must be a plain path that begins with `/`",
                quote(prefix)
            ),
            hint!(
                "write the beginning of the URL's path without query and `..`, such as `/v1/users`"
            ),
        ),
        error => (error.to_string(), hint!("write a host name or an address")),
    }
}

/// A URL, or a host with a port, as the keys of a rule.
fn parts_of_url(text: &str) -> Option<Hint> {
    let url = match text.contains("://") {
        true => Url::parse(text).ok()?,
        false => Url::parse(&format!("none://{text}")).ok()?,
    };
    let mut keys = vec![format!(
        "host = \"{}\"",
        url.host_str().filter(|host| !host.is_empty())?
    )];
    if url.scheme() != "none" {
        keys.push(format!("scheme = \"{}\"", url.scheme()));
    }
    if let Some(port) = url.port() {
        keys.push(format!("port = {port}"));
    }
    if !matches!(url.path(), "" | "/") {
        keys.push(format!("path_prefix = \"{}\"", url.path()));
    }
    let keys = keys.join(", ");
    Some(hint!("write its parts as keys: `{}`", clean(&keys)))
}

fn explain_env(error: &EnvNameError) -> (String, Hint) {
    (
        error.to_string(),
        hint!("write the exact name, or a prefix that ends in one `*`, such as `AWS_*`"),
    )
}

fn explain_command(error: &CommandRuleError) -> (String, Hint) {
    match error {
        CommandRuleError::RestInside(_) => (
            "`**` stands for any rest, so it can only be the last argument of a list".to_owned(),
            hint!("move `**` to the end of the list, or leave it out"),
        ),
        CommandRuleError::Program(ProgramNameError::Path(error)) => {
            let (message, _) = explain_path(error);
            (
                message,
                hint!("name a program on the search path, or a file of the workspace"),
            )
        }
        CommandRuleError::Program(error) => (
            error.to_string(),
            hint!("write the name of a program, such as `cargo`, and its arguments in `args`"),
        ),
        error => (
            error.to_string(),
            hint!("list every variable by its exact name"),
        ),
    }
}
