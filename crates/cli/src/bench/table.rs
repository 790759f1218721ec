//! The report as a table for people.

use super::report::{Entry, Report, Row};
use crate::stats::time;
use std::fmt::Write;

/// The time with its spread, or what there is in its place.
pub fn cell(entry: &Entry) -> String {
    match &entry.time {
        Some(t) => {
            let host = if entry.clock == Some("host") { "*" } else { "" };
            format!("{}{host} ±{:.0}%", time(t.median_ms), t.spread() * 100.0)
        }
        None => match entry.state {
            "wrong" => "WRONG".into(),
            "unsupported" => "–".into(),
            _ => "failed".into(),
        },
    }
}

fn row(text: &mut String, report: &Report, row: &Row, peers: &[&str]) {
    let mut line = |head: [&str; 3], cells: Vec<String>, ratios: Vec<Option<f64>>| {
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, "{:<11}{:<24}{:<11}", head[0], head[1], head[2]);
        cells.iter().for_each(|c| {
            let _ = write!(text, "{c:<18}");
        });
        for ratio in ratios {
            let _ = write!(text, "{:>9}", ratio.map_or_else(|| "–".into(), |r| format!("{r:.2}")));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    for (i, point) in row.points.iter().enumerate() {
        let head = if i == 0 { [row.program, row.row.as_str(), &point.size] } else { ["", "", &point.size] };
        let ratio = |peer: &&str| point.entries.iter().find(|e| e.participant == *peer).and_then(|e| e.ratio);
        line(head, point.entries.iter().map(cell).collect(), peers.iter().map(ratio).collect());
    }
    if row.points.len() > 1 {
        let mean = |peer: &&str| row.ratios.iter().find(|r| r.peer == *peer).map(|r| r.geometric_mean);
        let blanks = vec![String::new(); report.participants.len()];
        line(["", "geometric mean", ""], blanks, peers.iter().map(mean).collect());
    }
}

/// The table and the summary.
pub fn text(report: &Report, peers: &[String]) -> String {
    let mut text = String::new();
    for p in &report.participants {
        let _ = writeln!(text, "{}: {}", p.name, p.about);
    }
    let peers: Vec<&str> = peers.iter().map(String::as_str).collect();
    let _ = writeln!(
        text,
        "Medians of {} runs, ± half the distance of the quartiles, on the device's clock (* on the host's); \
         ratios: the peer's time through Cloom's.\n",
        report.runs
    );
    let _ = write!(text, "{:<11}{:<24}{:<11}", "program", "row", "size");
    report.participants.iter().for_each(|p| {
        let _ = write!(text, "{:<18}", p.name);
    });
    peers.iter().for_each(|p| {
        let _ = write!(text, "{:>9}", format!("/{p}"));
    });
    text.push('\n');
    for r in report.rows.iter().chain(&report.sweeps) {
        row(&mut text, report, r, &peers);
    }
    text.push('\n');
    for s in &report.summary {
        let _ = writeln!(text, "against {}: geometric mean {:.2} over {} rows", s.peer, s.geometric_mean, s.rows);
        let mut list = |what: &str, lost: &[String]| {
            let names = if lost.is_empty() { "none".into() } else { format!("{}: {}", lost.len(), lost.join(", ")) };
            let _ = writeln!(text, "  {what}: {names}");
        };
        list("rows below 1.0 (median over sizes)", &s.rows_lost);
        list("sizes below 0.9", &s.sizes_lost);
    }
    for complaint in &report.complaints {
        let _ = writeln!(text, "WRONG: {complaint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::sample;
    use super::*;

    #[test]
    fn a_wrong_result_has_no_time() {
        let text = text(&sample(), &["Peer".into()]);
        let line = text.lines().find(|l| l.contains("second")).unwrap();
        assert!(line.contains("WRONG") && line.matches("ms").count() == 1, "{line}");
        assert!(text.contains("against Peer: geometric mean 1.11 over 2 rows"), "{text}");
        assert!(text.contains("sizes below 0.9: 1: copy first 2048x2048 0.50"), "{text}");
    }
}
