use jig_config::{AddedFs, AddedNet, Preset};

use super::*;
use crate::import::declared::ClientFileScope;
use crate::import::filled_text::ImportText;

fn server(name: &str, command: &[&str]) -> ImportedServer {
    ImportedServer {
        name: name.to_owned(),
        original: name.to_owned(),
        from: "~/.claude.json".to_owned(),
        scope: ClientFileScope::User,
        reach: EntryReach::Program {
            command: command.iter().map(|word| ImportText::plain(word)).collect(),
            env: Vec::new(),
            passed: Vec::new(),
        },
        enable: true,
        tools: Vec::new(),
        hide: Vec::new(),
        start: None,
        time: None,
        exports: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn an_entry() {
    let read = FileCapabilities::just(Capability::Read);
    let rule = |path: &str, capabilities| AddedFs {
        path: path.to_owned(),
        capabilities,
        comment: vec!["why\nnot".to_owned()],
    };
    let added = |path: &str, execute| AddedSystem {
        path: path.to_owned(),
        write: false,
        execute,
        comment: vec!["used".to_owned()],
    };
    let access = Additions {
        command: None,
        fs: vec![
            rule(".", read),
            rule("out", FileCapabilities::ALL),
            rule("no", FileCapabilities::NONE),
        ],
        net: vec![AddedNet {
            host: "example.com".to_owned(),
            scheme: Some("https".to_owned()),
            port: Some(444),
            path_prefix: None,
            comment: Vec::new(),
        }],
        system: vec![added("/opt/a", false), added("~/b", true)],
        presets: vec![Preset::Node],
    };
    let text = of(&server("a-b", &["npx", "x \"y\"\n\u{202e}"]), &access);
    insta::assert_snapshot!(text, @r#"
    # from `~/.claude.json`
    [mcp.servers.a-b]
    command = "npx"
    args = ["x \"y\"\n\U0000202E"]

    [mcp.servers.a-b.sandbox]
    presets = ["node"]
    system = [
        # used
        "/opt/a",
        # used
        { path = "~/b", execute = true },
    ]

    # why\nnot
    [[mcp.servers.a-b.access.fs]]
    path = "."
    read = true

    # why\nnot
    [[mcp.servers.a-b.access.fs]]
    path = "out"
    read = true
    write = true
    execute = true

    # why\nnot
    [[mcp.servers.a-b.access.fs]]
    path = "no"

    [[mcp.servers.a-b.access.net]]
    host = "example.com"
    scheme = "https"
    port = 444
    allow = true
    "#);
}

#[test]
fn entries_go_to_the_end_of_a_file() {
    let block = of(&server("one", &["x"]), &Additions::default());
    let check = |before: &str, expected: Option<&str>| {
        let after = appended(before, std::slice::from_ref(&block));
        assert_eq!(after.as_deref(), expected, "{before:?}");
    };
    let entry = "# from `~/.claude.json`\n[mcp.servers.one]\ncommand = \"x\"\n";
    check("", Some(entry));
    check("a = 1\n", Some(&format!("a = 1\n\n{entry}")));
    check(
        "[mcp.servers.two]\ncommand = \"y\"",
        Some(&format!("[mcp.servers.two]\ncommand = \"y\"\n\n{entry}")),
    );
    check(
        "# only\r\n",
        Some(&format!("# only\r\n\r\n{}", entry.replace('\n', "\r\n"))),
    );
    // Tables that are closed take no more.
    check("mcp = {}\n", None);
    check("mcp.servers = { two = { command = \"y\" } }\n", None);
    check("[mcp.servers.one]\ncommand = \"y\"\n", None);
    check("not toml", None);
}

#[test]
fn any_text_is_written_as_it_is() {
    for text in [
        "",
        "plain",
        "\"\\\u{7f}\u{0}\r\n\t",
        "'''",
        "\"\"\"",
        "ä\u{1f600}\u{200b}\u{feff}",
        "# no comment",
    ] {
        let written = format!("a = {}", toml_string(text));
        assert!(
            !written.contains(['\n', '\r', '\u{7f}', '\u{200b}']),
            "{written:?}"
        );
        let read: Map<String, Json> = toml::from_str(&written).unwrap();
        assert_eq!(read["a"], Json::from(text));
    }
}
