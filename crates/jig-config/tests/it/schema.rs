//! The JSON Schema: committed, valid, and of one mind with the loader.

use camino::Utf8PathBuf;
use jig_config::{Sources, json_schema, load};
use jsonschema::Validator;
use serde_json::Value as Json;

use crate::workspace::Workspace;

fn repository() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&json_schema()).expect("the schema is valid")
}

fn to_json(toml: &str) -> Json {
    toml::from_str(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let path = repository().join("schema/jig.schema.json");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let current = format!("{:#}\n", json_schema());
    assert!(
        committed == current,
        "{path} is out of date: run `cargo xtask generate`"
    );
}

#[test]
fn the_schema_follows_its_own_draft() {
    let schema = json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    // Every key of every table says what it is for.
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        assert_eq!(definition["additionalProperties"], false, "{name}");
        for (key, property) in definition["properties"].as_object().expect("properties") {
            let described = property["description"]
                .as_str()
                .is_some_and(|text| text.ends_with('.'));
            assert!(described, "{name}.{key}");
        }
    }
}

#[test]
fn every_default_of_the_schema_is_valid() {
    let schema = json_schema();
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        for (key, property) in definition["properties"].as_object().expect("properties") {
            let Some(default) = property.get("default") else {
                continue;
            };
            assert!(!default.is_null(), "{name}.{key}");
            let mut alone = property.clone();
            alone["$defs"] = schema["$defs"].clone();
            let validator = jsonschema::draft202012::new(&alone).expect("a schema");
            assert!(validator.is_valid(default), "{name}.{key}");
        }
    }
}

#[test]
fn every_example_loads_without_a_word_and_is_valid() {
    let validator = validator();
    let mut count = 0;
    let folders = std::fs::read_dir(repository().join("examples")).expect("the examples");
    for folder in folders {
        let folder =
            Utf8PathBuf::from_path_buf(folder.expect("an entry").path()).expect("a UTF-8 path");
        if !folder.join("jig.toml").is_file() {
            continue;
        }
        let text = std::fs::read_to_string(folder.join("jig.toml")).expect("a file");
        assert!(
            text.starts_with("#:schema ../../schema/jig.schema.json\n"),
            "{folder}"
        );
        let loaded =
            load(&Sources::new(&folder)).unwrap_or_else(|errors| panic!("{folder}: {errors}"));
        let warnings: Vec<String> = loaded
            .warnings
            .iter()
            .map(|one| one.render(false))
            .collect();
        assert!(warnings.is_empty(), "{folder}: {}", warnings.join("\n"));
        if let Err(error) = validator.validate(&to_json(&text)) {
            panic!("{folder}: {error} at {}", error.instance_path());
        }
        count += 1;
    }
    assert!(count >= 6, "only {count} examples were found");
}

