//! The preset `node`: Node, and the package managers that are installed with it or below a prefix of npm.

use jig_sandbox::RuleSource;

use super::super::{host_files, shim};
use super::{CERTIFICATES, PROGRAMS, PresetBuilder, ToolchainCache, settings};

impl PresetBuilder<'_> {
    pub(super) fn node(&mut self) -> bool {
        let prefix = self.prefix_of("node");
        let prefix = match self.program("node") {
            true => prefix,
            false => match self.nvm() {
                Some(prefix) => Some(prefix),
                None => return false,
            },
        };
        for manager in ["npm", "npx", "pnpm", "yarn", "corepack"] {
            self.program(manager);
        }
        if let Some(prefix) = prefix {
            self.tell("", &prefix);
            // Native modules are compiled with these, which would be downloaded otherwise.
            if host_files::is_file(&prefix.join("include/node/node.h")) {
                self.set("npm_package_config_node_gyp_nodedir", prefix);
            }
        }
        let private = self.around.private_home;
        let corepack = self.around.home.map(|home| home.join(COREPACK.usual));
        self.keep(".npm", "npm");
        self.keep(".cache/yarn", "yarn");
        self.keep(".yarn", "yarn-berry");
        self.keep(".cache/pnpm", "pnpm");
        self.keep(".local/share/pnpm", "pnpm-home");
        self.keep(".cache/node-gyp", "node-gyp");
        self.keep_over(&private.join(COREPACK.usual), corepack, &COREPACK);
        if let Some(npmrc) = self.text_at_home(".npmrc") {
            self.write(".npmrc", settings::npmrc(&npmrc));
        }
        // Its own choice would be one in the workspace, where it can make links to it.
        let store = private.join(".local/share/pnpm/store");
        self.write(
            ".config/pnpm/rc",
            format!("store-dir={}\n", store.display()),
        );
        self.set("pnpm_config_store_dir", store);
        // Its own choice for root would be one of the system. The folder that yarn 2 uses is another setting.
        self.set("YARN_PREFERRED_CACHE_FOLDER", private.join(".cache/yarn"));
        self.set("npm_config_update_notifier", "false");
        if !self.around.online {
            // What is refused stays so.
            self.set("npm_config_fetch_retries", "0");
        }
        self.pass(&[
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "YARN_REGISTRY",
        ]);
        self.trust(CERTIFICATES);
        self.trust(&["NODE_EXTRA_CA_CERTS", "npm_config_cafile"]);
        true
    }

    /// nvm puts node on the search path only of shells that it set up.
    fn nvm(&mut self) -> Option<std::path::PathBuf> {
        let nvm = self.home_or("NVM_DIR", ".nvm")?;
        let versions = nvm.join("versions/node");
        self.looked.push(versions.clone());
        let chosen = host_files::text(&nvm.join("alias/default")).unwrap_or_default();
        let chosen = format!("v{}", chosen.trim().trim_start_matches('v'));
        let names = host_files::names(&versions).into_iter();
        let latest = names.max_by_key(|name| {
            let name = name.to_string_lossy();
            let is_chosen = name == chosen.as_str() || name.starts_with(&format!("{chosen}."));
            (is_chosen && chosen != "v", shim::numbers(&name))
        });
        let prefix = host_files::canonical(&versions.join(latest?))?;
        if !host_files::is_file(&prefix.join("bin/node")) {
            return None;
        }
        if !self.around.may_show(&prefix) || prefix.starts_with(self.around.root) {
            return None;
        }
        self.shown.widen(&prefix, PROGRAMS, RuleSource::System);
        self.added.directories.push(prefix.join("bin"));
        Some(prefix)
    }
}

/// Package managers that were downloaded. No variable has them elsewhere.
const COREPACK: ToolchainCache = ToolchainCache {
    name: "corepack",
    usual: ".cache/node/corepack",
    belongs: |_| false,
};
