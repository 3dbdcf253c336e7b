//! Puts a [`Confined`] together, from the outermost to the innermost.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jig_policy::{Capability, Policy};
use jig_proto::ProjectPath;
use jig_sandbox::{
    Network, PrivateContent, PrivateDirectory, PrivateFile, Profile, Program, Rights, RuleSource,
};

use super::cache::{Caches, RunKind};
use super::environment::{self, EnvironmentSources};
use super::guarded_names::GuardedNames;
use super::host_places::KeptPlaces;
use super::program::{self, ProgramSurroundings};
use super::shown_paths::ShownRules;
use super::sweep::SweepWatch;
use super::toolchain::{self, PresetAdditions};
use super::walk::WalkFindings;
use super::workspace_alias;
use super::workspace_rules::WorkspaceAdditions;
use super::{
    CommandedProgram, ConfineError, ConfineSettings, Confined, Discover, FoundPreset, Preset,
    ProgramReach, git, home_links as own_home, host_files, host_places, needed_presets, network,
    system, walk, workspace_rules,
};
use crate::broker::BrokerCore;

pub(super) fn confined(
    inner: &BrokerCore,
    settings: &ConfineSettings,
    command: &CommandedProgram,
    root: &Path,
    reach: ProgramReach,
) -> Result<Confined, ConfineError> {
    let policy = &inner.policy;
    let cannot_look = |source: std::io::Error| ConfineError::Workspace {
        root: root.to_owned(),
        source,
    };
    let given_root = root;
    let root = &host_files::canonical_or(root).map_err(cannot_look)?;
    let home = settings.home.as_deref().and_then(host_files::canonical);
    let private_home = system::private_home(home.as_deref(), root);
    let mut shown = ShownRules::default();
    let mut warnings = Vec::new();
    let executes = |rule: &jig_policy::CompiledFsRule| rule.capabilities().has(Capability::Execute);
    let executable = reach == ProgramReach::Workspace && policy.fs_rules().iter().any(executes);
    let mut private = system::private(&private_home, settings.limits.memory, executable);

    system::show(&mut shown);
    let changeable = changeable(settings, root);
    declared(settings, &changeable, &mut shown, &mut warnings);
    for own in &private {
        // Whatever covers it shows nothing there.
        if shown.rights(&own.path) != Rights::NONE {
            shown.empty(&own.path);
        }
    }

    // A workspace inside of what is shown anyway is shown only as far as the policy goes.
    let is_open =
        reach == ProgramReach::Workspace && !policy.granted(&ProjectPath::root()).is_empty();
    let mut sealed = Vec::new();
    if !is_open && shown.rights(root) != Rights::NONE {
        sealed.push(root.clone());
        shown.empty(root);
        private.push(PrivateDirectory {
            path: root.clone(),
            size: EMPTY_ROOT,
            executable: false,
        });
    }
    let (walked, mut workspace) = match reach {
        ProgramReach::OwnProgramOnly => (WalkFindings::default(), WorkspaceAdditions::default()),
        ProgramReach::Workspace => {
            let walked = walk::walk(policy, root).map_err(|error| cannot_look(error.into()))?;
            let workspace = workspace_rules::show(policy, root, &walked, &mut shown);
            (walked, workspace)
        }
    };

    let variable = |name: &str| inner.env.get(name).map(str::to_owned);
    let search_path = host_files::search_path(&settings.host_path);
    let readable = |path: &Path| {
        let path = ProjectPath::normalize(&path.to_string_lossy());
        path.is_ok_and(|path| policy.can(Capability::Read, &path))
    };
    let start = command.directory.as_deref().and_then(host_files::canonical);
    let start = start.filter(|start| start.starts_with(root));
    let mut around = ProgramSurroundings {
        root,
        given_root,
        home: home.as_deref(),
        private_home: &private_home,
        search_path: &search_path,
        readable: &readable,
        sensitive: policy.sensitive(),
        variable: &variable,
        start: start.as_deref().unwrap_or(root),
        toolchain: command.toolchain.as_deref(),
        online: !policy.ports().is_empty(),
        virtual_environment: None,
    };
    let discover = match reach {
        ProgramReach::Workspace => command.discover,
        ProgramReach::OwnProgramOnly => Discover::Nothing,
    };
    around.virtual_environment = needed_presets::virtual_environment(discover, &around);
    let mut unnamed = needed_presets::presets(discover, &command.program, &around);
    unnamed.retain(|preset| !settings.presets.contains(preset));
    let mut toolchains = settings.presets.iter().chain(&unnamed);
    let mut caches = match toolchains.any(|preset| *preset != Preset::Git) {
        true => {
            let kind = RunKind {
                reach,
                is_tried: command.is_tried || !command.overlays.is_empty(),
                is_executable: executable,
            };
            Caches::of(settings, policy, root, &inner.tool, kind)
        }
        false => None,
    };
    let mut added = PresetAdditions::default();
    for preset in &settings.presets {
        toolchain::show(*preset, &around, caches.as_mut(), &mut shown, &mut added)?;
    }
    let mut found = Vec::new();
    for preset in unnamed {
        // What is not installed was not meant.
        let shows = toolchain::show(preset, &around, caches.as_mut(), &mut shown, &mut added);
        found.extend(shows.map(|shows| FoundPreset { preset, shows }));
    }
    // After the presets: a link in the workspace may lead to what they show, as in a virtual environment.
    let own = program::show(&around, &command.program, &command.literals, &mut shown)?;
    let with_git = settings.presets.contains(&Preset::Git);
    if reach == ProgramReach::Workspace {
        let forbidden = if let Some(linked) = git::linked(root) {
            git::show(&linked, policy, with_git, &mut shown)
        } else if let Some(own) = git::submodule(root) {
            git::show_submodule(&own, policy, with_git, &mut shown)
        } else {
            Vec::new()
        };
        workspace.forbidden.extend(forbidden);
    }
    let mut kept = KeptPlaces::default();
    let places = host_places::guard(settings, policy.sensitive(), root, &mut shown, &mut kept);
    keep_own(inner, settings, home.as_deref(), &mut shown, &mut kept);
    let (mut open, closed): (Vec<&Path>, Vec<&Path>) = system::TEMPORARY
        .map(Path::new)
        .iter()
        .partition(|place| !shown.divides_changes_below(place));
    sealed.extend(closed.iter().map(|place| place.to_path_buf()));
    open.push(&private_home);

    let mut first = added.directories;
    first.extend(own.directories);
    let sources = EnvironmentSources {
        policy,
        variables: &inner.env,
        home: &private_home,
        root,
        search_path: &search_path,
    };
    let mut env =
        environment::environment(&sources, &shown, first, &added.unlisted, added.variables);
    if let Some(place) = closed.first() {
        let temporary = open[0];
        for name in ["TMPDIR", "TMP", "TEMP"] {
            let value = || temporary.into();
            env.entry(name.into()).or_insert_with(value);
        }
        warnings.push(format!(
            "`{}` cannot be written here: a rule on a folder in it allows some changes and not others, and that \
             holds only if what is above it allows none; temporary files go to `{}` (TMPDIR)",
            place.display(),
            temporary.display()
        ));
    }
    let observe = settings.observe || command.observe;
    let network = match reach {
        ProgramReach::Workspace => network::of(policy, observe),
        ProgramReach::OwnProgramOnly => Network::None,
    };
    let mut replaced = Vec::new();
    if matches!(network, Network::Gateway(_)) {
        replaced = network::settings();
        if settings.proxy {
            env.extend(network::proxy_variables());
        }
    }
    let mut files = own.links;
    for file in added.files {
        // A preset may have found the program that is started.
        if !files.iter().any(|other| other.path == file.path) {
            files.push(file);
        }
    }
    files.extend(own_home::links(
        settings,
        home.as_deref(),
        &private_home,
        &changeable,
        &files,
    ));
    let gitconfig = private_home.join(".gitconfig");
    if !files.iter().any(|file| file.path == gitconfig) {
        files.push(PrivateFile {
            path: gitconfig,
            content: PrivateContent::Text(git::configuration(home.as_deref()).into_bytes()),
        });
    }
    warnings.extend(added.warnings);
    warnings.extend(own.warnings);
    warnings.extend(workspace.warnings);
    warnings.extend(history(policy, root, &walked));

    if reach == ProgramReach::Workspace {
        files.extend(workspace_alias::show(settings, root, &private, &mut shown));
    }

    let has_own_root = private.iter().any(|directory| directory.path == *root);
    // In a directory of its own, such as `/tmp`, a program could write between what it was given, and lose that.
    let is_in_private = private.iter().any(|of| root.starts_with(&of.path));
    if !is_open && !has_own_root && is_in_private && shown.reaches_into(root) {
        sealed.push(root.clone());
        private.push(PrivateDirectory {
            path: root.clone(),
            size: EMPTY_ROOT,
            executable: false,
        });
    }
    let cwd = match has_own_root || shown.reaches_into(root) {
        true => root.clone(),
        false => private_home.clone(),
    };
    let mut overlays = match reach {
        ProgramReach::Workspace => command.overlays.clone(),
        ProgramReach::OwnProgramOnly => Vec::new(),
    };
    let mut slot = None;
    if let Some(caches) = caches {
        overlays.extend(caches.overlays);
        slot = Some(caches.slot);
    }
    let mut guarded = GuardedNames::default();
    // Files in a layer are judged when the layer is applied.
    let is_layered =
        |path: &Path| command.is_tried || overlays.iter().any(|layer| layer.path == path);
    guarded.forbid(root, &kept.forbidden);
    if let Some(places) = &places {
        let writable = places.writable.iter().filter(|place| !is_layered(place));
        guarded.add(&places.policy, Path::new("/"), writable);
    }
    if reach == ProgramReach::Workspace && !is_layered(root) {
        guarded.forbid(root, &workspace.forbidden);
        guarded.add(policy, root, [root]);
    }
    let private_paths = private.iter().map(|own| &own.path);
    let layered_paths = overlays.iter().map(|layer| &layer.path);
    let guarded_names = guarded.entries(private_paths.chain(layered_paths));
    let mut watches = Vec::new();
    if let Some(places) = places {
        let forbidden = std::mem::take(&mut kept.forbidden);
        let top = Path::new("/");
        let watch = SweepWatch::begin(settings, &places.policy, top, forbidden, &places.walked)?;
        watches.extend(watch);
    }
    if reach == ProgramReach::Workspace {
        workspace.forbidden.append(&mut kept.forbidden);
        let forbidden = workspace.forbidden;
        watches.extend(SweepWatch::begin(
            settings, policy, root, forbidden, &walked,
        )?);
    }
    workspace.pins.extend(kept.pins);
    let program = OsString::from(own.program);
    let shown_program = program.to_string_lossy().into_owned();
    Ok(Confined {
        profile: Arc::new(Profile {
            paths: shown.into_rules(),
            private,
            files,
            sealed,
            pins: workspace.pins,
            network,
            replaced,
            overlays,
            guarded_names,
            enforce: settings.enforce,
            layers: settings.layers,
            ..Profile::closed()
        }),
        env,
        program: Program::parse(program).map_err(|_| ConfineError::ProgramNotFound {
            program: shown_program,
            looked: Vec::new(),
        })?,
        cwd,
        home: private_home,
        interpreters: own.interpreters,
        found,
        warnings,
        limits: settings.limits,
        launch: settings.launch.clone(),
        observe,
        _slot: slot,
        watches,
    })
}

