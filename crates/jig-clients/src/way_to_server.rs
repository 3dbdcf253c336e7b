//! How a client gets to a server: the command that starts one, or the address of one that runs.

use anyhow::{anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::{CommandEnvironment, Selection, locate};
use jig_proto::hint;
use url::Url;

use super::client::TOKEN;
use crate::client::AgentClient;

/// The address of a server, as a client takes it.
pub fn address(text: &str, notes: &mut Vec<String>) -> anyhow::Result<String> {
    let url =
        Url::parse(text).map_err(|error| anyhow!(error).context(format!("`{text}` is no URL")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        bail!("`{text}` is no address of a server: it begins with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        let hint = hint!("the token comes from the variable {TOKEN}");
        return Err(anyhow!(hint)
            .context("the address of a server has no user, no password and no fragment"));
    }
    let is_near = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if url.scheme() == "http" && !is_near {
        notes.push(
            "http:// to another machine sends the token and all that tools say in the clear"
                .to_owned(),
        );
    }
    if url.path() == "/" {
        notes.push(
            "`jig mcp --http` serves the path /mcp, which this address does not have".to_owned(),
        );
    }
    Ok(url.into())
}

/// What starts this program: `jig` where that is found, so that a file can be shared, else its path.
pub fn command(
    is_global: bool,
    env: &CommandEnvironment,
    notes: &mut Vec<String>,
) -> anyhow::Result<String> {
    let own = std::env::current_exe()
        .ok()
        .and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    let Some(own) = own else {
        bail!("cannot tell the path of this program");
    };
    let own = locate::resolved(&own).unwrap_or(own);
    let found = on_search_path("jig", env);
    if found.as_ref() == Some(&own) {
        return Ok("jig".to_owned());
    }
    let why = match found {
        Some(other) => format!("`jig` on your search path is another program, `{other}`"),
        None => "`jig` is not on your search path".to_owned(),
    };
    let so = match is_global {
        true => "the entry names this one by its path",
        false => {
            "the entry names this one by its path, which is not the same for everybody who shares the project"
        }
    };
    notes.push(format!("{why}: {so}"));
    Ok(own.into_string())
}

/// The program of this name that a shell would start, without links.
pub fn on_search_path(name: &str, env: &CommandEnvironment) -> Option<Utf8PathBuf> {
    let path = env.search_path()?;
    std::env::split_paths(&path).find_map(|folder| {
        let file = Utf8PathBuf::from_path_buf(folder).ok()?.join(name);
        locate::resolved(&file).ok().filter(|file| is_program(file))
    })
}

#[cfg(unix)]
fn is_program(file: &Utf8Path) -> bool {
    use rustix::fs::{Access, FileType, access, stat};
    let regular = stat(file.as_std_path())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    regular && access(file.as_std_path(), Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_program(_file: &Utf8Path) -> bool {
    true
}

/// What the program is started with. Where the options of this call say which workspace, configuration or
/// settings are meant, they are meant for the server.
pub fn arguments(
    client: AgentClient,
    is_global: bool,
    is_headless: bool,
    selection: &Selection,
    root: &Utf8Path,
) -> anyhow::Result<Vec<String>> {
    let mut words = vec!["mcp".to_owned()];
    let pinned = is_global && selection.workspace.is_some();
    let place = match client.project_variable() {
        _ if pinned => Some(root.to_string()),
        variable => variable.map(str::to_owned),
    };
    if let Some(place) = place {
        words.extend(["-C".to_owned(), place]);
    }
    let current = locate::current()?;
    for file in &selection.files {
        words.extend(["--config".to_owned(), current.join(file).into_string()]);
    }
    for setting in &selection.sets {
        words.extend(["--set".to_owned(), setting.clone()]);
    }
    // Nobody sits in front of the client: a call waits for whoever comes to the board.
    if is_headless {
        words.extend(["--set", "mcp.ask=\"board\""].map(str::to_owned));
    }
    Ok(words)
}
