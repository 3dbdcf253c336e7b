//! [`below`]: what the processes below a keeper use, as the host's `/proc` tells it.

use std::time::Duration;

use crate::process::TreeUsage;
use crate::sys::linux::procfs;

#[cfg(test)]
mod tests;

/// Adds up the processes below `keeper`, and what the keeper has reaped.
///
/// It goes from parent to child, so that it costs as much as the tree is large, whatever else the machine
/// runs. Orphans are children of the keeper. A process that ends meanwhile, or whose parent does, may be
/// missed.
pub(super) fn below(keeper: i32) -> TreeUsage {
    let mut usage = TreeUsage::default();
    let mut ticks = 0_u64;
    let mut page_count = 0_u64;
    let mut found = vec![keeper];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        let text = procfs::read_start(&format!("/proc/{pid}/stat"));
        let Some(stat) = text.as_deref().and_then(UsageStat::parse) else {
            continue;
        };
        ticks = ticks.saturating_add(stat.of_reaped);
        if pid != keeper {
            ticks = ticks.saturating_add(stat.own);
            page_count = page_count.saturating_add(pages(pid));
            usage.tasks = usage.tasks.saturating_add(stat.threads);
        }
        for task in tasks(pid, stat.threads) {
            let children = procfs::read(&format!("/proc/{pid}/task/{task}/children"));
            let children = children.unwrap_or_default();
            let room = MOST.saturating_sub(found.len());
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|child| child.parse::<i32>().ok())
                    .take(room),
            );
        }
    }
    usage.cpu = duration(ticks, rustix::param::clock_ticks_per_second());
    usage.memory = page_count.saturating_mul(rustix::param::page_size() as u64);
    usage
}

/// The threads of a process, each of which has children of its own.
fn tasks(pid: i32, threads: u64) -> Vec<i32> {
    if threads <= 1 {
        return vec![pid];
    }
    procfs::numbers_in(&format!("/proc/{pid}/task"))
}

/// The pages of memory that a process holds: the second number here. `stat` tells them, too, but leaves out
/// what each processor has not yet reported, which of a small process may be all.
fn pages(pid: i32) -> u64 {
    procfs::read_start(&format!("/proc/{pid}/statm"))
        .and_then(|text| text.split(' ').nth(1)?.parse().ok())
        .unwrap_or(0)
}

fn duration(ticks: u64, per_second: u64) -> Duration {
    let per_second = per_second.max(1);
    let rest = ticks % per_second * 1_000_000_000 / per_second;
    Duration::new(ticks / per_second, u32::try_from(rest).unwrap_or(0))
}

/// What counts of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct UsageStat {
    /// Processor time in ticks: of the process, and of the children that it has reaped.
    own: u64,
    of_reaped: u64,
    threads: u64,
}

impl UsageStat {
    /// The second field is the program's name, which may contain blanks and parentheses.
    fn parse(stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // By the number that the manual gives them.
        let field = |number: usize| fields.get(number - 3)?.parse::<i64>().ok();
        // None of these is ever below zero, whatever their type is.
        let count = |number| Some(field(number)?.max(0).cast_unsigned());
        Some(Self {
            own: count(14)?.saturating_add(count(15)?),
            of_reaped: count(16)?.saturating_add(count(17)?),
            threads: count(20)?,
        })
    }
}

/// The most processes to look at. A tree without a limit could hold the host for as long as it likes.
const MOST: usize = 16 << 10;
