//! `sandbox.system`: paths that no tool is given, and those that give away more than they seem to.

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{DiskLookup, Sensitive, Workspace};
use jig_proto::{ProjectPath, hint};

use crate::loading::files;
use crate::loading::sources::Sources;
use crate::model::{Config, SystemPath, Tool};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::quote;
use crate::show::basic_string;

impl Config {
    /// The places outside the workspace that some tool or server may change: `sandbox.system` with `write`.
    pub fn changeable_places(
        &self,
        home: Option<&Utf8Path>,
    ) -> impl Iterator<Item = Utf8PathBuf> + use<'_> {
        let home = home.map(Utf8Path::to_owned);
        let paths = self.confined().flat_map(|tool| &tool.sandbox.system);
        let paths = paths.filter(|path| path.write);
        paths.filter_map(move |path| path.expanded(home.as_deref()))
    }
}

/// Refuses the paths that no tool is given.
pub(crate) fn check(sources: &Sources, config: &Config, errors: &mut Vec<Problem>) {
    let workspace = NamedPath::of(sources.workspace.clone());
    let places = config.changeable_places(sources.home.as_deref());
    let places = places.chain([sources.workspace.clone()]);
    let places: Vec<Utf8PathBuf> = places
        .filter_map(|place| files::real_path(&place))
        .collect();
    for mut declared in all(sources, config) {
        // A link that a tool may have left is not followed when programs start, and says nothing here.
        if declared.named.has_link_in(&places) {
            declared.named.real = declared.named.written.clone();
        }
        let problem = declared
            .whole_machine()
            .or_else(|| declared.processes())
            .or_else(|| declared.in_workspace(&workspace));
        errors.extend(problem);
    }
}

/// Says what a path gives away, where that is more than toolchains and caches.
pub(crate) fn lint(sources: &Sources, config: &Config, warnings: &mut Vec<Problem>) {
    let home = sources.home.clone().map(NamedPath::of);
    let sensitive = Sensitive::default();
    for declared in all(sources, config) {
        let problem = declared
            .sensitive(&sensitive)
            .or_else(|| declared.home(home.as_ref()))
            .or_else(|| declared.secrets(home.as_ref(), &sensitive))
            .or_else(|| declared.programs(home.as_ref()));
        warnings.extend(problem);
    }
}

/// Every declared path once, also one that all tools have from `'*'`.
fn all<'a>(sources: &Sources, config: &'a Config) -> Vec<DeclaredSystemPath<'a>> {
    let mut seen: Vec<&Origin> = Vec::new();
    let mut all = Vec::new();
    for tool in config.confined() {
        for (index, path) in tool.sandbox.system.iter().enumerate() {
            let Some(expanded) = path.expanded(sources.home.as_deref()) else {
                continue;
            };
            if !seen.contains(&&path.origin) {
                seen.push(&path.origin);
                all.push(DeclaredSystemPath {
                    tool,
                    index,
                    path,
                    named: NamedPath::of(expanded),
                });
            }
        }
    }
    all
}

/// A path by its text and by what the kernel calls it.
struct NamedPath {
    written: Utf8PathBuf,
    real: Utf8PathBuf,
}

impl NamedPath {
    fn of(path: Utf8PathBuf) -> Self {
        let written: Utf8PathBuf = path.components().collect();
        let real = files::real_path(&written).unwrap_or_else(|| written.clone());
        Self { written, real }
    }

    /// Whether a link on the way lies in one of these canonical folders.
    fn has_link_in(&self, places: &[Utf8PathBuf]) -> bool {
        let machine = Workspace::new("/", DiskLookup::new("/"));
        let (_, links) = machine.resolve_by_links(self.written.as_str());
        links.iter().any(|link| {
            let link = link.under(Utf8Path::new("/"));
            let folder = link.parent();
            folder.is_some_and(|folder| places.iter().any(|place| folder.starts_with(place)))
        })
    }

    /// Whether it is `place`, or inside it, by either name.
    fn is_within(&self, place: &Utf8Path) -> bool {
        self.written.starts_with(place) || self.real.starts_with(place)
    }

    /// Whether `place` is it, or inside it, by either name.
    fn holds(&self, place: &Utf8Path) -> bool {
        place.starts_with(&self.written) || place.starts_with(&self.real)
    }
}

struct DeclaredSystemPath<'a> {
    tool: &'a Tool,
    index: usize,
    path: &'a SystemPath,
    named: NamedPath,
}

