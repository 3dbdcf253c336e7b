//! The command line of `jig mcp`.

use std::net::SocketAddr;

use camino::Utf8PathBuf;

pub(super) const MCP_HELP: &str = "\
Examples:
  jig mcp --check                          start it, talk to it as an agent would, and say what there is
  jig setup claude-code --write            connect an agent: it starts `jig mcp` by itself
  jig mcp                                  serve whoever started it, on standard input and output
  jig mcp --http 127.0.0.1:8080            serve whoever has the token, at http://127.0.0.1:8080/mcp
  jig mcp --http 127.0.0.1:0 --json        at any free port; the address and the token as JSON
  jig approve                              what waits for a person, and how to allow or deny it

An agent gets the tools of the workspace, each under its own rules: what `jig tools` lists. Reading \
runs by itself, writing asks first, by the configuration. Questions go to the agent's client, if that \
can show them; else `jig approve` answers them. A change of jig.toml takes effect while the server \
runs; one that allows more than before waits until somebody accepts it with `jig approve`.

With --http every request needs a token (`Authorization: Bearer TOKEN`). It comes from --token-file, \
else from the variable JIG_MCP_TOKEN, else one is made and shown. What was spawned and what was \
approved belongs to a token, until nothing was asked with it for half an hour (`mcp.idle`). Pages in a \
browser are refused, unless --allow-origin names them, and so are requests for another host, unless --allow-host \
names it, as a proxy in front needs. `/healthz` says without a token that it serves.

Standard output carries the protocol and nothing else; what jig has to say is on standard error. It \
ends when its input does, with Ctrl-C, or when it is told to (SIGTERM), and ends all that its tools \
have started; the exit code is then 0.";

#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    /// Serve over HTTP at this address instead; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// The tokens, one on each line; nobody but you may be able to read the file
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<Utf8PathBuf>,
    /// A page that may use the server, with a token: `https://app.example.com`; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// A name under which clients reach it by a proxy: `jig.example.com`; may be repeated
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// How many connections clients may have; each has two, mostly
    #[arg(long, value_name = "COUNT", requires = "http", default_value_t = 2048, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_connections: u16,
    /// Let others connect than programs on this machine: nothing is encrypted
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
    /// Start it, talk to it as an agent would, and report what an agent sees
    #[arg(long, conflicts_with = "http")]
    pub(crate) check: bool,
    /// Serve the tools of the official conformance suite, without a token
    #[arg(long, hide = true, conflicts_with_all = ["check", "token_file", "allow_remote"])]
    pub(crate) conformance: bool,
    /// Do at this URL what the official conformance suite wants to see of a client
    #[arg(long, hide = true, value_name = "URL", conflicts_with_all = ["check", "http", "conformance"])]
    pub(crate) conformance_client: Option<String>,
}

/// An address to listen at. `localhost` is one; no other name is, since what it leads to is for others to say.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numeric.parse().map_err(|_| {
        let (host, port) = text
            .rsplit_once(':')
            .unwrap_or_else(|| match text.parse::<u64>() {
                Ok(_) => ("", text),
                Err(_) => (text, ""),
            });
        let port = port.parse::<u16>().unwrap_or(8080);
        match host {
            "" => {
                format!("an address is missing: 127.0.0.1:{port} is for programs on this machine")
            }
            _ => format!(
                "an IP address and a port are wanted, such as 127.0.0.1:{port} or [::1]:{port}"
            ),
        }
    })
}