/// The folders in which programs may leave links, canonical: those of the settings, and the workspace.
fn changeable(settings: &ConfineSettings, root: &Path) -> Vec<PathBuf> {
    let others = settings.changeable.iter();
    let others = others.filter_map(|place| host_files::canonical(place));
    others.chain([root.to_owned()]).collect()
}

/// Shows what a person declared outside the workspace, and what jig gives to the program.
fn declared(
    settings: &ConfineSettings,
    changeable: &[PathBuf],
    shown: &mut ShownRules,
    warnings: &mut Vec<String>,
) {
    for access in settings.system.iter().chain(&settings.provided) {
        let path = match host_files::canonical_beyond(&access.path, changeable) {
            Ok(Some(path)) => path,
            Ok(None) => {
                warnings.push(format!(
                    "`{}` of `sandbox.system` does not exist",
                    access.path.display()
                ));
                continue;
            }
            Err(planted) => {
                warnings.push(format!(
                    "`{}` of `sandbox.system` is not shown: `{}` is a link in a folder that a tool may change; if \
                     `{}` is meant, list that instead",
                    access.path.display(),
                    planted.link.display(),
                    planted.to.display()
                ));
                continue;
            }
        };
        let mut rights = Rights::READ;
        if access.write {
            rights = rights.with(Rights::WRITE);
        }
        if access.execute {
            rights = rights.with(Rights::EXECUTE);
        }
        let rights = rights.with(shown.rights(&path));
        shown.add(path, rights, RuleSource::Declared);
    }
}

