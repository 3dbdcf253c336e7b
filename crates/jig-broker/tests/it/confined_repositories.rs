//! Repositories below the workspace: those that are there keep what git obeys in them, and those that a tool
//! makes run nothing of its choice when the user's own git comes along.

use std::path::{Path, PathBuf};

use crate::confined::shell;
use crate::confined_git::{host_git, repository};
use crate::world::World;

/// A workspace with a repository, folders of the user's, a nested repository and a linked worktree.
fn workspace() -> (World, PathBuf) {
    let world = repository();
    let ws = world.outside().canonicalize().unwrap().join("ws");
    std::fs::create_dir(ws.join("src")).unwrap();
    std::fs::write(ws.join("src/a"), "a\n").unwrap();
    host_git(&ws, &["init", "-q", "-b", "main", "vendor/lib"]);
    host_git(&ws, &["worktree", "add", "-q", "linked"]);
    // Git makes these examples or not, by how it was built.
    let _ = std::fs::remove_dir_all(ws.join("vendor/lib/.git/hooks"));
    (world, ws)
}

fn marker(world: &World) -> PathBuf {
    world.outside().canonicalize().unwrap().join("OWNED")
}

/// How an attack ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// A command of it fails.
    Refused,
    /// What it would make is refused, or moved away where nobody supervises.
    Found,
}

