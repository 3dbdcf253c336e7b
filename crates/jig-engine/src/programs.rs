//! Programs: how they are confined, commands of a person under the policy of a tool, and the layers that their changes
//! go to first.

pub(crate) mod change_layer;
pub(crate) mod confinement;
pub(crate) mod prepared_command;
