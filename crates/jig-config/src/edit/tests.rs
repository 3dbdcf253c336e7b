#![expect(
    clippy::disallowed_methods,
    reason = "files are made, linked and looked at"
)]

use std::os::unix::fs::PermissionsExt as _;

use camino::Utf8Path;
use jig_policy::{Capability, DeclaredAccess, DeclaredFsRule, FileCapabilities, Policy, Workspace};
use jig_proto::ProjectPath;
use proptest::prelude::*;

use super::*;
use crate::load;

fn fs(path: &str, capabilities: impl Into<FileCapabilities>, comment: &[&str]) -> AddedFs {
    AddedFs {
        path: path.to_owned(),
        capabilities: capabilities.into(),
        comment: comment.iter().map(|line| (*line).to_owned()).collect(),
    }
}

fn system(path: &str, write: bool, execute: bool) -> AddedSystem {
    AddedSystem {
        path: path.to_owned(),
        write,
        execute,
        comment: vec!["why".to_owned()],
    }
}

fn of_fs(rules: Vec<AddedFs>) -> Additions {
    Additions {
        fs: rules,
        ..Additions::default()
    }
}

/// Adds to the tool `t`; the result must be `after`, must load, and adding once more must change nothing.
fn check(before: &str, additions: &Additions, after: &str) {
    let mut edit = ConfigEdit::new(Some(before)).unwrap();
    edit.add("t", additions).unwrap();
    assert_eq!(edit.to_string(), after, "from:\n{before}");
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let sources = Sources::new(root);
    if let Err(errors) = edit.check(&sources, &root.join("jig.toml")) {
        panic!("{}\n{after}", errors.render(false));
    }
    let mut again = ConfigEdit::new(Some(after)).unwrap();
    again.add("t", additions).unwrap();
    assert!(!again.is_changed(), "{again}");
}

const READ: FileCapabilities = FileCapabilities::just(Capability::Read);

/// What is added is a path of the workspace, and there a rule on `~/x` is refused.
#[test]
fn a_folder_with_the_name_of_the_home() {
    check(
        "[tools.t]\nsource = \"local\"\ncommand = \"make\"\n",
        &of_fs(vec![fs("~/x", READ, &[])]),
        "[tools.t]\nsource = \"local\"\ncommand = \"make\"\n\n[[tools.t.access.fs]]\n\
         path = \"./~/x\"\nread = true\n",
    );
}

#[test]
fn a_new_tool_is_declared() {
    let additions = Additions {
        command: Some(vec!["cargo".to_owned(), "test".to_owned()]),
        fs: vec![
            fs("src", READ, &["read by cargo", "and rustc"]),
            fs("target", FileCapabilities::ALL, &[]),
        ],
        net: vec![AddedNet {
            host: "example.com".to_owned(),
            scheme: Some("http".to_owned()),
            port: None,
            path_prefix: Some("/v1".to_owned()),
            comment: vec!["asked for".to_owned()],
        }],
        system: vec![
            system("/var/data", false, false),
            system("~/bin", false, true),
        ],
        presets: vec![Preset::Rust],
    };
    check(
        "",
        &additions,
        r#"[tools.t]
source = "local"
command = "cargo test"

[tools.t.sandbox]
presets = ["rust"]
system = [
    # why
    "/var/data",
    # why
    { path = "~/bin", execute = true },
]

# read by cargo
# and rustc
[[tools.t.access.fs]]
path = "src"
read = true

[[tools.t.access.fs]]
path = "target"
read = true
write = true
execute = true

# asked for
[[tools.t.access.net]]
host = "example.com"
scheme = "http"
path_prefix = "/v1"
allow = true
"#,
    );
}

#[test]
fn words_that_a_shell_would_split_are_kept_apart() {
    let words = ["sh", "-c", "echo 'a b'", ""];
    let additions = Additions {
        command: Some(words.map(str::to_owned).to_vec()),
        ..Additions::default()
    };
    check(
        "",
        &additions,
        "[tools.t]\nsource = \"local\"\n\
         command = { program = \"sh\", args = [\"-c\", \"echo 'a b'\", \"\"] }\n",
    );
    let template = Additions {
        command: Some(vec!["echo".to_owned(), "{{ tool }}".to_owned()]),
        ..Additions::default()
    };
    let mut edit = ConfigEdit::new(None).unwrap();
    let error = edit.add("t", &template).unwrap_err();
    assert!(matches!(error, EditError::Template(_)), "{error}");
}

