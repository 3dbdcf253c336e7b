//! A tool that is told the policy and compiles it again allows what the host allows.

use jig_policy::{
    Capability, CommandProgram, DeclaredAccess, DefaultAccess, EnvUse, Guards, NetTarget, Policy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::random::{self, check};
use crate::agrees_with_reference::{programs, urls};

#[test]
fn what_crosses_the_wire_means_the_same_g_101_g_102() {
    let rules = (
        random::fs_rules(0..6),
        random::net_rules(1..6),
        random::env_rules(1..6),
        random::command_rules(),
    );
    let targets = (
        vec(random::path(), 10),
        vec(random::url(), 10),
        vec(random::variable(), 10),
        vec((random::program(), random::arguments()), 10),
    );
    let inputs = (
        random::tree(),
        rules,
        random::default_access(),
        random::guards(),
        targets,
    );
    check(
        150,
        4_000,
        inputs,
        |(tree, rules, default, guards, targets)| {
            let (fs, net, env, commands) = rules;
            let (paths, texts, names, runs) = targets;
            let workspace = random::workspace(&tree);
            let access = DeclaredAccess {
                net: urls::valid(net),
                env,
                ..programs::valid(commands, fs, &tree)?
            };
            let compile = |access: &DeclaredAccess, default, guards: &Guards| {
                Policy::compile(access, default, guards, &workspace)
                    .map_err(|errors| TestCaseError::fail(errors.to_string()))
            };
            let host = compile(&access, default, &guards)?;
            let sent = serde_json::to_string(&host.to_wire()).expect("it can be written");
            let received: jig_proto::Access = serde_json::from_str(&sent).expect("it can be read");
            prop_assert_eq!(&received, &host.to_wire());
            // Nothing is left to a default: what holds is said.
            let tool = compile(
                &DeclaredAccess::from(&received),
                DefaultAccess::NOTHING,
                &guards,
            )?;
            let mut compared = 0;
            for path in paths.iter().filter_map(|path| workspace.resolve(path).ok()) {
                for capability in Capability::ALL {
                    let allowed = host.decide_fs(capability, &path).is_allowed();
                    prop_assert_eq!(tool.decide_fs(capability, &path).is_allowed(), allowed);
                    prop_assert_eq!(tool.can(capability, path.path()), allowed);
                }
                compared += 1;
            }
            for url in texts.iter().filter_map(|text| NetTarget::parse(text).ok()) {
                let allowed = host.decide_net(&url).is_allowed();
                prop_assert_eq!(tool.decide_net(&url).is_allowed(), allowed, "{}", url);
                compared += 1;
            }
            for name in &names {
                let allowed = host.decide_env(EnvUse::Read, name).is_allowed();
                prop_assert_eq!(tool.decide_env(EnvUse::Read, name).is_allowed(), allowed);
                compared += 1;
            }
            // That any program may run is not a rule; a tool is told by the absence of a list.
            for (program, args) in runs.iter().filter(|_| !host.any_command()) {
                if let Ok(program) = CommandProgram::parse(program, &workspace) {
                    let allowed = host.decide_command(&program, args).is_allowed();
                    prop_assert_eq!(tool.decide_command(&program, args).is_allowed(), allowed);
                    compared += 1;
                }
            }
            Ok(compared)
        },
    );
}
