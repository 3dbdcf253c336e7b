//! [`HostEnv`]: the variables of the host that rules decide about.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The variables of the host, as they were when they were collected.
///
/// They are handed in, so that nothing here looks at the process's own environment. Clones share
/// them. Variables whose name or value is not UTF-8 cannot be named by a rule or put into a header;
/// whoever collects them leaves those out.
#[derive(Clone, Default)]
pub struct HostEnv(Arc<HashMap<String, String>>);

impl HostEnv {
    /// The value of a variable. It may be a secret.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them, in no particular order. The values may be secrets.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.0.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for HostEnv {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter();
        Self(Arc::new(
            variables
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ))
    }
}

/// Only how many there are: values are secrets.
impl fmt::Debug for HostEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostEnv({} variables)", self.0.len())
    }
}