#[test]
fn comments_order_and_layout_stay() {
    check(
        r#"# top
[tools.a]   # first
command = 'true'
source = "local"

# the one that changes
[tools.t]
command = "true"  # nothing
source = "local"

[[tools.t.access.fs]] # rule
path = "./src/" # with a slash
read = true  # yes
delete = false # no

[tools.z] # last
command = "true"
source = "local"
# end
"#,
        &of_fs(vec![
            fs(
                "src",
                FileCapabilities::WRITE,
                &["ignored: the rule is there"],
            ),
            fs("out", Capability::Create, &["new"]),
        ]),
        r#"# top
[tools.a]   # first
command = 'true'
source = "local"

# the one that changes
[tools.t]
command = "true"  # nothing
source = "local"

[[tools.t.access.fs]] # rule
path = "./src/" # with a slash
read = true  # yes
delete = true # no
create = true
update = true

# new
[[tools.t.access.fs]]
path = "out"
create = true

[tools.z] # last
command = "true"
source = "local"
# end
"#,
    );
}

#[test]
fn lists_in_brackets_stay_so() {
    check(
        r#"[tools.t]
source = "local"
command = "true"
access.fs = [{ path = "a", read = true }]
sandbox.system = [
  "/opt/x", # a remark
  { path = "/opt/y" },
]
sandbox.presets = ['git']
"#,
        &Additions {
            fs: vec![
                fs("a", Capability::Execute, &[]),
                fs("b", READ, &["lost: no line"]),
            ],
            system: vec![
                system("/opt/x/", false, true),
                system("/opt/y", true, false),
                system("/opt/z", false, false),
            ],
            presets: vec![Preset::Git, Preset::Node],
            ..Additions::default()
        },
        r#"[tools.t]
source = "local"
command = "true"
access.fs = [{ path = "a", read = true, execute = true }, { path = "b", read = true }]
sandbox.system = [
  { path = "/opt/x/", execute = true }, # a remark
  { path = "/opt/y", write = true },
  # why
  "/opt/z",
]
sandbox.presets = ['git', "node"]
"#,
    );
}

#[test]
fn the_root_of_jp_and_braces_are_kept() {
    check(
        "[conversation.tools]\nt = { source = \"local\", command = \"true\" }\n",
        &of_fs(vec![fs(".", READ, &[])]),
        "[conversation.tools]\nt = { source = \"local\", command = \"true\" , \
         access = { fs = [{ path = \".\", read = true }] } }\n",
    );
    check(
        "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n\
         access.fs = { strategy = \"replace\", value = [{ path = \"a\" }] }\n",
        &of_fs(vec![fs("a", READ, &[])]),
        "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n\
         access.fs = { strategy = \"replace\", value = [{ path = \"a\", read = true }] }\n",
    );
}

#[test]
fn what_is_no_configuration_is_refused() {
    let additions = of_fs(vec![fs("a", READ, &[])]);
    for text in [
        "tools = 1",
        "[tools]\nt = 3",
        "[tools.t]\naccess = []",
        "[tools.t]\naccess.fs = 1",
    ] {
        let mut edit = ConfigEdit::new(Some(text)).unwrap();
        let error = edit.add("t", &additions).unwrap_err();
        assert!(matches!(error, EditError::Shape(_)), "{text}: {error}");
    }
    assert!(matches!(
        ConfigEdit::new(Some("[")),
        Err(EditError::Syntax(_))
    ));
}

/// A program's name is what the program says: it must not become a line of configuration.
#[test]
fn a_comment_stays_a_comment() {
    let rule = fs("a", READ, &["x\n[tools.evil]\r\u{1b}[0m"]);
    let mut edit = ConfigEdit::new(None).unwrap();
    edit.add("t", &of_fs(vec![rule])).unwrap();
    let text = edit.to_string();
    assert!(!text.contains("\n[tools.evil]"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    // Nor does a path go on over several lines.
    let mut edit = ConfigEdit::new(None).unwrap();
    edit.add("t", &of_fs(vec![fs("a\n[tools.evil]\nb", READ, &[])]))
        .unwrap();
    assert!(
        edit.to_string().contains(r#"path = "a\n[tools.evil]\nb""#),
        "{edit}"
    );
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("jig.toml");
    let mut edit = ConfigEdit::new(None).unwrap();
    edit.add("t", &of_fs(vec![fs("a", READ, &[])])).unwrap();
    edit.save(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edit.to_string());
    // Whoever began with no file does not overwrite one.
    assert!(matches!(edit.save(&path), Err(SaveError::Changed(_))));

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut edit = ConfigEdit::new(Some(&text)).unwrap();
    edit.add("t", &of_fs(vec![fs("b", READ, &[])])).unwrap();
    edit.save(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edit.to_string());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);

    assert!(
        matches!(edit.save(&path), Err(SaveError::Changed(_))),
        "{path}"
    );
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "something was left beside it: {names:?}");
}

#[test]
fn a_link_is_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let (link, real) = (folder.join("jig.toml"), folder.join("real.toml"));
    std::fs::write(&real, "").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let edit = ConfigEdit::new(Some("")).unwrap();
    assert!(matches!(edit.save(&link), Err(SaveError::Link(_))));
    assert!(link.is_symlink());
    std::fs::remove_file(&link).unwrap();
    std::fs::create_dir(&link).unwrap();
    assert!(matches!(edit.save(&link), Err(SaveError::NotAFile(_))));
}

