//! [`Init`]: the first line that a tool reads.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::fields::{FieldPath, FromValue, ObjectFields};
use crate::vfs::write::ObjectWriter;
use crate::vfs::{Capabilities, Method};
use crate::{Context, FieldError};

/// What a tool is told when it starts.
///
/// The first two fields are the protocol's own; the others are additions that an older tool ignores
/// and an older host does not send.
#[derive(Debug, Clone, PartialEq)]
pub struct Init {
    /// What to do.
    pub tool: ToolInput,
    /// The version that the host speaks with this tool, such as [`Init::PROTOCOL_VERSION`].
    pub protocol_version: String,
    /// All versions that the host can speak.
    pub supported: Vec<String>,
    /// The methods that the policy leaves open, if the host says so. That a method is here does not
    /// mean that every request of it is allowed.
    pub methods: Option<Vec<Method>>,
    /// The limits that hold, if the host says so.
    pub limits: Option<SessionLimits>,
    /// What the host offers beyond the plain protocol.
    pub capabilities: Capabilities,
    /// Where the tool works and what it may do, so that it can check itself before it asks.
    pub context: Option<Context>,
    /// Whether the caller drives the tool: it sends input to a running tool, and looks at its output
    /// as it comes. Otherwise it gets the result, and answers questions at most.
    pub stateful: bool,
}

/// The call that a tool is to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolInput {
    /// The name of the tool.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// Answers to questions that are already known, by the id of the question.
    pub answers: Map<String, Value>,
    /// The options of the tool, from the user's configuration.
    pub options: Map<String, Value>,
}

/// What the host holds a tool to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// The bytes of one line; `message_bytes`.
    pub message_bytes: u64,
    /// The bytes of file content in one message; `file_bytes`.
    pub file_bytes: u64,
    /// How long a tool may be silent before it counts as hung; `silence_ms`.
    pub silence: Duration,
    /// How long a tool waits for an answer before it may cancel; `response_ms`.
    pub response: Duration,
    /// How long a cancelled tool has to end; `cancel_grace_ms`.
    pub cancel_grace: Duration,
}

/// The documented limits: 16 MiB, 10 MB, 60 s, 30 s, 5 s.
impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
            file_bytes: 10_000_000,
            silence: Duration::from_secs(60),
            response: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(5),
        }
    }
}

impl Init {
    /// The version that every session begins with: the plain protocol.
    pub const PROTOCOL_VERSION: &'static str = "0.1.0";

    /// All versions that this crate speaks, oldest first. A minor version has additions only (V-172): the last one
    /// has the capabilities and the methods beyond the plain protocol.
    pub const SUPPORTED_VERSIONS: [&'static str; 2] = [Self::PROTOCOL_VERSION, "0.2.0"];

    /// The plain message, without any of the additions.
    pub fn new(tool: ToolInput) -> Self {
        Self {
            tool,
            protocol_version: Self::PROTOCOL_VERSION.to_owned(),
            supported: Vec::new(),
            methods: None,
            limits: None,
            capabilities: Capabilities::PLAIN,
            context: None,
            stateful: false,
        }
    }

    pub(super) fn write(&self, mut object: ObjectWriter<'_>) {
        let mut tool = object.object("tool");
        tool.put("name", &self.tool.name);
        tool.put("arguments", &self.tool.arguments);
        tool.put("answers", &self.tool.answers);
        tool.put("options", &self.tool.options);
        tool.close();
        object.put("protocol_version", &self.protocol_version);
        if !self.supported.is_empty() {
            object.put("supported", &self.supported);
        }
        if let Some(methods) = &self.methods {
            let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
            object.put("methods", &names);
        }
        if let Some(limits) = &self.limits {
            limits.write(object.object("limits"));
        }
        if self.capabilities != Capabilities::PLAIN {
            self.capabilities.write(object.object("capabilities"));
        }
        object.put_some("context", self.context.as_ref());
        object.put_flag("stateful", self.stateful);
        object.close();
    }
}

impl SessionLimits {
    fn write(&self, mut object: ObjectWriter<'_>) {
        object.put("message_bytes", &self.message_bytes);
        object.put("file_bytes", &self.file_bytes);
        object.put("silence_ms", &millis(self.silence));
        object.put("response_ms", &millis(self.response));
        object.put("cancel_grace_ms", &millis(self.cancel_grace));
        object.close();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl FromValue for Init {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `tool`")?;
        Ok(Self {
            tool: fields.required("tool", "an object with `name`")?,
            protocol_version: fields.required("protocol_version", "a version")?,
            supported: fields.or_default("supported")?,
            methods: fields.optional::<Vec<String>>("methods")?.map(|names| {
                // A newer host may have more than we know.
                let known = names.iter().filter_map(|name| Method::parse(name));
                known.collect()
            }),
            limits: fields.optional("limits")?,
            capabilities: fields
                .optional("capabilities")?
                .unwrap_or(Capabilities::PLAIN),
            context: fields.optional("context")?,
            stateful: fields.or_default("stateful")?,
        })
    }
}

impl FromValue for ToolInput {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `name`")?;
        Ok(Self {
            name: fields.required("name", "a string")?,
            arguments: fields.or_default("arguments")?,
            answers: fields.or_default("answers")?,
            options: fields.or_default("options")?,
        })
    }
}

/// What the host does not say is as documented.
impl FromValue for SessionLimits {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object of limits")?;
        let usual = Self::default();
        let mut number = |key, usual: u64| {
            let found: Option<u64> = fields.optional(key)?;
            Ok::<u64, FieldError>(found.unwrap_or(usual))
        };
        Ok(Self {
            message_bytes: number("message_bytes", usual.message_bytes)?,
            file_bytes: number("file_bytes", usual.file_bytes)?,
            silence: Duration::from_millis(number("silence_ms", millis(usual.silence))?),
            response: Duration::from_millis(number("response_ms", millis(usual.response))?),
            cancel_grace: Duration::from_millis(number(
                "cancel_grace_ms",
                millis(usual.cancel_grace),
            )?),
        })
    }
}

impl FromValue for Map<String, Value> {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        match value {
            Value::Object(members) => Ok(members),
            other => Err(FieldError::unexpected(at, "an object", &other)),
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        value
            .as_u64()
            .ok_or_else(|| FieldError::unexpected(at, "a number that is not negative", &value))
    }
}
