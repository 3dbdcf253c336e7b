//! What is claimed of a tool, against what its rules let it do.

use std::sync::Arc;

use jig_config::Sources;
use jig_files::MemoryFiles;

use super::Effects;
use crate::Engine;

const READS: Effects = Effects::NONE;

const CHANGES: Effects = Effects {
    open_world: false,
    ..Effects::ANY
};

const ADDS: Effects = Effects {
    destructive: false,
    ..CHANGES
};

fn engine(sets: &[&str]) -> Engine {
    let mut sources = Sources::new("/workspace");
    sources.sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let config = jig_config::load(&sources).expect("it is valid").config;
    Engine::new(Arc::new(config), Arc::new(MemoryFiles::new()))
}

fn effects(engine: &Engine, tool: &str) -> Effects {
    engine.effects(engine.config().tool(tool).expect("there is such a tool"))
}

fn check(tool: &str, sets: &[&str], expected: Effects) {
    assert_eq!(effects(&engine(sets), tool), expected, "{tool} {sets:?}");
}

/// A tool `t` of this runtime with these settings beside its command.
fn check_own(runtime: &str, settings: &[&str], expected: Effects) {
    let mut sets = vec![
        "tools.t.source=local".to_owned(),
        format!("tools.t.runtime={runtime}"),
    ];
    sets.push(match runtime {
        "wasm" => "tools.t.wasm=t.wasm".to_owned(),
        _ => "tools.t.command=./t".to_owned(),
    });
    sets.extend(settings.iter().map(|setting| format!("tools.t.{setting}")));
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    check("t", &sets, expected);
}

#[test]
fn of_the_tools_that_are_part_of_jig_the_code_is_known() {
    for tool in ["await", "learn"] {
        check(tool, &[], READS);
    }
    for tool in ["fs_read_file", "fs_list_files", "fs_grep_files"] {
        check(tool, &[], READS);
        // Whatever its rules would allow.
        let all = format!("tools.{tool}.access.fs=[{{path=\".\", read=true, write=true}}]");
        let net = format!("tools.{tool}.access.net=[{{host=\"example.com\", allow=true}}]");
        check(tool, &[&all, &net], READS);
    }
    for tool in [
        "fs_create_file",
        "fs_modify_file",
        "fs_delete_file",
        "fs_move_file",
        "shell",
    ] {
        check(tool, &[], CHANGES);
    }
    check("git", &[], Effects::ANY);
    let denies = "tools.git.on_uncovered=deny";
    check("git", &[denies], CHANGES);
    let net = "tools.git.access.net=[{host=\"example.com\", allow=true}]";
    check("git", &[denies, net], Effects::ANY);
}

/// A name proves nothing: what runs is what the configuration says.
#[test]
fn a_program_under_the_name_of_a_tool_that_reads_is_judged_as_what_it_is() {
    let own = [
        "tools.fs_read_file.command=./t",
        "tools.fs_read_file.runtime=stdio",
    ];
    check("fs_read_file", &own, CHANGES);
    let own = [
        "tools.fs_grep_files.wasm=t.wasm",
        "tools.fs_grep_files.runtime=wasm",
    ];
    check("fs_grep_files", &own, Effects::ANY);
    // The other way round, the code of jig under another name.
    let other = [
        "tools.look.source=local.fs_read_file",
        "tools.look.runtime=builtin",
    ];
    check("look", &other, READS);
}

#[test]
fn a_program_reads_only_if_the_sandbox_lets_it_do_no_more() {
    let reads = "access.fs=[{path=\".\", read=true}]";
    let writes = "access.fs=[{path=\".\", read=true},{path=\"out\", write=true}]";
    let net = "access.net=[{host=\"example.com\", allow=true}]";
    check_own("stdio", &[], CHANGES);
    check_own("stdio", &[reads], READS);
    check_own("stdio", &[writes], CHANGES);
    // The operating system has no right to create without one to write.
    check_own("stdio", &["access.fs=[{path=\".\", create=true}]"], CHANGES);
    check_own("stdio", &[reads, net], Effects::ANY);
    check_own(
        "stdio",
        &[reads, "access.net=[{host=\"example.com\", allow=false}]"],
        READS,
    );
    // What is outside of the workspace counts, too.
    check_own(
        "stdio",
        &[reads, "sandbox.system=[{path=\"/opt/x\"}]"],
        READS,
    );
    check_own(
        "stdio",
        &[reads, "sandbox.system=[{path=\"/opt/x\", write=true}]"],
        CHANGES,
    );
    check_own("stdio", &[reads, "sandbox.presets=[\"rust\"]"], CHANGES);
    // A sandbox that may be missing holds nobody to anything.
    check_own(
        "stdio",
        &[reads, "sandbox.enforce=best-effort"],
        Effects::ANY,
    );
    // What is written to a layer is lost, or is applied in the end.
    check_own("stdio", &["overlay=discard"], READS);
    check_own("stdio", &["overlay=apply"], CHANGES);
    check_own("stdio", &["overlay=ask"], CHANGES);
}

#[test]
fn without_confinement_nothing_is_sure_of_a_program() {
    let sets = [
        "tools.t.source=local",
        "tools.t.runtime=stdio",
        "tools.t.command=./t",
        "tools.t.access.fs=[{path=\".\", read=true}]",
    ];
    let mut engine = engine(&sets);
    assert_eq!(effects(&engine, "t"), READS);
    engine.unconfined = true;
    assert_eq!(effects(&engine, "t"), Effects::ANY);
    engine.unconfined = false;
    engine.confine.layers.landlock = 0;
    assert_eq!(effects(&engine, "t"), Effects::ANY);
}

/// Somebody may allow anything while such a tool runs, so nothing is sure before.
#[test]
fn where_somebody_is_asked_anything_may_be_allowed() {
    for runtime in ["vfs", "wasm"] {
        check_own(runtime, &[], Effects::ANY);
        check_own(
            runtime,
            &["access.fs=[{path=\".\", read=true}]"],
            Effects::ANY,
        );
    }
}

#[test]
fn what_asks_for_everything_can_do_what_its_rules_grant() {
    let denies = "on_uncovered=deny";
    check_own("vfs", &[denies], READS);
    check_own("wasm", &[denies], CHANGES);
    check_own(
        "wasm",
        &[denies, "access.fs=[{path=\".\", read=true}]"],
        READS,
    );
    for runtime in ["vfs", "wasm"] {
        let fs =
            |rule: &str| format!("access.fs=[{{path=\".\", read=true}},{{path=\"a\", {rule}}}]");
        check_own(runtime, &[denies, &fs("create=true")], ADDS);
        check_own(runtime, &[denies, &fs("update=true")], CHANGES);
        check_own(runtime, &[denies, &fs("delete=true")], CHANGES);
        check_own(runtime, &[denies, &fs("execute=true")], READS);
        let net = "access.net=[{host=\"example.com\", allow=true}]";
        check_own(runtime, &[denies, &fs("read=true"), net], Effects::ANY);
    }
    check_own(
        "vfs",
        &[denies, "sandbox.enforce=best-effort"],
        Effects::ANY,
    );
    check_own("vfs", &[denies, "access.commands.make={}"], CHANGES);
}

#[test]
fn what_may_be_repeated_is_what_the_configuration_says() {
    let repeatable = Effects {
        idempotent: true,
        ..CHANGES
    };
    check_own("stdio", &["repeatable=true"], repeatable);
    check("fs_create_file", &[], CHANGES);
}
