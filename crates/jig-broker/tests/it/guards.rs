//! Every line of the table of guards at every door of this crate, generated from the table in docs/policy.md.
//!
//! A door is a way by which a tool reaches files. The requests of a `vfs` tool, of a Wasm component, of a built-in tool
//! and of an MCP server's files all end in [`Broker::judge`], with the same request types, so they are one door here;
//! clients of the FS proxy end in [`Broker::judge_open`] and the operations of an operating system beside it. Both are
//! tried on the disk and in memory. A confined program acts first and is swept; in memory it acts on a copy, which is
//! swept before it is brought back. Layers are tried in jig-engine.
//!
//! Each attempt is made twice: with the table, where it must fail, and without, where it must succeed. So an attempt
//! that fails for another reason is found, too.

use std::fmt::Write as _;

use jig_broker::{Broker, JudgedRequest, OpenRequest};
use jig_policy::{GuardLine, GuardLines, Guards};
use jig_proto::vfs::{FsAppend, FsDelete, FsPath, FsRead, FsRename, VfsRequest};

use crate::confined::shell;
use crate::world::{World, both, project, write};

/// A line of the table as the docs have it.
#[derive(Debug, Clone)]
struct Row {
    /// A path of the pattern.
    path: String,
    /// Whether it holds in any folder.
    anywhere: bool,
    /// Whether it is about the path alone.
    itself: bool,
    sensitive: bool,
}

impl Row {
    /// The lines of the table in the docs, which must be those in the code.
    fn all() -> Vec<Row> {
        let docs = include_str!("../../../../docs/policy.md");
        let (_, rest) = docs.split_once("<!-- guards:begin -->\n").unwrap();
        let (table, _) = rest.split_once("\n| door |").unwrap();
        let lines = table.lines().filter(|line| line.starts_with("| `"));
        let rows: Vec<Row> = lines.map(Row::of).collect();
        assert!(rows.len() > 100, "the table was read");
        rows
    }

    fn of(line: &str) -> Row {
        let cells: Vec<&str> = line.split(" | ").collect();
        let pattern = cells[0].trim_start_matches("| ").trim_matches('`');
        Row {
            path: pattern.trim_start_matches('/').replace('*', "x"),
            anywhere: !cells[1].starts_with("at the top"),
            itself: cells[1].contains("itself"),
            sensitive: cells[2] == "sensitive",
        }
    }

    /// The part above the last name, and that name.
    fn parts(&self) -> (Option<&str>, &str) {
        match self.path.rsplit_once('/') {
            Some((above, name)) => (Some(above), name),
            None => (None, &self.path),
        }
    }
}

/// Where an attempt takes place, and by what spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Top,
    Deep,
    Case,
    /// A folder on the way is a link.
    Link,
}

const VARIANTS: [Variant; 4] = [Variant::Top, Variant::Deep, Variant::Case, Variant::Link];

impl Variant {
    /// The folder in which the row is tried, `None` if the row does not hold there.
    fn base(self, row: &Row) -> Option<&'static str> {
        match self {
            Variant::Top => Some(""),
            Variant::Case if !row.anywhere => Some(""),
            _ if !row.anywhere => None,
            Variant::Deep => Some("a/b/"),
            Variant::Case => Some("c/"),
            Variant::Link => Some("lnk/"),
        }
    }

    fn spelled(self, path: &str) -> String {
        match self {
            Variant::Case => path.to_uppercase(),
            _ => path.to_owned(),
        }
    }
}

/// What is tried with a guarded path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Write,
    WriteBelow,
    Append,
    Change,
    ChangeByLink,
    MakeDir,
    MoveFile,
    /// A folder, to the path itself.
    MoveFolder,
    /// A folder, to what the path lies in.
    MoveFolderAbove,
    Delete,
    Read,
}

const ACTS: [Act; 11] = [
    Act::Write,
    Act::WriteBelow,
    Act::Append,
    Act::Change,
    Act::ChangeByLink,
    Act::MakeDir,
    Act::MoveFile,
    Act::MoveFolder,
    Act::MoveFolderAbove,
    Act::Delete,
    Act::Read,
];

/// The doors of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// A tool's request.
    Request,
    /// An operation of a client of the FS proxy.
    Proxy,
}

/// One attempt at a door of requests.
struct Attempt<'a> {
    row: &'a Row,
    /// That of the row.
    number: usize,
    variant: Variant,
    act: Act,
}

