//! Plots, drawn on the server as SVG.

use std::fmt::Write;

use skep::html;
use skep::html::{Flow, Html};

use super::history::Sample;

/// Points of a line. More would not be seen.
const POINTS: u64 = 180;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 100.0;

/// One line of a plot: its name, its class, and what it shows of a sample.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) value: fn(&Sample) -> Option<f64>,
}

/// A plot of samples: its title, its lines, and how its numbers are written.
pub(super) struct Plot {
    pub(super) title: &'static str,
    pub(super) lines: &'static [Line],
    pub(super) write: fn(f64) -> String,
}

/// The time that is drawn: seconds since 1970 of its end, and its length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) end: u64,
    pub(super) seconds: u64,
}

impl Plot {
    pub(super) fn draw(&self, samples: &[Sample], span: Span) -> Html<Flow> {
        let lines: Vec<(&Line, Vec<Option<f64>>)> =
            self.lines.iter().map(|line| (line, points(samples, span, line.value))).collect();
        let most = lines.iter().flat_map(|(_, points)| points.iter().flatten()).copied().reduce(f64::max);
        let top = most.filter(|most| *most > 0.0).unwrap_or(1.0);
        let most = most.map_or_else(|| "no data yet".to_owned(), |most| format!("at most {}", (self.write)(most)));
        let paths: Vec<(&Line, String, String)> =
            lines.iter().map(|(line, points)| (*line, path(points, top), last(points, self.write))).collect();
        let view = format!("0 0 {WIDTH} {HEIGHT}");
        let hours = span.seconds / 3600;
        html! {
            figure {
                figcaption {
                    b { (self.title) }
                    span {
                        @for (line, _, last) in &paths {
                            span class=(format!("key-{}", line.class)) { (line.name) " " (last) " " }
                        }
                    }
                }
                svg viewBox=(view) preserveAspectRatio="none" role="img" aria-label=(self.title) {
                    @for (line, path, _) in &paths {
                        path class=(line.class) d=(path) {}
                    }
                }
                div .axis {
                    span { (hours) " h ago" }
                    span { (most) }
                    span { "now" }
                }
            }
        }
    }
}

fn last(points: &[Option<f64>], write: fn(f64) -> String) -> String {
    points.iter().rev().take(3).flatten().next().map_or_else(|| "–".to_owned(), |value| write(*value))
}

/// The mean of the samples of each point; `None` for a point without samples.
fn points(samples: &[Sample], span: Span, value: fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
    let begin = span.end.saturating_sub(span.seconds);
    let mut sums = vec![(0.0, 0_u32); usize::try_from(POINTS).unwrap_or(0)];
    for sample in samples {
        let Some(since) = (u64::from(sample.stamp) * 10).checked_sub(begin) else { continue };
        let place = usize::try_from((since * POINTS / span.seconds.max(1)).min(POINTS - 1)).unwrap_or(0);
        if let Some(value) = value(sample) {
            sums[place] = (sums[place].0 + value, sums[place].1 + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

/// A line through the points, with a gap where some are missing for a while.
fn path(points: &[Option<f64>], top: f64) -> String {
    let mut path = String::new();
    let mut missing = usize::MAX;
    #[expect(clippy::cast_precision_loss, reason = "some hundred points")]
    let step = WIDTH / (points.len().max(2) - 1) as f64;
    for (place, point) in points.iter().enumerate() {
        let Some(value) = point else {
            missing = missing.saturating_add(1);
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "some hundred points")]
        let (x, y) = (place as f64 * step, HEIGHT - 4.0 - value / top * (HEIGHT - 10.0));
        // The samples of a point may fall on both sides of its edge.
        let command = if missing > 1 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}");
        if command == 'M' {
            // A point alone is seen, too.
            let _ = write!(path, "h1");
        }
        missing = 0;
    }
    path
}

#[cfg(test)]
#[path = "../../tests/unit/status/plot.rs"]
mod tests;
