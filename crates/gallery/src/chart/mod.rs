//! Plots: lines or bars over an axis of places, with titles, units and a legend.
//!
//! What comes in: a [`Chart`], that is names and numbers. It is laid out as a list of marks (lines, dots, bars, texts),
//! which `svg` writes and `raster` draws, so that both forms of a plot show the same.

mod raster;
mod svg;

pub use svg::{escaped, hex};

use crate::picture::Picture;

/// Width of a plot, in the units of its layout.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
/// Room for the legend, and what is left where there is none.
const LEGEND: f64 = 190.0;
const EDGE: f64 = 30.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 52.0;

/// Colours that colour-blind people can tell apart (Okabe and Ito); on paper the dashes of the lines do it.
pub const COLOURS: [[u8; 3]; 6] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [127, 127, 127]];
/// Lengths of a dash and of what follows it.
const DASHES: [&[f64]; 4] = [&[], &[6.0, 3.0], &[2.0, 3.0], &[8.0, 3.0, 2.0, 3.0]];
const GREY: [u8; 3] = [221, 221, 221];
const INK: [u8; 3] = [51, 51, 51];

/// A series of values.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Series of one group have one colour.
    pub group: usize,
    /// Series of one style have one kind of dashes.
    pub style: usize,
    /// One value for each place on the axis, where there is one.
    pub values: Vec<Option<f64>>,
}

impl Series {
    /// A series with a value for each place, in the colour of its number.
    pub fn new(name: impl Into<String>, group: usize, values: &[f64]) -> Series {
        Series { name: name.into(), group, style: 0, values: values.iter().copied().map(Some).collect() }
    }
}

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What the places are, with their unit.
    pub x: String,
    /// What the values are, with their unit.
    pub y: String,
    /// The places on the axis, from left to right.
    pub places: Vec<String>,
    /// The values.
    pub series: Vec<Series>,
    /// Bars from the axis instead of lines; they suit a single series.
    pub bars: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// What a plot is drawn of. Positions are in units of the layout, from the upper left corner.
#[derive(Clone, Debug)]
enum Mark {
    Line { points: Vec<(f64, f64)>, colour: [u8; 3], width: f64, dashes: &'static [f64], class: &'static str },
    Bar { x: f64, y: f64, width: f64, height: f64, colour: [u8; 3] },
    Dot { x: f64, y: f64, colour: [u8; 3], tells: String },
    Text { x: f64, y: f64, anchor: Anchor, text: String, class: &'static str },
}

/// The step of an axis that divides a range at about five round numbers.
fn step(most: f64) -> f64 {
    let rough = most / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
    factor * power
}

/// A number, as short as possible.
pub fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Chart {
    /// The plot as SVG: a file of its own, or to be part of a page.
    pub fn svg(&self, id: &str, alone: bool) -> String {
        svg::write(&self.marks(), id, alone)
    }

    /// The plot as a picture.
    pub fn picture(&self) -> Picture {
        raster::draw(&self.marks())
    }

    /// Where the axis ends. A single series needs no legend.
    fn right(&self) -> f64 {
        WIDTH - if self.series.len() > 1 { LEGEND } else { EDGE }
    }

    fn marks(&self) -> Vec<Mark> {
        let values = self.series.iter().flat_map(|s| &s.values).flatten().copied().filter(|v| v.is_finite());
        // Never zero, which is divided by; a little above the largest value.
        let most = values.fold(f64::MIN_POSITIVE, f64::max) * 1.05;
        let x = |i: usize| LEFT + (self.right() - LEFT) * (i as f64 + 0.5) / self.places.len().max(1) as f64;
        let y = |v: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v.clamp(0.0, most) / most;
        let mut marks = Vec::new();
        self.axes(&mut marks, most, x, y);
        for series in &self.series {
            let colour = COLOURS[series.group % COLOURS.len()];
            let dashes = DASHES[series.style % DASHES.len()];
            // A place without a value is left out, and the line goes on from the one before to the one after.
            let known = |i: usize, v: Option<f64>| v.filter(|v| v.is_finite()).map(|v| (i, v));
            let points: Vec<(usize, f64)> =
                series.values.iter().take(self.places.len()).enumerate().filter_map(|(i, &v)| known(i, v)).collect();
            if self.bars {
                let width = (x(1) - x(0)) * if self.places.len() > 64 { 1.0 } else { 0.7 };
                marks.extend(points.iter().map(|&(i, v)| Mark::Bar {
                    x: x(i) - width / 2.0,
                    y: y(v),
                    width,
                    height: y(0.0) - y(v),
                    colour,
                }));
                continue;
            }
            let line = points.iter().map(|&(i, v)| (x(i), y(v))).collect();
            marks.push(Mark::Line { points: line, colour, width: 2.0, dashes, class: "series" });
            marks.extend(points.iter().map(|&(i, v)| Mark::Dot {
                x: x(i),
                y: y(v),
                colour,
                tells: format!("{}, {}: {v:.4}", series.name, self.places[i]),
            }));
        }
        if self.series.len() > 1 {
            self.legend(&mut marks);
        }
        marks
    }

    fn axes(&self, marks: &mut Vec<Mark>, most: f64, x: impl Fn(usize) -> f64, y: impl Fn(f64) -> f64) {
        let right = self.right();
        let mut text = |x: f64, y: f64, anchor: Anchor, text: String, class: &'static str| {
            marks.push(Mark::Text { x, y, anchor, text, class });
        };
        let step = step(most);
        let heights: Vec<f64> = (0..=(most / step) as u32).map(|k| f64::from(k) * step).collect();
        for &value in &heights {
            text(LEFT - 6.0, y(value) + 4.0, Anchor::End, short(value), "tick");
        }
        // At most as many labels as there is room for.
        let every = self.places.len().div_ceil(if self.places.iter().any(|p| p.len() > 5) { 8 } else { 17 }).max(1);
        for (i, place) in self.places.iter().enumerate().step_by(every) {
            text(x(i), HEIGHT - BOTTOM + 16.0, Anchor::Middle, place.clone(), "tick");
        }
        text((LEFT + right) / 2.0, HEIGHT - 12.0, Anchor::Middle, self.x.clone(), "");
        text(8.0, 16.0, Anchor::Start, self.y.clone(), "");
        for &value in &heights {
            let (points, colour) = (vec![(LEFT, y(value)), (right, y(value))], if value == 0.0 { INK } else { GREY });
            marks.push(Mark::Line { points, colour, width: 1.0, dashes: &[], class: "grid" });
        }
    }

