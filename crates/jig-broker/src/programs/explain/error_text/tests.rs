use proptest::prelude::*;

use super::{LOOKED_AT, MOST, MissingWish, WantedAccess, read};

/// What is named, one thing after the other: `wanted name|name`, `host x`, `connect address`.
fn named(said: &str) -> Vec<String> {
    let shown = |wish: MissingWish| match wish {
        MissingWish::File { candidates, wanted } => {
            let wanted = match wanted {
                WantedAccess::Something => "something",
                WantedAccess::Found => "found",
                WantedAccess::Changed => "changed",
                WantedAccess::Removed => "removed",
            };
            format!("{wanted} {}", candidates.join("|"))
        }
        MissingWish::Host(name) => format!("host {name}"),
        MissingWish::SomeHost => "some host".to_owned(),
        MissingWish::Address(address) => format!("connect {address}"),
    };
    read(said).into_iter().map(shown).collect()
}

#[track_caller]
fn check(said: &str, expected: &[&str]) {
    assert_eq!(named(said), expected, "{said}");
}

#[test]
fn programs_of_the_system_name_files() {
    check("cat: /x/y: Permission denied", &["something /x/y|cat"]);
    check(
        "cat: notes.txt: No such file or directory",
        &["found notes.txt|cat"],
    );
    check(
        "sh: 1: cannot create out.txt: Permission denied",
        &["changed out.txt|1|sh"],
    );
    check(
        "sh: 1: cannot create /c/e: Directory nonexistent",
        &["changed /c/e|1|sh"],
    );
    check(
        "bash: line 1: ./x: Permission denied",
        &["something ./x|1|bash"],
    );
    check(
        "tar: /x: Cannot open: Permission denied",
        &["something open|/x|tar"],
    );
    check(
        "ls: cannot access '/x y': No such file or directory",
        &["found /x y"],
    );
    check(
        "mkdir: cannot create directory ‘build’: Permission denied",
        &["changed build"],
    );
    check(
        "rm: cannot remove 'a.txt': Read-only file system",
        &["removed a.txt"],
    );
    check(
        "mv: cannot move 'a' to 'b': Permission denied",
        &["removed a", "changed b"],
    );
    check(
        "a.c:1:10: fatal error: foo.h: No such file or directory",
        &["found foo.h|error|a.c:1:10"],
    );
    check(
        "error: could not lock config file .git/config: Permission denied",
        &["changed .git/config|error"],
    );
}

#[test]
fn languages_name_files() {
    check(
        "Traceback (most recent call last):\n  File \"/w/a.py\", line 1\nFileNotFoundError: [Errno 2] No such file or directory: '/x'",
        &["found /x"],
    );
    check(
        "PermissionError: [Errno 13] Permission denied: '/a' -> '/b'",
        &["removed /a", "changed /b"],
    );
    check(
        "Error: ENOENT: no such file or directory, open '/x'",
        &["found /x"],
    );
    check(
        "Error: EACCES: permission denied, mkdir '/x/y'",
        &["changed /x/y"],
    );
    check("open /x: permission denied", &["something /x"]);
    check(
        "error: failed to open: /x/.cargo-lock\n\nCaused by:\n  Permission denied (os error 13)",
        &["something /x/.cargo-lock"],
    );
    check(
        "error: failed to create directory `/x/target`\n\nCaused by:\n  Permission denied (os error 13)",
        &["changed /x/target"],
    );
    check(
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        &["found /var/run/docker.sock"],
    );
}

#[test]
fn programs_that_are_not_found_are_named() {
    check("sh: 1: cargo: not found", &["found cargo|1|sh"]);
    check(
        "bash: line 1: cargo: command not found",
        &["found cargo|1|bash"],
    );
    check("zsh:1: command not found: cargo", &["found zsh:1|cargo"]);
    check("env: ‘node’: No such file or directory", &["found node"]);
    check("Error: spawn cargo ENOENT", &["found cargo|Error"]);
    check(
        "exec: \"gcc\": executable file not found in $PATH",
        &["found gcc"],
    );
    // Not every word that ends in it is about a program.
    check("checking for foo... not found", &[]);
    check("404 not found", &[]);
}

