//! Hints that are followed. Each row makes a mistake with the real `jig`, does what the hint says, and is not told
//! the same again.
//!
//! The mistakes that everybody makes first have a table of their own (`tests/mistakes`), where a program does
//! what the message says. Here the step is written down, and has to be taken from the message: `«…»` in it must
//! stand there word for word, and `$HINT` is the hint itself.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start the real program, and fail where that fails"
)]

#[path = "../support/follow.rs"]
mod follow;
mod rows;

use std::path::Path;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use jig_testkit::shown_folder;

/// A mistake, and what is done about it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The template of the hint.
    pub(crate) hint: &'static str,
    /// `jig.toml`.
    pub(crate) config: &'static str,
    /// The mistake, in the words of a shell.
    pub(crate) wrong: &'static str,
    /// What the hint says, in the words of a shell.
    pub(crate) right: &'static str,
    /// What is printed then.
    pub(crate) works: &'static str,
}

/// A test for each row.
macro_rules! rows {
    ($($about:ident::$name:ident,)+) => {
        $(
            #[test]
            fn $name() {
                check(&rows::$about::$name());
            }
        )+
    };
}

rows! {
    calls::log_that_cannot_be_written,
    calls::state_that_cannot_be_written,
    calls::words_that_are_no_arguments,
    calls::call_about_a_handle,
    calls::terminal_that_waits_for_a_key,
    calls::unknown_option,
    calls::argument_of_another_name,
    calls::workspace_that_waits,
    calls::trust_without_a_terminal,
    calls::writing_beside_what_waits,
    calls::trust_within_a_sandbox,
    calls::unknown_tool,
    calls::wasm_that_is_not_there,
    calls::no_topic,
    calls::learn_that_is_another_tool,
    calls::reserved_name_of_run,
    calls::reserved_name_of_proxy,
    calls::host_that_is_none,
    calls::program_that_is_not_there,
    calls::interpreter_that_is_not_there,
    calls::folder_that_is_run,
    calls::init_without_a_terminal,
    calls::init_where_there_is_one,
    calls::policy_of_two_tools,
    calls::call_too_large_for_arguments,
    calls::configuration_that_is_closed,
    calls::suggest_without_state,
    calls::suggest_with_state_inside,
    station::nothing_to_apply,
    station::spawned_tool,
    station::same_id_twice,
    station::unknown_handle,
    station::nothing_runs,
    station::no_home,
    station::open_folder,
    station::large_request,
    station::screen_without_a_terminal,
    proxy::no_command,
    proxy::input_that_is_not_there,
    proxy::folder_with_a_space,
    proxy::option_of_the_outermost,
    proxy::shell_with_an_option,
    proxy::nobody_answers,
    proxy::nobody_answers_the_shell,
    proxy::policy_without_a_tool,
    proxy::no_model,
    proxy::no_key,
    proxy::not_a_key,
    servers::waits_to_be_accepted,
    servers::call_of_one_that_waits,
    servers::accepted_without_a_terminal,
    servers::asks_before_it_runs,
    servers::not_asked_yet,
    servers::hidden_tool,
    servers::renamed_tool,
    servers::server_elsewhere,
    servers::no_server_at_all,
    servers::unknown_server,
    servers::mistyped_tool_of_a_server,
    servers::unknown_tool_of_a_server,
    servers::program_of_a_server,
    servers::variable_of_a_server,
    servers::slow_call,
    servers::slow_start,
    clients::other_entry,
    clients::link_out_of_the_project,
    clients::zed_over_http,
    clients::claude_for_the_user,
    clients::address_with_a_password,
    clients::nothing_to_import,
    clients::nothing_of_that_name,
    clients::file_of_another_client,
    clients::listens_to_all,
    clients::port_in_use,
    clients::token_of_others,
    clients::home_as_workspace,
    clients::no_mcp_server,
    clients::no_mcp_server_anywhere,
    clients::no_such_server,
    clients::no_question_of_that_name,
    clients::not_a_question,
    clients::watch_without_a_terminal,
    files::file_that_is_not_there,
    files::directory_that_is_read,
    files::file_that_is_listed,
    files::file_that_is_there,
    files::moved_to_a_directory,
    files::moved_to_a_file,
    files::directory_that_stays,
    files::picture_that_is_read,
    files::picture_that_is_changed,
    files::changes_that_are_not_wanted,
    files::replaced_by_too_much,
    files::empty_search,
    files::empty_path_of_a_search,
    files::empty_pattern,
    files::pattern_that_is_not_there,
    files::pattern_that_is_no_expression,
    files::pattern_of_nothing,
    files::pattern_over_lines,
    files::pattern_that_is_there_twice,
    files::group_that_is_not_there,
    files::directory_that_is_deleted,
    files::version_that_is_old,
    files::text_that_is_there_twice,
    files::process_that_is_unknown,
    requests::input_of_no_form,
    requests::input_of_an_ended_process,
    requests::too_many_processes,
    requests::part_that_is_large,
    requests::file_that_is_large,
    requests::answer_that_is_long,
    requests::request_that_is_long,
    denials::path_of_the_system,
    denials::machine_without_namespaces,
    denials::layer_without_namespaces,
    denials::trial_without_namespaces,
    denials::key_of_the_user,
    denials::file_that_does_not_exist,
    denials::file_in_a_folder_that_does_not_exist,
    denials::name_for_once,
    denials::folder_with_a_secret,
    denials::program_among_files,
    denials::program_in_the_own_folder,
    denials::new_file_elsewhere,
    denials::new_sensitive_file,
    denials::host_that_is_not_named,
    denials::rule_that_cannot_be_held,
    components::core_module,
    components::text_of_a_module,
    components::folder_is_taken,
    components::name_of_a_project,
    components::long_name_of_a_project,
    components::no_arguments,
    components::words_that_are_no_arguments_of_a_component,
    components::several_tools,
    components::no_function_of_a_tool,
    components::unknown_import,
    components::newer_import,
    components::asynchronous_function,
}

