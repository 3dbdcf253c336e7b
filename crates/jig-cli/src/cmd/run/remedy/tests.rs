use super::{advice, of_hint};

fn check(hint: &str, expected: &str) {
    let flags = of_hint(hint).map(|flags| flags.join(" "));
    assert_eq!(flags.as_deref(), Some(expected), "{hint}");
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
        of_hint("[tools.x.access.commands.git]\nargs = [[\"log\"]]\n"),
        None
    );
    assert_eq!(of_hint("[tools.x]\nrepeatable = true\n"), None);
    assert_eq!(of_hint("not TOML"), None);
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
