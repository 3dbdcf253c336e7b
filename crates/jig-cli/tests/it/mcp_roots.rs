//! `jig mcp` that a client starts where there is no project: it serves the folder that the client's roots name.

use std::process::Command;

use camino::Utf8Path;
use serde_json::{Value as Json, json};

use super::Workspace;
use super::follow::follow;
use super::mcp_client::{Client, text};

/// `jig mcp` as a client starts it in a home folder.
fn at_home(workspace: &Workspace) -> Command {
    let mut command = workspace.jig(&["mcp"]);
    command.current_dir(&workspace.home);
    command
}

fn workspace() -> Workspace {
    let workspace = Workspace::with("");
    workspace.write("notes.txt", "buy bread\n");
    workspace
}

fn begun(workspace: &Workspace) -> Client {
    let mut client = Client::of(at_home(workspace));
    client.initialize(json!({ "roots": { "listChanged": true } }));
    client
}

/// Waits until jig asks for the roots, and names these folders.
fn name(client: &mut Client, folders: &[&Utf8Path]) {
    let asked = client.until(|message| message["method"] == "roots/list");
    let roots = folders.iter().map(|folder| {
        let path = folder.as_str().replace(' ', "%20");
        json!({ "uri": format!("file://{path}") })
    });
    let roots: Vec<Json> = roots.collect();
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
}

fn tools(client: &mut Client) -> Vec<String> {
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn reads_notes(client: &mut Client) {
    let result = client.call("fs_read_file", json!({ "path": "notes.txt" }));
    assert!(text(&result).contains("buy bread"), "{result}");
}

#[test]
fn the_folder_of_the_clients_roots_is_served() {
    let workspace = workspace();
    let mut client = begun(&workspace);
    // It waits for the folder.
    let listing = client.ask("tools/list", json!({}));
    name(&mut client, &[&workspace.root]);
    let listed = client.answer(listing);
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "fs_read_file"),
        "{listed}"
    );
    reads_notes(&mut client);
    let (status, told) = client.close();
    assert!(status.success(), "{told}");
    let named = format!("jig: the client works on `{}`", workspace.root);
    assert!(told.contains(&named), "{told}");
}

/// What is no project is left out, however it is written, and a folder with a space is one.
#[test]
fn the_first_root_that_is_a_project_counts() {
    let workspace = workspace();
    let other = workspace.root.join("a b");
    workspace.write("a b/jig.toml", "");
    workspace.write("a b/notes.txt", "buy bread\n");
    let mut client = begun(&workspace);
    name(
        &mut client,
        &[
            "/".into(),
            &workspace.home,
            "/nonexistent/nowhere".into(),
            &other,
        ],
    );
    reads_notes(&mut client);
}

#[test]
fn without_a_project_there_are_no_tools_and_a_reason() {
    let workspace = workspace();
    let mut client = Client::of(at_home(&workspace));
    let begun = client.initialize(json!({}));
    let told = begun["result"]["instructions"].as_str().unwrap();
    assert!(
        told.contains("your home folder") && told.contains("-C DIR"),
        "{told}"
    );
    assert_eq!(tools(&mut client), [""; 0]);
    let params = json!({ "name": "fs_read_file", "arguments": { "path": "notes.txt" } });
    let refused = client.request("tools/call", params);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("your home folder"), "{refused}");
    let (status, told) = client.close();
    assert!(status.success(), "{told}");
    assert!(told.contains("your home folder"), "{told}");
}

/// What jig says to do where a client has no folder is done: the project is named in the client's settings.
#[test]
fn a_client_without_roots_is_told_to_name_the_project() {
    let workspace = workspace();
    let mut client = begun(&workspace);
    name(&mut client, &[]);
    assert_eq!(tools(&mut client), [""; 0]);
    let (_, told) = client.close();
    let mut command = workspace.jig(&["mcp", "-C", workspace.root.as_str()]);
    command.current_dir(&workspace.home);
    let mut client = Client::of(command);
    client.initialize(json!({ "roots": {} }));
    reads_notes(&mut client);
    let (_, again) = client.close();
    follow(
        "name the project in the client's settings: `jig mcp -C PROJECT`",
        &told,
        &again,
    );
}

/// The home is no project because a client says so, either.
#[test]
fn a_client_that_changes_its_roots_gets_their_tools() {
    let workspace = workspace();
    let mut client = begun(&workspace);
    name(&mut client, &[&workspace.home]);
    assert_eq!(tools(&mut client), [""; 0]);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    name(&mut client, &[&workspace.root]);
    client.until(|message| message["method"] == "notifications/tools/list_changed");
    reads_notes(&mut client);
}

/// No command takes the home or the whole machine for a workspace, unless it is named.
#[test]
fn the_home_and_the_root_are_no_workspaces() {
    let workspace = workspace();
    std::fs::create_dir(workspace.home.join(".git")).unwrap();
    let config = workspace.home.join("jig.toml");
    std::fs::write(&config, "").unwrap();
    let above = workspace.home.parent().unwrap();
    let settings = workspace.home.join(".config");
    let agent = workspace.home.join(".claude/skills");
    for folder in [&settings, &agent] {
        std::fs::create_dir_all(folder.join(".git")).unwrap();
    }
    for (folder, what) in [
        (workspace.home.as_path(), "your home folder"),
        (Utf8Path::new("/"), "all of this machine"),
        (above, "a folder with your home folder in it"),
        // These lie in a home without a file that makes it a workspace.
        (&settings, "a folder of your settings"),
        (&agent, "a folder of your settings"),
    ] {
        if folder == settings {
            std::fs::remove_file(&config).unwrap();
        }
        for words in [
            &["tools"][..],
            &["run", "--", "true"],
            &["call", "fs_list_files"],
            &["mcp", "--check"],
        ] {
            let output = workspace.jig(words).current_dir(folder).output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{words:?} in {folder}");
            assert!(
                told.contains(what) && told.contains("-C DIR"),
                "{words:?}: {told}"
            );
        }
    }
    let mut named = workspace.jig(&["-C", workspace.home.as_str(), "tools"]);
    let named = named.current_dir("/").output().unwrap();
    assert!(named.status.success(), "{named:?}");
    // The settings of one program, kept as a project, are one.
    let project = workspace.home.join(".config/nvim");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let served = workspace.jig(&["tools"]).current_dir(&project).output();
    let served = served.unwrap();
    assert!(served.status.success(), "{served:?}");
}