/// Keeps jig's own files from tools that were given what these lie in: no tool widens itself.
fn keep_own(
    inner: &BrokerCore,
    settings: &ConfineSettings,
    home: Option<&Path>,
    shown: &mut ShownRules,
    kept: &mut KeptPlaces,
) {
    if let Some(state) = &settings.state {
        make_state(state, shown);
    }
    for own in settings.state.iter().chain(&inner.process.hidden) {
        host_places::keep_own(own, Rights::NONE, shown, kept);
    }
    // What is in the state is the user's business; the configuration may be read with what it lies in.
    let usual = home.map(|home| home.join(".config/jig"));
    for config in settings.config.iter().chain(&usual) {
        host_places::keep_own(config, Rights::READ, shown, kept);
    }
}

/// Makes the directory of jig's state if it is missing and the program is given what it will lie in. Otherwise the call's
/// journal would make it when the rules stand, or the program itself could.
fn make_state(state: &Path, shown: &ShownRules) {
    if host_files::exists_itself(state) {
        return;
    }
    let mut above = state.ancestors().skip(1);
    let above = above.find_map(|above| Some((above, host_files::canonical(above)?)));
    let is_given = above.is_some_and(|(above, real)| {
        let rest = state.strip_prefix(above).unwrap_or(state);
        shown.rights(&real.join(rest)).has_any(Rights::ALL)
    });
    if is_given {
        // If jig cannot make it, the journal cannot be written either, and the call does not start.
        let _ = jig_files::make_private_directories(state);
    }
}

