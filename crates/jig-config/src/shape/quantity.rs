//! Sizes, times and counts: how they are written, and what they come to.
//!
//! A bare number counts bytes or seconds. With so many conventions about, a text must name its unit.

use jig_proto::{Hint, hint};

use crate::shape::TextComplaint;
use crate::value::Value;

/// What may be written for an amount.
#[derive(Debug)]
pub(crate) struct Quantity {
    pub(crate) unit: AmountUnit,
    /// The least and the most, both included: bytes, milliseconds or things.
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Whether `false` and `"none"` lift the limit, and `true` puts the default back.
    pub(crate) liftable: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AmountUnit {
    /// Bytes.
    Size,
    /// Milliseconds; a bare number counts seconds.
    Time,
    /// Whatever the key says.
    Count,
}

/// What an amount comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Bytes, milliseconds or things.
    Of(u64),
    /// No limit.
    Unlimited,
    /// The default, whatever a lower layer says.
    Default,
}

impl Quantity {
    /// What `value` comes to.
    pub(crate) fn read(&self, value: &Value) -> Result<Amount, TextComplaint> {
        match value {
            Value::Bool(false) if self.liftable => Ok(Amount::Unlimited),
            Value::Bool(true) if self.liftable => Ok(Amount::Default),
            Value::Text(word) if self.liftable && word == NONE => Ok(Amount::Unlimited),
            Value::Text(word) if self.never() == Some(word.as_str()) => Ok(Amount::Unlimited),
            Value::Int(number) => self.number(*number),
            Value::Text(text) => self.text(text),
            _ => Err(TextComplaint::new("it is no amount", self.help())),
        }
    }

    fn number(&self, number: i64) -> Result<Amount, TextComplaint> {
        let amount = u64::try_from(number).ok();
        let amount = amount.and_then(|number| number.checked_mul(self.of_a_bare_number()));
        let Some(amount) = amount else {
            return Err(TextComplaint::new(self.range(), self.help()));
        };
        self.in_range(amount).map_err(|complaint| {
            // A bare number that is far too small was meant in a larger unit.
            let meant = amount.saturating_mul(1 << 20);
            let slip = self.unit == AmountUnit::Size && (self.min..=self.max).contains(&meant);
            match slip {
                true => TextComplaint {
                    help: hint!(
                        "a bare number counts bytes: write the unit, such as `\"{number}MiB\"`"
                    ),
                    ..complaint
                },
                false => complaint,
            }
        })
    }

