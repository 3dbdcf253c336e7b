//! What `jig mcp` serves and who may connect: configurations that are loaded again when files change, and the tokens of
//! clients.

mod fixture_loader;
mod project_loader;
pub mod tokens;

pub use fixture_loader::FixtureLoader;
pub use project_loader::ProjectLoader;