fn capabilities() -> impl Strategy<Value = FileCapabilities> {
    proptest::collection::vec(proptest::sample::select(Capability::ALL.to_vec()), 0..4)
        .prop_map(|all| all.into_iter().collect())
}

fn rules() -> impl Strategy<Value = Vec<(String, FileCapabilities)>> {
    let paths = [".", "a", "b", "a/b", "a/b/c"].map(str::to_owned).to_vec();
    proptest::collection::vec((proptest::sample::select(paths), capabilities()), 0..5)
}

/// The rules of the tool `t`, once as tables, once between brackets.
fn written(rules: &[(String, FileCapabilities)], as_tables: bool) -> String {
    let flags = |granted: &FileCapabilities| -> Vec<String> {
        let all = Capability::ALL.into_iter();
        all.map(|one| format!("{one} = {}", granted.has(one)))
            .collect()
    };
    let mut text = "[tools.t]\nsource = 'local'\ncommand = 'true'\n".to_owned();
    if as_tables {
        for (path, granted) in rules {
            let flags = flags(granted).join("\n");
            text.push_str(&format!(
                "[[tools.t.access.fs]]\npath = '{path}'\n{flags}\n"
            ));
        }
    } else {
        let rules = rules
            .iter()
            .map(|(path, granted)| format!("{{ path = '{path}', {} }}", flags(granted).join(", ")));
        let rules: Vec<String> = rules.collect();
        text.push_str(&format!("access.fs = [{}]\n", rules.join(", ")));
    }
    text
}

proptest! {
    /// Editing, then loading, gives the old rules and the new ones: whatever the last rule on a path said,
    /// it says with what was added to it.
    #[test]
    fn editing_adds_and_takes_nothing(old in rules(), new in rules(), as_tables: bool) {
        let text = written(&old, as_tables);
        let mut edit = ConfigEdit::new(Some(&text)).unwrap();
        edit.add("t", &of_fs(new.iter().map(|(path, granted)| fs(path, *granted, &["c"])).collect()))
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let loaded = edit.check(&Sources::new(root), &root.join("jig.toml")).unwrap();
        let rules = &loaded.config.tool("t").unwrap().access.fs;
        for path in [".", "a", "b", "a/b", "a/b/c"] {
            let before = old.iter().rev().find(|(at, _)| at == path).map(|(_, granted)| *granted);
            let added = new.iter().filter(|(at, _)| at == path);
            let added = added.map(|(_, granted)| *granted).reduce(|all, more| all | more);
            let expected = match (before, added) {
                (None, None) => None,
                (before, added) => {
                    Some(before.unwrap_or_default() | added.unwrap_or_default())
                }
            };
            let found = rules.iter().rev().find(|rule| rule.path == path);
            prop_assert_eq!(found.map(|rule| rule.capabilities), expected, "{} in\n{}", path, edit);
        }
        // The text is what a file would be.
        std::fs::write(root.join("jig.toml"), edit.to_string()).unwrap();
        let from_disk = load(&Sources::new(root)).unwrap();
        let strip = |rules: &[DeclaredFsRule]| -> Vec<(String, FileCapabilities)> {
            rules.iter().map(|rule| (rule.path.clone(), rule.capabilities)).collect()
        };
        prop_assert_eq!(strip(&from_disk.config.tool("t").unwrap().access.fs), strip(rules));
    }
}

/// The rules mean what they say also to whoever decides by them.
#[test]
fn what_was_added_is_granted() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let mut edit = ConfigEdit::new(None).unwrap();
    let additions = Additions {
        command: Some(vec!["true".to_owned()]),
        ..of_fs(vec![
            fs("a", READ, &[]),
            fs("a/b", FileCapabilities::WRITE, &[]),
        ])
    };
    edit.add("t", &additions).unwrap();
    let loaded = edit
        .check(&Sources::new(root), &root.join("jig.toml"))
        .unwrap();
    let tool = loaded.config.tool("t").unwrap();
    let workspace = Workspace::on_disk(root.to_owned()).unwrap();
    let policy: Policy = loaded.config.policy(tool, &workspace).unwrap();
    let granted = |path: &str| policy.granted(&ProjectPath::normalize(path).unwrap());
    assert_eq!(granted("a/x"), READ);
    assert_eq!(granted("a/b/x"), FileCapabilities::WRITE);
    assert_eq!(granted("c"), FileCapabilities::NONE);
    assert_ne!(tool.access, DeclaredAccess::default());
}
