//! Figures out of many measured times.

use std::time::Duration;

use serde_json::{Value as Json, json};

/// All that was measured.
#[derive(Debug)]
pub struct BenchFigures {
    /// From bytes to machine code.
    pub cold: BenchSpread,
    /// From machine code on the disk.
    pub disk: BenchSpread,
    /// The first call after that.
    pub first: Duration,
    /// All other calls.
    pub calls: BenchSpread,
    /// Making an instance, which is part of every call.
    pub instantiate: BenchSpread,
    /// The bytes that an instance begins with.
    pub memory: u64,
    /// How far the calls of different parts of the run differ, as a share of their median.
    pub noise: f64,
}

impl BenchFigures {
    /// As `jig wasm bench --json` has it.
    pub fn to_json(&self) -> Json {
        json!({
            "compile": self.cold.to_json(),
            "load": self.disk.to_json(),
            "first_call_us": micros(self.first),
            "call": self.calls.to_json(),
            "instantiate": self.instantiate.to_json(),
            "memory_bytes": self.memory,
            "noise": (self.noise * 1000.0).round() / 1000.0,
        })
    }
}

/// What many times come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchSpread {
    /// How many.
    pub count: usize,
    /// The shortest.
    pub least: Duration,
    /// The middle.
    pub median: Duration,
    /// Of a hundred, 99 are not longer.
    pub p99: Duration,
}

impl BenchSpread {
    /// Of no times, all zero.
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |rank: f64| {
            let place = (times.len() as f64 * rank).ceil() as usize;
            let time = times.get(place.saturating_sub(1));
            time.copied().unwrap_or_default()
        };
        Self {
            count: times.len(),
            least: at(0.0),
            median: at(0.5),
            p99: at(0.99),
        }
    }

    fn to_json(self) -> Json {
        json!({
            "runs": self.count,
            "min_us": micros(self.least),
            "median_us": micros(self.median),
            "p99_us": micros(self.p99),
        })
    }
}

/// How far the medians of ten parts of a run differ, as a share of the median of all. Where nothing else runs,
/// it is some percent; too few times say nothing, which is 0.
pub(super) fn noise(times: &[Duration]) -> f64 {
    if times.len() < 10 * PARTS {
        return 0.0;
    }
    let medians = times.chunks_exact(times.len() / PARTS);
    let medians: Vec<Duration> = medians
        .map(|part| BenchSpread::of(part.to_vec()).median)
        .collect();
    let all = BenchSpread::of(times.to_vec()).median.as_secs_f64();
    let (Some(least), Some(most)) = (medians.iter().min(), medians.iter().max()) else {
        return 0.0;
    };
    match all > 0.0 {
        true => (most.saturating_sub(*least)).as_secs_f64() / all,
        false => 0.0,
    }
}

/// A time, in a unit that suits it.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 1.0 => format!("{seconds:.1} s"),
        _ if seconds >= 0.001 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.0} µs", seconds * 1e6),
    }
}

/// How many times as long, in two digits.
pub fn ratio(long: Duration, short: Duration) -> String {
    let ratio = long.as_secs_f64() / short.as_secs_f64().max(1e-9);
    match ratio >= 10.0 {
        true => format!("{ratio:.0}"),
        false => format!("{ratio:.1}"),
    }
}

fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

/// Into how many parts a run is split to see its noise.
const PARTS: usize = 10;