#[test]
fn names_that_cannot_be_looked_up_are_hosts() {
    check(
        "curl: (6) Could not resolve host: api.test",
        &["host api.test"],
    );
    check(
        "fatal: unable to access 'https://git.test/a.git/': Could not resolve host: git.test",
        &["host git.test"],
    );
    check(
        "wget: unable to resolve host address ‘files.test’",
        &["host files.test"],
    );
    check("wget: bad address 'db'", &["host db"]);
    check(
        "getaddrinfo EAI_AGAIN registry.test",
        &["host registry.test"],
    );
    check("Error: getaddrinfo ENOTFOUND db", &["host db"]);
    check(
        "dial tcp: lookup api.test on 10.0.0.1:53: no such host",
        &["host api.test"],
    );
    check(
        "W: Temporary failure resolving 'deb.test'",
        &["host deb.test"],
    );
    check(
        "<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to resolve 'pypi.test' ([Errno -3] Temporary failure in name resolution)",
        &["host pypi.test"],
    );
    check(
        "error: failed to get `x`\n  [6] Couldn't resolve host name (Could not resolve host: index.test)",
        &["host index.test"],
    );
    // The name stands elsewhere.
    check(
        "request to https://user:word@api.test:8443/v1 failed\nsocket.gaierror: [Errno -3] Temporary failure in name resolution",
        &["host api.test"],
    );
    check("Temporary failure in name resolution", &["some host"]);
    check(
        "dns error: failed to lookup address information: Temporary failure",
        &["some host"],
    );
    check("Could not resolve host: 127.0.0.1", &["some host"]);
}

#[test]
fn addresses_at_which_nobody_answers_are_named() {
    let loopback = &["connect 127.0.0.1:8000"];
    check(
        "curl: (7) Failed to connect to localhost port 8000 after 0 ms: Could not connect to server",
        loopback,
    );
    check("Error: connect ECONNREFUSED 127.0.0.1:8000", loopback);
    check(
        "connection to server at \"localhost\" (127.0.0.1), port 8000 failed: Connection refused",
        loopback,
    );
    check(
        "dial tcp 10.1.2.3:443: connect: network is unreachable",
        &["connect 10.1.2.3:443"],
    );
    check("Connection refused", &[]);
    check("connection refused by port 99999 of localhost", &[]);
}

#[test]
fn ordinary_words_name_nothing() {
    check("", &[]);
    check("error: 3 tests failed", &[]);
    check(
        "assertion `left == right` failed\n  left: 1\n right: 2",
        &[],
    );
    check("can't find what you're looking for", &[]);
}

#[test]
fn each_is_named_once_and_what_comes_last_counts() {
    check(
        "cat: /a: Permission denied\ncat: /b: Permission denied\ncat: /a: Permission denied",
        &["something /b|cat", "something /a|cat"],
    );
    let many: String = (0..1000)
        .map(|n| format!("cat: /{n}: Permission denied\n"))
        .collect();
    let wishes = named(&many);
    assert_eq!(wishes.len(), MOST);
    assert_eq!(wishes.last().unwrap(), "something /999|cat");
}

/// A line without an end, a name without an end, quotes without an end.
#[test]
fn endless_words_are_read_in_no_time() {
    for piece in [
        "x",
        "'",
        "\"a",
        ": ",
        "‘",
        "/",
        "://",
        "permission denied",
        "\u{1b}[31m",
        "host=",
    ] {
        let most = if piece == "x" { 100 << 20 } else { 1 << 20 };
        let flood = piece.repeat(most / piece.len());
        let start = std::time::Instant::now();
        let wishes = read(&format!("{flood}: permission denied"));
        assert!(wishes.len() <= MOST);
        // It is the end that is read: a thousandth of this would do.
        assert!(start.elapsed().as_secs() < 5, "{piece}");
    }
}

proptest! {
    /// No text makes it fail, and no name is longer than the text.
    #[test]
    fn no_words_are_too_odd(said in "(.|\n|'|\"|: |/|[Pp]ermission denied|ENOENT|Could not resolve host|://|ECONNREFUSED){0,200}") {
        for wish in read(&said) {
            match wish {
                MissingWish::File { candidates, .. } => {
                    prop_assert!(!candidates.is_empty());
                    for name in candidates {
                        prop_assert!(said.contains(&name), "{name:?}");
                    }
                }
                MissingWish::Host(name) => prop_assert!(said.to_ascii_lowercase().contains(&name)),
                _ => {}
            }
        }
    }

    /// What stands further from the end than is looked at changes nothing.
    #[test]
    fn only_the_end_counts(before in ".{0,50}") {
        let end = format!("{}\ncat: /x: Permission denied", "y".repeat(LOOKED_AT));
        prop_assert_eq!(named(&format!("{before}\n{end}")), named(&end));
    }
}
