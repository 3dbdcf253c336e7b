//! git over HTTP, which moves objects both ways.

use super::fixture::http::Server;
use super::fixture::repository;
use super::fixture::site::{for_each_user, reach};

#[test]
fn a_repository_is_cloned_and_pushed_to() {
    for_each_user(|site| {
        if !site.has(&["git", "--version"]) {
            return;
        }
        // Not of the site: git distrusts what belongs to another than who serves it.
        let folder = tempfile::tempdir().unwrap();
        let tls = site.authority.server(&["git.test"]);
        site.names.put("git.test", &["127.0.0.1"]);
        for (scheme, tls) in [("http", None), ("https", Some(&tls))] {
            repository::create(folder.path(), scheme);
            let backend = repository::serve(folder.path().to_owned());
            let server = Server::start("127.0.0.1:0", tls, backend);
            let url = format!("{scheme}://git.test:{}/{scheme}.git", server.port());
            let called = site.does(
                &format!(
                    "{}sandbox.presets = ['git']\n",
                    reach(&["git.test"], server.address)
                ),
                &format!(
                    "set -e
                     export GIT_SSL_CAINFO=$PWD/ca.pem
                     git clone --quiet {url} clone-{scheme}
                     cd clone-{scheme}
                     cat file
                     echo second > file
                     git -c user.name=A -c user.email=a@example.com commit --quiet --all --message second
                     git push --quiet origin HEAD:main
                     git fetch --quiet
                     git rev-list --count origin/main"
                ),
            );
            assert_eq!(called.ok(), "first\n2\n", "{scheme}");
            assert_eq!(
                repository::tip(folder.path(), scheme),
                "second\n",
                "{scheme}"
            );
        }
    });
}

#[test]
fn a_repository_on_another_host_is_refused() {
    for_each_user(|site| {
        if !site.has(&["git", "--version"]) {
            return;
        }
        let server = Server::plain();
        for name in ["git.test", "denied.test"] {
            site.names.put(name, &["127.0.0.1"]);
        }
        let port = server.port();
        // A submodule, a redirect or an included URL leads to another host in the same way.
        for url in [
            format!("http://denied.test:{port}/a.git"),
            format!("http://git.test:{port}/to/http://denied.test:{port}/a.git"),
        ] {
            let called = site.does(
                &format!(
                    "{}sandbox.presets = ['git']\n",
                    reach(&["git.test"], server.address)
                ),
                &format!("git -c http.followRedirects=true clone {url} clone"),
            );
            let hint = called.refused("look up", "denied.test");
            assert!(hint.contains("\"denied.test\""), "{hint}");
            // Git says the port, so one rule is enough.
            assert!(hint.contains(&format!("port = {port}")), "{hint}");
        }
        assert!(
            server
                .seen()
                .iter()
                .all(|seen| seen.contains("on git.test")),
            "{:?}",
            server.seen()
        );
    });
}