/// Shell commands that a tool runs; then the user asks git for the status in `folder`.
fn attack(name: &str, folder: &str, commands: &str, end: End) {
    let hostile = |marker: &Path| {
        format!(
            "hostile() {{ git -C \"$1\" config core.fsmonitor 'touch {};:'; }}\n{commands}",
            marker.display()
        )
    };
    // Without a sandbox it works, or there would be nothing to keep from.
    let (world, ws) = workspace();
    let text = hostile(&marker(&world));
    let done = std::process::Command::new("sh")
        .args(["-c", &text])
        .current_dir(&ws)
        .env("GIT_CONFIG_GLOBAL", world.outside().join("home/.gitconfig"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{name}: {done:?}");
    let _ = std::fs::remove_file(marker(&world));
    host_git(&ws.join(folder), &["status"]);
    assert!(marker(&world).exists(), "{name} does not work at all");

    for is_supervised in [true, false] {
        let (mut world, ws) = workspace();
        if !is_supervised {
            world = world.unsupervised();
        }
        let reply = shell(&world, &hostile(&marker(&world)));
        match (end, is_supervised) {
            (End::Refused, _) => assert_ne!(reply.exit_code, 0, "{name}"),
            (End::Found, true) => assert!(
                reply.stderr.contains("ermission denied"),
                "{name}: {}",
                reply.stderr
            ),
            (End::Found, false) => assert!(
                reply.stderr.contains("may not be made"),
                "{name}: {}",
                reply.stderr
            ),
        }
        // The folder is not there if nothing could be made in it.
        let _ = std::process::Command::new("git")
            .arg("status")
            .current_dir(ws.join(folder))
            .env("HOME", "/nonexistent")
            .output();
        assert!(!marker(&world).exists(), "{name}: {}", reply.stderr);
    }
}

#[test]
fn a_repository_in_a_folder_of_the_users_runs_nothing() {
    attack(
        "init",
        "src",
        "set -e; git init -q src; hostile src; git -C src config core.bare false",
        End::Found,
    );
    attack(
        "a file",
        "src",
        "set -e; git init -q evil; hostile evil; echo 'gitdir: ../evil/.git' > src/.git",
        End::Found,
    );
    attack(
        "a link",
        "src",
        "set -e; git init -q evil; hostile evil; ln -s ../evil/.git src/.git",
        End::Found,
    );
    attack(
        "moved into place",
        "src",
        "set -e; git init -q evil; hostile evil; mv evil/.git src/.git",
        End::Found,
    );
    attack(
        "another folder in its place",
        "src",
        "set -e; cp -r src evil; git init -q evil; hostile evil; mv src away; mv evil src",
        End::Found,
    );
    attack(
        "bare",
        "src",
        "set -e; git init -q --bare src; hostile src; git -C src config core.bare false; \
         git -C src config core.worktree \"$PWD/src\"",
        End::Found,
    );
    attack(
        "the workspace itself",
        "src",
        "set -e; git init -q --bare x; hostile x; git -C x config core.bare false; \
         git -C x config core.worktree \"$PWD/src\"; cp -r x/objects x/refs x/HEAD x/config src",
        End::Found,
    );
}

/// The repository around knows the new one, and looks into it by itself.
#[test]
fn a_new_repository_that_the_one_around_looks_into_runs_nothing() {
    let make = "set -e; git init -q new; cd new; echo x > x; git add x; git commit -qm x; cd ..; \
                git add new 2>/dev/null;";
    attack("embedded", ".", &format!("{make} hostile new"), End::Found);
    attack(
        "embedded by a file",
        ".",
        &format!("{make} hostile new; mv new/.git store; echo 'gitdir: ../store' > new/.git"),
        End::Found,
    );
}

#[test]
fn repositories_that_are_there_keep_their_configuration() {
    attack("config", "vendor/lib", "hostile vendor/lib", End::Refused);
    attack(
        "another one",
        "vendor/lib",
        "set -e; git init -q evil; hostile evil; mv vendor/lib/.git vendor/lib/old; \
         mv evil/.git vendor/lib/.git",
        End::Refused,
    );
    let forged = "git init -q evil; hostile evil;";
    attack(
        "the file of a worktree",
        "linked",
        &format!("{forged} echo 'gitdir: ../evil/.git' > linked/.git"),
        End::Refused,
    );
    attack(
        "another file for a worktree",
        "linked",
        &format!(
            "set -e; {forged} echo 'gitdir: ../evil/.git' > linked/x; mv linked/x linked/.git"
        ),
        End::Refused,
    );
    attack(
        "the place of the repository of a worktree",
        "linked",
        &format!(
            "set -e; {forged} cp .git/worktrees/linked/HEAD evil/.git/; \
             echo \"$PWD/evil/.git\" > .git/worktrees/linked/commondir"
        ),
        End::Refused,
    );
}

#[test]
fn ordinary_work_goes_on_in_repositories_below() {
    let (world, ws) = workspace();
    let reply = shell(
        &world,
        "set -e; echo x > vendor/lib/x; git -C vendor/lib add x; git -C vendor/lib commit -qm x; \
         echo y > linked/y; git -C linked add y; git -C linked commit -qm y; mv src source",
    );
    assert_eq!(
        (reply.exit_code, reply.stderr.as_ref()),
        (0, ""),
        "{}",
        reply.stdout
    );
    assert!(ws.join("vendor/lib/.git/config").exists());
}

/// Whatever a new repository says now, it could say something else later.
#[test]
fn repositories_are_not_made_without_the_preset() {
    for command in [
        "git init -q new",
        "git init -q src",
        "git clone -q vendor/lib new",
        "git worktree add -q new",
        "mkdir -p new/.git",
        "mkdir new; echo 'gitdir: ../vendor/lib/.git' > new/.git",
    ] {
        let (world, ws) = workspace();
        let reply = shell(&world, command);
        assert_ne!(reply.exit_code, 0, "{command}");
        assert!(
            reply.stderr.contains("denied: create on") && reply.stderr.contains(r#"["git"]"#),
            "{command}: {}",
            reply.stderr
        );
        is_unchanged(&ws, command);
        let (world, ws) = workspace();
        let world = world.unsupervised();
        let reply = shell(&world, command);
        assert!(
            reply.stderr.contains("may not be made") && reply.stderr.contains("`--preset git`"),
            "{command}: {}",
            reply.stderr
        );
        is_unchanged(&ws, command);
    }
    fn is_unchanged(ws: &Path, command: &str) {
        for folder in ["new", "src"] {
            assert!(!ws.join(folder).join(".git").exists(), "{command}");
        }
        assert!(ws.join("src/a").exists());
    }
}

#[test]
fn the_preset_makes_repositories_anywhere() {
    let (mut world, ws) = workspace();
    world.guards = jig_policy::Guards::of_workspace().without_git();
    world.confine.as_mut().unwrap().presets = vec![jig_broker::Preset::Git];
    let reply = shell(
        &world,
        "set -e; git init -q src; git -C src config core.pager less; git -C vendor/lib config core.pager less; \
         git init -q new; git -C new config alias.st '!true'; \
         echo x > vendor/lib/x; git -C vendor/lib add x; git -C vendor/lib commit -qm x; \
         git clone -q vendor/lib copy; git -C copy log --format=%s; \
         git worktree add -q more; git -C more log --format=%s -1",
    );
    assert_eq!((reply.exit_code, reply.stderr.as_ref()), (0, ""));
    for kept in [
        "src/.git/config",
        "new/.git/config",
        "copy/.git/config",
        "more/.git",
    ] {
        assert!(ws.join(kept).exists(), "{kept}");
    }
    // In the next call they are all old: without the preset they can be worked in, and not be set up.
    world.guards = jig_policy::Guards::of_workspace();
    world.confine.as_mut().unwrap().presets.clear();
    let reply = shell(
        &world,
        "set -e; for r in copy more vendor/lib; do echo z > $r/z; git -C $r add z; git -C $r commit -qm z; done",
    );
    assert_eq!((reply.exit_code, reply.stderr.as_ref()), (0, ""));
    let reply = shell(&world, "git -C copy config core.pager evil");
    assert_ne!(reply.exit_code, 0);
}

/// A repository in a place where nobody looks, of which a folder claims to be a worktree. The index makes the
/// user's git enter that folder.
#[test]
fn a_worktree_of_a_hidden_repository_runs_nothing() {
    attack(
        "a worktree of a hidden repository",
        ".",
        "set -e; h=.git/objects/x; git init -q $h; hostile $h; \
         git -C $h -c core.fsmonitor=false -c user.name=a -c user.email=b commit -q --allow-empty -m y; \
         mkdir -p $h/.git/worktrees/w new; echo ../.. > $h/.git/worktrees/w/commondir; \
         git -C $h -c core.fsmonitor=false rev-parse HEAD > $h/.git/worktrees/w/HEAD; \
         echo \"gitdir: $PWD/$h/.git/worktrees/w\" > new/.git; \
         echo \"$PWD/new/.git\" > $h/.git/worktrees/w/gitdir; \
         git update-index --add --cacheinfo 160000,$(cat $h/.git/worktrees/w/HEAD),new",
        End::Found,
    );
}

/// What lies in a `.git` is seldom looked at, and a link makes it a folder like any other.
#[test]
fn a_repository_inside_of_a_repository_runs_nothing() {
    attack(
        "a repository inside of `.git`",
        "src",
        "set -e; mkdir .git/evil; cp -r .git/objects .git/refs .git/HEAD .git/evil/; \
         printf '[core]\\n\\trepositoryformatversion = 0\\n\\tworktree = %s\\n\\tbare = false\\n' \"$PWD\" > .git/evil/config; \
         hostile .git/evil; rm -rf src; ln -s .git/evil src",
        End::Found,
    );
}

/// A bare repository has its settings among its data, so none is made, and one that is there stays as it is.
#[test]
fn a_bare_repository_is_neither_made_nor_changed() {
    attack(
        "a new bare repository",
        "sub",
        "set -e; git init -q --bare sub; hostile sub; git -C sub config core.bare false; \
         git -C sub config core.worktree \"$PWD/src\"",
        End::Found,
    );
    let (world, ws) = workspace();
    host_git(&ws, &["init", "-q", "--bare", "fixture"]);
    let reply = shell(
        &world,
        "echo evil >> fixture/config; mkdir -p fixture/hooks; echo x > fixture/hooks/update",
    );
    assert_ne!(reply.exit_code, 0);
    let config = std::fs::read_to_string(ws.join("fixture/config")).unwrap();
    assert!(!config.contains("evil") && !ws.join("fixture/hooks/update").exists());
}