impl Attempt<'_> {
    /// The path by which the tool names it; `None` if there is no such attempt.
    fn target(&self) -> Option<String> {
        let base = self.variant.base(self.row)?;
        let path = self.variant.spelled(&self.row.path);
        let is_same = self.variant == Variant::Case && path == self.row.path;
        let is_none = match self.act {
            Act::WriteBelow | Act::Delete => self.row.itself,
            Act::Read => !self.row.sensitive,
            // What is there is a repository already, and only said to be another one.
            Act::MakeDir => self.row.path == ".jj/repo",
            Act::MoveFolderAbove => self.row.itself || self.row.parts().0.is_none(),
            _ => false,
        };
        (!is_same && !is_none).then(|| format!("{base}{path}"))
    }

    /// What it needs in the world; the world is shared with other rows.
    fn prepare(&self, mut world: World, target: &str) -> World {
        let real = target.replacen("lnk/", "real/", 1);
        // Folders on the way are there, unless one of them is what is moved: it is this path that is judged.
        let above = real.rsplit_once('/').map(|(above, _)| above);
        if let Some(above) = above
            && self.act != Act::MoveFolderAbove
        {
            world.put(&format!("{above}/neighbour"), "");
        }
        let number = self.number;
        match self.act {
            Act::Change | Act::ChangeByLink | Act::Delete | Act::Read => world.put(&real, "old"),
            Act::MoveFolderAbove => {
                let (_, name) = self.row.parts();
                world.put(&format!("stage{number}/{name}"), "x");
            }
            _ => {}
        }
        match self.act {
            Act::ChangeByLink => world.with_link(&format!("innocent{number}"), &real),
            _ => world,
        }
    }

    fn judge(&self, broker: &Broker, door: Door, target: &str) -> JudgedRequest {
        let new = |path: &str| OpenRequest {
            write: true,
            create: true,
            ..OpenRequest::new(path.to_owned())
        };
        let below = format!("{target}/x");
        let above = target.rsplit_once('/').map_or("", |(above, _)| above);
        let innocent = format!("innocent{}", self.number);
        let stage = format!("stage{}", self.number);
        let rename = |from: &str, to: &str| match door {
            Door::Proxy => broker.judge_rename(from, to),
            Door::Request => broker.judge(&VfsRequest::FsRename(FsRename::new(from, to))),
        };
        match (self.act, door) {
            (Act::Write, Door::Request) => broker.judge(&write(target, "x")),
            (Act::WriteBelow, Door::Request) => broker.judge(&write(&below, "x")),
            (Act::Change, Door::Request) => broker.judge(&write(target, "new")),
            (Act::ChangeByLink, Door::Request) => broker.judge(&write(&innocent, "new")),
            (Act::Append, _) => broker.judge(&VfsRequest::FsAppend(FsAppend::new(target, "x"))),
            (Act::Write | Act::Change, Door::Proxy) => broker.judge_open(&new(target)),
            // The folder above is made first there.
            (Act::WriteBelow, Door::Proxy) => broker.judge_make_dir(target),
            (Act::ChangeByLink, Door::Proxy) => broker.judge_open(&new(&innocent)),
            (Act::MakeDir, Door::Proxy) => broker.judge_make_dir(target),
            (Act::MakeDir, Door::Request) => {
                broker.judge(&VfsRequest::FsMkdir(FsPath::new(target)))
            }
            (Act::MoveFile, _) => rename("plain", target),
            (Act::MoveFolder, _) => rename("stage", target),
            (Act::MoveFolderAbove, _) => rename(&stage, above),
            (Act::Delete, _) => broker.judge(&VfsRequest::FsDelete(FsDelete::new(target))),
            (Act::Read, Door::Proxy) => broker.judge_open(&OpenRequest {
                read: true,
                ..OpenRequest::new(target.to_owned())
            }),
            (Act::Read, Door::Request) => broker.judge(&VfsRequest::FsRead(FsRead::new(target))),
        }
    }
}

