//! What `jig wasm new` writes: the files in `templates/`, built into jig.
//!
//! Each template is a project that works as it is, named `my-tool`; only the name is replaced.

/// A project.
pub struct ProjectTemplate {
    /// The language, as people write it.
    pub language: &'static str,
    /// Where each file goes, and what is in it.
    pub files: &'static [(&'static str, &'static str)],
    /// The file to begin with.
    pub main: &'static str,
    /// What builds it, for a shell in its folder.
    pub build: &'static str,
    /// What building gives.
    pub component: &'static str,
}

/// One in Rust.
pub const RUST: ProjectTemplate = ProjectTemplate {
    language: "Rust",
    files: &[
        (
            "Cargo.toml",
            include_str!("../../templates/wasm-rust/Cargo.toml.in"),
        ),
        (
            ".gitignore",
            include_str!("../../templates/wasm-rust/gitignore"),
        ),
        (
            "README.md",
            include_str!("../../templates/wasm-rust/README.md"),
        ),
        (
            "jig.toml",
            include_str!("../../templates/wasm-rust/jig.toml"),
        ),
        (
            "src/lib.rs",
            include_str!("../../templates/wasm-rust/src/lib.rs"),
        ),
        (
            "wit/world.wit",
            include_str!("../../templates/wasm-rust/wit/world.wit"),
        ),
        JP_TOOL,
        JP_HOST,
        JIG_TOOL,
    ],
    main: "src/lib.rs",
    build: "rustup target add wasm32-wasip2 && cargo build --release --target wasm32-wasip2",
    component: "target/wasm32-wasip2/release/my_tool.wasm",
};

/// One in Python.
pub const PYTHON: ProjectTemplate = ProjectTemplate {
    language: "Python",
    files: &[
        (
            "requirements.txt",
            include_str!("../../templates/wasm-python/requirements.txt"),
        ),
        (
            ".gitignore",
            include_str!("../../templates/wasm-python/gitignore"),
        ),
        (
            "README.md",
            include_str!("../../templates/wasm-python/README.md"),
        ),
        (
            "jig.toml",
            include_str!("../../templates/wasm-python/jig.toml"),
        ),
        ("app.py", include_str!("../../templates/wasm-python/app.py")),
        (
            "wit/world.wit",
            include_str!("../../templates/wasm-python/wit/world.wit"),
        ),
        JP_TOOL,
        JP_HOST,
        JIG_TOOL,
    ],
    main: "app.py",
    build: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && \
            .venv/bin/componentize-py -d wit -w component componentize app -o my_tool.wasm",
    component: "my_tool.wasm",
};

/// One in JavaScript.
pub const JS: ProjectTemplate = ProjectTemplate {
    language: "JavaScript",
    files: &[
        (
            "package.json",
            include_str!("../../templates/wasm-js/package.json"),
        ),
        (
            ".gitignore",
            include_str!("../../templates/wasm-js/gitignore"),
        ),
        (
            "README.md",
            include_str!("../../templates/wasm-js/README.md"),
        ),
        ("jig.toml", include_str!("../../templates/wasm-js/jig.toml")),
        ("tool.js", include_str!("../../templates/wasm-js/tool.js")),
        (
            "wit/world.wit",
            include_str!("../../templates/wasm-js/wit/world.wit"),
        ),
        JP_TOOL,
        JP_HOST,
        JIG_TOOL,
    ],
    main: "tool.js",
    build: "npm install && npm run build",
    component: "my_tool.wasm",
};

/// The interfaces, from where the host has them too (W-019).
const JP_TOOL: (&str, &str) = (
    "wit/deps/jp-tool/tool.wit",
    include_str!("../../../jig-proto/wit/jp-tool/tool.wit"),
);
const JP_HOST: (&str, &str) = (
    "wit/deps/jp-host/host.wit",
    include_str!("../../../jig-proto/wit/jp-host/host.wit"),
);
const JIG_TOOL: (&str, &str) = (
    "wit/deps/jig-tool/tool.wit",
    include_str!("../../../jig-proto/wit/jig-tool/tool.wit"),
);
