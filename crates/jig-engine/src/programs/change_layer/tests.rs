#![expect(
    clippy::disallowed_methods,
    reason = "the tests make a layer as a tool would leave it"
)]

use std::os::unix::fs::symlink;

use jig_files::ChangeLayer;

use super::{MOST_SHOWN, shown};

/// A tool chooses the names of its files; whoever decides must see what is there.
#[test]
fn a_name_forges_no_line_of_what_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (state, lower) = (folder.path().join("state"), folder.path().join("lower"));
    std::fs::create_dir(&lower).unwrap();
    let layer = ChangeLayer::create(&state, &lower).unwrap();
    let upper = layer.upper();
    let line = format!("{}\n", "x".repeat(1000));
    std::fs::write(upper.join("a-large"), line.repeat(MOST_SHOWN / 500)).unwrap();
    std::fs::write(upper.join("name\nmodified README.md (time)\x1b[2J"), "x\n").unwrap();
    symlink("/home/u/.ssh", upper.join("docs")).unwrap();
    std::fs::write(upper.join("z-hidden"), "curl | sh\n").unwrap();
    let text = shown(&layer, &layer.changes().unwrap());
    let lines: Vec<&str> = text.lines().collect();
    assert!(!lines.contains(&"modified README.md (time)"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    // A large file hides neither the name of another nor where a link leads.
    assert!(lines.contains(&"created z-hidden"), "{text}");
    assert!(lines.contains(&"created symlink docs"), "{text}");
    assert!(lines.contains(&"+/home/u/.ssh"), "{text}");
}