/// Tries everything at the doors of requests.
fn at_requests(new_world: fn() -> World) {
    let rows = Row::all();
    let (mut tried, mut wrong) = (0, String::new());
    for (variant, act) in VARIANTS
        .iter()
        .flat_map(|variant| ACTS.map(|act| (*variant, act)))
    {
        for group in groups(&rows, variant, act) {
            let mut world = new_world().with("real/x", "").with_link("lnk", "real");
            world = world
                .with("plain", "x")
                .with("stage/inner", "x")
                .allow(".", "rcud");
            for (attempt, target) in &group {
                world = attempt.prepare(world, target);
            }
            for is_guarded in [true, false] {
                world.guards = match is_guarded {
                    true => Guards::of_workspace(),
                    false => Guards::with_lines(GuardLines::default()),
                };
                let broker = world.broker();
                for ((attempt, target), door) in group
                    .iter()
                    .flat_map(|one| [(one, Door::Request), (one, Door::Proxy)])
                {
                    tried += 1;
                    let judged = attempt.judge(&broker, door, target);
                    if matches!(judged, JudgedRequest::Ready(_)) == is_guarded {
                        let what = if is_guarded { "allowed" } else { "no attack" };
                        writeln!(wrong, "{what}: {door:?} {variant:?} {act:?} {target}").unwrap();
                    }
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
    assert!(wrong.is_empty(), "{wrong}");
}

/// The attempts of all rows, in groups that have room in one world: where one row has a file, another may need a folder.
fn groups(rows: &[Row], variant: Variant, act: Act) -> Vec<Vec<(Attempt<'_>, String)>> {
    let mut groups: Vec<Vec<(Attempt<'_>, String)>> = Vec::new();
    let lies_in = |one: &str, other: &str| {
        let rest = one.strip_prefix(other);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for (number, row) in rows.iter().enumerate() {
        let attempt = Attempt {
            row,
            number,
            variant,
            act,
        };
        let Some(target) = attempt.target() else {
            continue;
        };
        let has_room = |group: &&mut Vec<(Attempt<'_>, String)>| {
            let mut others = group.iter().map(|(_, other)| other);
            others.all(|other| !lies_in(other, &target) && !lies_in(&target, other))
        };
        match groups.iter_mut().find(has_room) {
            Some(group) => group.push((attempt, target)),
            None => groups.push(vec![(attempt, target)]),
        }
    }
    groups
}

#[test]
fn each_line_holds_for_requests_on_the_disk() {
    at_requests(World::on_disk);
}

#[test]
fn each_line_holds_for_requests_in_memory() {
    at_requests(World::in_memory);
}

/// How a confined program brings about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramAct {
    Write,
    /// Of what is there.
    Change,
    MakeDir,
    MoveFile,
    /// A folder, to what the path lies in.
    MoveFolder,
    PutLink,
}

/// Each act, and whether in capitals.
const PROGRAM_ACTS: [(ProgramAct, bool); 10] = [
    (ProgramAct::Write, false),
    (ProgramAct::Write, true),
    (ProgramAct::Change, false),
    (ProgramAct::Change, true),
    (ProgramAct::MakeDir, false),
    (ProgramAct::MakeDir, true),
    (ProgramAct::MoveFile, false),
    (ProgramAct::MoveFolder, false),
    (ProgramAct::MoveFolder, true),
    (ProgramAct::PutLink, true),
];

/// What one program does in a workspace.
struct Script {
    text: String,
    /// Paths that it brings about.
    made: Vec<String>,
    /// Paths that it changes.
    changed: Vec<String>,
    world: World,
}

impl Script {
    /// All that can be done in folders of their own.
    fn of(world: World) -> Script {
        let mut script = Script {
            text: String::new(),
            made: Vec::new(),
            changed: Vec::new(),
            world: world.with("plain", "x"),
        };
        for (number, row) in Row::all().iter().enumerate() {
            for (act, in_capitals) in PROGRAM_ACTS {
                // As a folder it says nothing.
                let is_none = act == ProgramAct::MakeDir && row.path == ".jj/repo";
                let path = match in_capitals {
                    true => row.path.to_uppercase(),
                    false => row.path.clone(),
                };
                if row.anywhere && !is_none && !(in_capitals && path == row.path) {
                    script.add(act, &format!("r{number}/{act:?}{in_capitals}/"), &path);
                }
            }
        }
        script
    }

    /// What is written at the top.
    fn at_top(world: World) -> Script {
        let mut script = Script {
            text: String::new(),
            made: Vec::new(),
            changed: Vec::new(),
            world,
        };
        let rows = Row::all();
        for row in &rows {
            let holds_others = |other: &Row| {
                let rest = other.path.strip_prefix(&row.path);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            if !rows.iter().any(holds_others) {
                script.add(ProgramAct::Write, "", &row.path);
            }
        }
        script
    }

    /// Adds an act on a path below a folder.
    fn add(&mut self, act: ProgramAct, base: &str, path: &str) {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let target = format!("{base}{path}");
        if !base.is_empty() {
            self.world.put(&format!("{base}neighbour"), "");
        }
        // Folders on the way are there, unless one comes with what is moved.
        if !above.is_empty() && act != ProgramAct::MoveFolder {
            self.world.put(&format!("{base}{above}/neighbour"), "");
        }
        let command = match act {
            ProgramAct::Write | ProgramAct::Change => format!("echo x > '{target}'"),
            // A folder with nothing in it, such as `.git/hooks`, may say nothing.
            ProgramAct::MakeDir => format!("mkdir '{target}'; echo x > '{target}/x'"),
            ProgramAct::MoveFile => format!("cp plain '{base}m'; mv '{base}m' '{target}'"),
            ProgramAct::MoveFolder if above.is_empty() => {
                format!("mkdir '{base}m'; echo x > '{base}m/y'; mv '{base}m' '{target}'")
            }
            ProgramAct::MoveFolder => {
                let (first, rest) = above.split_once('/').unwrap_or((above, "."));
                format!(
                    "mkdir -p '{base}m/{rest}'; echo x > '{base}m/{rest}/{name}'; mv '{base}m' '{base}{first}'"
                )
            }
            ProgramAct::PutLink => format!("ln -s neighbour '{target}'"),
        };
        writeln!(self.text, "({command}) 2>/dev/null").unwrap();
        if act == ProgramAct::Change {
            self.world.put(&target, "old");
            self.changed.push(target);
        } else {
            self.made.push(target);
        }
    }

    /// Runs it, and gives the attempts that succeeded, and those that did not.
    fn run(&self) -> (Vec<&String>, Vec<&String>) {
        let reply = shell(&self.world, &format!("{}true\n", self.text));
        assert_eq!(reply.exit_code, 0, "{}", reply.stderr);
        let stands = |path: &str| {
            let place = self.world.files.locate_entry(&project(path));
            place.is_ok_and(|place| place.exists())
        };
        let made = self.made.iter().map(|path| (path, stands(path)));
        let is_changed = |path: &str| self.world.content(path).as_deref() != Some("old");
        let changed = self.changed.iter().map(|path| (path, is_changed(path)));
        let (done, failed): (Vec<_>, Vec<_>) = made.chain(changed).partition(|(_, done)| *done);
        let paths = |all: Vec<(_, bool)>| all.into_iter().map(|(path, _)| path).collect();
        (paths(done), paths(failed))
    }
}

fn at_programs(new_world: fn() -> World) {
    let rules = || {
        let world = new_world().allow(".", "rcudx");
        world.command("sh", None, &[]).confined()
    };
    for of in [Script::of, Script::at_top] {
        let script = of(rules());
        let (done, _) = script.run();
        assert!(done.is_empty(), "{done:#?}");
        // The twin, without the table.
        let mut script = of(rules());
        script.world.guards = Guards::with_lines(GuardLines::default());
        let (_, failed) = script.run();
        assert!(failed.is_empty(), "no attack: {failed:#?}");
    }
}

#[test]
fn each_line_holds_for_a_confined_program() {
    at_programs(World::on_disk);
}

#[test]
fn each_line_holds_for_a_confined_program_on_a_copy() {
    at_programs(World::in_memory);
}

/// The program itself sees what it made go away, or it does not end well.
#[test]
fn what_a_program_makes_goes_away_while_it_runs() {
    both(|world| {
        let world = world
            .allow(".", "rcudx")
            .command("sh", None, &[])
            .confined();
        for path in [".env", "a/.GIT/config", "a/.hg/hgrc", "b/JIG.toml"] {
            let top = path
                .rsplit_once('/')
                .map_or(path, |(above, _)| match above {
                    "b" => path,
                    above => above,
                });
            let script = format!(
                "mkdir -p $(dirname {path}); echo x > {path}; i=0; \
                 while test -e {top}; do i=$((i+1)); test $i -lt 2000 || exit 7; sleep 0.01; done; echo gone"
            );
            let reply = shell(&world, &script);
            assert_eq!(
                reply.exit_code, 0,
                "{path}: {}{}",
                reply.stdout, reply.stderr
            );
            assert!(reply.stdout.contains("gone"), "{path}: {}", reply.stdout);
        }
    });
}

#[test]
fn the_rows_are_those_of_the_code() {
    let rows = Row::all();
    let lines = GuardLine::all();
    assert_eq!(rows.len(), lines.len());
    for (row, line) in rows.iter().zip(lines) {
        assert_eq!(
            row.path,
            line.pattern().trim_start_matches('/').replace('*', "x")
        );
        assert_eq!(row.itself, line.only_itself(), "{row:?}");
    }
}