    fn legend(&self, marks: &mut Vec<Mark>) {
        let right = self.right();
        for (k, series) in self.series.iter().enumerate() {
            let at = TOP + 6.0 + 18.0 * k as f64;
            let (colour, dashes) = (COLOURS[series.group % COLOURS.len()], DASHES[series.style % DASHES.len()]);
            let points = vec![(right + 12.0, at), (right + 42.0, at)];
            marks.push(Mark::Line { points, colour, width: 2.0, dashes, class: "" });
            let (x, y, text) = (right + 48.0, at + 4.0, series.name.clone());
            marks.push(Mark::Text { x, y, anchor: Anchor::Start, text, class: "" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let values = vec![Some(1.0), None, Some(2.0)];
        let series = |name: &str| Series { name: name.into(), group: 0, style: 0, values: values.clone() };
        Chart {
            x: "x".into(),
            y: "y, ms".into(),
            places: ["1", "2", "3"].map(str::to_owned).into(),
            series: vec![series("a<b"), Series { values: Vec::new(), ..series("none") }],
            bars: false,
        }
    }

    #[test]
    fn an_axis_has_round_numbers() {
        assert_eq!([step(5.0), step(9.0), step(0.03), step(740.0)].map(short), ["1", "2", "0.01", "200"]);
    }

    #[test]
    fn a_value_that_is_missing_is_no_point() {
        let svg = chart().svg("p", true);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b") && svg.contains("y, ms"));
        // Twice the value is twice as far from the axis.
        let heights: Vec<f64> =
            svg.split("cy=\"").skip(1).map(|s| s.split('"').next().unwrap().parse().unwrap()).collect();
        let zero = HEIGHT - BOTTOM;
        assert!(((zero - heights[1]) / (zero - heights[0]) - 2.0).abs() < 0.01, "{heights:?}");
    }

    #[test]
    fn a_taller_value_gets_a_taller_bar() {
        let bars = Chart { bars: true, ..chart() };
        let heights: Vec<f64> = bars
            .marks()
            .iter()
            .filter_map(|m| if let Mark::Bar { height, .. } = m { Some(*height) } else { None })
            .collect();
        assert!((heights[1] / heights[0] - 2.0).abs() < 1e-9, "{heights:?}");
    }

    #[test]
    fn any_numbers_make_a_picture() {
        for values in [vec![], vec![Some(f64::NAN)], vec![Some(f64::INFINITY), Some(-1.0)], vec![None; 5]] {
            for bars in [false, true] {
                let series = vec![Series { name: "s".repeat(200), group: 9, style: 9, values: values.clone() }];
                let chart = Chart { series, bars, ..chart() };
                assert!(chart.picture().pixels.len() > 1000 && chart.svg("p", false).ends_with("</svg>\n"));
            }
        }
    }
}
