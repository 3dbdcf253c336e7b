//! Files that build on others.

use jig_config::{Layer, load};
use jig_policy::Capability;

use crate::follow::follow_all;
use crate::workspace::Workspace;

fn tool(name: &str, lines: &str) -> String {
    format!("[tools.{name}]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n")
}

fn origin(workspace: &Workspace, name: &str, key: &str) -> String {
    let config = workspace.config();
    let tool = config.tool(name).expect("the tool");
    tool.origin(key).expect("written").to_string()
}

fn errors(workspace: &Workspace) -> String {
    match workspace.load() {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn x70_extended_files_come_before_in_order() {
    let workspace = Workspace::with("extends = [\"conf/b.toml\", \"conf/a.toml\"]\n")
        .file("conf/a.toml", tool("x", "summary = \"a\"\nrun = \"skip\""))
        .file(
            "conf/b.toml",
            tool("x", "summary = \"b\"\nresult = \"ask\""),
        );
    // The later of both wins, and what only one says stays.
    assert_eq!(origin(&workspace, "x", "summary"), "conf/a.toml:4");
    assert_eq!(origin(&workspace, "x", "result"), "conf/b.toml:5");
    // The extending file wins over both.
    let workspace = workspace.file(
        "jig.toml",
        "extends = [\"conf/b.toml\", \"conf/a.toml\"]\n[tools.x]\nsummary = \"own\"\n",
    );
    assert_eq!(origin(&workspace, "x", "summary"), "jig.toml:3");
    // Unless it says that an entry comes after it, as JP has it.
    let workspace = workspace.file(
        "jig.toml",
        "extends = [{ path = \"conf/b.toml\", strategy = \"after\" }, \"conf/a.toml\"]\n[tools.x]\nsummary = \"own\"\n",
    );
    assert_eq!(origin(&workspace, "x", "summary"), "conf/b.toml:4");
    let config = workspace.config();
    let files = config.files.iter().filter(|file| file.found);
    let files: Vec<(&str, bool)> = files
        .map(|file| {
            let path = file.path.strip_prefix(workspace.root()).expect("inside");
            (path.as_str(), file.is_extended)
        })
        .collect();
    assert_eq!(
        files,
        [
            ("conf/a.toml", true),
            ("jig.toml", false),
            ("conf/b.toml", true)
        ]
    );
    assert!(
        config
            .files
            .iter()
            .all(|file| file.layer == Layer::Workspace)
    );
}

#[test]
fn x70_patterns_are_sorted_and_relative_to_their_file() {
    let names = |config: &jig_config::Config| -> Vec<String> {
        let own = config.tools.values();
        let own = own.filter(|tool| tool.declared_at().layer() == Layer::Workspace);
        own.map(|tool| tool.name.to_string()).collect()
    };
    let workspace = Workspace::with("extends = [\"conf/main.toml\"]\n")
        .file("conf/main.toml", "extends = \"parts/**/t?*.toml\"\n")
        .file("conf/parts/t2.toml", tool("two", ""))
        .file("conf/parts/t10.toml", tool("ten", ""))
        .file("conf/parts/deep/er/t1.toml", tool("deep", ""))
        .file("conf/parts/deep/x.toml", "nonsense")
        .file("conf/parts/t.toml", "nonsense")
        .file("parts/t9.toml", "nonsense");
    assert_eq!(names(&workspace.config()), ["deep", "ten", "two"]);
    // One that matches nothing is no mistake; nor is one whose folder is not there.
    for pattern in ["conf/none*.toml", "nowhere/**/*.toml"] {
        let workspace = Workspace::with(&format!("extends = [\"{pattern}\"]\n"));
        assert!(workspace.load().is_ok(), "{pattern}");
    }
    // A file that is named twice counts once, at its first place.
    let workspace = Workspace::with("extends = [\"c/b.toml\", \"c/*.toml\"]\n")
        .file("c/a.toml", tool("a", "sandbox.system = [\"/opt/a\"]"))
        .file("c/b.toml", tool("b", "sandbox.system = [\"/opt/b\"]"));
    let config = workspace.config();
    assert_eq!(names(&config), ["b", "a"]);
    assert_eq!(config.tool("b").expect("b").sandbox.system.len(), 1);
}

#[test]
fn x70_mistakes() {
    let check = |extends: &str, files: &[(&str, &str)], expected: &str| {
        let mut workspace = Workspace::with(&format!("extends = {extends}\n"));
        for (path, content) in files {
            workspace = workspace.file(path, content);
        }
        let told = errors(&workspace);
        assert!(told.contains(expected), "{extends}: {told}");
        assert!(told.contains("help: "), "{extends}: {told}");
    };
    check(
        "[\"conf/a.toml\"]",
        &[],
        "there is no file `conf/a.toml` to extend",
    );
    check(
        "[\"c/a.toml\"]",
        &[
            ("c/a.toml", "extends = [\"b.toml\"]"),
            ("c/b.toml", "extends = [\"a.toml\"]"),
        ],
        "in a circle: `jig.toml` → `c/a.toml` → `c/b.toml` → `c/a.toml`",
    );
    check(
        "[\"jig.toml\"]",
        &[],
        "in a circle: `jig.toml` → `jig.toml`",
    );
    check(
        "[\".jig/config.toml\"]",
        &[(".jig/config.toml", "")],
        "`.jig/config.toml` is loaded without being extended",
    );
    check("5", &[], "`extends` is an integer");
    check("[5]", &[], "`extends` is an integer");
    check("[\"\"]", &[], "it is empty");
    check("[\"c/\"]", &[], "write `\"c/*.toml\"`");
    check("[{ paht = \"x\" }]", &[], "did you mean `path`?");
    check("[\"c\"]", &[("c/x.toml", "")], "is a directory");
    check("[\"c/a.toml\"]", &[("c/a.toml", "x = [")], "c/a.toml:1");
    check(
        "[\"c/a.toml\"]",
        &[("c/a.toml", "banana = 1")],
        "`banana` is no key",
    );
}

/// A stranger's workspace must not read a person's files, nor have a tool's files become configuration.
#[test]
fn x70_a_workspace_extends_nothing_outside_and_nothing_behind_links() {
    let outside = Workspace::new().file("o/own.toml", tool("x", ""));
    let path = outside.path("o/own.toml");
    for extends in [
        path.as_str().to_owned(),
        format!("..{path}"),
        "../x.toml".to_owned(),
        "c/../../x.toml".to_owned(),
        "~/x.toml".to_owned(),
        "~".to_owned(),
        "../*/own.toml".to_owned(),
        format!("{}/*.toml", outside.path("o")),
    ] {
        let told = errors(&Workspace::with(&format!("extends = [\"{extends}\"]\n")));
        assert!(
            told.contains("is not in the workspace"),
            "{extends}: {told}"
        );
    }
    let link = |from: &str| {
        let workspace = Workspace::new().file("c/real.toml", tool("x", ""));
        let place = workspace.path(from);
        std::fs::create_dir_all(place.parent().expect("a parent")).expect("a folder");
        workspace
    };
    // The file itself, a folder on the way, and what a pattern finds.
    for (at, to, extends) in [
        ("c/link.toml", path.as_str(), "c/link.toml"),
        ("c/link.toml", "real.toml", "c/link.toml"),
        ("d", "c", "d/real.toml"),
        ("d", outside.path("o").as_str(), "d/own.toml"),
        ("c/link.toml", path.as_str(), "c/*.toml"),
        ("d", "c", "d/*.toml"),
        ("c/d", outside.path("o").as_str(), "c/*/own.toml"),
    ] {
        let workspace = link(at).file("jig.toml", format!("extends = [\"{extends}\"]\n"));
        std::os::unix::fs::symlink(to, workspace.path(at)).expect("a link");
        let told = errors(&workspace);
        assert!(told.contains("symbolic link"), "{at} {extends}: {told}");
    }
    // As every shell does it, `**` passes links to folders by.
    let workspace = link("c/d").file("jig.toml", "extends = [\"c/**/*.toml\"]\n");
    std::os::unix::fs::symlink(outside.path("o"), workspace.path("c/d")).expect("a link");
    assert_eq!(origin(&workspace, "x", "command"), "c/real.toml:3");
    // What is sensitive is no configuration: its lines would stand in messages.
    let told = errors(&Workspace::with("extends = [\".env\"]\n").file(".env", "TOKEN=hunter2"));
    assert!(
        told.contains("sensitive") && !told.contains("hunter2"),
        "{told}"
    );
    let told = errors(
        &Workspace::with("extends = [\".cargo/*.toml\"]\n")
            .file(".cargo/credentials.toml", "token = \"hunter2\" x"),
    );
    assert!(
        told.contains("sensitive") && !told.contains("hunter2"),
        "{told}"
    );
    // All below the workspace could never be guarded.
    for extends in ["*.toml", "**/*.toml", "./x*.toml"] {
        let told = errors(&Workspace::with(&format!("extends = [\"{extends}\"]\n")));
        assert!(
            told.contains("covers the workspace itself"),
            "{extends}: {told}"
        );
    }
}

/// The person's own files may build on any others; what of them lies in the workspace is guarded there.
#[test]
fn x70_a_person_extends_what_they_like() {
    let home = Workspace::new()
        .file(
            "config.toml",
            "extends = [\"more/*.toml\", \"~/own.toml\", \"link.toml\"]\n",
        )
        .file("more/a.toml", tool("a", ""))
        .file("own.toml", tool("b", ""))
        .file("target.toml", "[llm]\nmodel = \"m\"\nkey_env = \"K\"\n");
    std::os::unix::fs::symlink("target.toml", home.path("link.toml")).expect("a link");
    let workspace = Workspace::new();
    let mut sources = workspace.sources();
    sources.home = Some(home.root().to_owned());
    sources.user_config = Some(home.path("config.toml"));
    let config = load(&sources)
        .unwrap_or_else(|errors| panic!("{errors}"))
        .config;
    assert!(config.tool("a").is_some() && config.tool("b").is_some());
    assert!(config.llm.is_some());
    // An extended file has no more to say than the one that names it.
    let own = "[llm]\nmodel = \"m\"\nkey_env = \"K\"\n";
    let told = errors(&Workspace::with("extends = [\"c/llm.toml\"]\n").file("c/llm.toml", own));
    assert!(told.contains("key_env"), "{told}");
    // A pattern that covers the workspace would make configuration of what tools write.
    let above = workspace.root().parent().expect("a parent");
    let outside = Workspace::new().file("x.toml", format!("extends = [\"{above}/**/*.toml\"]\n"));
    let mut sources = workspace.sources();
    sources.files.push(outside.path("x.toml"));
    let told = match load(&sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors.to_string(),
    };
    assert!(told.contains("covers the workspace itself"), "{told}");
}

/// Whatever is loaded can't be changed by any tool, and nothing new can come to be loaded.
#[test]
fn x70_no_tool_changes_what_is_extended() {
    let open = "[tools.w]\nsource = \"local\"\ncommand = \"make\"\n\
                [[tools.w.access.fs]]\npath = \".\"\nread = true\nwrite = true\n\
                [[tools.w.access.fs]]\npath = \"conf\"\nread = true\nwrite = true\n\
                [[tools.w.access.fs]]\npath = \"later\"\nread = true\nwrite = true\n";
    let workspace = Workspace::with(&format!(
        "extends = [\"conf/a.toml\", \"conf/parts/**/*.toml\", \"later/*.toml\"]\n{open}"
    ))
    .file("conf/a.toml", "")
    .file("conf/parts/deep/b.toml", "")
    .file("conf/other.txt", "");
    let config = workspace.config();
    let tree = jig_policy::Workspace::on_disk(workspace.root().to_owned()).expect("the workspace");
    let policy = config
        .policy(config.tool("w").expect("the tool"), &tree)
        .expect("a policy");
    let check = |path: &str, capability: Capability, expected: bool| {
        let resolved = tree.resolve(path).expect("a path");
        let allowed = policy.decide_fs(capability, &resolved).is_allowed();
        assert_eq!(allowed, expected, "{capability:?} {path}");
    };
    for path in [
        "conf/a.toml",
        "conf/parts/deep/b.toml",
        "conf/parts/new.toml",
        "conf/parts/deep/new/x.toml",
        "later/x.toml",
    ] {
        for capability in [Capability::Create, Capability::Update, Capability::Delete] {
            check(path, capability, false);
        }
    }
    check("conf/parts/deep/b.toml", Capability::Read, true);
    check("conf/other.txt", Capability::Update, true);
    check("conf/new.txt", Capability::Create, true);
    // Nor is it moved away.
    check("conf/parts", Capability::Delete, false);
    check("conf", Capability::Delete, false);
}

/// Links of the person's own: one that leads into the workspace has its real place guarded there, also in a folder in
/// which a pattern begins; and no file of the workspace is reached through a link that a tool could exchange.
#[test]
fn x70_links_of_the_person_open_nothing() {
    let open = "[tools.w]\nsource = \"local\"\ncommand = \"make\"\n\
                [[tools.w.access.fs]]\npath = \".\"\nread = true\nwrite = true\n";
    let workspace = Workspace::with(open)
        .file("dot/rules.toml", "")
        .file("ci/jig.toml", "extends = [\"conf/x.toml\"]\n")
        .file("gen/x.toml", "");
    let home = Workspace::new()
        .file("config.toml", "extends = [\"conf.d/*.toml\"]\n")
        .file("conf.d/a.toml", "");
    let link = home.path("conf.d/rules.toml");
    std::os::unix::fs::symlink(workspace.path("dot/rules.toml"), link).expect("a link");
    let mut sources = workspace.sources();
    sources.user_config = Some(home.path("config.toml"));
    let config = load(&sources)
        .unwrap_or_else(|errors| panic!("{errors}"))
        .config;
    let tree = jig_policy::Workspace::on_disk(workspace.root().to_owned()).expect("the workspace");
    let policy = config
        .policy(config.tool("w").expect("the tool"), &tree)
        .expect("a policy");
    let rules = tree.resolve("dot/rules.toml").expect("a path");
    assert!(!policy.decide_fs(Capability::Update, &rules).is_allowed());
    std::os::unix::fs::symlink("../gen", workspace.path("ci/conf")).expect("a link");
    let mut sources = workspace.sources();
    sources.files.push(workspace.path("ci/jig.toml"));
    let told = match load(&sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors.to_string(),
    };
    assert!(told.contains("symbolic link"), "{told}");
}

/// The same for a file that is given through a link to the workspace, or to a folder in it.
#[test]
fn x70_a_path_that_leads_into_the_workspace_counts_as_one_inside() {
    let open = "[tools.w]\nsource = \"local\"\ncommand = \"make\"\n\
                [[tools.w.access.fs]]\npath = \".\"\nread = true\nwrite = true\n";
    let workspace = Workspace::with(open)
        .file("ci/far.toml", "extends = [\"conf/x.toml\"]\n")
        .file("ci/near.toml", "extends = [\"more/*.toml\"]\n")
        .file("ci/more/y.toml", "")
        .file("gen/x.toml", "");
    std::os::unix::fs::symlink("../gen", workspace.path("ci/conf")).expect("a link");
    std::os::unix::fs::symlink("near.toml", workspace.path("ci/link.toml")).expect("a link");
    let home = Workspace::new()
        .file("all.toml", "extends = [\"w/ci/conf/x.toml\"]\n")
        .file("some.toml", "extends = [\"ci/conf/*.toml\"]\n");
    std::os::unix::fs::symlink(workspace.root(), home.path("w")).expect("a link");
    std::os::unix::fs::symlink(workspace.path("ci"), home.path("ci")).expect("a link");
    let with = |file: &str| {
        let mut sources = workspace.sources();
        sources.files.push(home.path(file));
        load(&sources)
    };
    // A tool could have `ci/conf` lead elsewhere.
    for file in ["w/ci/far.toml", "ci/far.toml", "all.toml", "some.toml"] {
        let told = match with(file) {
            Ok(_) => panic!("{file} loads"),
            Err(errors) => errors.to_string(),
        };
        assert!(told.contains("symbolic link"), "{file}: {told}");
    }
    let config = with("ci/link.toml")
        .unwrap_or_else(|errors| panic!("{errors}"))
        .config;
    let tree = jig_policy::Workspace::on_disk(workspace.root().to_owned()).expect("the workspace");
    let policy = config
        .policy(config.tool("w").expect("the tool"), &tree)
        .expect("a policy");
    for (path, capability) in [
        ("ci/link.toml", Capability::Delete),
        ("ci/near.toml", Capability::Update),
        ("ci/more/new.toml", Capability::Create),
    ] {
        // The link itself, where it is one.
        let place = jig_policy::ResolvedPath::from_handle(
            jig_proto::ProjectPath::normalize(path).expect("a path"),
        );
        let decision = policy.decide_fs(capability, &place);
        assert!(!decision.is_allowed(), "{path}");
    }
}

#[test]
fn x70_depth_number_and_size_are_bounded() {
    let mut workspace = Workspace::with("extends = [\"c/0.toml\"]\n");
    for index in 0..20 {
        workspace = workspace.file(
            &format!("c/{index}.toml"),
            format!("extends = [\"{}.toml\"]\n", index + 1),
        );
    }
    let told = errors(&workspace);
    assert!(told.contains("more than 16 levels"), "{told}");
    let few = || Workspace::with("extends = [\"c/*.toml\"]\n").file("c/0.toml", "");
    let mended = |workspace: &Workspace| {
        let wrong = workspace.load().expect_err("it is too much");
        follow_all(&wrong, &few().load().expect("it is little"));
    };
    mended(&workspace);

    let mut workspace = Workspace::with("extends = [\"c/*.toml\"]\n");
    for index in 0..1002 {
        workspace = workspace.file(&format!("c/{index}.toml"), "");
    }
    let told = errors(&workspace);
    assert!(told.contains("more than 1000 files"), "{told}");
    mended(&workspace);

    let mut workspace = Workspace::with("extends = [\"c/*.toml\"]\n");
    for index in 0..6 {
        workspace = workspace.file(&format!("c/{index}.toml"), "#".repeat(3 * 1024 * 1024));
    }
    let told = errors(&workspace);
    assert!(told.contains("more than 16 MiB"), "{told}");
    mended(&workspace);

    let workspace = Workspace::with("extends = [\"many/**/a.toml\"]\n");
    std::fs::create_dir(workspace.path("many")).expect("a folder");
    for index in 0..20_001 {
        std::fs::File::create(workspace.path(&format!("many/{index}"))).expect("a file");
    }
    let told = errors(&workspace);
    assert!(told.contains("more than 20000 names"), "{told}");
    mended(&workspace);
}

#[test]
fn only_files_extend() {
    let workspace = Workspace::new();
    let mut sources = workspace.sources();
    sources.sets.push("extends=[\"x.toml\"]".to_owned());
    let told = match load(&sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors.to_string(),
    };
    assert!(told.contains("only a file can extend others"), "{told}");
    let wrong = load(&sources).expect_err("it is no file");
    let right = Workspace::with("extends = [\"x.toml\"]\n").file("x.toml", "");
    follow_all(&wrong, &right.load().expect("a file extends"));
}

#[test]
fn what_a_pattern_finds_and_is_no_toml_is_named() {
    let workspace = Workspace::with("extends = [\"c/**/*\"]\n")
        .file("c/a.toml", tool("a", ""))
        .file("c/b.json", "{}");
    let loaded = workspace.load().unwrap_or_else(|errors| panic!("{errors}"));
    assert!(loaded.config.tool("a").is_some());
    let told: Vec<&str> = loaded.warnings.iter().map(|one| one.message()).collect();
    assert!(
        told.contains(&"`c/b.json` is not extended: jig reads TOML only"),
        "{told:?}"
    );
}
