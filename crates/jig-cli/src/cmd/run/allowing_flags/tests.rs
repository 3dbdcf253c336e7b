use camino::Utf8Path;

use super::{FlagContext, advice, of_hint};

fn check(hint: &str, expected: &str) {
    check_in("/ws", hint, expected);
}

fn check_in(current: &str, hint: &str, expected: &str) {
    let flags = of_hint(hint, at(current)).map(|flags| {
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        flags.join(" ")
    });
    assert_eq!(flags.as_deref(), Some(expected), "{hint}");
}

fn at(current: &str) -> FlagContext<'_> {
    FlagContext {
        root: Utf8Path::new("/ws"),
        current: Utf8Path::new(current),
    }
}

#[test]
fn paths_are_meant_from_where_the_command_is_started() {
    let hint =
        |path: &str| format!("[[tools.jig-run.access.fs]]\npath = \"{path}\"\nread = true\n");
    let check = |current, path, expected: &str| check_in(current, &hint(path), expected);
    check("/ws/sub", ".env", "--read ../.env");
    check("/ws/sub", ".", "--read ..");
    check("/ws/sub", "sub", "--read .");
    check("/ws/sub/deep", "sub/other", "--read ../other");
    check("/ws/sub", "sub/deep/x", "--read deep/x");
    check("/ws", "-x", "--read ./-x");
    check("/elsewhere", ".env", "--read /ws/.env");
}

#[test]
fn every_kind_of_rule_has_its_flag() {
    check(
        "[[tools.jig-run.access.fs]]\npath = \".\"\nread = true\nwrite = true\nexecute = true\n\n\
         [[tools.jig-run.access.fs]]\npath = \".env\"\nread = true\n",
        "--write . --read .env",
    );
    check(
        "[[tools.jig-run.access.net]]\nhost = \"example.com\"\nallow = true\n",
        "--net example.com",
    );
    check(
        "[[tools.jig-run.access.net]]\nhost = \"::1\"\nport = 80\nallow = true\n",
        "--net [::1]:80",
    );
    check(
        "[[tools.jig-run.access.net]]\nhost = \"h\"\nscheme = \"ssh\"\nallow = true\n",
        "--net ssh://h",
    );
    check(
        "[[tools.jig-run.access.net]]\nhost = \"h\"\nscheme = \"http\"\npath_prefix = \"/v1\"\nallow = true\n",
        "--net http://h/v1",
    );
    check(
        "[tools.jig-run.sandbox]\nsystem = [\"~/my data\", { path = \"/srv/x\", write = true }]\n\
         presets = [\"rust\"]\n\n[tools.jig-run.sandbox.limits]\nfile_size = \"2GiB\"\nprocesses = 8\n",
        "--read ~/'my data' --write /srv/x --preset rust --file-size 2GiB --processes 8",
    );
    check(
        "[[tools.jig-run.access.env]]\nname = \"TOKEN\"\nread = true\n",
        "--env TOKEN",
    );
}

#[test]
fn a_hint_that_says_more_is_not_cut() {
    assert_eq!(
        of_hint(
            "[tools.x.access.commands.git]\nargs = [[\"log\"]]\n",
            at("/ws")
        ),
        None
    );
    assert_eq!(of_hint("[tools.x]\nrepeatable = true\n", at("/ws")), None);
    assert_eq!(of_hint("not TOML", at("/ws")), None);
}

#[test]
fn an_advice_on_the_configuration_is_one_on_flags() {
    let text = "no rule is offered; if that is meant, add \"~/.bashrc\" to `sandbox.system`";
    let expected = "no rule is offered; if that is meant, run it with --read ~/.bashrc";
    assert_eq!(advice(text), expected);
    assert_eq!(
        advice("write into the workspace"),
        "write into the workspace"
    );
    let odd = "add \"a\\\"b\" to `sandbox.system`";
    assert_eq!(advice(odd), odd);
}