impl DeclaredSystemPath<'_> {
    fn whole_machine(&self) -> Option<Problem> {
        let root = Utf8Path::new("/");
        (self.named.written == root || self.named.real == root).then(|| {
            self.at(Problem::error(
                format!(
                    "{} is the whole machine, and a tool sees only what is named",
                    self.quoted()
                ),
                hint!("list the directories that the tool needs, such as `\"/opt/toolchain\"`"),
            ))
        })
    }

    /// A process that can be seen can be looked into, and its root directory is the host's.
    fn processes(&self) -> Option<Problem> {
        self.named.is_within(Utf8Path::new("/proc")).then(|| {
            self.at(Problem::error(
                format!(
                    "{} shows the processes of the host, through which a tool leaves its sandbox",
                    self.quoted()
                ),
                hint!("remove it: a tool has a `/proc` of its own, with its own processes"),
            ))
        })
    }

    fn in_workspace(&self, workspace: &NamedPath) -> Option<Problem> {
        let inside = |path: &Utf8Path, root: &Utf8Path| {
            let rest = path.strip_prefix(root).ok()?.as_str();
            Some(if rest.is_empty() { "." } else { rest }.to_owned())
        };
        let relative = inside(&self.named.written, &workspace.written)
            .or_else(|| inside(&self.named.real, &workspace.real))?;
        let mut grants = vec!["read = true"];
        grants.extend(self.path.write.then_some("write = true"));
        grants.extend(self.path.execute.then_some("execute = true"));
        Some(self.at(Problem::error(
            format!(
                "{} lies inside the workspace, where the rules of `access.fs` decide",
                self.quoted()
            ),
            hint!(
                "remove it, and write a rule instead: `access.fs = [{{ path = {}, {} }}]`",
                basic_string(&relative),
                grants.join(", ")
            ),
        )))
    }

    fn sensitive(&self, list: &Sensitive) -> Option<Problem> {
        let find = |path: &Utf8Path| {
            let relative = path.as_str().trim_start_matches('/');
            let path = ProjectPath::normalize(relative).ok()?;
            list.find(&path).map(|found| found.pattern.to_owned())
        };
        let pattern = find(&self.named.written).or_else(|| find(&self.named.real))?;
        Some(self.opens(&format!(
            "which is on the list of sensitive paths (`{pattern}`)"
        )))
    }

    fn home(&self, home: Option<&NamedPath>) -> Option<Problem> {
        let home = home?;
        let whole = self.named.holds(&home.written) || self.named.holds(&home.real);
        whole.then(|| {
            self.opens(
                "the whole home directory: keys, tokens, histories, and all that other programs keep \
                 there",
            )
        })
    }

    fn secrets(&self, home: Option<&NamedPath>, list: &Sensitive) -> Option<Problem> {
        let is_home = |place: &Utf8Path| {
            home.is_some_and(|home| home.written.starts_with(place) || home.real.starts_with(place))
        };
        let inside = SECRETS
            .iter()
            .filter(|(place, _)| !is_home(Utf8Path::new(place)))
            .find(|(place, _)| self.named.is_within(Utf8Path::new(place)));
        if let Some((place, what)) = inside {
            let which = match self.is(Utf8Path::new(place)) {
                true => format!("which holds {what}"),
                false => format!("in {}, which holds {what}", quote(place)),
            };
            return Some(self.opens(&which));
        }
        let own = home.into_iter().flat_map(|home| {
            let literal = list.patterns().filter(|pattern| !pattern.contains('*'));
            literal.map(|name| (home.written.join(name), "credentials, or what shells run"))
        });
        let all = SECRETS.iter().chain(&WHOLE);
        let all = all.map(|(place, what)| (Utf8PathBuf::from(place), *what));
        let (place, what) = all
            .chain(own)
            .find(|(place, _)| self.named.holds(place) && files::exists(place))?;
        let which = match self.is(&place) {
            true => format!("which holds {what}"),
            false => format!("and with it {}, which holds {what}", quote(place.as_str())),
        };
        Some(self.opens(&which))
    }

    fn programs(&self, home: Option<&NamedPath>) -> Option<Problem> {
        if !self.path.write {
            return None;
        }
        let system = PROGRAMS.iter().map(Utf8PathBuf::from);
        let own = home
            .into_iter()
            .flat_map(|home| OWN_PROGRAMS.iter().map(|name| home.written.join(name)));
        let place = system
            .chain(own)
            .find(|place| self.named.is_within(place) || self.named.holds(place))?;
        Some(self.at(Problem::warning(
            format!(
                "the tool `{}` may change {}, and what lies in {} is run or obeyed by programs that \
                 no sandbox confines",
                self.tool.name,
                self.quoted(),
                quote(place.as_str())
            ),
            hint!("remove `write = true`, or name a directory that only this tool uses"),
        )))
    }

    fn opens(&self, what: &str) -> Problem {
        self.at(Problem::warning(
            format!(
                "the tool `{}` may read {}, {what}",
                self.tool.name,
                self.quoted()
            ),
            hint!("remove it, or name only the files that the tool needs"),
        ))
    }

    fn is(&self, place: &Utf8Path) -> bool {
        self.named.written == place || self.named.real == place
    }

    fn quoted(&self) -> String {
        quote(self.path.path.as_str())
    }

    fn at(&self, problem: Problem) -> Problem {
        let key = format!("{}.sandbox.system[{}]", self.tool.table(), self.index);
        problem.at(&self.path.origin, "").key(key)
    }
}

/// Places outside a home with something in them that toolchains and caches don't need.
const SECRETS: [(&str, &str); 7] = [
    ("/etc/shadow", "the passwords of this machine, hashed"),
    ("/etc/gshadow", "the passwords of this machine, hashed"),
    ("/etc/sudoers", "the names of those who may become root"),
    ("/etc/ssh", "the keys of the ssh server"),
    ("/etc/ssl/private", "the keys of certificates"),
    ("/root", "the home directory of root"),
    (
        "/run",
        "the sockets of services: whoever reaches one acts with its rights",
    ),
];

/// Places of which parts can be given away, and not the whole.
const WHOLE: [(&str, &str); 4] = [
    ("/sys", "the devices and settings of the kernel"),
    ("/dev", "the devices of the machine"),
    ("/tmp", "the temporary files and sockets of other programs"),
    (
        "/var/tmp",
        "the temporary files and sockets of other programs",
    ),
];

/// Where the system's own programs and settings lie.
const PROGRAMS: [&str; 8] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/boot", "/nix",
];

/// The same in a home.
const OWN_PROGRAMS: [&str; 10] = [
    "bin",
    ".local/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    "go/bin",
    ".config/git",
    ".config/systemd",
    ".config/autostart",
    ".gitconfig",
    ".npmrc",
];
