//! The preset `go`: Go as it is installed, downloaded modules, and caches.

use super::super::host_files;
use super::{CERTIFICATES, PresetBuilder, ToolchainCache, is_named, settings};

impl PresetBuilder<'_> {
    pub(super) fn go(&mut self) -> bool {
        let prefix = self.prefix_of("go");
        if !self.program("go") {
            return false;
        }
        if let Some(prefix) = prefix {
            self.tell("", &prefix);
        }
        let private = self.around.private_home;
        let path = self.home_or("GOPATH", "go");
        let modules = (self.around.variable)("GOMODCACHE").map(Into::into);
        let modules = modules.or_else(|| Some(path?.join("pkg/mod")));
        let modules = self.keep_over(&private.join("go/pkg/mod"), modules, &MODULES);
        self.set("GOPATH", private.join("go"));
        self.set(
            "GOMODCACHE",
            modules.unwrap_or_else(|| private.join("go/pkg/mod")),
        );
        self.keep(".cache/go-build", "go-build");
        self.set("GOCACHE", private.join(".cache/go-build"));
        // Another version would be downloaded.
        self.set("GOTOOLCHAIN", "local");
        if let Some(text) = self.text_at_home(".config/go/env") {
            self.write(".config/go/env", settings::go_env(&text));
        }
        self.pass(&[
            "GOPROXY",
            "GOPRIVATE",
            "GONOPROXY",
            "GONOSUMDB",
            "GOSUMDB",
            "GOFLAGS",
        ]);
        self.pass(&["CGO_ENABLED", "GOARCH", "GOOS"]);
        self.trust(CERTIFICATES);
        if !self.around.online {
            self.set("GOPROXY", "off");
        }
        true
    }
}

/// Downloaded modules. Below `cache` is how they came, and beside it each under the name of its host.
const MODULES: ToolchainCache = ToolchainCache {
    name: "go-mod",
    usual: "go/pkg/mod",
    belongs: |path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_host = name.is_some_and(|name| name.contains('.') && !name.starts_with('.'));
        host_files::is_directory(path) && (is_host || is_named(path, &["cache"]))
    },
};
