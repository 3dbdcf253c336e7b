//! The mistakes that everybody makes first. Each is made with the real `jig`; what the message says is then
//! done mechanically, exactly once, and the same command has to work.
//!
//! The rows of the table in `docs/denials.md` are what was seen here. With `JIG_WRITE_DOCS=1` they are
//! written anew.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start the real program, and fail where that fails"
)]

mod cases;
mod fixture;
#[path = "../support/follow.rs"]
mod follow;
mod page;
mod remedy;
mod scene;

/// A test for each mistake, and all of them in order.
macro_rules! mistakes {
    ($($about:ident::$name:ident,)+) => {
        $(
            #[test]
            fn $name() {
                page::check(&cases::$about::$name());
            }
        )+

        /// In the order of the table.
        fn all() -> Vec<cases::Mistake> {
            vec![$(cases::$about::$name(),)+]
        }
    };
}

mistakes! {
    files::unlisted_file,
    files::new_file,
    files::new_folder,
    files::changed_file,
    files::deleted_file,
    files::renamed_file,
    files::script,
    files::sensitive_file,
    files::configuration_of_git,
    outside::home_file,
    outside::key,
    outside::folder,
    outside::cache,
    outside::toolchain,
    outside::own_program,
    outside::socket,
    outside::variable,
    network::undeclared_host,
    network::denied_host,
    network::other_port,
    network::other_path,
    network::denied_path,
    network::redirect,
    network::own_service,
    network::private_address,
    network::path_under_tls,
    limits::memory,
    limits::time,
    limits::file_size,
    limits::output,
    limits::descriptors,
    mediated::asked_read,
    mediated::asked_write,
    mediated::asked_url,
    mediated::asked_program,
    mediated::asked_arguments,
    mediated::builtin_create,
    mediated::builtin_read,
    run::run_home,
    run::run_write,
    run::run_sensitive,
    run::run_service,
    run::run_server,
    run::run_toolchain,
    run::run_memory,
    run::run_key,
    run::run_program,
    run::run_host,
    run::run_second_file,
    run::run_top_files,
    run::run_in_folder,
    run::run_link,
    run::run_submodule,
    run::run_worktree,
    run::run_around_submodule,
    run::run_new_folder,
    run::run_time,
    run::run_file_size,
    run::run_as_tool,
    words::one_word,
    words::shell_line,
    words::unknown_option,
    words::not_executable,
    words::windows_lines,
    words::no_first_line,
    words::tool_not_executable,
    words::tool_windows_lines,
    words::tool_name,
    words::folder_of_configuration,
    words::missing_argument,
    words::nobody_to_ask,
    words::not_stateful,
    words::topic_name,
    words::server_name,
    words::moment,
    words::bare_number,
    words::folder_of_output,
    words::rules_of_many,
    words::served_or_started,
    words::background,
    words::empty_input,
    config::mistyped_key,
    config::mistyped_value,
    config::mistyped_table,
    config::size_without_unit,
    config::key_of_others,
    config::shell_syntax,
    config::glob,
    config::port_as_host,
    config::unused_parameter,
    config::mistyped_template,
}

/// Every row belongs to a mistake that is made here, in this order, and there are at least sixty.
#[test]
fn the_table_is_complete() {
    page::check_all(&all());
}
