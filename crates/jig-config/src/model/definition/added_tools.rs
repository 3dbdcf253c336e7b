//! Adding the tools that servers describe to a configuration.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::Definition;
use super::names::{UnnamedTool, names};
use crate::model::{Config, Server, Tool, ToolSource};

impl Config {
    /// This configuration with the tools of its servers, as far as `known` knows their definitions.
    ///
    /// A declared tool of a server gets its definition, and with it what nobody said about it in the
    /// configuration. Every other tool that a server describes and [offers](Server::offers) is added, behind the
    /// declared ones, in the order of the servers and then of names: as `'*'` and the server's entry say, under
    /// its prefix and its own name. A name that is none, that is too long, or that something else has, gets a part
    /// of a hash behind it. The same definitions in another order give the same configuration.
    ///
    /// Servers that are switched off are left out. What stood there of an earlier call is replaced.
    #[must_use]
    pub fn with_definitions(
        &self,
        known: &dyn Fn(&Server) -> Option<Vec<Arc<Definition>>>,
    ) -> Config {
        let mut config = self.clone();
        config.tools.retain(|_, tool| !tool.is_added);
        let mut described: Vec<ServerDefinitions<'_>> = Vec::new();
        for server in self.servers.values().filter(|server| server.enable) {
            if let Some(definitions) = known(server) {
                described.push(ServerDefinitions {
                    server,
                    definitions: by_name(definitions),
                });
            }
        }
        let mut declared: HashSet<(String, String)> = HashSet::new();
        for tool in config.tools.values_mut() {
            let Some((server, name)) = tool.on_server() else {
                continue;
            };
            let (server, name) = (server.to_owned(), name.to_owned());
            let described = described.iter().find(|one| one.server.name == server);
            let definition = described.and_then(|one| one.definitions.get(&name));
            if let Some(definition) = definition {
                tool.define(definition);
            }
            declared.insert((server, name));
        }
        let mut added: Vec<(UnnamedTool<'_>, &Arc<Server>, &Arc<Definition>)> = Vec::new();
        for (
            rank,
            ServerDefinitions {
                server,
                definitions,
            },
        ) in described.iter().enumerate()
        {
            for (name, definition) in definitions {
                let is_declared = declared.contains(&(server.name.clone(), name.clone()));
                if !is_declared && server.offers(name) {
                    let wanted = UnnamedTool {
                        rank,
                        server: &server.name,
                        prefix: &server.prefix,
                        tool: name,
                    };
                    added.push((wanted, server, definition));
                }
            }
        }
        let (wanted, parts): (Vec<_>, Vec<_>) = added
            .into_iter()
            .map(|(wanted, server, definition)| (wanted, (server, definition)))
            .unzip();
        let names = names(&wanted, |name| config.tools.contains_key(name));
        for (name, (server, definition)) in names.into_iter().zip(parts) {
            let Some(name) = name else { continue };
            let mut tool = server.template.as_ref().clone();
            tool.name = name.clone();
            tool.source = ToolSource::Mcp {
                server: server.name.clone(),
                tool: Some(definition.name.clone()),
            };
            tool.is_added = true;
            tool.define(definition);
            config.tools.insert(name, tool);
        }
        config
    }
}

/// What a server says about its tools, by their names.
struct ServerDefinitions<'a> {
    server: &'a Arc<Server>,
    definitions: BTreeMap<String, Arc<Definition>>,
}

impl Tool {
    /// The server that it is on, and its name there.
    pub fn on_server(&self) -> Option<(&str, &str)> {
        match &self.source {
            ToolSource::Mcp { server, tool } => {
                Some((server, tool.as_deref().unwrap_or(self.name.as_str())))
            }
            _ => None,
        }
    }

    /// Takes over what a server says, where the configuration says nothing.
    fn define(&mut self, definition: &Arc<Definition>) {
        let written = |key: &str| self.values.get(key).is_some();
        if !written("title") {
            self.title = definition.title.clone();
        }
        if !written("description") {
            self.description = definition.description.clone();
        }
        // A result is an object, or has no schema.
        let is_object = |schema: &&Json| schema["type"] == "object";
        if !written("output") {
            self.output = definition.output.as_ref().filter(is_object).cloned();
        }
        self.definition = Some(Arc::clone(definition));
    }
}

/// The definitions by the names of their tools. Of two with one name, one is taken, always the same.
fn by_name(definitions: Vec<Arc<Definition>>) -> BTreeMap<String, Arc<Definition>> {
    let mut by_name: BTreeMap<String, Arc<Definition>> = BTreeMap::new();
    for definition in definitions {
        match by_name.get(&definition.name) {
            Some(other) if other.hash() <= definition.hash() => {}
            _ => {
                by_name.insert(definition.name.clone(), definition);
            }
        }
    }
    by_name
}
