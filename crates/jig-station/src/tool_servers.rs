//! [`SpawnedServers`]: the MCP servers that spawned tools are on.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use jig_config::Config;
use jig_mcp::Servers;
use jig_project::CommandEnvironment;

/// One set of servers for each configuration and environment under which something was spawned: a server has the
/// variables of who started it, tokens among them, and works for nobody else.
///
/// The set of the last spawn stays for the next one. Any other goes when no handle has it any more, and not before:
/// a spawn with another one stops nothing that a handle is on, or waits for.
#[derive(Debug, Default)]
pub(super) struct SpawnedServers(Mutex<Vec<ServerSet>>);

/// The servers of one configuration and environment. The last set is that of the last spawn.
#[derive(Debug)]
struct ServerSet {
    identity: String,
    servers: Arc<Servers>,
}

impl SpawnedServers {
    /// The servers with this [identity].
    pub(super) fn of(&self, identity: String, make: impl FnOnce() -> Arc<Servers>) -> Arc<Servers> {
        let mut sets = self.sets();
        let set = match sets.iter().position(|set| set.identity == identity) {
            Some(place) => sets.remove(place),
            None => ServerSet {
                identity,
                servers: make(),
            },
        };
        let servers = Arc::clone(&set.servers);
        sets.push(set);
        servers
    }

    /// Ends the servers that nothing is on, but those of the last spawn. It does not wait for that.
    pub(super) fn tidy(&self) {
        let mut sets = self.sets();
        let others = sets.len().saturating_sub(1);
        // Whoever gets one gets it from here, under the lock.
        let is_unused = |set: &mut ServerSet| Arc::strong_count(&set.servers) == 1;
        let unused: Vec<ServerSet> = sets.extract_if(..others, is_unused).collect();
        drop(sets);
        if unused.is_empty() {
            return;
        }
        // Without a thread they are dropped here, which ends them at once.
        let _ = thread::Builder::new()
            .name("jig-ending".to_owned())
            .spawn(move || end(unused));
    }

    /// Ends all, and waits for that.
    pub(super) fn end(&self) {
        let sets = mem::take(&mut *self.sets());
        end(sets);
    }

    fn sets(&self) -> MutexGuard<'_, Vec<ServerSet>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What servers are: those of a configuration, for a client with these variables. No value is kept in it.
pub(super) fn identity(config: &Config, env: &CommandEnvironment) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in env.some(|_| true) {
        for word in [name, value] {
            // With its length before it, no word can pass for two.
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word.as_bytes());
        }
    }
    let servers = Servers::identity(config);
    format!("{} {servers}", hasher.finalize().to_hex())
}

/// Ends all of them at the same time.
fn end(sets: Vec<ServerSet>) {
    thread::scope(|scope| {
        for set in &sets {
            scope.spawn(|| set.servers.stop_all());
        }
    });
}
