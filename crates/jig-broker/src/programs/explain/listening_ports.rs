//! On which ports somebody listens: on the loopback of the host, or in the network of a program.

use std::collections::HashSet;
use std::io::Read as _;

/// The ports of TCP on which somebody listens that a connection to the loopback reaches.
///
/// Nothing is connected to: the kernel's own tables are read.
pub(super) fn ports() -> HashSet<u16> {
    ports_in("/proc/net")
}

/// The same in the network of the process `pid`, in order.
pub(crate) fn listening_ports(pid: u32) -> Vec<u16> {
    let mut ports: Vec<u16> = ports_in(&format!("/proc/{pid}/net")).into_iter().collect();
    ports.sort_unstable();
    ports
}

fn ports_in(tables: &str) -> HashSet<u16> {
    let mut ports = HashSet::new();
    for table in ["tcp", "tcp6"] {
        ports.extend(listed(&content(&format!("{tables}/{table}"))));
    }
    ports
}

/// The ports of the listening sockets in a table.
pub(super) fn listed(table: &str) -> impl Iterator<Item = u16> + '_ {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
        let (address, port) = local.split_once(':')?;
        (state == LISTENING && is_reached(address)).then(|| u16::from_str_radix(port, 16).ok())?
    })
}

/// Whether an address, as the kernel writes it, is reached through the loopback: any address, 127.0.0.0/8,
/// `::1`, and the first two in the form of IPv6. Each four bytes stand in the order of the machine.
fn is_reached(address: &str) -> bool {
    let last = &address[address.len().saturating_sub(8)..];
    let front = &address[..address.len() - last.len()];
    let is_empty = front.bytes().all(|byte| byte == b'0') || front.ends_with("FFFF0000");
    let last = u32::from_str_radix(last, 16).map(u32::to_ne_bytes);
    let is_v4 = front.is_empty() || front.ends_with("FFFF0000");
    match last {
        Ok([0, 0, 0, 0]) => is_empty,
        Ok([127, ..]) => is_v4,
        Ok([0, 0, 0, 1]) => !is_v4 && is_empty,
        _ => false,
    }
}

#[expect(
    clippy::disallowed_types,
    reason = "it is a table of the kernel, which lies in no workspace"
)]
fn content(table: &str) -> String {
    let mut content = Vec::new();
    if let Ok(file) = std::fs::File::open(table) {
        // What could not be read is not known.
        let _ = file.take(LARGEST).read_to_end(&mut content);
    }
    String::from_utf8_lossy(&content).into_owned()
}

/// The state of a socket that listens.
const LISTENING: &str = "0A";

/// Some twenty thousand sockets.
const LARGEST: u64 = 4 << 20;
