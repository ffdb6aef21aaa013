//! Which requests the access log has.

use std::cell::Cell;
use std::time::Duration;

use skep_units::parse_duration;

use super::AccessLine;
use crate::log::output::Words;

/// What an output takes: all, unless it says `status` or `slow`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    /// Responses with this status or above, and requests without a response.
    status: Option<u16>,
    /// Requests that took this long.
    slow: Option<Duration>,
    /// Not those whose paths begin like this.
    except: Vec<String>,
    /// Of requests with a status below 400, one in this many.
    sample: Option<u32>,
}

impl Rule {
    pub(super) fn parse(words: &Words) -> Result<Self, String> {
        let status = |text: &str| {
            let number = text.parse().ok().filter(|number| (100..=599).contains(number));
            number.ok_or_else(|| format!("status={text}: expected a number from 100 to 599"))
        };
        let sample = |text: &str| {
            let number = text.parse().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("sample={text}: expected a number, such as 100 for one in a hundred"))
        };
        let prefix = |text: &str| {
            let expected = || format!("except={text}: expected paths, such as /static,/health");
            text.starts_with('/').then(|| text.to_owned()).ok_or_else(expected)
        };
        Ok(Self {
            status: words.get("status").map(status).transpose()?,
            slow: words.get("slow").map(|text| parse_duration(text).map_err(|error| error.to_string())).transpose()?,
            except: words.get("except").map_or(Ok(Vec::new()), |list| list.split(',').map(prefix).collect())?,
            sample: words.get("sample").map(sample).transpose()?,
        })
    }

    /// `passed`: how many a sample has passed over since the last one it took.
    pub(super) fn takes(&self, line: &AccessLine<'_>, passed: &Cell<u32>) -> bool {
        let status = line.status.map(|status| status.as_u16());
        let is_status = self.status.is_some_and(|least| status.is_none_or(|status| status >= least));
        let is_slow = self.slow.is_some_and(|least| line.time >= least);
        let is_all = self.status.is_none() && self.slow.is_none();
        if !(is_all || is_status || is_slow) || self.except.iter().any(|prefix| line.target.starts_with(prefix)) {
            return false;
        }
        let Some(sample) = self.sample.filter(|_| status.is_some_and(|status| status < 400)) else { return true };
        let turn = passed.get() + 1 >= sample;
        passed.set(if turn { 0 } else { passed.get() + 1 });
        turn
    }
}