    fn text(&self, text: &str) -> Result<Amount, TextComplaint> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        if number.is_empty() {
            return Err(TextComplaint::new(
                "it does not begin with a number",
                self.help(),
            ));
        }
        if unit.is_empty() && self.unit == AmountUnit::Count {
            let help = hint!("remove the quotes: `{number}`");
            return Err(TextComplaint::new("it is a text", help));
        }
        if unit.is_empty() {
            return Err(TextComplaint::new("it has no unit", self.help()));
        }
        let folded = unit.to_ascii_lowercase();
        let known = self.units().iter().find(|(name, _)| *name == folded);
        let Some((_, factor)) = known else {
            // `G` alone is a thousand million here and 2 to the 30 there.
            let half =
                ["k", "m", "g", "t"].contains(&folded.as_str()) && self.unit == AmountUnit::Size;
            let help = match half {
                true => {
                    let unit = folded.to_ascii_uppercase();
                    hint!(
                        "write `\"{number}{unit}iB\"`, or `\"{number}{unit}B\"` for powers of ten"
                    )
                }
                false => self.help(),
            };
            let reason = format!("{} is no unit", crate::quoting::quote(unit));
            return Err(TextComplaint::new(reason, help));
        };
        let number: Option<u64> = number.parse().ok();
        match number.and_then(|number| number.checked_mul(*factor)) {
            Some(amount) => self.in_range(amount),
            None => Err(TextComplaint::new(self.range(), self.help())),
        }
    }

    fn in_range(&self, amount: u64) -> Result<Amount, TextComplaint> {
        if (self.min..=self.max).contains(&amount) {
            return Ok(Amount::Of(amount));
        }
        let help = match (amount, self.liftable) {
            // In many programs 0 means "no limit".
            (0, true) => hint!("write `false` for no limit"),
            _ => self.help(),
        };
        Err(TextComplaint::new(self.range(), help))
    }

    fn range(&self) -> String {
        format!(
            "it must be between {} and {}",
            self.written(self.min),
            self.written(self.max)
        )
    }

    /// An amount as people write it.
    pub(crate) fn written(&self, amount: u64) -> String {
        let exact = |(name, factor): &(&'static str, u64)| {
            (amount != 0 && amount.is_multiple_of(*factor)).then(|| (amount / factor, *name))
        };
        let units: &[(&str, u64)] = match self.unit {
            AmountUnit::Size => &[
                ("TiB", TIB),
                ("GiB", GIB),
                ("MiB", MIB),
                ("KiB", KIB),
                ("B", 1),
            ],
            AmountUnit::Time => &[
                ("d", DAY),
                ("h", HOUR),
                ("m", MINUTE),
                ("s", SECOND),
                ("ms", 1),
            ],
            AmountUnit::Count => &[],
        };
        match units.iter().find_map(exact) {
            Some((number, unit)) => format!("{number}{unit}"),
            None => amount.to_string(),
        }
    }

    /// What to write.
    fn help(&self) -> Hint {
        let lifted = match self.liftable {
            true => "; `false` for no limit",
            false => "",
        };
        match self.unit {
            AmountUnit::Size => hint!(
                "write a number of bytes, or a size with its unit, such as `\"512MiB\"` or `\"10MB\"`{lifted}"
            ),
            AmountUnit::Time => hint!(
                "write a number of seconds, or a time with its unit, such as `\"90s\"`, `\"10m\"` or `\"2h\"`{lifted}"
            ),
            AmountUnit::Count => hint!("write a number{lifted}"),
        }
    }

    /// What is expected, with an article.
    pub(crate) fn noun(&self) -> String {
        let amount = match self.unit {
            AmountUnit::Size => "a number of bytes or a size such as `\"512MiB\"`",
            AmountUnit::Time => "a number of seconds or a time such as `\"10m\"`",
            AmountUnit::Count => "a number",
        };
        match self.liftable {
            true => format!("{amount}, or `false` for no limit"),
            false => amount.to_owned(),
        }
    }

    /// The bounds of a bare number.
    pub(crate) fn bounds(&self) -> (u64, u64) {
        let one = self.of_a_bare_number();
        (self.min.div_ceil(one), self.max / one)
    }

    /// A regular expression for texts that refuses no more than [`read`](Self::read) does; `None` if
    /// no text is allowed.
    pub(crate) fn pattern(&self) -> Option<String> {
        let amount = match self.unit {
            AmountUnit::Size => Some("[0-9]+ ?(?:[KkMmGgTt][Ii]?)?[Bb]"),
            AmountUnit::Time => Some("[0-9]+ ?(?:[Mm]?[Ss]|[Mm](?:[Ii][Nn])?|[Hh]|[Dd])"),
            AmountUnit::Count => None,
        };
        let none = self.liftable.then_some(NONE);
        let ways = none.into_iter().chain(self.never()).chain(amount);
        let ways: Vec<&str> = ways.collect();
        (!ways.is_empty()).then(|| format!("^(?:{})$", ways.join("|")))
    }

    /// The other word for no limit, of times.
    fn never(&self) -> Option<&'static str> {
        (self.liftable && self.unit == AmountUnit::Time).then_some(NEVER)
    }

    fn of_a_bare_number(&self) -> u64 {
        match self.unit {
            AmountUnit::Time => SECOND,
            AmountUnit::Size | AmountUnit::Count => 1,
        }
    }

    /// The units in lower case. Nobody means anything else by `mb` than by `MB`.
    fn units(&self) -> &'static [(&'static str, u64)] {
        match self.unit {
            AmountUnit::Size => &[
                ("b", 1),
                ("kib", KIB),
                ("mib", MIB),
                ("gib", GIB),
                ("tib", TIB),
                ("kb", 1_000),
                ("mb", 1_000_000),
                ("gb", 1_000_000_000),
                ("tb", 1_000_000_000_000),
            ],
            AmountUnit::Time => &[
                ("ms", 1),
                ("s", SECOND),
                ("m", MINUTE),
                ("min", MINUTE),
                ("h", HOUR),
                ("d", DAY),
            ],
            AmountUnit::Count => &[],
        }
    }
}

/// The word for no limit.
const NONE: &str = "none";

/// The word for a time that does not come.
const NEVER: &str = "never";

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const TIB: u64 = 1 << 40;

/// In milliseconds.
pub(crate) const SECOND: u64 = 1_000;
pub(crate) const MINUTE: u64 = 60 * SECOND;
pub(crate) const HOUR: u64 = 60 * MINUTE;
pub(crate) const DAY: u64 = 24 * HOUR;

#[cfg(test)]
mod tests;
