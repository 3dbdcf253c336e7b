//! Projects of Node, by three package managers, one with code to compile.

use super::{PreparedProject, TrialStep};
use crate::trial::projects::site::{TrialSite, output};

/// An app with two dependencies. A package manager that Node does not come with is installed below a prefix.
pub(super) fn app(site: &TrialSite, manager: &'static str) -> Result<PreparedProject, String> {
    let (install, test) = match manager {
        "npm" => ("npm install", "npm test"),
        "pnpm" => ("pnpm install", "pnpm test"),
        _ => ("yarn install", "yarn test"),
    };
    let mut title = "an app".to_owned();
    let mut env = Vec::new();
    if manager != "npm" {
        let version = if manager == "pnpm" { "9" } else { "1" };
        let prefix = site.folder.join(format!("prefix-{manager}"));
        let mut add = site.command("npm");
        add.args(["install", "--global", "--no-fund", "--no-audit", "--prefix"])
            .arg(&prefix)
            .arg(format!("{manager}@{version}"));
        output(&mut add)?;
        title = format!("an app, with {manager} {version} below a prefix of npm");
        env.push(("PATH", format!("{}/bin:{}", prefix.display(), site.path)));
    }
    let folder = format!("node-{manager}");
    site.write(&format!("{folder}/package.json"), APP)?;
    site.write(&format!("{folder}/test.js"), TEST)?;
    Ok(PreparedProject {
        title,
        env,
        steps: vec![TrialStep::online(NPM, install), TrialStep::offline(test)],
        ..PreparedProject::at(site.folder.join(folder))
    })
}

/// A workspace with a module in C, which `node-gyp` compiles, and one of the registry that brings machine code.
pub(super) fn native(site: &TrialSite) -> Result<PreparedProject, String> {
    for (name, text) in [
        ("package.json", NATIVE),
        ("test.js", NATIVE_TEST),
        (
            "addon/package.json",
            r#"{"name":"addon","version":"1.0.0","main":"index.js"}"#,
        ),
        (
            "addon/index.js",
            "module.exports = require('./build/Release/addon.node');\n",
        ),
        (
            "addon/binding.gyp",
            "{'targets': [{'target_name': 'addon', 'sources': ['addon.c']}]}\n",
        ),
        ("addon/addon.c", ADDON),
    ] {
        site.write(&format!("node-native/{name}"), text)?;
    }
    // Headers that are installed with Node are used; otherwise node-gyp downloads them.
    let hosts: &[&str] = &["registry.npmjs.org", "nodejs.org"];
    Ok(PreparedProject {
        title: "a workspace with a module in C and `bufferutil` 4".to_owned(),
        steps: vec![
            TrialStep::online(hosts, "npm install"),
            TrialStep::offline("npm test"),
        ],
        ..PreparedProject::at(site.folder.join("node-native"))
    })
}

const NPM: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];

const APP: &str = r#"{"name":"app","version":"1.0.0","private":true,
    "scripts":{"test":"node test.js"},
    "dependencies":{"is-odd":"3.0.1","semver":"7.6.0"}}"#;

const TEST: &str = "require('assert')(require('is-odd')(3) && require('semver').valid('1.2.3'));\n";

const NATIVE: &str = r#"{"name":"native","version":"1.0.0","private":true,"workspaces":["addon"],
    "scripts":{"test":"node test.js"},
    "dependencies":{"bufferutil":"4"}}"#;

const NATIVE_TEST: &str = "\
const assert = require('assert');
assert.strictEqual(require('addon').two(), 2);
const bytes = Buffer.from([1, 2, 3, 4]);
require('bufferutil').unmask(bytes, Buffer.from([1, 2, 3, 4]));
assert.deepStrictEqual([...bytes], [0, 0, 0, 0]);
// Not the replacement in JavaScript.
assert(process.report.getReport().sharedObjects.some((path) => path.includes('bufferutil')));
";

const ADDON: &str = "\
#include <node_api.h>
static napi_value two(napi_env env, napi_callback_info info) {
    napi_value value;
    napi_create_int32(env, 2, &value);
    return value;
}
NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, \"two\", NAPI_AUTO_LENGTH, two, 0, &function);
    napi_set_named_property(env, exports, \"two\", function);
    return exports;
}
";
