//! pip, against an index whose files lie on another host, as they do on the real one.

use super::fixture::http::Server;
use super::fixture::index;
use super::fixture::site::{Site, for_each_user, net};

#[test]
fn a_package_is_installed_from_an_index() {
    for_each_user(|site| {
        if !site.has(&["python3", "-m", "pip", "--version"]) {
            return;
        }
        let (files, index) = servers(site);
        let rules = [
            ("index.test", index.port()),
            ("127.0.0.1", index.port()),
            ("files.test", files.port()),
            ("127.0.0.1", files.port()),
        ];
        let called = site.does(&settings(&rules), &install(index.port()));
        assert_eq!(called.ok().trim(), "42");
        let wheel = format!("on files.test:{}", files.port());
        assert!(
            files.seen().iter().all(|seen| seen.ends_with(&wheel)),
            "{:?}",
            files.seen()
        );
    });
}

/// The host of the files is easily forgotten, and pip's own message would not help.
#[test]
fn the_host_of_the_files_is_named_when_it_is_missing() {
    for_each_user(|site| {
        if !site.has(&["python3", "-m", "pip", "--version"]) {
            return;
        }
        let (files, index) = servers(site);
        let rules = [("index.test", index.port()), ("127.0.0.1", index.port())];
        let called = site.does(&settings(&rules), &install(index.port()));
        let hint = called.refused("look up", "files.test");
        assert!(hint.contains("\"files.test\""), "{hint}");
        assert_eq!(files.connections(), 0);
    });
}

/// The files, and the index that leads to them.
fn servers(site: &Site) -> (Server, Server) {
    for name in ["index.test", "files.test"] {
        site.names.put(name, &["127.0.0.1"]);
    }
    let tls = site.authority.server(&["index.test", "files.test"]);
    let serve = index::serve("/".to_owned());
    let files = Server::start("127.0.0.1:0", Some(&tls), serve);
    let serve = index::serve(format!("https://files.test:{}/", files.port()));
    let index = Server::start("127.0.0.1:0", Some(&tls), serve);
    (files, index)
}

fn settings(rules: &[(&str, u16)]) -> String {
    format!("{}sandbox.presets = ['python']\n", net(rules))
}

fn install(index: u16) -> String {
    format!(
        "python3 -m pip install --quiet --isolated --disable-pip-version-check --no-cache-dir \
         --retries 0 --cert ca.pem --index-url https://index.test:{index}/simple/ \
         --target site tiny && PYTHONPATH=site python3 -c 'import tiny; print(tiny.value)'"
    )
}
