//! Commands that use being watched, or what is said about them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use crate::workspace_user::for_each_user;
use crate::{rules, suggested};

/// Behind a socket of the host somebody acts with the user's rights: the run that sees almost everything must
/// not reach one. Neither a mount that cannot be written to nor a network of its own keeps it from that.
#[test]
fn a_watched_command_reaches_no_socket_of_the_host() {
    for_each_user(|desk| {
        let path = desk.workspace.home.join("service.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        let script = format!(
            "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n    s.connect('{path}')\n    \
             print('is ' + 'reached')\nexcept OSError as error:\n    print('is ' + 'refused')\n"
        );
        desk.workspace.write("reach.py", script);
        let ran = desk.run(&["suggest", "--", "python3", "reach.py"]);
        assert!(ran.err.contains("is refused"), "{ran:?}");
        assert!(!ran.err.contains("is reached"), "{ran:?}");
        // Below `/tmp`, where a command has sockets of its own, nothing is said.
        let is_told = ran.out.contains("it is the socket of a service");
        assert!(is_told || path.starts_with("/tmp"), "{ran:?}");
    });
}

/// What is printed is meant to be pasted into a configuration: no name of a file may add to it.
#[test]
fn a_name_cannot_add_to_the_proposal() {
    let names = [
        // Not proposed, so told in a comment.
        ".env\n[tools.pwned]\nsource = \"local\"\ncommand = \"sh\"\n#",
        ".env.\", write = true }, { path = \"~",
        ".env\r[tools.pwned]",
        // Proposed.
        "new\n[tools.pwned]\nsource = \"local\"\ncommand = \"sh\"\n#/file",
        "quoted\"]]\n[tools.pwned]\n#/file",
    ];
    for_each_user(|desk| {
        let mut script = "import os\n".to_owned();
        for name in names {
            let name = serde_json::Value::from(name);
            script.push_str(&format!("name = {name}\n"));
            script.push_str("os.makedirs(os.path.dirname(name) or '.', exist_ok=True)\n");
            script.push_str("open(name, 'w').close()\n");
        }
        desk.workspace.write("names.py", script);
        let ran = desk.run(&["suggest", "made", "--", "python3", "names.py"]);
        let proposed: toml::Table = ran.out.parse().unwrap_or_else(|error| {
            panic!("{error} in {ran:?}");
        });
        let tools = proposed["tools"].as_table().unwrap();
        assert_eq!(tools.keys().collect::<Vec<_>>(), ["made"], "{ran:?}");
        let is_told = |line: &str| line.starts_with("# - `.env");
        assert!(ran.out.lines().any(is_told), "{ran:?}");
        let widest = "path = \"~\"";
        assert!(!rules(&ran.out).contains(widest), "{ran:?}");
    });
}

/// The line with the directories to make is meant for a shell.
#[test]
fn a_name_cannot_add_to_the_command_that_makes_directories() {
    for_each_user(|desk| {
        let script =
            "mkdir 'a;touch PWNED' 'b$(touch PWNED)'; : >'a;touch PWNED/f'; : >'b$(touch PWNED)/f'";
        let text = suggested(desk, &["--", "sh", "-c", script]);
        let head = "# It needs these directories: mkdir ";
        let words = text.lines().find_map(|line| line.strip_prefix(head));
        let words = words.unwrap_or_else(|| panic!("{text}"));
        let shell = std::process::Command::new("sh")
            .args(["-c", &format!("printf '<%s>' {words}")])
            .current_dir(&desk.workspace.root)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&shell.stdout);
        assert_eq!(said, "<a;touch PWNED><b$(touch PWNED)>", "{text}");
        assert!(!desk.workspace.root.join("PWNED").exists(), "{text}");
    });
}

/// A rule on a directory opens all that is in it.
#[test]
fn no_directory_with_a_secret_in_it_is_proposed() {
    for_each_user(|desk| {
        let home = &desk.workspace.home;
        for directory in ["project/.ssh", ".docker", ".config/gh", "harmless", "named"] {
            std::fs::create_dir_all(home.join(directory)).unwrap();
        }
        std::fs::write(home.join(".docker/config.json"), "{}").unwrap();
        std::fs::write(home.join(".config/gh/hosts.yml"), "token\n").unwrap();
        std::fs::write(home.join("named/.env"), "TOKEN=1\n").unwrap();
        symlink(home.join(".config/gh"), home.join("link")).unwrap();
        let script = format!(
            "cd {home} && ls project .docker harmless named .local/state/jig; cat link/hosts.yml; true"
        );
        desk.workspace.write("look.sh", script);
        let text = suggested(desk, &["--", "sh", "look.sh"]);
        let given = rules(&text);
        assert!(given.contains("\"~/harmless\""), "{text}");
        for closed in ["~/project", "~/.docker", "~/named", "~/link", "state"] {
            assert!(!given.contains(closed), "{closed}: {text}");
        }
        assert!(
            text.contains("# - `~/.docker`: it holds something"),
            "{text}"
        );
    });
}
