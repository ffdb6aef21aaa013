//! Unit tests of `status::history`.

use super::*;

/// A data directory that goes with it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skep-history-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HOUR: Duration = Duration::from_hours(1);

fn sample(second: u64) -> Sample {
    let stamp = u32::try_from(second / 10).unwrap();
    Sample { stamp, requests: stamp, swaps: 7, ..Sample::default() }
}

#[test]
fn a_day_survives_a_restart_in_a_file_of_bounded_size() {
    let folder = Folder::new("day");
    let (start, day) = (1_800_000_000, 24 * 3600);
    let history = History::open(&folder.0).unwrap();
    // A day and a half: the first half is overwritten.
    for second in (start..start + day + day / 2).step_by(10) {
        history.write(&sample(second)).unwrap();
    }
    drop(history);
    let size = std::fs::metadata(folder.0.join(FILE)).unwrap().len();
    assert!(size <= 2 << 20, "{size} bytes");
    let now = start + day + day / 2 - 10;
    let samples = History::open(&folder.0).unwrap().read(now, HOUR * 24).unwrap();
    assert_eq!(samples.len(), 8640);
    assert_eq!((samples[0], samples[8639]), (sample(now - day + 10), sample(now)));
    let hour = History::open(&folder.0).unwrap().read(now, HOUR).unwrap();
    assert_eq!((hour.len(), hour[0]), (361, sample(now - 3600)));
}

#[test]
fn what_is_older_than_a_day_or_of_another_format_is_not_shown() {
    let folder = Folder::new("old");
    let history = History::open(&folder.0).unwrap();
    history.write(&sample(1_800_000_000)).unwrap();
    assert_eq!(history.read(1_800_000_000, HOUR).unwrap().len(), 1);
    assert_eq!(history.read(1_800_000_000 + 25 * 3600, HOUR * 24).unwrap(), []);
    assert_eq!(history.read(1_700_000_000, HOUR * 24).unwrap(), [], "the clock was set back");
    std::fs::write(folder.0.join(FILE), "something else, which is long enough to be taken for a sample or two")
        .unwrap();
    let history = History::open(&folder.0).unwrap();
    assert_eq!(history.read(1_800_000_000, HOUR * 24).unwrap(), []);
    history.write(&sample(1_800_000_000)).unwrap();
    assert_eq!(history.read(1_800_000_000, HOUR).unwrap(), [sample(1_800_000_000)]);
}

#[test]
fn a_clock_that_is_set_back_hides_samples_until_it_is_that_late_again() {
    let folder = Folder::new("back");
    let history = History::open(&folder.0).unwrap();
    let start = 1_800_000_000;
    for second in (start..start + 600).step_by(10) {
        history.write(&sample(second)).unwrap();
    }
    // Five minutes back: what is written again replaces what was there.
    let again = |second| Sample { swaps: 8, ..sample(second) };
    for second in (start + 300..start + 420).step_by(10) {
        history.write(&again(second)).unwrap();
    }
    let now = history.read(start + 410, HOUR).unwrap();
    assert!(now.is_sorted_by_key(|sample| sample.stamp));
    assert_eq!((now.len(), now[0], now[41]), (42, sample(start), again(start + 410)));
    let later = history.read(start + 590, HOUR).unwrap();
    assert_eq!((later.len(), later[59]), (60, sample(start + 590)));
}

#[test]
fn what_happened_while_the_clock_was_set_back_took_no_time() {
    let at = |at| Observation { at, ..Observation::default() };
    let step = Sample::between(&at(1_800_000_000_000), &at(1_799_999_000_000));
    assert_eq!((step.millis, step.requests, step.stamp), (0, 0, 179_999_900), "nothing is divided by it: page.rs");
}
