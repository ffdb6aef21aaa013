//! Plots as SVG: alone in a file or within a page, by day and by night.

use std::fmt::Write;

use super::scale::{Scale, above};
use super::text::{range, tick};
use crate::compare::{Curve, Measure, Piece, Rounds};
use crate::number::float;

/// The whole drawing, and the margins in it: top, right, bottom, left.
const SIZE: (f64, f64) = (760.0, 320.0);
const MARGIN: (f64, f64, f64, f64) = (16.0, 20.0, 44.0, 76.0);

/// Lines and bars have the colours of Okabe and Ito, which people see apart who see colours differently.
const STYLE: &str = "<style>.skep{--ink:#24292f;--faint:#d0d7de;--soft:#57606a;\
    --c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b8860b;--c5:#56b4e9;--c6:#7a5195;--c7:#6b6b6b;\
    font:13px system-ui,sans-serif}\
    @media(prefers-color-scheme:dark){.skep{--ink:#e6edf3;--faint:#3d444d;--soft:#9198a1;\
    --c0:#58a6ff;--c1:#ff8c42;--c2:#3ddbb0;--c3:#f0a6cf;--c4:#e3b341;--c5:#8fd3ff;--c6:#c297ff;--c7:#b0b0b0}}\
    .skep text{fill:var(--ink)}.skep .soft{fill:var(--soft)}.skep .grid{stroke:var(--faint)}\
    .skep .line{fill:none;stroke-width:2;stroke-linejoin:round}.skep .whisker{stroke:var(--ink);stroke-width:1.5}</style>";

/// What is drawn over time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum What {
    Rate,
    P99,
}

/// A drawing under way.
struct Drawing {
    svg: String,
    size: (f64, f64),
}

