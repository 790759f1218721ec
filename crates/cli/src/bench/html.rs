//! Writes the report as one self-contained HTML page: summary, plots, the whole table.

use super::bound::Bound;
use super::plot;
use super::report::{Entry, Point, Report, Row};
use super::table;
use crate::stats;
use cloom_gallery::chart::{Chart, Series, escaped};
use std::fmt::Write;

/// The quantity on the vertical axis of a plot.
#[derive(Clone, Copy)]
enum Height {
    Time,
    Rate,
}

/// Title and axes of a plot. One that has no entry shows times.
struct Plot {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    height: Height,
}

const PLOTS: &[Plot] = &[
    Plot {
        name: "histogram banks",
        title: "Histogram: copies of the bins (NBANKS)",
        axis: "copies of each bin",
        height: Height::Rate,
    },
    Plot {
        name: "histogram items",
        title: "Histogram: throughput against work-items",
        axis: "work-items",
        height: Height::Rate,
    },
    Plot {
        name: "histogram stages",
        title: "Histogram: what each stage costs",
        axis: "up to this stage",
        height: Height::Time,
    },
    Plot {
        name: "mad",
        title: "Operations on the way of a copy: flat while they are free",
        axis: "floating-point operations a float",
        height: Height::Time,
    },
    Plot { name: "shape", title: "Shape of the work-group", axis: "width x height", height: Height::Time },
    Plot { name: "bank", title: "Stride in local memory", axis: "words between neighbours", height: Height::Time },
    Plot {
        name: "stripes",
        title: "Divergence: width of the stripes",
        axis: "bit of the column",
        height: Height::Time,
    },
];

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-size:13px}td,th{padding:2px 10px 2px 0;text-align:left;white-space:nowrap;\
border-bottom:1px solid #e4e4e4}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}.lost{color:#b03a00;font-weight:600}\
.wrong{color:#b00020;font-weight:600}svg{width:100%;max-width:60rem;font:12px system-ui,sans-serif}.grid{stroke:#e2e2e2}\
.tick{fill:#666;font-size:11px}.wide{overflow-x:auto}";

fn points<'a>(report: &'a Report, plot: &str) -> Vec<(&'a Row, &'a Point)> {
    let rows = report.rows.iter().chain(&report.sweeps);
    rows.flat_map(|r| r.points.iter().map(move |p| (r, p)))
        .filter(|(_, p)| p.place.as_ref().is_some_and(|place| place.plot == plot))
        .collect()
}

fn position<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|i| *i == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

fn drawn(report: &Report, name: &str) -> String {
    let known = PLOTS.iter().find(|p| p.name == name);
    let height = known.map_or(Height::Time, |p| p.height);
    let (mut places, mut kinds) = (Vec::new(), Vec::new());
    let mut lines: Vec<Series> = Vec::new();
    let mut unit = None;
    for (_, point) in points(report, name) {
        let Some(place) = &point.place else { continue };
        let at = position(&mut places, place.x.clone());
        let style = position(&mut kinds, place.line.clone());
        for (group, entry) in point.entries.iter().enumerate() {
            let value = match height {
                Height::Time => entry.time.map(|t| t.median_ms),
                Height::Rate => entry.rate.map(|r| r / 1e9),
            };
            let Some(value) = value else { continue };
            unit = unit.or(entry.unit);
            // A line for each participant, which is its colour, and each kind, which is its dashes.
            let line = match lines.iter_mut().position(|l| l.group == group && l.style == style) {
                Some(i) => &mut lines[i],
                None => {
                    lines.push(Series { name: entry.participant.clone(), group, style, values: Vec::new() });
                    let last = lines.len() - 1;
                    &mut lines[last]
                }
            };
            // A participant need not have a value at each place: `None` leaves a gap in its line.
            line.values.resize(line.values.len().max(at + 1), None);
            line.values[at] = Some(value);
        }
    }
    if kinds.len() > 1 {
        lines.iter_mut().for_each(|l| l.name = format!("{}, {}", l.name, kinds[l.style]));
    }
    lines.sort_by_key(|l| (l.group, l.style));
    let y = match height {
        Height::Time => "milliseconds".to_owned(),
        Height::Rate => format!("G{}/s", unit.unwrap_or("unit")),
    };
    let title = known.map_or(name, |p| p.title);
    let x = known.map_or(name, |p| p.axis).to_owned();
    let chart = Chart { x, y, places, series: lines, bars: false };
    format!("<h3>{}</h3>\n{}", escaped(title), chart.svg(&format!("plot {name}"), false))
}

fn time_cell(entry: &Entry) -> String {
    let Some(t) = &entry.time else {
        let why = entry.why.as_deref().unwrap_or_default();
        return format!("<td class=\"n {}\" title=\"{}\">{}</td>", entry.state, escaped(why), table::cell(entry));
    };
    let all = format!(
        "{}; quartiles {} to {}; {} to {}; {} runs; clock of the {}",
        entry.rate.zip(entry.unit).map_or_else(String::new, |(r, u)| stats::rate(r, u)),
        stats::time(t.lower_ms),
        stats::time(t.upper_ms),
        stats::time(t.min_ms),
        stats::time(t.max_ms),
        t.runs,
        entry.clock.unwrap_or("host")
    );
    format!("<td class=\"n\" title=\"{}\">{}</td>", escaped(&all), table::cell(entry))
}

/// What binds; all floors when the pointer rests on it.
fn bound_cell(bound: &Bound) -> String {
    let mut floors: Vec<(&String, &f64)> = bound.floors.iter().collect();
    floors.sort_by(|a, b| b.1.total_cmp(a.1));
    let all: Vec<String> = floors.iter().map(|(name, ms)| format!("{name} {}", stats::time(**ms))).collect();
    format!("<td title=\"{}\">{}</td>", escaped(&all.join("; ")), escaped(&table::bound(bound)))
}

fn ratio_cell(ratio: Option<f64>) -> String {
    match ratio {
        Some(r) => format!("<td class=\"n{}\">{r:.2}</td>", if r < 1.0 { " lost" } else { "" }),
        None => "<td class=\"n\">–</td>".into(),
    }
}

fn rows(html: &mut String, report: &Report, list: &[Row], peers: &[String]) {
    // Writing to a string cannot fail, here and below.
    let _ = write!(html, "<div class=\"wide\"><table><tr><th>program<th>row<th>size");
    report.participants.iter().for_each(|p| {
        let _ = write!(html, "<th class=\"n\">{}", escaped(&p.name));
    });
    peers.iter().for_each(|p| {
        let _ = write!(html, "<th class=\"n\">/{}", escaped(p));
    });
    html.push_str("<th class=\"n\">of limit<th>bound by</tr>\n");
    for row in list {
        for point in &row.points {
            let _ = write!(
                html,
                "<tr><td>{}</td><td>{}</td><td title=\"{}\">{}</td>",
                escaped(row.program),
                escaped(&row.row),
                escaped(&point.about),
                escaped(&point.size)
            );
            point.entries.iter().for_each(|e| html.push_str(&time_cell(e)));
            for peer in peers {
                let entry = point.entries.iter().find(|e| e.participant == *peer);
                html.push_str(&ratio_cell(entry.and_then(|e| e.ratio)));
            }
            // Cloom is the first participant.
            let reached = point.entries.first().and_then(|e| e.reached).zip(point.floor.as_ref());
            let text = reached.map_or_else(String::new, |(part, floor)| format!("{:.0}% {}", part * 100.0, floor.what));
            let bound = point.bound.as_ref().map_or_else(|| "<td></td>".into(), bound_cell);
            let _ = writeln!(html, "<td class=\"n\">{text}</td>{bound}</tr>");
        }
        if row.points.len() > 1 {
            let _ = write!(html, "<tr><td></td><td colspan=\"{}\">geometric mean</td>", 2 + report.participants.len());
            for peer in peers {
                let ratio = row.ratios.iter().find(|r| r.peer == *peer);
                html.push_str(&ratio_cell(ratio.map(|r| r.geometric_mean)));
            }
            html.push_str("<td></td></tr>\n");
        }
    }
    html.push_str("</table></div>\n");
}

/// The whole page.
pub fn page(report: &Report, peers: &[String]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>cloom bench</title><style>{STYLE}</style></head><body>\n<h1>cloom bench</h1>\n<ul>\n"
    );
    for p in &report.participants {
        let _ = writeln!(html, "<li><b>{}</b>: {}</li>", escaped(&p.name), escaped(&p.about));
    }
    let _ = writeln!(
        html,
        "</ul>\n<p>Medians of {} runs, taken in turns; ± half the distance of the quartiles; * on the host's clock. A ratio is the \
         peer's time divided by Cloom's: above one, Cloom is faster. Every time is of a result that a reference confirmed.</p>",
        report.runs
    );
    if let Some(machine) = &report.machine {
        let _ = writeln!(html, "<p>Limits of this machine: {}.</p>", escaped(&table::limits(machine)));
    }
    for complaint in &report.complaints {
        let _ = writeln!(html, "<p class=\"wrong\">Wrong: {}</p>", escaped(complaint));
    }
    html.push_str("<h2>Summary</h2>\n");
    for s in &report.summary {
        let _ = writeln!(
            html,
            "<h3>Against {}: geometric mean {:.2} over {} rows</h3>",
            escaped(&s.peer),
            s.geometric_mean,
            s.rows
        );
        let names = |lost: &[String]| if lost.is_empty() { "none".to_owned() } else { escaped(&lost.join(", ")) };
        let _ = writeln!(
            html,
            "<p>Rows below 1.0: {}.<br>Sizes below 0.9: {}.</p>",
            names(&s.rows_lost),
            names(&s.sizes_lost)
        );
        let ratio = |row: &Row| {
            let ratio = row.ratios.iter().find(|r| r.peer == s.peer)?;
            Some((format!("{} {}", row.program, row.row), ratio.geometric_mean))
        };
        let bars: Vec<(String, f64)> = report.rows.iter().filter_map(ratio).collect();
        html.push_str(&plot::ratios(&format!("ratios {}", s.peer), &bars));
    }
    // The plots are in the order in which the report has their first points.
    let mut names: Vec<&str> = Vec::new();
    for point in report.rows.iter().chain(&report.sweeps).flat_map(|r| &r.points) {
        if let Some(place) = &point.place {
            position(&mut names, place.plot);
        }
    }
    if !names.is_empty() {
        html.push_str("<h2>Plots</h2>\n");
        names.iter().for_each(|name| html.push_str(&drawn(report, name)));
    }
    html.push_str("<h2>Table</h2>\n");
    rows(&mut html, report, &report.rows, peers);
    if !report.sweeps.is_empty() {
        html.push_str("<h2>Points of the plots</h2>\n");
        rows(&mut html, report, &report.sweeps, peers);
    }
    html.push_str("</body></html>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::sample;

    /// Whether every element that must be closed is, in the right order. Void elements are skipped.
    fn well_formed(html: &str) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        for tag in html.split('<').skip(1) {
            let Some((tag, _)) = tag.split_once('>') else { return Err(format!("no end: {tag}")) };
            let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
            if matches!(name, "!doctype" | "meta" | "th" | "br") || tag.ends_with('/') {
                continue;
            }
            if !tag.starts_with('/') {
                open.push(name);
            } else if open.pop() != Some(name) {
                return Err(format!("</{name}> closes something else"));
            }
        }
        if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
    }

    #[test]
    fn the_page_has_every_plot_and_needs_nothing_else() {
        let page = page(&sample(), &["Peer".into()]);
        well_formed(&page).unwrap();
        assert!(page.contains("80% fma</td>") && page.contains("fma 8.00 ms; load 4.00 ms"), "what binds");
        for plot in PLOTS {
            assert!(page.contains(&format!("<svg id=\"plot {}\"", plot.name)), "{}", plot.name);
        }
        assert!(page.contains("<svg id=\"ratios Peer\""));
        for outside in ["http:", "https:", "<script", "<link", "src=", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("&lt;a &amp; b&gt;") && !page.contains("<a & b>"));
    }

    #[test]
    fn a_wrong_result_is_named_and_has_no_time() {
        let page = page(&sample(), &["Peer".into()]);
        assert!(page.contains("<td class=\"n wrong\" title=\"word 3\">WRONG</td>"));
        assert!(page.contains("Wrong: copy second: Peer: word 3"));
    }

    #[test]
    fn two_lines_of_a_plot_keep_their_names() {
        let svg = drawn(&sample(), "histogram banks");
        assert!(svg.contains(">Cloom, random<") && svg.contains(">Peer, uniform<"));
        assert_eq!(svg.matches("<polyline class=\"series\"").count(), 4);
    }
}
