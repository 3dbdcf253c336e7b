//! What tools and servers run of the workspace is guarded against all other tools.

use crate::workspace::Workspace;

/// What `tool` may change only by a rule that names it, because this program runs it.
fn guarded(workspace: &Workspace, tool: &str, program: &str) -> Vec<String> {
    let config = workspace.config();
    let tool = config.tool(tool).expect("a tool");
    let guards = config.guards(tool, workspace.root()).protected;
    let of_program = guards
        .iter()
        .filter(|guard| guard.what == format!("the program of the {program}"));
    of_program.map(|guard| guard.path.to_string()).collect()
}

#[test]
fn programs_of_servers_and_of_shell_lines() {
    let workspace = Workspace::with(
        "[mcp.servers.words]\n\
         command = [\"npx\", \"tsx\", \"./server\"]\n\
         [mcp.servers.line]\n\
         command = \"env -C './a b' python3 srv.py\"\n\
         [tools.words]\n\
         source = \"local\"\n\
         command = \"uv run python -m app {{tool.arguments.x}}\"\n\
         [tools.words.parameters.x]\n\
         type = \"string\"\n\
         [tools.shell_line]\n\
         source = \"local\"\n\
         command = { program = \"cd x && ./run.sh 'a b/c'\", shell = true, args = [\"in/out\"] }\n",
    )
    .file("server/index.js", "")
    .file("a b/x", "");
    let check = |program: &str, expected: &[&str]| {
        let found = guarded(&workspace, "fs_modify_file", program);
        assert_eq!(found, expected, "{program}");
    };
    check("server `words`", &["server"]);
    check("server `line`", &["a b", "srv.py"]);
    check(
        "tool `words`",
        &["app.py", "app/__init__.py", "app/__main__.py"],
    );
    check("tool `shell_line`", &["run.sh", "a b/c", "in/out"]);
    // A tool may change its own.
    assert_eq!(guarded(&workspace, "words", "tool `words`"), [""; 0]);
}
