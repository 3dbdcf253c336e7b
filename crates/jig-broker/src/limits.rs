//! [`RequestLimits`]: how much one request may take.

use std::time::Duration;

use jig_proto::Fetch;

/// How much one request may take. Without them, a tool or a server that it names could fill the
/// memory of the host or hold its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// The most content of a file in one message, in bytes. Default: 10 MB. Larger files are read
    /// in ranges.
    pub file_bytes: u64,
    /// The most entries of a directory in one page. Default: 50,000. A listing without pages has all entries that
    /// fit into a message.
    pub list_entries: usize,
    /// The most bytes of lines that a search gives. Default: 4 MiB.
    pub grep_bytes: u64,
    /// The largest body that a server may send, in bytes. Default: 10 MB.
    pub http_body_bytes: u64,
    /// How long a request to a server may take, with all redirects. Default: 30 s.
    pub http_time: Duration,
    /// How many redirects are followed. Default: 5.
    pub http_redirects: u32,
    /// The most that is kept of each output of a program, in bytes. Default: 2 MB. The rest is
    /// dropped, and a marker says so.
    pub process_output_bytes: usize,
    /// How much a program may print altogether before it is ended, in bytes. Default: 256 MB.
    pub process_flood_bytes: u64,
    /// How long a program may run. Default: 2 minutes.
    pub process_time: Duration,
    /// How long a program that is asked to end may take before it is killed. Default: 2 s.
    pub process_grace: Duration,
    /// How many programs that stay a tool may have at the same time. Default: 16.
    pub processes: usize,
    /// The most output of a program that stays which is kept until it is read, and which is given in one
    /// answer, in bytes. Default: 256 KiB. The oldest is given up first.
    pub process_kept_bytes: usize,
    /// How many lines that have left the screen are kept, of a program on a terminal. Default: 2,000.
    pub process_scrollback: usize,
    /// How long one request may wait for the output of a program. Default: 10 minutes.
    pub process_wait: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            file_bytes: 10_000_000,
            list_entries: 50_000,
            grep_bytes: 4 * 1024 * 1024,
            http_body_bytes: 10_000_000,
            http_time: Duration::from_secs(30),
            http_redirects: 5,
            process_output_bytes: 2_000_000,
            process_flood_bytes: 256_000_000,
            process_time: Duration::from_secs(120),
            process_grace: Duration::from_secs(2),
            processes: 16,
            process_kept_bytes: 256 * 1024,
            process_scrollback: 2_000,
            process_wait: Fetch::LONGEST_WAIT,
        }
    }
}
