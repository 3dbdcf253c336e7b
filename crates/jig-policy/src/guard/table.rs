//! [`TABLE`]: every name that is guarded, and why. It is the one place where a guard is written.
//!
//! The criterion: a line is here if something *obeys or runs* the file without a person building, testing or running
//! the project. Opening a folder, a prompt, `git status`, a commit or starting an agent is enough. What runs when
//! the person builds or runs the project is ordinary project code, which honest tools change all day.

use super::{GuardDepth, GuardKind, GuardLevel, GuardLine};

/// The guards, by their names. At most 128: [`GuardLines`](super::GuardLines) has a bit for each.
pub(super) const TABLE: &[GuardLine] = &[
    // jig itself.
    never("jig.toml", "jig takes the nearest one above a folder"),
    never(
        ".jig/config.toml",
        "jig takes the nearest one above a folder",
    ),
    never(".jp/config.toml", "jig reads the tools of JP from it"),
    named(
        ".jig",
        GuardKind::JigFolder,
        "tools and rules of jig lie there",
    ),
    named(".jp", GuardKind::JpFolder, "tools of JP lie there"),
    // git: hooks are sensitive, below. `info/attributes` and `.gitattributes` only choose among the drivers that
    // the configuration names, and `.gitmodules` names no program that git would run.
    itself(
        ".git",
        GuardKind::Git,
        "it makes a folder a repository; as a file or link it says which one git obeys",
    ),
    named(
        ".git/config",
        GuardKind::Git,
        "it names programs that git runs, also for `git status`",
    ),
    named(
        ".git/config.worktree",
        GuardKind::Git,
        "it names programs that git runs",
    ),
    named(
        ".git/commondir",
        GuardKind::Git,
        "it names another repository whose configuration git obeys",
    ),
    named(
        ".git/modules",
        GuardKind::Git,
        "the configurations of the submodules lie there",
    ),
    named(
        ".git/worktrees/*/config*",
        GuardKind::Git,
        "it names programs that git runs in a linked worktree",
    ),
    named(
        ".git/worktrees/*/commondir",
        GuardKind::Git,
        "it names the repository that a linked worktree obeys",
    ),
    // Other version control.
    itself(
        ".hg",
        GuardKind::VersionControl,
        "it makes a folder a repository of Mercurial",
    ),
    named(
        ".hg/hgrc",
        GuardKind::VersionControl,
        "it names hooks and programs that Mercurial runs",
    ),
    named(
        ".hg/sharedpath",
        GuardKind::VersionControl,
        "it names another repository that Mercurial obeys",
    ),
    itself(
        ".jj",
        GuardKind::VersionControl,
        "it makes a folder a workspace of Jujutsu",
    ),
    itself(
        ".jj/repo",
        GuardKind::VersionControl,
        "as a file it names another repository that Jujutsu obeys",
    ),
    named(
        ".jj/repo/config.toml",
        GuardKind::VersionControl,
        "it names programs that Jujutsu runs",
    ),
    named(
        ".jj/workspace-config.toml",
        GuardKind::VersionControl,
        "it names programs that Jujutsu runs",
    ),
    itself(
        ".sl",
        GuardKind::VersionControl,
        "it makes a folder a repository of Sapling",
    ),
    named(
        ".sl/config",
        GuardKind::VersionControl,
        "it names hooks and programs that Sapling runs",
    ),
    named(
        ".sl/sharedpath",
        GuardKind::VersionControl,
        "it names another repository that Sapling obeys",
    ),
    // What the person's own hooks run at a commit.
    named(".husky", GuardKind::Hooks, "its scripts run at a commit"),
    named(
        ".githooks",
        GuardKind::Hooks,
        "by habit the folder of `core.hooksPath`, whose scripts run at a commit",
    ),
    named(".lefthook", GuardKind::Hooks, "its scripts run at a commit"),
    named(
        ".lefthook-local",
        GuardKind::Hooks,
        "its scripts run at a commit",
    ),
    named(
        "lefthook*.y*ml",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    named(
        ".lefthook*.y*ml",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    named(
        "lefthook*.toml",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    named(
        "lefthook*.json",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    named(
        ".pre-commit-config.y*ml",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    named(
        ".overcommit.yml",
        GuardKind::Hooks,
        "its commands run at a commit",
    ),
    // Agents: servers and hooks start with the agent. `AGENTS.md`, `CLAUDE.md` and other instructions are text: what
    // an agent then does is judged by the rules of that agent.
    named(
        ".mcp.json",
        GuardKind::Obeyed,
        "agents start the MCP servers that it names",
    ),
    named(
        ".claude",
        GuardKind::Obeyed,
        "hooks and commands of Claude Code",
    ),
    named(
        ".claude.json",
        GuardKind::Obeyed,
        "MCP servers of Claude Code",
    ),
    named(
        ".codex",
        GuardKind::Obeyed,
        "MCP servers and notifications of Codex",
    ),
    named(
        ".cursor",
        GuardKind::Obeyed,
        "MCP servers and hooks of Cursor",
    ),
    named(
        ".gemini",
        GuardKind::Obeyed,
        "MCP servers and hooks of Gemini CLI",
    ),
    named(".qwen", GuardKind::Obeyed, "MCP servers of Qwen Code"),
    named(
        "opencode.json*",
        GuardKind::Obeyed,
        "MCP servers, plugins and formatters of opencode",
    ),
    named(".opencode", GuardKind::Obeyed, "plugins of opencode"),
    named(
        "crush.json",
        GuardKind::Obeyed,
        "MCP and language servers of Crush",
    ),
    named(
        ".crush.json",
        GuardKind::Obeyed,
        "MCP and language servers of Crush",
    ),
    named(".crush", GuardKind::Obeyed, "the configuration of Crush"),
    named(".amp", GuardKind::Obeyed, "MCP servers of Amp"),
    named(".continue", GuardKind::Obeyed, "MCP servers of Continue"),
    named(
        ".continuerc.json",
        GuardKind::Obeyed,
        "the configuration of Continue",
    ),
    named(
        ".windsurf",
        GuardKind::Obeyed,
        "hooks and workflows of Windsurf",
    ),
    named(".roo", GuardKind::Obeyed, "MCP servers of Roo Code"),
    named(".kilocode", GuardKind::Obeyed, "MCP servers of Kilo Code"),
    named(".clinerules", GuardKind::Obeyed, "hooks of Cline"),
    named(".kiro", GuardKind::Obeyed, "MCP servers and hooks of Kiro"),
    named(".amazonq", GuardKind::Obeyed, "MCP servers of Amazon Q"),
    named(".junie", GuardKind::Obeyed, "MCP servers of Junie"),
    named(
        ".factory",
        GuardKind::Obeyed,
        "MCP servers and hooks of Factory",
    ),
    named(".trae", GuardKind::Obeyed, "MCP servers of Trae"),
    named(
        ".aider.conf.yml",
        GuardKind::Obeyed,
        "commands that Aider runs after an edit",
    ),
    at_root(
        "/.github/hooks",
        GuardKind::Obeyed,
        "hooks of GitHub Copilot",
    ),
    // Editors: tasks, language servers and start-up code run when a folder or file is opened.
    named(
        ".vscode",
        GuardKind::Obeyed,
        "tasks, settings and MCP servers of VS Code",
    ),
    named(
        "*.code-workspace",
        GuardKind::Obeyed,
        "tasks and settings of VS Code",
    ),
    named(
        ".devcontainer",
        GuardKind::Obeyed,
        "commands that run when the folder is opened in a container",
    ),
    named(
        ".devcontainer.json",
        GuardKind::Obeyed,
        "commands that run when the folder is opened in a container",
    ),
    named(
        ".zed",
        GuardKind::Obeyed,
        "tasks and language servers of Zed",
    ),
    named(
        ".idea",
        GuardKind::Obeyed,
        "start-up tasks and watchers of the IDEs of JetBrains",
    ),
    named(".fleet", GuardKind::Obeyed, "settings and tasks of Fleet"),
    named(".vs", GuardKind::Obeyed, "tasks of Visual Studio"),
    named(".helix", GuardKind::Obeyed, "language servers of Helix"),
    named(".nova", GuardKind::Obeyed, "tasks of Nova"),
    named(
        "*.sublime-project",
        GuardKind::Obeyed,
        "build systems and language servers of Sublime Text",
    ),
    named(
        ".kateproject",
        GuardKind::Obeyed,
        "language servers of Kate",
    ),
    named(
        ".dir-locals*.el",
        GuardKind::Obeyed,
        "Emacs evaluates it when a file is opened",
    ),
    named(
        ".exrc",
        GuardKind::Obeyed,
        "Vim runs it when it starts in the folder",
    ),
    named(".vimrc", GuardKind::Obeyed, "Vim runs it when it starts"),
    named(".gvimrc", GuardKind::Obeyed, "Vim runs it when it starts"),
    named(
        ".lvimrc",
        GuardKind::Obeyed,
        "Vim runs it when a file is opened",
    ),
    named(
        ".nvimrc",
        GuardKind::Obeyed,
        "Neovim runs it when it starts in the folder",
    ),
    named(
        ".nvim.lua",
        GuardKind::Obeyed,
        "Neovim runs it when it starts in the folder",
    ),
    named(
        ".vim",
        GuardKind::Obeyed,
        "plugins of Vim, and language servers of coc.nvim",
    ),
    named(
        ".neoconf.json",
        GuardKind::Obeyed,
        "language servers of Neovim",
    ),
    named(
        ".ycm_extra_conf.py",
        GuardKind::Obeyed,
        "YouCompleteMe runs it when a file is opened",
    ),
    // What a prompt runs in a folder. direnv's own `.envrc` is sensitive, as `.env*`.
    named(
        ".direnv/*.rc",
        GuardKind::Prompt,
        "direnv loads it in the folder, without asking again",
    ),
    named(
        "mise*.toml",
        GuardKind::Prompt,
        "mise runs its hooks and templates in the folder",
    ),
    named(
        ".mise*.toml",
        GuardKind::Prompt,
        "mise runs its hooks and templates in the folder",
    ),
    named(
        ".mise/config*.toml",
        GuardKind::Prompt,
        "mise runs its hooks and templates in the folder",
    ),
    named(
        "mise/config*.toml",
        GuardKind::Prompt,
        "mise runs its hooks and templates in the folder",
    ),
    named(
        ".config/mise*",
        GuardKind::Prompt,
        "mise runs its hooks and templates in the folder",
    ),
    // Configuration of a home, where that is the workspace.
    home_file(
        "/.gitconfig",
        "it names programs that git runs in every repository",
    ),
    home_file(
        "/.config/git",
        "it names programs that git runs in every repository",
    ),
    home_file("/.hgrc", "it names programs that Mercurial runs"),
    home_file("/.tmux.conf", "tmux runs it when it starts"),
    // Sensitive: only a rule that names them covers them, for reading, too.
    secret(".env*", "it holds secrets; direnv runs `.envrc`"),
    secret(".ssh", "it holds keys, and names programs that ssh runs"),
    secret(".gnupg", "it holds keys"),
    secret(".aws", "it holds credentials"),
    secret(".azure", "it holds credentials"),
    secret(".config/gcloud", "it holds credentials"),
    secret(".config/gh", "it holds credentials"),
    secret(".kube", "it holds credentials"),
    secret(".docker/config.json", "it holds credentials"),
    secret(".netrc", "it holds credentials"),
    secret(".git-credentials", "it holds credentials"),
    secret(".pypirc", "it holds credentials"),
    secret(".cargo/credentials", "it holds credentials"),
    secret(".cargo/credentials.toml", "it holds credentials"),
    secret(".git/hooks", "git runs them"),
    secret(".bashrc", "a shell runs it when it starts"),
    secret(".bash_profile", "a shell runs it when it starts"),
    secret(".bash_login", "a shell runs it when it starts"),
    secret(".bash_logout", "a shell runs it when it ends"),
    secret(".profile", "a shell runs it when it starts"),
    secret(".zshrc", "a shell runs it when it starts"),
    secret(".zshenv", "a shell runs it when it starts"),
    secret(".zprofile", "a shell runs it when it starts"),
    secret(".zlogin", "a shell runs it when it starts"),
    secret(".zlogout", "a shell runs it when it ends"),
    secret(".config/fish", "a shell runs it when it starts"),
    start_up("/.xprofile", "the desktop runs it when it starts"),
    start_up("/.xsession*", "the desktop runs it when it starts"),
    start_up("/.xinitrc", "the desktop runs it when it starts"),
    start_up("/.config/autostart", "the desktop runs it when it starts"),
    start_up("/.config/systemd", "units of the user run when they log in"),
    start_up(
        "/.config/environment.d",
        "it sets variables of all that the user starts",
    ),
    start_up("/.local/bin", "programs there stand on the search path"),
    start_up(
        "/.local/share/systemd",
        "units of the user run when they log in",
    ),
    start_up(
        "/.local/share/applications",
        "the desktop starts what is named there",
    ),
];

const fn line(
    pattern: &'static str,
    level: GuardLevel,
    kind: GuardKind,
    why: &'static str,
) -> GuardLine {
    GuardLine {
        pattern,
        depth: GuardDepth::Any,
        level,
        kind,
        only_itself: false,
        why,
    }
}

const fn never(pattern: &'static str, why: &'static str) -> GuardLine {
    line(pattern, GuardLevel::Never, GuardKind::JigFile, why)
}

const fn named(pattern: &'static str, kind: GuardKind, why: &'static str) -> GuardLine {
    line(pattern, GuardLevel::Named, kind, why)
}

/// The path alone, not what lies below it.
const fn itself(pattern: &'static str, kind: GuardKind, why: &'static str) -> GuardLine {
    GuardLine {
        only_itself: true,
        ..named(pattern, kind, why)
    }
}

const fn at_root(pattern: &'static str, kind: GuardKind, why: &'static str) -> GuardLine {
    GuardLine {
        depth: GuardDepth::Root,
        ..named(pattern, kind, why)
    }
}

const fn home_file(pattern: &'static str, why: &'static str) -> GuardLine {
    at_root(pattern, GuardKind::Home, why)
}

const fn secret(pattern: &'static str, why: &'static str) -> GuardLine {
    line(pattern, GuardLevel::Sensitive, GuardKind::Sensitive, why)
}

const fn start_up(pattern: &'static str, why: &'static str) -> GuardLine {
    GuardLine {
        depth: GuardDepth::Root,
        ..secret(pattern, why)
    }
}
