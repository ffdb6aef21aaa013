//! Rates: `100/s`, `5/10m`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::InvalidValue;
use crate::duration::{UNITS, format_duration, parse_duration};

/// A number of events per interval.
///
/// ```
/// use skep_units::Rate;
/// use std::time::Duration;
///
/// let rate: Rate = "5/10m".parse().unwrap();
/// assert_eq!(rate, Rate { events: 5, interval: Duration::from_secs(600) });
/// assert_eq!("100/s".parse::<Rate>().unwrap().to_string(), "100/s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The number of events.
    pub events: u64,
    /// The interval, longer than 0.
    pub interval: Duration,
}

impl Rate {
    /// Events per second.
    #[expect(clippy::cast_precision_loss, reason = "a rate beyond 2^53 events is not met")]
    pub fn per_second(self) -> f64 {
        self.events as f64 / self.interval.as_secs_f64()
    }
}

impl FromStr for Rate {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim();
        parse(text)
            .ok_or_else(|| InvalidValue::new("rate", text, "a number, a slash and an interval, such as 100/s, 5/10m"))
    }
}

fn parse(text: &str) -> Option<Rate> {
    let (events, interval) = text.split_once('/')?;
    let interval = interval.trim();
    let is_unit = UNITS.iter().any(|(name, _)| *name == interval);
    let interval = if is_unit { parse_duration(&format!("1{interval}")) } else { parse_duration(interval) };
    let interval = interval.ok().filter(|interval| !interval.is_zero())?;
    Some(Rate { events: events.trim().parse().ok()?, interval })
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = format_duration(self.interval);
        let unit = interval.strip_prefix('1').filter(|unit| unit.bytes().all(|byte| byte.is_ascii_alphabetic()));
        write!(f, "{}/{}", self.events, unit.unwrap_or(&interval))
    }
}