/// The whole tools that the documentation shows.
#[test]
fn what_the_documentation_shows_loads_without_a_word() {
    let mut count = 0;
    for file in ["configuration.md", "stateful-tools.md"] {
        let text = std::fs::read_to_string(repository().join("docs").join(file)).expect(file);
        let blocks = text.split("```toml\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split_once("```").map(|(block, _)| block));
        for block in blocks.filter(|block| block.contains("\nsource = ")) {
            let loaded = Workspace::with(block).load();
            let loaded = loaded.unwrap_or_else(|errors| panic!("{file}: {errors}"));
            assert!(loaded.warnings.is_empty(), "{file}: {block}");
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} tools were found");
}

#[test]
fn the_built_in_layer_is_valid() {
    let text = include_str!("../../src/built-in.toml");
    assert!(validator().is_valid(&to_json(text)));
}

#[test]
fn the_schema_and_the_loader_agree() {
    let validator = validator();
    let check = |good: bool, lines: &str| {
        let toml = match lines.starts_with('[') {
            true => lines.to_owned(),
            false => format!("[tools.a]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n"),
        };
        let loads = Workspace::with(&toml).load();
        let valid = validator.is_valid(&to_json(&toml));
        assert_eq!(loads.is_ok(), good, "the loader: {lines}");
        assert_eq!(valid, good, "the schema: {lines}");
    };
    for good in [
        "",
        "enable = \"always\"",
        "enable = { state = \"off\", allow_toggle = \"never\" }",
        "run = \"edit\"",
        "run = { spawn = \"ask\", fetch = \"unattended\", apply = \"edit\", abort = \"skip\" }",
        "stateful = true",
        "stateful = [\"spawn\", \"fetch\"]",
        "terminal = true",
        "terminal = { rows = 500, cols = 1000 }",
        "notices = false",
        "notices = [\"stopped\", \"state_waiting\"]",
        "questions.q.remember = true",
        "[tools.'*']\nnotices = [\"waiting\"]",
        "[kb.topic.a]\nsubjects = \"docs\"\nenable = false\nlearned = [\"a/**\"]\ndisabled = { value = [\"b\"] }",
        "examples = \"one\"",
        "examples = [\"one\", \"two\"]",
        "options = { anything = [1, { goes = true }] }",
        "style = { anything = 1 }",
        "access.fs = [{ path = \".\", read = true }]",
        "access.fs = { strategy = \"prepend\", value = [{ path = \"src\" }], dedup = true }",
        "access.fs = { value = [] }",
        "access.net = [{ host = \"a.de\", port = 1 }, { host = \"a.de\", port = 65535 }]",
        "access.env = [{ name = \"A_*\", header = true }]",
        "access.commands = { git = { args = [[\"log\"], []], envs = [\"A\"] }, cargo = {} }",
        "sandbox.system = [\"/opt\", { path = \"~/x\", write = true }]",
        "sandbox = { enforce = \"required\", sensitive_paths = [\"x\"] }",
        "input = \"stdin\"",
        "size_threshold = 4096",
        "size_threshold = \"256 KiB\"",
        "sandbox.presets = [\"rust\", \"git\"]",
        "sandbox.presets = { strategy = \"replace\", value = [] }",
        "sandbox.limits = { processes = 64, memory = \"512MiB\", time = \"10m\" }",
        "sandbox.limits = { memory = false, time = \"none\", descriptors = true, output = 4096 }",
        "sandbox.network = { allow = [\"https://a.de\"], envs = [\"A\"] }",
        "parameters.a = { type = [\"string\", \"null\"], items = { type = \"object\", properties = { b = { required = true } } } }",
        "questions.q = { target = \"user\", answer = { any = 1 } }",
        "[tools.'*']\nrun = \"ask\"",
        "[conversation.tools.a]\nsource = \"mcp.web.search\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
        "[tools.a]\nsource = \"local.x\"\nwasm = \"a.wasm\"",
        "[mcp.servers.s]\ncommand = \"x\"\nargs = [\"a\", \"${B}\"]\nenv = { A = \"${B:-c}\" }\nidle = \"never\"",
        "[tools.a]\nsource = \"local\"\ncommand = [\"make\", \"a b\"]",
        "[mcp.servers.s]\ncommand = [\"x\", \"y\"]\nidle = false\nstart = 5\ntools = [\"a*\"]\nhide = [\"b\"]",
        "[mcp.servers.s]\nurl = \"https://a.example\"\nheaders = { X-Key = \"${K}\" }\ndefinitions = \"follow\"",
        "[providers.mcp.s]\ntype = \"stdio\"\ncommand = \"x\"\narguments = []\nvariables = [\"A\"]\noptional = true",
        "[mcp.servers.s]\ncommand = \"x\"\nrun = \"ask\"\naccess.fs = [{ path = \".\", read = true }]\nprefix = \"\"",
    ] {
        check(true, good);
    }
    for bad in [
        "[kb.topic.a]\nsubjects = \"/docs\"",
        "[kb.topic.a]\nsubjects = \"docs\"\nlearned = [\"/a\"]",
        "[kb.topic.a]\nsubjects = \"docs\"\nother = 1",
        "[kb.topics.a]\nsubjects = \"docs\"",
        "stateful = \"spawn\"",
        "stateful = [\"start\"]",
        "stateful = 1",
        "terminal = \"80x24\"",
        "terminal = { rows = 0 }",
        "terminal = { rows = 501 }",
        "terminal = { cols = 1001 }",
        "terminal = { width = 80 }",
        "notices = \"stopped\"",
        "notices = [\"running\"]",
        "run = { spawn = \"always\" }",
        "run = { start = \"ask\" }",
        "run = [\"ask\"]",
        "questions.q.remember = \"yes\"",
        "[tools.'*']\nstateful = true",
        "[tools.'*']\nterminal = true",
        "unknown = 1",
        "enable = \"maybe\"",
        "enable = 1",
        "enable = { on = true }",
        "run = \"always\"",
        "run = true",
        "[tools.a]\nsource = \"local\"\ncommand = \"\"",
        "[tools.a]\nsource = \"local\"\ncommand = [5]",
        "examples = [1]",
        "options = 1",
        "summary = 1",
        "access = []",
        "access.fs = [{ read = true }]",
        "access.fs = [{ path = \"\" }]",
        "access.fs = [{ path = \".\", read = \"yes\" }]",
        "access.fs = [\".\"]",
        "access.fs = { path = \".\" }",
        "access.fs = { strategy = \"replace\" }",
        "access.fs = { strategy = \"merge\", value = [] }",
        "access.fs = { strategy = \"append\", value = 1 }",
        "access.net = [{ host = \"a.de\", port = 0 }]",
        "access.net = [{ host = \"a.de\", port = 65536 }]",
        "access.net = [{ allow = true }]",
        "access.env = [{ name = \"A*B\" }]",
        "access.env = [{ name = \"\" }]",
        "access.env = [{ name = \"A=B\" }]",
        "access.commands.git.args = [\"log\"]",
        "access.commands.git.envs = [\"A*\"]",
        "access.commands.git = true",
        "sandbox.system = [\"relative\"]",
        "sandbox.system = [{ write = true }]",
        "sandbox.enforce = \"never\"",
        "input = \"pipe\"",
        "input = true",
        "size_threshold = 10",
        "size_threshold = \"10\"",
        "size_threshold = true",
        "sandbox.presets = \"rust\"",
        "sandbox.presets = [\"java\"]",
        "sandbox.limits = 5",
        "sandbox.limits.memory = 512",
        "sandbox.limits.memory = \"512\"",
        "sandbox.limits.memory = 1.5",
        "sandbox.limits.time = 0",
        "sandbox.limits.time = 2592001",
        "sandbox.limits.processes = \"64\"",
        "sandbox.limits.cpu = 1",
        "[tools.'*']\ninput = \"stdin\"",
        "parameters.a.type = \"text\"",
        "parameters.a.required = \"yes\"",
        "parameters.a.unknown = 1",
        "questions.q.target = \"nobody\"",
        "[tools.'*']\nsource = \"local\"",
        "[tools.'a b']\nsource = \"local\"\ncommand = \"make\"",
        "[tools.a]\nsource = \"mcp\"",
        "[tools.a]\nsource = \"mcp..x\"",
        "[tools.a]\nsource = \"local.\"\ncommand = \"make\"",
        "[tools.a]\nsource = \"local\"\nwasm = \"/a.wasm\"",
        "[tool.a]\nsource = \"local\"",
        "[conversation]\ntitle = \"x\"",
        "[mcp.servers.'a.b']\ncommand = \"x\"",
        "[mcp.servers.1a]\ncommand = \"x\"",
        "[mcp.servers.s]\ncommand = 1",
        "[mcp.servers.s]\ncommand = \"x\"\nprefix = \"a b\"",
        "[mcp.servers.s]\ncommand = \"x\"\ndefinitions = \"ask\"",
        "[mcp.servers.s]\ncommand = \"x\"\nenv = { A = { file = \"x\" } }",
        "[mcp.servers.s]\nurl = \"https://a.example\"\nheaders = { 'a b' = \"c\" }",
        "[mcp.servers.s]\ncommand = \"x\"\nidle = 0",
        "[mcpServers.s]\ncommand = \"x\"",
        "[providers.llm]\nx = 1",
    ] {
        check(false, bad);
    }
}
