//! `[mcp]`: how the tools are served.

use std::time::Duration;

use jig_config::{AskWay, Config, McpConfig, load, show, show_json};

use crate::follow::follow_all;
use crate::mistakes::check as mistake;
use crate::workspace::Workspace;

fn settings(mcp: &McpConfig) -> (u64, u64, u64) {
    let seconds = |time: Duration| time.as_secs();
    (
        seconds(mcp.approval_wait),
        seconds(mcp.idle),
        mcp.link_above,
    )
}

fn mcp(toml: &str) -> (u64, u64, u64) {
    settings(&Workspace::with(toml).config().mcp)
}

const DEFAULTS: (u64, u64, u64) = (600, 1800, 65536);

#[test]
fn settings_and_their_defaults() {
    assert_eq!(mcp(""), DEFAULTS);
    assert_eq!(mcp("[mcp]"), DEFAULTS);
    assert_eq!(
        mcp("[mcp]\napproval_wait = \"90s\"\nidle = 60\nlink_above = \"1MiB\""),
        (90, 60, 1 << 20)
    );
    assert_eq!(mcp("mcp.idle = \"30m\""), DEFAULTS);
    assert_eq!(settings(&McpConfig::default()), DEFAULTS);
}

#[test]
fn mistakes_in_mcp() {
    mistake(
        "mcp_unknown_key",
        "[mcp]\ntimeout = 5",
        "[mcp]\napproval_wait = 5",
    );
    mistake(
        "mcp_wrong_values",
        "[mcp]\napproval_wait = false\nidle = \"30\"\nlink_above = 64",
        "[mcp]\napproval_wait = \"5m\"\nidle = \"30s\"\nlink_above = \"64KiB\"",
    );
    mistake(
        "mcp_raised_by_workspace",
        "[mcp]\napproval_wait = \"11m\"\nidle = \"2h\"",
        "[mcp]\napproval_wait = \"9m\"\nidle = \"20m\"",
    );
}

/// Who is asked is for the person to say. Whoever wants to be asked at the board is not asked by a client because a
/// project says so.
#[test]
fn a_workspace_does_not_undo_the_board() {
    let way = |toml: &str| Workspace::with(toml).config().mcp.ask;
    assert_eq!(way(""), AskWay::Both);
    assert_eq!(way("mcp.ask = \"client\""), AskWay::Client);
    assert_eq!(way("mcp.ask = \"board\""), AskWay::Board);
    let check = |user: &str, workspace: &str, expected: Result<AskWay, &str>| {
        let workspace = Workspace::new()
            .file("user.toml", user)
            .file("jig.toml", workspace);
        let mut sources = workspace.sources();
        sources.user_config = Some(workspace.path("user.toml"));
        match (load(&sources), expected) {
            (Ok(loaded), Ok(way)) => assert_eq!(loaded.config.mcp.ask, way),
            (Err(errors), Err(told)) => {
                assert!(errors.to_string().contains(told), "{errors}");
                // What the help says is a way out.
                std::fs::remove_file(workspace.path("jig.toml")).unwrap();
                sources.sets.push("mcp.ask=\"both\"".to_owned());
                let loaded = load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
                assert_eq!(loaded.config.mcp.ask, AskWay::Both);
                follow_all(&errors, &loaded);
            }
            (found, expected) => panic!("{expected:?}, but {:?}", found.map(|_| ())),
        }
    };
    let board = "mcp.ask = \"board\"";
    check(board, "", Ok(AskWay::Board));
    check(board, board, Ok(AskWay::Board));
    check("", board, Ok(AskWay::Board));
    check("mcp.ask = \"client\"", board, Ok(AskWay::Board));
    for other in ["mcp.ask = \"client\"", "mcp.ask = \"both\""] {
        check(board, other, Err("cannot have the client asked"));
    }
}

/// Whoever writes the project's files does not decide how long approvals of a person last.
#[test]
fn a_workspace_can_only_shorten() {
    let check = |user: &str, workspace: &str, expected: Result<(u64, u64), &str>| {
        let workspace = Workspace::new()
            .file("user.toml", user)
            .file("jig.toml", workspace);
        let mut sources = workspace.sources();
        sources.user_config = Some(workspace.path("user.toml"));
        let found = match load(&sources) {
            Ok(loaded) => {
                let (wait, idle, _) = settings(&loaded.config.mcp);
                Ok((wait, idle))
            }
            Err(errors) => Err(errors.problems()[0].key_path().to_owned()),
        };
        assert_eq!(found, expected.map_err(str::to_owned), "{user:?}");
    };
    check("", "mcp.idle = \"10m\"", Ok((600, 600)));
    check("", "mcp.idle = \"31m\"", Err("mcp.idle"));
    check("", "mcp.approval_wait = \"11m\"", Err("mcp.approval_wait"));
    check("mcp.idle = \"2h\"", "mcp.idle = \"1h\"", Ok((600, 3600)));
    check("mcp.idle = \"5m\"", "mcp.idle = \"6m\"", Err("mcp.idle"));
    check("mcp.idle = \"5m\"", "mcp.idle = \"1m\"", Ok((600, 60)));
    check("mcp.idle = \"5m\"", "", Ok((600, 300)));
    // How a result reaches a client is no secret and no right.
    check("", "mcp.link_above = \"1MiB\"", Ok((600, 1800)));
}

/// What the person says who starts jig stands above the workspace, in either direction.
#[test]
fn the_command_line_may_raise() {
    let workspace = Workspace::with("mcp.idle = \"1m\"");
    let mut sources = workspace.sources();
    sources.sets.push("mcp.idle=5h".to_owned());
    let loaded = load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(loaded.config.mcp.idle, Duration::from_secs(5 * 3600));
    assert_eq!(
        loaded.config.mcp.origin("idle").map(ToString::to_string),
        Some("--set".to_owned())
    );
}

/// The servers that JP asks are none of our business.
#[test]
fn the_table_of_jp_is_left_alone() {
    let workspace = Workspace::new().file(".jp/config.toml", "[mcp.servers.x]\ncommand = \"y\"");
    assert_eq!(settings(&workspace.config().mcp), DEFAULTS);
}

#[test]
fn mcp_is_shown() {
    let config = |toml: &str| -> Config { Workspace::with(toml).config() };
    let written = config("[mcp]\nidle = \"5m\"");
    let text = show(&written, true);
    let expected = "[mcp]\nidle = \"5m\"  # jig.toml:2\nask = \"both\"  # default\napproval_wait = \"10m\"  # default\n\
                    link_above = \"64KiB\"  # default\n";
    assert!(text.contains(expected), "{text}");
    let again = config(&show(&written, false));
    assert_eq!(settings(&again.mcp), settings(&written.mcp));
    let json = show_json(&written, true);
    assert_eq!(json["mcp"]["idle"], "5m");
    assert_eq!(json["mcp"]["link_above"], "64KiB");
    assert_eq!(json["origins"]["mcp.idle"]["line"], 2);
    assert_eq!(show_json(&config(""), true).get("mcp"), None);
    assert!(!show(&config(""), true).contains("[mcp]"));
}
