use jig_policy::{CommandProgram, CommandTarget, EnvTarget, EnvUse, NetTarget};

use super::{ApprovableTarget, ApprovalKey, Approvals};

fn url(text: &str) -> NetTarget {
    NetTarget::parse(text).unwrap()
}

fn command(args: &[&str]) -> CommandTarget {
    CommandTarget {
        program: CommandProgram::Name("git".to_owned()),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    }
}

#[test]
fn an_approval_covers_its_tool_and_target_only() {
    let approvals = Approvals::new();
    approvals.remember(ApprovalKey::of("a", &url("https://x.test/one?q=1")));
    let check = |tool, text, expected| {
        let key = ApprovalKey::of(tool, &url(text));
        assert_eq!(approvals.has(&key), expected, "{tool} {text}");
    };
    check("a", "https://x.test/two", true);
    check("a", "https://x.test:443/", true);
    check("a", "http://x.test/one", false);
    check("a", "https://x.test:444/one", false);
    check("a", "https://y.test/one", false);
    check("b", "https://x.test/one", false);
    approvals.clear();
    check("a", "https://x.test/two", false);
}

#[test]
fn arguments_cannot_be_joined_into_an_approved_command() {
    let approvals = Approvals::new();
    approvals.remember(ApprovalKey::of("a", &command(&["log", "-1"])));
    assert!(approvals.has(&ApprovalKey::of("a", &command(&["log", "-1"]))));
    assert!(!approvals.has(&ApprovalKey::of("a", &command(&["log -1"]))));
    assert!(!approvals.has(&ApprovalKey::of("a", &command(&["log"]))));
}

#[test]
fn uses_of_a_variable_are_apart() {
    let target = |wanted| EnvTarget {
        wanted,
        name: "TOKEN".to_owned(),
    };
    let approvals = Approvals::new();
    approvals.remember(ApprovalKey::of("a", &target(EnvUse::Header)));
    assert!(!approvals.has(&ApprovalKey::of("a", &target(EnvUse::Read))));
}

#[test]
fn a_url_is_shown_without_its_query() {
    assert_eq!(
        url("https://x.test/a?token=1#z").shown(),
        "https://x.test/a?…"
    );
    assert_eq!(url("https://x.test/a").shown(), "https://x.test/a");
}
