//! Times as people write them.

use anyhow::anyhow;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, civil};
use jig_proto::{hint, visible_line};

/// A time as people write it: how long ago (`10m`, `2h`, `1h30m`, `3d`), a day or a time of it in UTC
/// (`2026-11-15`, `2026-11-15 09:30`), or RFC 3339 (`2026-11-15T09:30:00+01:00`).
pub(crate) fn moment(text: &str) -> anyhow::Result<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(local) = text.parse::<civil::DateTime>()
        && let Ok(zoned) = local.to_zoned(TimeZone::UTC)
    {
        return Ok(zoned.timestamp());
    }
    let not_a_time = || {
        let hint = match text.is_empty() || text.bytes().any(|byte| !byte.is_ascii_digit()) {
            true => hint!(
                "write how long ago: 10m, 2h, 3d; or a time in UTC: 2026-11-15, \
                     2026-11-15T09:30:00Z"
            ),
            false => hint!("write `{text}s`, `{text}m`, `{text}h` or `{text}d`"),
        };
        anyhow!(hint).context(format!("`{}` is not a time", visible_line(text)))
    };
    let ago = ago(text).ok_or_else(not_a_time)?;
    Timestamp::now()
        .checked_sub(ago)
        .map_err(|_| anyhow!("`{text}` is too long ago"))
}

/// How long something takes: numbers, each with its unit.
fn ago(text: &str) -> Option<SignedDuration> {
    let mut rest = text.strip_suffix("ago").unwrap_or(text).trim();
    let mut seconds: i64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
        let unit = match unit {
            "s" | "sec" | "second" | "seconds" => 1,
            "m" | "min" | "minute" | "minutes" => 60,
            "h" | "hour" | "hours" => 60 * 60,
            "d" | "day" | "days" => 24 * 60 * 60,
            "w" | "week" | "weeks" => 7 * 24 * 60 * 60,
            _ => return None,
        };
        seconds = seconds.checked_add(count.checked_mul(unit)?)?;
        rest = after.trim_start();
    }
    Some(SignedDuration::from_secs(seconds))
}

#[cfg(test)]
mod tests;
