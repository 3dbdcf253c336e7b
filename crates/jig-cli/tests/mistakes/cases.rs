//! The mistakes, by what they are about.

pub(crate) mod config;
pub(crate) mod files;
pub(crate) mod limits;
pub(crate) mod mediated;
pub(crate) mod network;
pub(crate) mod outside;
pub(crate) mod run;
pub(crate) mod words;

/// A command that fails for a reason that can be mended in one step.
#[derive(Debug, Default)]
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    /// Files that exist: of the workspace, `~/` of the user, `../` elsewhere on the machine. What begins
    /// with `#!` can be run.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// What is done before, in the words of a shell, without jig.
    pub(crate) setup: &'static str,
    /// The rest of the configuration; it starts below `[tools.check]`, unless jig is called by [`Way::Shell`].
    pub(crate) config: &'static str,
    pub(crate) way: Way,
    /// What is printed once it works.
    pub(crate) works: &'static str,
    /// The hint that is followed, as it stands in the source after `hint: `; empty if a rule or a flag is
    /// offered.
    pub(crate) follows: &'static str,
    /// What only the person can know, for the words that stand for it in a message.
    pub(crate) fills: &'static [(&'static str, &'static str)],
    /// Who has to listen.
    pub(crate) server: Listens,
}

/// How something is done.
#[derive(Debug)]
pub(crate) enum Way {
    /// By a tool that is a program, in the words of a shell.
    Tool(&'static str),
    /// By a tool that asks jig: the method, and its parameters.
    Asks(&'static str, &'static str),
    /// By one of jig's own tools.
    Builtin(&'static str),
    /// By `jig run` with these words.
    Run(&'static str),
    /// By these words of a shell.
    Shell(&'static str),
}

/// What a mistake needs of the machine besides files.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listens {
    /// A web server on some port of the loopback.
    #[default]
    Anywhere,
    /// One on port 80, which not everybody may open.
    WebPort,
    /// One that speaks TLS, as `api.test`.
    Tls,
    /// A socket besides, elsewhere on the machine.
    Socket,
}

impl Default for Way {
    fn default() -> Self {
        Way::Tool("true")
    }
}

impl Mistake {
    /// What a message says, with what the person knows in it.
    pub(crate) fn filled(&self, text: &str) -> String {
        let all = self.fills.iter();
        all.fold(text.to_owned(), |text, (blank, value)| {
            text.replace(blank, value)
        })
    }
}

impl Way {
    pub(crate) fn command(&self) -> String {
        match self {
            Way::Tool(_) | Way::Asks(..) => "jig call --no-interaction check".to_owned(),
            Way::Builtin(call) => format!("jig call --yes --no-interaction {call}"),
            Way::Run(words) => format!("jig run {words}"),
            Way::Shell(words) => (*words).to_owned(),
        }
    }

    /// The same as people are told.
    pub(crate) fn shown(&self) -> String {
        match self {
            Way::Tool(does) => (*does).to_owned(),
            Way::Asks(method, params) => format!("{method} {params}"),
            Way::Builtin(call) => format!("jig call {call}"),
            Way::Run(words) => format!("jig run {words}"),
            Way::Shell(words) => (*words).to_owned(),
        }
    }
}
