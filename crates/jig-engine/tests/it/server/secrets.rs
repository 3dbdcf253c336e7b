//! Values that are filled in: where they come from, and where they never go.

use jig_engine::CallError;

use crate::server::World;

const TOKEN: &str = "tok-0123456789abcdef";

/// A server that is given a secret by a variable and one by a command.
fn world() -> World {
    let settings = "env = { TOKEN = '${SERVICE_TOKEN}', PASSWORD = { command = ['sh', '-c', 'echo pw-$((98765431 + 1))'] }, \
                    LEVEL = '${LEVEL:-debug}', PRICE = '$$5' }\n";
    World::new(settings)
        .variable("SERVICE_TOKEN", TOKEN)
        .variable("OTHER", "not for it")
}

#[test]
fn the_server_gets_them() {
    let mut talk = world().start();
    assert_eq!(talk.ask("variable TOKEN"), format!("ok {TOKEN}"));
    assert_eq!(talk.ask("variable PASSWORD"), "ok pw-98765432");
    assert_eq!(talk.ask("variable LEVEL"), "ok debug");
    assert_eq!(talk.ask("variable PRICE"), "ok $5");
    assert!(talk.ask("variable SERVICE_TOKEN").starts_with("error "));
    assert!(talk.ask("variable OTHER").starts_with("error "));
}

#[test]
fn arguments_are_filled_in_and_are_no_templates() {
    let world = World::new(
        "command = ['sh', '-c', 'read line; echo \"$1|$2\"', 'sh', 'a${WORD}b', '{{x}} $$']\n",
    );
    let world = world.variable("WORD", "{{ word $HOME }}");
    assert_eq!(world.start().ask(""), "a{{ word $HOME }}b|{{x}} $");
}

#[test]
fn nobody_else_sees_them() {
    let world = world();
    let engine = world.engine();
    let server = engine.config().server("srv").unwrap();
    let filled = engine.fill_server(server).unwrap();
    assert_eq!(filled.secrets, [TOKEN, "pw-98765432"]);
    let mut shown = format!("{filled:?} {server:?}");

    let mut talk = world.start();
    let mark = talk.process.mark();
    talk.ask(&format!(
        "complain I was given {TOKEN} and pw-98765432 at debug"
    ));
    let words = talk.process.last_words();
    assert_eq!(words, "I was given [REDACTED] and [REDACTED] at debug");
    talk.ask(&format!("read /etc/{TOKEN}"));
    talk.ask(&format!("write {}/other/{TOKEN}", world.folder));
    talk.ask(&format!("lookup {TOKEN}.example"));
    let denials = talk.process.refused_since(&mark);
    assert!(denials.len() >= 2, "{denials:#?}");
    assert_eq!(
        talk.process.scrub(&format!("a {TOKEN} b")),
        "a [REDACTED] b"
    );
    assert_eq!(talk.process.scrub("nothing"), "nothing");
    shown.push_str(&format!(
        "{denials:?} {:?} {:?}",
        talk.process,
        talk.process.warnings()
    ));
    drop(talk);
    shown.push_str(&format!("{:?}", world.audit.lines()));
    for secret in [TOKEN, "pw-98765432"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// A secret in pieces, or with colours in it, does not get through either.
#[test]
fn pieces_of_them_are_not_seen_either() {
    let mut talk = world().start();
    let (front, back) = TOKEN.split_at(9);
    assert_eq!(talk.ask(&format!("say {front}")), "ok ");
    assert_eq!(talk.process.last_words(), "");
    assert_eq!(talk.ask(&format!("say {back}.")), "ok ");
    assert_eq!(talk.process.last_words(), "[REDACTED].");
    assert_eq!(talk.ask(&format!("say {front}\u{1b}[1m{back}.")), "ok ");
    assert_eq!(talk.process.last_words(), "[REDACTED].[REDACTED].");
}

/// The error names what is missing and where that was written, and no value.
#[test]
fn what_is_missing_is_named() {
    let check = |settings: &str, expected: &[&str]| {
        let world = World::new(settings).variable("SERVICE_TOKEN", TOKEN);
        let error = match world.try_start() {
            Err(error @ CallError::Server { .. }) => format!("{error} {error:?}"),
            other => panic!("{:?}", other.err()),
        };
        for part in expected {
            assert!(error.contains(part), "{part} in {error}");
        }
        assert!(!error.contains(TOKEN), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    };
    check(
        "env = { A = '${SERVICE_TOKEN}', B = '${MISSING_TOKEN}' }\n",
        &["`srv`", "`env.B`", "user.toml:4", "`MISSING_TOKEN`"],
    );
    check(
        "command = ['sh', '-c', '${MISSING_TOKEN}']\n",
        &["user.toml:2", "`MISSING_TOKEN`"],
    );
    check(
        "env.A = { command = ['sh', '-c', 'echo hunter2; exit 4'] }\n",
        &["`env.A`", "user.toml:4", "exited with code 4"],
    );
    check(
        "env.A = { command = ['no-such-vault'] }\n",
        &["`env.A`", "no-such-vault"],
    );
    // A program that is not found is named, but for the secret in it.
    check(
        "command = ['${SERVICE_TOKEN}-server']\n",
        &["[REDACTED]-server", "not found"],
    );
}

/// A secret that somebody wrote out is none the less one.
#[test]
fn what_is_written_out_is_kept_out_too() {
    let world = World::new(
        "env = { API_KEY = 'sk-proj-abcdefghijklmnopqrstuvwx0123', MODE = 'production' }\n",
    );
    let mut talk = world.start();
    talk.ask("complain sk-proj-abcdefghijklmnopqrstuvwx0123 production");
    assert_eq!(talk.process.last_words(), "[REDACTED] production");
}

/// What is filled in must not lead elsewhere than what was written may.
#[test]
fn a_url_is_checked_once_more_when_it_is_filled_in() {
    for host in ["u:p@mcp.example", "mcp.example/#"] {
        let world = World::new("url = 'https://${HOST}/mcp'\n").variable("HOST", host);
        let engine = world.engine();
        let error = engine.fill_server(engine.config().server("srv").unwrap());
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("`url`") && error.contains("user.toml:2"),
            "{error}"
        );
        assert!(!error.contains(host), "{error}");
    }
}

/// What is needed to reach a remote server is filled in the same way.
#[test]
fn remote_servers() {
    let world = World::new(
        "url = 'https://${HOST}/mcp'\nheaders = { Authorization = 'Bearer ${SERVICE_TOKEN}' }\n",
    );
    let world = world
        .variable("SERVICE_TOKEN", TOKEN)
        .variable("HOST", "mcp.example");
    let engine = world.engine();
    let filled = engine
        .fill_server(engine.config().server("srv").unwrap())
        .unwrap();
    assert_eq!(filled.url.as_deref(), Some("https://mcp.example/mcp"));
    let header = ("Authorization".to_owned(), format!("Bearer {TOKEN}"));
    assert_eq!(filled.headers, [header]);
    assert_eq!(filled.command, [""; 0]);
    assert_eq!(filled.secrets, ["mcp.example", TOKEN]);
}
