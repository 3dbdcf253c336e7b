//! Rules that allow some changes and not others, wherever the workspace lies (G-036, G-120).

use jig_testkit::shown_folder;

use super::workspace_user::Desk;

/// G-036, G-120: what the policy says about creating, changing and deleting is what the sandbox does, below `/tmp`
/// as anywhere else. There the tool has a `/tmp` of its own, and what it may do in that must not count below it.
#[test]
fn g036_g120_both_layers_agree_in_every_place() {
    let shown = shown_folder(env!("CARGO_TARGET_TMPDIR"));
    for place in ["/tmp", "/var/tmp", shown.to_str().unwrap()] {
        for number in 0..8 {
            let [create, update, delete] = [4, 2, 1].map(|bit| number & bit != 0);
            check(place, create, update, delete);
        }
    }
}

fn check(place: &str, create: bool, update: bool, delete: bool) {
    let desk = Desk::below(place);
    // `write` and what says otherwise, so that both are tried.
    let rule =
        format!("write = {create}\ncreate = {create}\nupdate = {update}\ndelete = {delete}\n");
    desk.workspace.write(
        "jig.toml",
        format!(
            "[tools.t]\nsource = 'local'\ncommand = 'true'\n[[tools.t.access.fs]]\npath = '.'\nread = true\n\
             [[tools.t.access.fs]]\npath = 'd'\nread = true\n{rule}"
        ),
    );
    for name in ["old", "cut", "gone", "away"] {
        desk.workspace.write(&format!("d/{name}"), name);
    }
    desk.workspace.write("d/empty/x", "");
    std::fs::remove_file(desk.path("d/empty/x")).unwrap();

    let mut expected = String::new();
    let mut script = String::new();
    let mut adds = |name: &str, act: &str, allowed: bool| {
        script.push_str(&format!(
            "if ({act}) 2> /dev/null; then echo {name} 0; else echo {name} 1; fi\n"
        ));
        expected.push_str(&format!("{name} {}\n", i32::from(!allowed)));
    };
    adds("make", "echo x > d/new", create);
    adds("folder", "mkdir d/newdir", create);
    // Who may create a file may write to others, too: the kernel does not tell them apart, and jig says so.
    adds("append", "echo x >> d/old", update || create);
    adds("cut", ": > d/cut", update);
    adds("remove", "rm d/gone", delete);
    adds("remove-folder", "rmdir d/empty", delete);
    adds("rename", "mv d/away d/there", create && delete);
    adds("temporary", "echo x > $(mktemp)", true);
    let ran = desk.run(&["run", "--policy", "t", "--", "sh", "-c", &script]);
    let what = format!("{place}: create {create}, update {update}, delete {delete}: {ran:?}");
    assert_eq!(ran.out, expected, "{what}");
    assert_eq!(desk.path("d/new").exists(), create, "{what}");
    assert_eq!(desk.path("d/gone").exists(), !delete, "{what}");
    assert_eq!(desk.read("d/cut").is_empty(), update, "{what}");

    // The cooperative layer, which mediated tools are held to.
    for (capability, path, allowed) in [
        ("create", "d/other", create),
        ("update", "d/old", update),
        ("delete", "d/old", delete),
    ] {
        let words = ["policy", "explain", "t", "--exit-code", capability, path];
        let code = if allowed { 0 } else { 4 };
        assert_eq!(desk.run(&words).code, Some(code), "{place}: {words:?}");
    }
}
