//! Bars of ratios as inline SVG.

use cloom_gallery::chart::{COLOURS, escaped, hex, short};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
/// One bar for each ratio on a logarithmic axis; ratios above 1 extend to the right.
pub fn ratios(id: &str, bars: &[(String, f64)]) -> String {
    const LINE: f64 = 18.0;
    const NAMES: f64 = 260.0;
    let height = LINE * bars.len() as f64 + 30.0;
    // At least a factor of two to each side: if all ratios are one, the axis still has a width.
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
        let colour = hex(COLOURS[usize::from(*ratio < 1.0)]);
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
    fn bars_of_lost_rows_have_another_colour() {
        let svg = ratios("r", &[("won".into(), 2.0), ("lost".into(), 0.5)]);
        assert!(svg.contains(&hex(COLOURS[0])) && svg.contains(&hex(COLOURS[1])) && svg.matches("<rect").count() == 2);
    }
}
