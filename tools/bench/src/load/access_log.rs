//! Requests from an access log, with their times: the common and combined formats, and Skep's own.

use std::time::Duration;

use super::request::RequestSpec;

/// What of a log can be sent again.
///
/// See [`read_access_log`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// GET and HEAD, each with its distance from the first.
    pub requests: Vec<RequestSpec>,
    /// Requests with other methods, which a log has no bodies of.
    pub left_out: usize,
    /// Lines that are no requests.
    pub unread: usize,
}

/// Reads an access log. Requests of formats that know seconds only are spread evenly over their second.
///
/// ```
/// let log = r#"
/// 1.2.3.4 - - [21/Nov/2026:07:30:00 +0000] "GET /a HTTP/1.1" 200 512
/// 1.2.3.4 - - [21/Nov/2026:07:30:00 +0000] "POST /b HTTP/1.1" 303 0
/// 1.2.3.4 - - [21/Nov/2026:07:30:02 +0000] "GET /c HTTP/1.1" 200 512 "-" "Browser"
/// "#;
/// let replay = skep_bench::load::read_access_log(log)?;
/// assert_eq!((replay.requests.len(), replay.left_out, replay.unread), (2, 1, 0));
/// # Ok::<(), String>(())
/// ```
pub fn read_access_log(text: &str) -> Result<Replay, String> {
    let (mut found, mut left_out, mut unread) = (Vec::new(), 0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match common(line).or_else(|| ours(line)) {
            Some(Line { method, .. }) if !matches!(method, "GET" | "HEAD") => left_out += 1,
            Some(line) => found.push(line),
            None => unread += 1,
        }
    }
    if found.is_empty() {
        return Err(format!(
            "there is no GET or HEAD in it ({left_out} other requests, {unread} malformed lines); \
             a line would be 1.2.3.4 - - [21/Nov/2026:07:30:00 +0000] \"GET / HTTP/1.1\" 200 512"
        ));
    }
    spread(&mut found);
    found.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let first = found[0].seconds;
    let request = |line: Line<'_>| {
        let at = Duration::from_secs_f64(line.seconds - first);
        Ok(RequestSpec { at, ..RequestSpec::get(line.path).method(line.method)? })
    };
    Ok(Replay { requests: found.into_iter().map(request).collect::<Result<_, String>>()?, left_out, unread })
}

struct Line<'a> {
    seconds: f64,
    /// The time is that of a second, and not finer.
    is_coarse: bool,
    method: &'a str,
    path: &'a str,
}

/// `host - user [21/Nov/2026:07:30:00 +0000] "GET / HTTP/1.1" 200 512 ...`
fn common(line: &str) -> Option<Line<'_>> {
    let (_, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let mut words = rest.trim_start().strip_prefix('"')?.split('"').next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    words.next()?.starts_with("HTTP/").then_some(())?;
    Some(Line { seconds: common_time(time)?, is_coarse: true, method, path }).filter(is_good)
}

/// `21/Nov/2026:07:30:00 +0100`
fn common_time(time: &str) -> Option<f64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (clock, zone) = time.split_once(' ')?;
    let mut parts = clock.split(['/', ':']);
    let day: u32 = parts.next()?.parse().ok()?;
    let month = parts.next().filter(|name| name.len() == 3).and_then(|name| MONTHS.find(name))? / 3 + 1;
    let year: u32 = parts.next()?.parse().ok()?;
    let number = zone.get(1..).filter(|number| number.len() == 4)?.parse::<u32>().ok()?;
    let behind = f64::from(number / 100 * 60 + number % 100) * 60.0;
    let east = if zone.starts_with('-') { -behind } else { behind };
    Some(days(year, u32::try_from(month).ok()?, day)? * 86_400.0 + seconds_of_day(parts)? - east)
}

/// `2026-11-21T07:30:00.123Z 127.0.0.1 GET /search?q=bees 200 5120 412 0123456789abcdef`: the time is that of the end,
/// and the seventh word says how many microseconds before was the beginning.
fn ours(line: &str) -> Option<Line<'_>> {
    let words: Vec<&str> = line.split(' ').collect();
    let [time, _, method, path, _, _, took, ..] = words.as_slice() else { return None };
    let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<u32>().ok());
    let days = days(date.next()??, date.next()??, date.next()??)?;
    let seconds = days * 86_400.0 + seconds_of_day(clock.split(':'))? - took.parse::<f64>().ok()? / 1e6;
    Some(Line { seconds, is_coarse: false, method, path }).filter(is_good)
}

fn is_good(line: &Line<'_>) -> bool {
    line.seconds.is_finite() && line.path.starts_with('/')
}

fn seconds_of_day<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<f64> {
    let mut part = || parts.next()?.parse::<f64>().ok();
    Some(part()? * 3600.0 + part()? * 60.0 + part()?)
}

/// Days since a fixed one. Years are counted from March on, so that the leap day is the last of its year.
fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(f64::from(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day))
}

/// Requests of one second are spread evenly over it: a log that rounds would else send them all at once.
fn spread(lines: &mut [Line<'_>]) {
    let of_same_second = |one: &Line<'_>, other: &Line<'_>| {
        one.is_coarse && other.is_coarse && (one.seconds - other.seconds).abs() < 0.5
    };
    for second in lines.chunk_by_mut(of_same_second) {
        let count = crate::number::float(second.len() as u64);
        for (place, line) in second.iter_mut().enumerate() {
            line.seconds += crate::number::float(place as u64) / count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(log: &str) -> Vec<(String, u128)> {
        let replay = read_access_log(log).unwrap();
        replay.requests.iter().map(|request| (request.path.clone(), request.at.as_millis())).collect()
    }

    #[test]
    fn requests_of_a_second_are_spread_over_it() {
        let line =
            |second, path| format!("::1 - - [31/Dec/2023:23:59:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 1\n");
        let log = line(58, "/a")
            + &line(58, "/b")
            + &line(59, "/c")
            + "::1 - - [01/Jan/2024:01:00:01 +0100] \"HEAD /d HTTP/1.0\" 200 1";
        let expected = [("/a", 0), ("/b", 500), ("/c", 1000), ("/d", 3000)];
        assert_eq!(millis(&log), expected.map(|(path, at)| (path.to_owned(), at)));
    }

    #[test]
    fn our_own_log_has_milliseconds_and_says_when_a_request_began() {
        let log = "2024-02-29T23:59:59.900Z 127.0.0.1 GET /b?q=1 200 5120 100000\n2024-03-01T00:00:00.050Z ::1 GET /c 200 5 0\n";
        assert_eq!(millis(log), [("/b?q=1".to_owned(), 0), ("/c".to_owned(), 250)]);
    }

    #[test]
    fn a_file_that_is_no_log_says_what_one_is() {
        let error = read_access_log("hello\n1.2.3.4 - - [x] \"GET / HTTP/1.1\" 200\n").unwrap_err();
        assert!(error.contains("0 other requests, 2 malformed lines") && error.contains("a line would be"), "{error}");
    }
}