fn check(row: &Row) {
    let scene = Scene::new(row.config);
    let first = scene.run(row.wrong, "");
    assert!(
        follow::is_said(row.hint, &first.1),
        "`{}` is not in: {}",
        row.hint,
        first.1
    );
    for said in row.right.split('«').skip(1) {
        let said = said.split('»').next().unwrap();
        assert!(first.1.contains(said), "`{said}` is not in: {}", first.1);
    }
    let hint = first.1.lines().find_map(|line| line.strip_prefix("hint: "));
    let right = row.right.replace(['«', '»'], "");
    let (success, again) = scene.run(&right, hint.unwrap_or_default());
    assert!(
        success && again.contains(row.works),
        "first: {}\nthen: {again}",
        first.1
    );
    follow::follow(row.hint, &first.1, &again);
}

/// A workspace, and a home.
struct Scene {
    folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Scene {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The name has a space, which a command in a hint has to quote.
        let root = Utf8Path::from_path(folder.path()).unwrap().join("my work");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir(folder.path().join("my home")).unwrap();
        std::fs::write(root.join("server.py"), SERVER).unwrap();
        if !config.is_empty() {
            std::fs::write(root.join("jig.toml"), config).unwrap();
        }
        Self { folder, root }
    }

    /// Runs the words of a shell, without a terminal. Says whether they succeeded, and all that was printed.
    fn run(&self, words: &str, hint: &str) -> (bool, String) {
        let jig = Path::new(env!("CARGO_BIN_EXE_jig")).parent().unwrap();
        let output = Command::new("setsid")
            .args(["--wait", "/bin/sh", "-c", words])
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", self.folder.path().join("my home"))
            // Most rows are not about acceptance, which the trial of first mistakes goes through each time.
            .env("JIG_TRUST", "1")
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", jig.display()),
            )
            .env("REPO", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .env("SHOWN", shown_folder(env!("CARGO_TARGET_TMPDIR")))
            .env("HINT", hint)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let streams = [&output.stdout, &output.stderr];
        let said = streams.map(|stream| String::from_utf8_lossy(stream));
        (output.status.success(), said.concat())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // What was spawned goes with its workspace.
        self.run("jig abort --all", "");
    }
}

const SERVER: &str = include_str!("../support/mcp_server.py");
