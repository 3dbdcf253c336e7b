//! Names that a confined program may not make: the kernel refuses exactly those that the policy refuses, whichever line
//! of the table of guards speaks of them, at any depth and however they are spelled.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jig_policy::{Capability, GuardLine, Policy};
use jig_proto::ProjectPath;

use crate::confined::{output, shell};
use crate::world::World;

/// Makes what each line of `paths` names, with the folders that it takes, and says which could be made. All is removed
/// again, so that nothing depends on what was made before.
const MAKER: &str = r#"
use Fcntl;
open(my $list, "<", "paths") or die;
while (my $path = <$list>) {
    chomp $path;
    my ($at, @made) = ("");
    my @names = split m{/}, $path;
    my $last = pop @names;
    my $is_made = 1;
    for my $name (@names) {
        $at .= "$name/";
        next if -d $at;
        $is_made = mkdir $at or last;
        unshift @made, $at;
    }
    if ($is_made && sysopen(my $file, "$at$last", O_CREAT | O_EXCL | O_WRONLY)) {
        print "$path\n";
        unlink "$at$last";
    }
    rmdir $_ for @made;
}
"#;

/// What a line of the table names, in several spellings and places, and what lies beside and below it.
fn paths() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let mut add = |path: String| {
        for (from, to) in [("", ""), ("", "x"), ("x", "")] {
            let (head, last) = path.rsplit_once('/').unwrap_or(("", &path));
            let last = format!("{from}{last}{to}");
            paths.insert(match head {
                "" => last,
                head => format!("{head}/{last}"),
            });
        }
    };
    for line in GuardLine::all() {
        let path = line.pattern().trim_start_matches('/').replace('*', "x");
        for place in ["", "a/", "a/b/", "node_modules/p/", ".vscode/"] {
            add(format!("{place}{path}"));
        }
        add(path.to_uppercase());
        add(format!("{path}."));
        add(format!("{path} "));
        add(format!("{path}/below"));
        add(format!("a/{}", path.replacen('g', "\u{200d}g", 1)));
        if let Some((head, _)) = path.split_once('/') {
            add(head.to_owned());
        }
    }
    paths
}

/// Whether the policy lets all of a path come into being.
fn is_allowed(policy: &Policy, path: &str) -> bool {
    let path = ProjectPath::normalize(path).expect("it is a path");
    let mut here = Some(path);
    while let Some(path) = here.filter(|path| !path.is_root()) {
        if !policy.can(Capability::Create, &path) {
            return false;
        }
        here = path.parent();
    }
    true
}

#[track_caller]
fn check(world: World) {
    let world = world.command("perl", None, &[]).command("sh", None, &[]);
    let paths = paths();
    let list: String = paths.iter().fold(String::new(), |mut list, path| {
        let _ = writeln!(list, "{path}");
        list
    });
    let policy = world.parts().policy;
    let world = world.with("paths", list).with("maker.pl", MAKER).confined();
    let made = output(&world, "perl maker.pl");
    let made: BTreeSet<&str> = made.lines().collect();
    let mut refused = 0;
    for path in &paths {
        let is_made = made.contains(path.as_str());
        assert_eq!(is_made, is_allowed(&policy, path), "`{path}`");
        refused += usize::from(!is_made);
    }
    assert!(
        refused > 500 && made.len() > 500,
        "{refused} of {}",
        paths.len()
    );
}

#[test]
fn the_kernel_refuses_what_the_policy_refuses() {
    check(World::on_disk().allow(".", "rcudx"));
}

/// Rules that name what is guarded open it, and nothing beside it.
#[test]
fn rules_that_name_what_is_guarded_open_it() {
    let world = World::on_disk()
        .allow(".", "rcudx")
        .allow(".vscode", "rcud")
        .allow("a/.env.local", "rcud")
        .allow("a/b/.git/hooks", "rcud")
        .allow(".claude/settings.json", "rcud")
        .allow("node_modules/p/.git", "rcud");
    check(world);
}

/// The twin: where nobody supervises, each of the names is there for a moment.
#[test]
fn without_a_supervisor_the_names_come_into_being() {
    let script = "echo x > .envrc; mkdir -p a/.vscode; echo made";
    let world = || {
        World::on_disk()
            .allow(".", "rcudx")
            .command("sh", None, &[])
            .confined()
    };
    let reply = shell(&world().unsupervised(), script);
    assert!(
        !reply.stderr.contains("ermission denied"),
        "{}",
        reply.stderr
    );
    let reply = shell(&world(), script);
    assert_eq!(
        reply.stderr.matches("ermission denied").count(),
        2,
        "{}",
        reply.stderr
    );
}
