//! The person's own configuration cannot be made or changed through a request, wherever links put it.

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::Sources;
use jig_engine::{Call, Engine};
use jig_files::DiskFiles;
use std::sync::Arc;

use super::{Person, World};

/// What is shown of an attempt to create this file in a workspace that all tools may change.
fn create(
    workspace: &Utf8Path,
    path: &str,
    person: impl FnOnce(&mut Sources),
) -> Result<(), String> {
    let mut sources = Sources::new(workspace);
    sources
        .sets
        .push("tools.fs_create_file.run=unattended".to_owned());
    sources
        .sets
        .push("tools.fs_create_file.access.fs=[{path='.',read=true,write=true}]".to_owned());
    person(&mut sources);
    let config = jig_config::load(&sources).unwrap().config;
    let files = DiskFiles::open(workspace).unwrap();
    let engine = Engine::new(Arc::new(config), Arc::new(files));
    let arguments = serde_json::json!({"path": path, "content": "[tools]\n"});
    let call = Call::new("fs_create_file", arguments);
    let result = engine.call(call, &mut Person::default());
    let there = std::fs::symlink_metadata(workspace.join(path)).is_ok();
    match result {
        Ok(_) if there => Ok(()),
        other => {
            assert!(!there, "{path}");
            Err(format!("{other:?}"))
        }
    }
}

/// A folder for a home, with links in it.
fn home(links: &[(&str, &str)]) -> (World, Utf8PathBuf) {
    let world = World::new(&[]);
    let home = world.outside().join("home");
    std::fs::create_dir(&home).unwrap();
    for folder in ["dots", "xdg"] {
        std::fs::create_dir(home.join(folder)).unwrap();
    }
    for (link, target) in links {
        std::os::unix::fs::symlink(target, home.join(link)).unwrap();
    }
    (world, home)
}

fn person(home: &Utf8Path) -> impl FnOnce(&mut Sources) + use<> {
    let home = home.to_owned();
    move |sources| {
        sources.user_config = Some(home.join(".config/jig/config.toml"));
        sources.home = Some(home);
    }
}

#[test]
fn a_folder_that_is_missing_behind_a_link_is_guarded() {
    let (_world, home) = home(&[(".config", "dots")]);
    let dots = home.join("dots");
    for path in ["jig/config.toml", "jig/more.toml"] {
        let refused = create(&dots, path, person(&home)).unwrap_err();
        assert!(
            refused.contains("configuration that jig loads"),
            "{path}: {refused}"
        );
    }
    // What lies beside it is an ordinary file.
    create(&dots, "other/config.toml", person(&home)).unwrap();
}

#[test]
fn links_that_lead_to_nothing_yet_are_followed() {
    let (_world, home) = home(&[(".config", "dots/config/deep")]);
    let dots = home.join("dots");
    let refused = create(&dots, "config/deep/jig/config.toml", person(&home)).unwrap_err();
    assert!(
        refused.contains("configuration that jig loads"),
        "{refused}"
    );
    create(&dots, "config/deep/git.toml", person(&home)).unwrap();
}

#[test]
fn a_home_that_is_a_link_guards_what_is_missing_in_it() {
    let (world, home) = home(&[]);
    let alias = world.outside().join("alias");
    std::os::unix::fs::symlink(&home, &alias).unwrap();
    for workspace in [&home, &alias] {
        for named in [&home, &alias] {
            let path = ".config/jig/config.toml";
            let refused = create(workspace, path, person(named)).unwrap_err();
            let told = "configuration that jig loads";
            assert!(refused.contains(told), "{workspace} {named}: {refused}");
        }
    }
}

#[test]
fn the_usual_folder_is_guarded_beside_that_of_xdg() {
    let (_world, home) = home(&[]);
    let elsewhere = home.join("xdg/jig/config.toml");
    for path in [".config/jig/config.toml", "xdg/jig/config.toml"] {
        let refused = create(&home, path, |sources| {
            person(&home)(sources);
            sources.user_config = Some(elsewhere.clone());
        });
        let refused = refused.unwrap_err();
        assert!(
            refused.contains("configuration that jig loads"),
            "{path}: {refused}"
        );
    }
}
