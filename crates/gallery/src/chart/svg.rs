//! Marks as SVG.

use super::{Anchor, HEIGHT, Mark, WIDTH};
use std::fmt::Write;

/// Escapes a text for HTML and SVG.
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

/// A colour as SVG names it.
pub fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A page has its own background and letters; a file of its own brings them.
const ALONE: &str = "<style>text{font:13px sans-serif;fill:#333}.tick{font-size:11px;fill:#555}</style>\
                     <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>";

pub(super) fn write(marks: &[Mark], id: &str, alone: bool) -> String {
    let id = escaped(id);
    let space = if alone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    let mut svg = format!("<svg{space} id=\"{id}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{id}\">");
    if alone {
        svg.push_str(ALONE);
    }
    for mark in marks {
        // Writing to a string cannot fail.
        let _ = match mark {
            Mark::Line { points, colour, width, dashes, class } => {
                let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                let dashes: Vec<String> = dashes.iter().map(f64::to_string).collect();
                write!(
                    svg,
                    "<polyline class=\"{class}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                     stroke-dasharray=\"{}\" points=\"{}\"/>",
                    hex(*colour),
                    dashes.join(" "),
                    path.join(" ")
                )
            }
            Mark::Bar { x, y, width, height, colour } => write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" fill=\"{}\"/>",
                hex(*colour)
            ),
            Mark::Dot { x, y, colour, tells } => write!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"><title>{}</title></circle>",
                hex(*colour),
                escaped(tells)
            ),
            Mark::Text { x, y, anchor, text, class } => write!(
                svg,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{}\">{}</text>",
                match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                },
                escaped(text)
            ),
        };
    }
    svg.push_str("</svg>\n");
    svg
}
