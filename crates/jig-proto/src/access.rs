//! [`Access`]: the rules that a tool is told about, as they cross the wire.
//!
//! These are the finished rules: merged, in order, with nothing left of the files they come from.
//! What they mean is decided elsewhere.

use camino::{Utf8Path, Utf8PathBuf};
use indexmap::IndexMap;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::FieldError;
use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};

/// The rules of one tool, in the order in which later rules win ties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Access {
    /// Files of the workspace.
    pub fs: Vec<FsRule>,
    /// Hosts and URLs.
    pub net: Vec<NetRule>,
    /// Variables of the host's environment.
    pub env: Vec<EnvRule>,
    /// Programs by name, if programs are restricted at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<IndexMap<String, CommandRule>>,
}

impl FromValue for Access {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `fs`, `net` and `env`")?;
        Ok(Self {
            fs: fields.or_default("fs")?,
            net: fields.or_default("net")?,
            env: fields.or_default("env")?,
            commands: fields.optional("commands")?,
        })
    }
}

/// What may be done to a path of the workspace and everything below it.
///
/// Read with `path` or `lexical_path`, and with `write` as an alias for creating, updating and
/// deleting, which each of those three overrides. Written with both names of the path and all five
/// capabilities, so that every reader finds what it knows; the alias is never written. `external`
/// and `approved_target` are ignored when read: here a rule never reaches out of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsRule {
    path: Utf8PathBuf,
    grants: FsGrants,
}

/// The capabilities of an [`FsRule`]; none by default, which denies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FsGrants {
    /// Read contents, list entries.
    pub read: bool,
    /// Make new files and directories.
    pub create: bool,
    /// Change what exists.
    pub update: bool,
    /// Remove files and directories.
    pub delete: bool,
    /// Run files as programs.
    pub execute: bool,
}

impl FsRule {
    /// A rule that grants this at `path`, relative to the workspace; `.` is the workspace.
    pub fn new(path: impl Into<Utf8PathBuf>, grants: FsGrants) -> Self {
        Self {
            path: path.into(),
            grants,
        }
    }

    /// The path, as it was written.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Whether contents may be read and entries listed.
    pub fn read(&self) -> bool {
        self.grants.read
    }

    /// Whether new files and directories may be made.
    pub fn create(&self) -> bool {
        self.grants.create
    }

    /// Whether what exists may be changed.
    pub fn update(&self) -> bool {
        self.grants.update
    }

    /// Whether files and directories may be removed.
    pub fn delete(&self) -> bool {
        self.grants.delete
    }

    /// Whether files may be run as programs.
    pub fn execute(&self) -> bool {
        self.grants.execute
    }
}

impl FromValue for FsRule {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `path`")?;
        let lexical: Option<String> = fields.optional("lexical_path")?;
        let path = match (fields.optional::<String>("path")?, lexical) {
            (Some(path), Some(lexical)) if path != lexical => {
                let at = FieldPath::Key(&at, "lexical_path");
                let found = Value::String(lexical);
                return Err(FieldError::unexpected(at, "the same as `path`", &found));
            }
            (Some(path), _) | (None, Some(path)) => path,
            (None, None) => return Err(FieldError::missing(FieldPath::Key(&at, "path"), "a path")),
        };
        let write = fields.or_default("write")?;
        let mut or_write = |key| Ok(fields.optional(key)?.unwrap_or(write));
        let (create, update, delete) = (
            or_write("create")?,
            or_write("update")?,
            or_write("delete")?,
        );
        let grants = FsGrants {
            read: fields.or_default("read")?,
            create,
            update,
            delete,
            execute: fields.or_default("execute")?,
        };
        Ok(Self::new(path, grants))
    }
}

impl Serialize for FsRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path)?;
        // Tools in the wild require these three and ignore `path`.
        map.serialize_entry("lexical_path", &self.path)?;
        map.serialize_entry("external", &false)?;
        map.serialize_entry("approved_target", &())?;
        map.serialize_entry("read", &self.grants.read)?;
        map.serialize_entry("create", &self.grants.create)?;
        map.serialize_entry("update", &self.grants.update)?;
        map.serialize_entry("delete", &self.grants.delete)?;
        map.serialize_entry("execute", &self.grants.execute)?;
        map.end()
    }
}

/// Whether a host, or a part of it, may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NetRule {
    /// The host; `*.example.com` for all names below one, `*` for all names.
    pub host: String,
    /// Only this scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Only this port; the scheme's own if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Only URLs whose path starts with these segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
    /// Only requests with these methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    /// Whether matching requests are allowed.
    pub allow: bool,
}

impl FromValue for NetRule {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `host`")?;
        Ok(Self {
            host: fields.required("host", "a host name")?,
            scheme: fields.optional("scheme")?,
            port: fields.optional("port")?,
            path_prefix: fields.optional("path_prefix")?,
            methods: fields.optional("methods")?,
            allow: fields.or_default("allow")?,
        })
    }
}

impl FromValue for u16 {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        value
            .as_u64()
            .and_then(|number| Self::try_from(number).ok())
            .ok_or_else(|| FieldError::unexpected(at, "a number from 0 to 65535", &value))
    }
}

/// Whether a variable of the host's environment may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvRule {
    /// The name, or a prefix followed by `*`.
    pub name: String,
    /// Whether the tool gets the value.
    pub read: bool,
    /// Whether the host may put the value into a request header for the tool, which never sees it.
    #[serde(skip_serializing_if = "is_false")]
    pub header: bool,
}

impl FromValue for EnvRule {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `name`")?;
        Ok(Self {
            name: fields.required("name", "the name of a variable")?,
            read: fields.or_default("read")?,
            header: fields.or_default("header")?,
        })
    }
}

/// Takes a reference because serde calls it with one.
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// How a program may be run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandRule {
    /// The argument lists that are allowed, any if `None`; `**` at the end stands for any rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Vec<String>>>,
    /// The variables of the host's environment that a run may be given.
    pub envs: Vec<String>,
}

impl FromValue for CommandRule {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `args` and `envs`")?;
        Ok(Self {
            args: fields.optional("args")?,
            envs: fields.or_default("envs")?,
        })
    }
}

impl FromValue for IndexMap<String, CommandRule> {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let Value::Object(members) = value else {
            return Err(FieldError::unexpected(at, "an object", &value));
        };
        members
            .into_iter()
            .map(|(program, rule)| {
                let rule = CommandRule::from_value(rule, FieldPath::Key(&at, &program))?;
                Ok((program, rule))
            })
            .collect()
    }
}

deserialize_from_value!(Access, FsRule, NetRule, EnvRule, CommandRule);

#[cfg(test)]
mod tests;
