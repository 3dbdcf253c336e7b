//! What servers say about their tools, ready for use: hashed and compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jig_config::{Definition, Tool};
use jsonschema::Validator;
use serde_json::{Map, Value};

use super::schemas;
use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::planning::arguments::complete;

/// The definitions of tools that were called, by the name of the tool.
#[derive(Debug, Default)]
pub(crate) struct CompiledDefinitions(Mutex<HashMap<String, Arc<CompiledDefinition>>>);

/// A definition, and what is made of it when it is first needed.
#[derive(Debug)]
pub(crate) struct CompiledDefinition {
    definition: Arc<Definition>,
    hash: String,
    /// `None` in it for a schema that cannot be used here.
    input: OnceLock<Option<Validator>>,
    output: OnceLock<Option<Arc<Validator>>>,
}

impl CompiledDefinition {
    /// The hash by which people accept it.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// What a result is held to, if the server says so in a way that can be used here.
    pub(crate) fn output(&self) -> Option<&Arc<Validator>> {
        let compile = || schemas::compile(self.definition.output.as_ref()?).map(Arc::new);
        self.output.get_or_init(compile).as_ref()
    }

    fn input(&self) -> Option<&Validator> {
        let compile = || schemas::compile(&self.definition.input);
        self.input.get_or_init(compile).as_ref()
    }
}

impl Engine {
    /// What the server of a tool says about it, if that is known.
    pub(crate) fn defined(&self, tool: &Tool) -> Option<Arc<CompiledDefinition>> {
        let definition = tool.definition.as_ref()?;
        let known = &self.common.definitions.0;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(defined) = known.get(tool.name.as_str())
            && Arc::ptr_eq(&defined.definition, definition)
        {
            return Some(Arc::clone(defined));
        }
        let defined = Arc::new(CompiledDefinition {
            definition: Arc::clone(definition),
            hash: definition.hash(),
            input: OnceLock::new(),
            output: OnceLock::new(),
        });
        known.insert(tool.name.to_string(), Arc::clone(&defined));
        Some(defined)
    }

    /// The arguments for a server's tool: as they are, since the server fills in what is missing.
    ///
    /// They are held to the parameters that the configuration declares, if it does, and to the definition. A
    /// schema that cannot be used here is left to the server.
    pub(crate) fn served_arguments(
        &self,
        tool: &Tool,
        mut given: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        let refused = |errors| CallError::Arguments {
            tool: tool.name.to_string(),
            errors,
        };
        if !tool.parameters.is_empty() {
            given = complete(given, &tool.parameters).map_err(refused)?;
        }
        let Some(defined) = self.defined(tool) else {
            return Ok(given);
        };
        schemas::coerce(&defined.definition, &mut given);
        match defined.input() {
            None => Ok(given),
            Some(validator) => {
                schemas::check(validator, &defined.definition, given).map_err(refused)
            }
        }
    }
}
