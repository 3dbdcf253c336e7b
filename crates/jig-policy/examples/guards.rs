//! Prints the table of guards as docs/policy.md has it: `cargo xtask generate` puts it there.

use std::fmt::Write as _;

use jig_policy::{GuardDepth, GuardLevel, GuardLine};

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn main() {
    print!("{}", page());
}

/// The lines, and what each door does with them.
pub(crate) fn page() -> String {
    let mut text = String::from("\n| path | where | level | why |\n| --- | --- | --- | --- |\n");
    for line in GuardLine::all() {
        let place = match (line.depth(), line.only_itself()) {
            (GuardDepth::Root, _) => "at the top",
            (GuardDepth::Any, true) => "any folder, itself",
            (GuardDepth::Any, false) if line.kind().holds_in_packages() => "any folder",
            (GuardDepth::Any, false) => "any folder but in `node_modules`",
        };
        let pattern = line.pattern().trim_start_matches('/');
        let (level, why) = (line.level().name(), line.why());
        let _ = writeln!(text, "| `{pattern}` | {place} | {level} | {why} |");
    }
    text.push_str("\n| door | sensitive | named | never |\n| --- | --- | --- | --- |\n");
    let levels = [GuardLevel::Sensitive, GuardLevel::Named, GuardLevel::Never];
    for (door, acts) in DOORS {
        let cells = levels.map(acts);
        let _ = writeln!(text, "| {door} | {} |", cells.join(" | "));
    }
    text.push('\n');
    text
}

type DoorAct = fn(GuardLevel) -> &'static str;

/// What each door does where no rule names the path.
const DOORS: [(&str, DoorAct); 4] = [
    (
        "`fs_*` tools, `vfs` tools, components, the FS proxy, over the CLI and MCP alike",
        |level| match level {
            GuardLevel::Sensitive => "every request is refused, or a person is asked",
            GuardLevel::Named => "a change is refused, or a person is asked",
            GuardLevel::Never => "a change is refused",
        },
    ),
    ("confined programs: what exists", |level| match level {
        GuardLevel::Sensitive => "hidden",
        GuardLevel::Named | GuardLevel::Never => "read-only",
    }),
    (
        "confined programs: what appears",
        |_| "moved away and reported",
    ),
    (
        "changes of an overlay, when they are applied",
        |_| "not applied, kept in the layer and named",
    ),
];