/// What a hidden file may still be read from: the history that git keeps.
fn history(policy: &Policy, root: &Path, walked: &WalkFindings) -> Option<String> {
    let git = ProjectPath::normalize(".git").ok()?;
    if !policy.granted(&git).has(Capability::Read) || walked.sensitive.is_empty() {
        return None;
    }
    let index = host_files::head(&root.join(".git/index"), LONGEST_INDEX)?;
    // What is only kept from changes is on this list, too.
    let is_hidden = |path: &&PathBuf| {
        let asked = walk::asked(path);
        asked.is_none_or(|path| !policy.granted(&path).has(Capability::Read))
    };
    let tracked = walked.sensitive.iter().filter(is_hidden).find(|path| {
        let is_git = path.starts_with(".git");
        let mut entry = path.as_os_str().as_encoded_bytes().to_vec();
        entry.push(0);
        !is_git && memchr::memmem::find(&index, &entry).is_some()
    })?;
    Some(format!(
        "`{}` is hidden from the tool, but git has it under version control, and `.git` can be read: \
         add a rule on `.git` alone, or take the file out of the history",
        tracked.display()
    ))
}

/// A directory in which nothing is to be written, but in which a program may stand.
const EMPTY_ROOT: u64 = 1 << 20;

/// Enough for the index of a large project.
const LONGEST_INDEX: usize = 64 << 20;
