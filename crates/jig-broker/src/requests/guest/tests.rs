use std::sync::{Arc, Mutex};

use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredEnvRule, DeclaredNetRule, DefaultAccess, Guards, Policy, RuleOrigin,
    Workspace,
};

use crate::{AuditDecision, AuditEntry, AuditSink, Broker, BrokerParts};

#[derive(Debug, Default)]
struct Kept(Mutex<Vec<AuditEntry>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

fn broker(access: &DeclaredAccess, variables: &[(&str, &str)]) -> (Broker, Arc<Kept>) {
    let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let guards = Guards::default();
    let policy = Policy::compile(access, DefaultAccess::WASM, &guards, &workspace).unwrap();
    let audit = Arc::new(Kept::default());
    let parts = BrokerParts {
        env: variables.iter().copied().collect(),
        audit: Arc::clone(&audit) as Arc<dyn AuditSink>,
        ..BrokerParts::new("tool", "c1", files, Arc::new(policy))
    };
    (Broker::new(parts), audit)
}

#[test]
fn w022_a_guest_has_the_variables_that_rules_let_it_read() {
    let check = |rules: &[DeclaredEnvRule], expected: &[(&str, &str)]| {
        let access = DeclaredAccess {
            env: rules.to_vec(),
            ..DeclaredAccess::default()
        };
        let host = [
            ("ZED", "3"),
            ("APP_B", "2"),
            ("APP_A", "1"),
            ("HOME", "/root"),
            ("APP_NUL", "a\0b"),
        ];
        let (broker, _) = broker(&access, &host);
        let found = broker.give_variables();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected, "{rules:?}");
    };
    let rule = |name: &str, read| DeclaredEnvRule {
        name: name.to_owned(),
        read,
        header: false,
        origin: RuleOrigin::line("jig.toml", 3),
    };
    check(&[], &[]);
    check(&[rule("ZED", true)], &[("ZED", "3")]);
    check(&[rule("ZED", false)], &[]);
    check(&[rule("APP_*", true)], &[("APP_A", "1"), ("APP_B", "2")]);
    check(
        &[rule("APP_*", true), rule("APP_A", false)],
        &[("APP_B", "2")],
    );
    check(&[rule("HOME", true)], &[("HOME", "/root")]);
}

#[test]
fn x40_what_a_guest_was_given_is_not_for_transcripts() {
    let rule = |name: &str| DeclaredEnvRule {
        name: name.to_owned(),
        read: true,
        header: false,
        origin: RuleOrigin::line("jig.toml", 3),
    };
    let access = DeclaredAccess {
        env: vec![rule("TOKEN"), rule("HOME")],
        ..DeclaredAccess::default()
    };
    let host = [
        ("TOKEN", "hunter22"),
        ("HOME", "/home/u"),
        ("OTHER", "unseen"),
    ];
    let (broker, _) = broker(&access, &host);
    let text = "hunter22 in /home/u, unseen";
    let scrub = || broker.secrets().scrub_text(text.to_owned());
    assert_eq!(scrub(), text, "nothing was given yet");
    broker.give_variables();
    assert_eq!(scrub(), "[REDACTED] in /home/u, unseen");
}

#[test]
fn w022_a_refused_socket_is_logged_and_teaches() {
    let access = DeclaredAccess {
        net: vec![DeclaredNetRule {
            host: "example.com".to_owned(),
            scheme: None,
            port: None,
            path_prefix: None,
            methods: None,
            allow: true,
            origin: RuleOrigin::line("jig.toml", 3),
        }],
        ..DeclaredAccess::default()
    };
    let (broker, audit) = broker(&access, &[]);
    broker.refuse_socket("resolve", "example.com\u{1b}[2J");
    broker.refuse_socket("open", "a TCP socket");
    broker.refuse_socket("open", "a TCP socket");
    let refused = broker.refusals();
    let [resolve, open] = &refused[..] else {
        panic!("{refused:?}");
    };
    assert_eq!(resolve.operation, "resolve");
    assert_eq!(resolve.target, "example.com\\u{1b}[2J");
    assert_eq!((open.target.as_str(), open.count), ("a TCP socket", 2));
    assert!(open.why.contains("`wasi:http`"), "{open:?}");
    assert!(open.grants[0].contains("example.com"), "{open:?}");
    let log = audit.0.lock().unwrap();
    let lines: Vec<(&str, AuditDecision)> = log
        .iter()
        .map(|entry| (entry.operation.as_str(), entry.decision))
        .collect();
    let denied = |operation| (operation, AuditDecision::Deny);
    let open = denied("socket.open");
    assert_eq!(lines, [denied("socket.resolve"), open, open]);
}
