//! Plots as inline SVG: lines over an axis of categories or numbers, and bars of ratios.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 52.0;
/// Colours that colour-blind people can tell apart; on paper the dashes of the lines do it.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#7f7f7f"];
const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// Escapes a text for HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Lines of one group have one colour.
    pub group: usize,
    /// Lines of one style have one kind of dashes.
    pub style: usize,
    /// One value for each position on the axis, where there is one.
    pub values: Vec<Option<f64>>,
}

/// The step of an axis that divides a range at about five round numbers.
fn step(most: f64) -> f64 {
    let rough = most / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
    factor * power
}

/// A number, as short as possible.
fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Lines over an axis from zero.
pub fn lines(id: &str, (x_title, y_title): (&str, &str), places: &[String], lines: &[Line]) -> String {
    let most = lines.iter().flat_map(|l| &l.values).flatten().copied().filter(|v| v.is_finite());
    let most = most.fold(f64::MIN_POSITIVE, f64::max) * 1.05;
    let x = |i: usize| LEFT + (WIDTH - LEFT - RIGHT) * (i as f64 + 0.5) / places.len().max(1) as f64;
    let y = |v: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / most;
    // Writing to a string cannot fail, here and below.
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg id=\"{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(id),
        escaped(id)
    );
    let step = step(most);
    let right = WIDTH - RIGHT;
    for k in 0..=(most / step) as u32 {
        let value = f64::from(k) * step;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\
             <text class=\"tick\" x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
            short(value)
        );
    }
    // At most as many labels as there is room for.
    let every = places.len().div_ceil(18).max(1);
    for (i, place) in places.iter().enumerate().step_by(every) {
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(i),
            HEIGHT - BOTTOM + 16.0,
            escaped(place)
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 12.0,
        escaped(x_title),
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escaped(y_title)
    );
    for (k, line) in lines.iter().enumerate() {
        let colour = COLOURS[line.group % COLOURS.len()];
        let dashes = DASHES[line.style % DASHES.len()];
        let points: Vec<(f64, f64)> =
            line.values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (x(i), y(v)))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
            path.join(" ")
        );
        for (i, value) in line.values.iter().enumerate() {
            if let Some(value) = value {
                let _ = write!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}, {}: {value:.4}</title></circle>",
                    x(i),
                    y(*value),
                    escaped(&line.name),
                    escaped(&places[i])
                );
            }
        }
        let at = TOP + 10.0 + 18.0 * k as f64;
        let _ = write!(
            svg,
            "<line stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" x1=\"{0}\" x2=\"{1}\" y1=\"{at}\" \
             y2=\"{at}\"/><text x=\"{2}\" y=\"{3}\">{4}</text>",
            right + 12.0,
            right + 42.0,
            right + 48.0,
            at + 4.0,
            escaped(&line.name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// One bar for each ratio on a logarithmic axis; ratios above 1 extend to the right.
pub fn ratios(id: &str, bars: &[(String, f64)]) -> String {
    const LINE: f64 = 18.0;
    const NAMES: f64 = 260.0;
    let height = LINE * bars.len() as f64 + 30.0;
    let widest = bars.iter().map(|(_, r)| r.log2().abs()).fold(1.0, f64::max).ceil();
    let x = |ratio: f64| NAMES + (WIDTH - NAMES - 60.0) * (ratio.log2() + widest) / (2.0 * widest);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg id=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(id),
        escaped(id)
    );
    let most = widest as i32;
    let every = (most / 4).max(1);
    for power in (-most..=most).filter(|p| p % every == 0) {
        let ratio = 2f64.powi(power);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{1}\"/>\
             <text class=\"tick\" x=\"{0:.1}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>",
            x(ratio),
            height - 24.0,
            height - 8.0,
            short((ratio * 1000.0).round() / 1000.0)
        );
    }
    for (i, (name, ratio)) in bars.iter().enumerate() {
        let (from, to) = if *ratio < 1.0 { (x(*ratio), x(1.0)) } else { (x(1.0), x(*ratio)) };
        let colour = if *ratio < 1.0 { COLOURS[1] } else { COLOURS[0] };
        let top = LINE * i as f64;
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{from:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{ratio:.2}</text>",
            NAMES - 8.0,
            top + 13.0,
            escaped(name),
            top + 3.0,
            (to - from).max(1.0),
            LINE - 6.0,
            to + 4.0,
            top + 13.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_numbers() {
        assert_eq!([step(5.0), step(9.0), step(0.03), step(740.0)].map(short), ["1", "2", "0.01", "200"]);
    }

    #[test]
    fn a_value_that_is_missing_is_no_point() {
        let line = Line { name: "a<b".into(), group: 0, style: 0, values: vec![Some(1.0), None, Some(2.0)] };
        let svg = lines("p", ("x", "y"), &["1", "2", "3"].map(str::to_owned), &[line]);
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (2, 1));
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        // Twice the value is half as far from the top.
        let heights: Vec<f64> =
            svg.split("cy=\"").skip(1).map(|s| s.split('"').next().unwrap().parse().unwrap()).collect();
        let zero = HEIGHT - BOTTOM;
        assert!(((zero - heights[1]) / (zero - heights[0]) - 2.0).abs() < 0.01, "{heights:?}");
    }

    #[test]
    fn bars_of_lost_rows_have_another_colour() {
        let svg = ratios("r", &[("won".into(), 2.0), ("lost".into(), 0.5)]);
        assert!(svg.contains(COLOURS[0]) && svg.contains(COLOURS[1]) && svg.matches("<rect").count() == 2);
    }
}