impl Drawing {
    fn new(size: (f64, f64), title: &str) -> Self {
        let (width, height) = size;
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"skep\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"><title>{}</title>{STYLE}",
            escaped(title)
        );
        Self { svg, size }
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, text: &str) {
        let text = escaped(text);
        let _ = write!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    fn grid(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = write!(self.svg, "<line class=\"grid\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    fn line(&mut self, number: usize, points: &[(f64, f64)], name: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let (colour, points, name) = (number % 8, points.join(" "), escaped(name));
        let _ = write!(
            self.svg,
            "<polyline class=\"line\" style=\"stroke:var(--c{colour})\" points=\"{points}\"><title>{name}</title></polyline>"
        );
    }

    fn axis_y(&mut self, scale: Scale, label: impl Fn(f64) -> String) {
        for value in scale.ticks() {
            let y = scale.place(value);
            self.grid((MARGIN.3, y), (self.size.0 - MARGIN.1, y));
            self.text((MARGIN.3 - 8.0, y + 4.0), "end", "soft", &label(value));
        }
    }

    /// Names with their colours, under the plot, in as many lines as they need. How high they are.
    fn legend(names: &[&str]) -> (Vec<(f64, f64)>, f64) {
        let (mut x, mut line, mut places) = (MARGIN.3, 0.0, Vec::new());
        for name in names {
            let wide = 30.0 + 7.5 * float(name.chars().count() as u64);
            if x + wide > SIZE.0 - MARGIN.1 && x > MARGIN.3 {
                (x, line) = (MARGIN.3, line + 1.0);
            }
            places.push((x, line * 20.0));
            x += wide;
        }
        (places, if names.len() > 1 { (line + 1.0) * 20.0 + 4.0 } else { 0.0 })
    }

    fn write_legend(&mut self, names: &[&str], top: f64) {
        if names.len() < 2 {
            return;
        }
        for (number, ((x, y), name)) in Self::legend(names).0.iter().zip(names).enumerate() {
            let (x, y, colour) = (*x, top + *y, number % 8);
            let _ = write!(
                self.svg,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"4\" rx=\"2\" style=\"fill:var(--c{colour})\"/>",
                y - 6.0
            );
            self.text((x + 20.0, y), "start", "", name);
        }
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Text within markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The variants that have a curve.
fn curves(rounds: &Rounds) -> Vec<(&str, &Curve)> {
    let curve = |variant: &'_ crate::compare::Variant| variant.curve.as_ref().map(|_| ());
    let with = rounds.variants.iter().filter(|variant| curve(variant).is_some());
    with.filter_map(|variant| Some((variant.name.as_str(), variant.curve.as_ref()?))).collect()
}

/// A bar for each variant, the longest first; a whisker from the least to the most of its rounds.
pub(super) fn bars(rounds: &Rounds) -> Option<String> {
    let measure = [Measure::Rate, Measure::Start].into_iter().find(|measure| rounds.measures().contains(measure))?;
    let bar = |(place, variant): (usize, &'_ crate::compare::Variant)| {
        range(rounds, place, measure).map(|figures| (variant.name.clone(), figures))
    };
    let mut bars: Vec<_> = rounds.variants.iter().enumerate().filter_map(bar).collect();
    if bars.len() < 2 {
        return None;
    }
    bars.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    let longest = bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let left = (20.0 + 7.5 * float(longest as u64)).min(260.0);
    let height = 24.0 + 34.0 * float(bars.len() as u64);
    let most = bars.iter().map(|(_, (_, _, most))| *most).fold(0.0, f64::max);
    let scale = Scale::even((0.0, most), (left, SIZE.0 - 110.0));
    let mut drawing = Drawing::new((SIZE.0, height), &format!("{}, medians of rounds", measure.name()));
    for (number, (name, (median, least, most))) in bars.iter().enumerate() {
        let y = 12.0 + 34.0 * float(number as u64);
        let (end, from, to) = (scale.place(*median), scale.place(*least), scale.place(*most));
        drawing.text((left - 10.0, y + 18.0), "end", "", name);
        let place = rounds.place(name).unwrap_or(0) % 8;
        let _ = write!(
            drawing.svg,
            "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"26\" rx=\"3\" style=\"fill:var(--c{place})\"/>\
             <path class=\"whisker\" fill=\"none\" d=\"M{from:.1} {:.1}v10m0-5H{to:.1}m0-5v10\"/>",
            (end - left).max(1.0),
            y + 8.0
        );
        drawing.text((to.max(end) + 8.0, y + 18.0), "start", "", &measure.show(*median));
    }
    Some(drawing.finish())
}

/// Latency over how many nines of a percentile.
pub(super) fn latency(rounds: &Rounds) -> Option<String> {
    let curves: Vec<_> = curves(rounds).into_iter().filter(|(_, curve)| curve.latency.len() > 1).collect();
    let points = || curves.iter().flat_map(|(_, curve)| &curve.latency);
    let known = points().filter(|(percent, _)| *percent < 100.0).map(|(percent, _)| *percent).fold(0.0, f64::max);
    if curves.is_empty() || known < 50.0 {
        return None;
    }
    let names: Vec<&str> = curves.iter().map(|(name, _)| *name).collect();
    let legend = Drawing::legend(&names).1;
    let bottom = SIZE.1 - MARGIN.2;
    let (low, high) = points().fold((f64::INFINITY, 0.0_f64), |(low, high), (_, us)| (low.min(*us), high.max(*us)));
    let y = Scale::log((low * 0.9, high * 1.1), (bottom, MARGIN.0));
    let end = 100.0 / (100.0 - known);
    let x = Scale::log((1.0, end * 1.6), (MARGIN.3, SIZE.0 - MARGIN.1));
    let mut drawing = Drawing::new((SIZE.0, SIZE.1 + legend), "latency by percentile");
    drawing.axis_y(y, |value| tick(Measure::P99, value));
    for percent in [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999] {
        let nines = 100.0 / (100.0 - percent);
        if nines <= end * 1.6 {
            drawing.grid((x.place(nines), MARGIN.0), (x.place(nines), bottom));
            drawing.text((x.place(nines), bottom + 18.0), "middle", "soft", &format!("{percent} %"));
        }
    }
    for (number, (name, curve)) in curves.iter().enumerate() {
        let place = |(percent, us): &(f64, f64)| {
            let nines = if *percent >= 100.0 { end * 1.6 } else { 100.0 / (100.0 - percent) };
            (x.place(nines), y.place(*us))
        };
        drawing.line(number, &curve.latency.iter().map(place).collect::<Vec<_>>(), name);
    }
    drawing.text((SIZE.0 - MARGIN.1, bottom + 36.0), "end", "soft", "of the answers took at most");
    drawing.write_legend(&names, SIZE.1 + 12.0);
    Some(drawing.finish())
}

/// Answers a second, or p99, as they went; of several rounds, in the last one.
pub(super) fn over_time(rounds: &Rounds, what: What) -> Option<String> {
    let curves: Vec<_> = curves(rounds).into_iter().filter(|(_, curve)| curve.over_time.len() > 1).collect();
    let value = |piece: &Piece| if what == What::Rate { piece.rate } else { piece.p99 };
    let pieces = || curves.iter().flat_map(|(_, curve)| &curve.over_time);
    let most = pieces().map(value).fold(0.0, f64::max);
    let until = pieces().map(|piece| piece.until).fold(0.0, f64::max);
    if curves.is_empty() || most <= 0.0 {
        return None;
    }
    let names: Vec<&str> = curves.iter().map(|(name, _)| *name).collect();
    let legend = Drawing::legend(&names).1;
    let bottom = SIZE.1 - MARGIN.2;
    let measure = if what == What::Rate { Measure::Rate } else { Measure::P99 };
    let y = Scale::even((0.0, above(most)), (bottom, MARGIN.0));
    let x = Scale::even((0.0, until), (MARGIN.3, SIZE.0 - MARGIN.1));
    let title = if what == What::Rate { "answers a second, over time" } else { "p99 latency, over time" };
    let mut drawing = Drawing::new((SIZE.0, SIZE.1 + legend), title);
    drawing.axis_y(y, |value| if value == 0.0 { "0".to_owned() } else { tick(measure, value) });
    for second in x.ticks() {
        drawing.text(
            (x.place(second), bottom + 18.0),
            "middle",
            "soft",
            &format!("{} s", (second * 100.0).round() / 100.0),
        );
    }
    for (number, (name, curve)) in curves.iter().enumerate() {
        // Where nothing was answered there is no latency.
        let shown = curve.over_time.iter().filter(|piece| what == What::Rate || piece.rate > 0.0);
        let points = shown.map(|piece| (x.place(piece.until), y.place(value(piece))));
        drawing.line(number, &points.collect::<Vec<_>>(), name);
    }
    let label = if rounds.rounds.len() > 1 { format!("{title}, last round") } else { title.to_owned() };
    drawing.text((SIZE.0 - MARGIN.1, bottom + 36.0), "end", "soft", &label);
    drawing.write_legend(&names, SIZE.1 + 12.0);
    Some(drawing.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Sample, Variant};

    fn rounds() -> Rounds {
        let piece = |until| Piece { until, rate: 100.0 * until, errors: 0.0, p50: 10.0, p99: 20.0, max: 30.0 };
        let curve = Curve {
            latency: vec![(0.0, 5.0), (50.0, 10.0), (99.0, 20.0), (100.0, 30.0)],
            over_time: vec![piece(1.0), piece(2.0)],
            errors: Vec::new(),
        };
        let variant = |name: &str| Variant { curve: Some(curve.clone()), ..Variant::new(name, "") };
        let mut rounds = Rounds::new("", [variant("a<b>"), variant("c")]);
        rounds.push(vec![0, 1], vec![Sample::from([(Measure::Rate, 100.0)]), Sample::from([(Measure::Rate, 200.0)])]);
        rounds
    }

    #[test]
    fn names_cannot_become_markup_and_no_place_is_infinite() {
        let rounds = rounds();
        for svg in [bars(&rounds), latency(&rounds), over_time(&rounds, What::Rate), over_time(&rounds, What::P99)] {
            let svg = svg.unwrap();
            assert!(svg.contains("a&lt;b&gt;") && !svg.contains("a<b>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn without_figures_there_is_no_plot() {
        let empty = Rounds::new("", [Variant::new("a", ""), Variant::new("b", "")]);
        assert!(bars(&empty).is_none() && latency(&empty).is_none() && over_time(&empty, What::Rate).is_none());
    }
}
