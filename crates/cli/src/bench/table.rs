//! Writes the report as a table of text.

use super::bound::Bound;
use super::load::BUSY;
use super::machine::Machine;
use super::report::{Entry, Report, Row};
use crate::stats::{bytes, rate, time};
use std::fmt::Write;

/// The time with its spread, or the reason why there is none.
pub fn cell(entry: &Entry) -> String {
    match &entry.time {
        // Of processes that compile, both times tell something.
        Some(t) if entry.clock == Some("processor") => {
            let wall = entry.wall.map_or_else(none, |w| time(w.median_ms));
            format!("{}† {wall}", time(t.median_ms))
        }
        Some(t) => {
            let host = if entry.clock == Some("host") { "*" } else { "" };
            let noisy = if entry.noisy { "!" } else { "" };
            format!("{}{host} ±{:.0}%{noisy}", time(t.median_ms), t.spread() * 100.0)
        }
        None => match entry.state {
            "wrong" => "WRONG".into(),
            "unsupported" => "–".into(),
            _ => "failed".into(),
        },
    }
}

fn short(what: &str) -> &str {
    if what == "arithmetic" { "fma" } else { what }
}

/// What binds, and how much of the time it explains; for latency, what comes closest.
pub fn bound(bound: &Bound) -> String {
    let part = format!("{:.0}% {}", bound.part * 100.0, bound.resource);
    if bound.what == bound.resource { part } else { format!("{} ({part})", bound.what) }
}

fn none() -> String {
    "–".into()
}

fn two_digits(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn row(text: &mut String, report: &Report, row: &Row, peers: &[&str]) {
    let mut line = |head: [&str; 3], cells: Vec<String>, ratios: Vec<String>| {
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, "{:<11}{:<24}{:<11}", head[0], head[1], head[2]);
        cells.iter().for_each(|c| {
            let _ = write!(text, "{c:<18}");
        });
        for ratio in ratios {
            let _ = write!(text, "{ratio:>9} ");
        }
        // The last cells are often empty, and would leave blanks at the end of the line.
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    for (i, point) in row.points.iter().enumerate() {
        let head = if i == 0 { [row.program, row.row.as_str(), &point.size] } else { ["", "", &point.size] };
        let ratio = |peer: &&str| point.entries.iter().find(|e| e.participant == *peer).and_then(|e| e.ratio);
        let mut ratios: Vec<String> = peers.iter().map(|p| ratio(p).map_or_else(none, two_digits)).collect();
        let own = point.entries.first().and_then(|e| e.reached);
        ratios.push(own.zip(point.floor.as_ref()).map_or_else(String::new, |(part, floor)| {
            format!("{:>9}", format!("{:.0}% {}", part * 100.0, short(floor.what)))
        }));
        let busy = point.others.filter(|_| point.is_busy());
        let busy = busy.map_or_else(String::new, |part| format!(" [others used {:.0}% of the machine]", part * 100.0));
        ratios.push(point.bound.as_ref().map_or_else(String::new, bound) + &busy);
        line(head, point.entries.iter().map(cell).collect(), ratios);
    }
    if row.points.len() > 1 {
        let mean = |peer: &&str| row.ratios.iter().find(|r| r.peer == *peer).map(|r| r.geometric_mean);
        let blanks = vec![String::new(); report.participants.len()];
        let means = peers.iter().map(|p| mean(p).map_or_else(none, two_digits)).collect();
        line(["", "geometric mean", ""], blanks, means);
    }
}

/// The limits in one line; the bandwidths are those of the smallest and of the largest footprint that were measured.
pub fn limits(machine: &Machine) -> String {
    let mut parts = vec![rate(machine.flops, "flop")];
    for (what, rates) in [("copy", &machine.copy), ("read", &machine.read)] {
        let one = |(footprint, r): (&usize, &f64)| format!("{} at {}", rate(*r, "B"), bytes(*footprint as u64));
        let ends = [rates.iter().next(), rates.iter().next_back().filter(|_| rates.len() > 1)];
        let ends: Vec<String> = ends.into_iter().flatten().map(one).collect();
        if !ends.is_empty() {
            parts.push(format!("{what} {}", ends.join(", ")));
        }
    }
    parts.join("; ")
}

/// The table and the summary.
pub fn text(report: &Report, peers: &[String]) -> String {
    let mut text = format!("{}\n", report.circumstances.line());
    for p in &report.participants {
        let _ = writeln!(text, "{}: {}", p.name, p.about);
    }
    if let Some(machine) = &report.machine {
        let _ = writeln!(text, "limits: {}", limits(machine));
    }
    let peers: Vec<&str> = peers.iter().map(String::as_str).collect();
    let _ = writeln!(
        text,
        "Medians of {} runs, ± half the distance of the quartiles, on the device's clock (* on the host's; † processor \
         time, and time on the wall); ! marks a spread above 20 %; ratios: the peer's time divided by Cloom's.\n",
        report.runs
    );
    let _ = write!(text, "{:<11}{:<24}{:<11}", "program", "row", "size");
    report.participants.iter().for_each(|p| {
        let _ = write!(text, "{:<18}", p.name);
    });
    peers.iter().for_each(|p| {
        let _ = write!(text, "{:>9} ", format!("/{p}"));
    });
    let _ = write!(text, "{:>9} ", if report.machine.is_some() { "of limit" } else { "" });
    let _ = writeln!(text, "{}", if report.ports.is_some() { "bound by" } else { "" });
    for r in report.rows.iter().chain(&report.sweeps) {
        row(&mut text, report, r, &peers);
    }
    text.push('\n');
    // Below the rows: each peer over all of them, the builds, and what may be wrong with the numbers.
    for s in &report.summary {
        let _ = writeln!(text, "against {}: geometric mean {:.2} over {} rows", s.peer, s.geometric_mean, s.rows);
        let mut list = |what: &str, lost: &[String]| {
            let names = if lost.is_empty() { "none".into() } else { format!("{}: {}", lost.len(), lost.join(", ")) };
            let _ = writeln!(text, "  {what}: {names}");
        };
        list("rows below 1.0 (median over sizes)", &s.rows_lost);
        list("sizes below 0.9", &s.sizes_lost);
    }
    if let Some(builds) = &report.builds {
        let means: Vec<String> = builds.gallery_ms.iter().map(|(name, ms)| format!("{name} {}", time(*ms))).collect();
        if !means.is_empty() {
            let _ = writeln!(
                text,
                "builds: geometric mean of the processor time of {} kernels of the gallery: {}",
                builds.kernels,
                means.join(", ")
            );
        }
        for a in &builds.against {
            let gallery = a.gallery.map_or_else(String::new, |r| format!("geometric mean of the gallery {r:.2}; "));
            let slower = if a.slower.is_empty() { "none".into() } else { a.slower.join(", ") };
            let _ = writeln!(
                text,
                "builds against {}: {gallery}{} of {} rows below 1.0: {slower}",
                a.peer,
                a.slower.len(),
                a.rows
            );
        }
    }
    // Doubts come behind the numbers that they are about, and say what to do.
    let points = || report.rows.iter().chain(&report.sweeps).flat_map(|r| &r.points);
    let doubtful = points().filter(|p| p.is_doubtful()).count();
    if doubtful > 0 {
        let _ = writeln!(
            text,
            "{doubtful} of {} measurements are doubtful: a spread above 20 %, or other processes used more than {:.0} % of \
             the machine; measure again when it is idle",
            points().count(),
            BUSY * 100.0
        );
    }
    if report.left_out > 0 {
        let _ = writeln!(text, "interrupted: {} tasks were left out", report.left_out);
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
        let first = text.lines().find(|l| l.contains("first")).unwrap();
        assert!(first.ends_with("80% fma"), "{first}");
        let latency = Bound { what: "latency".into(), part: 0.3, ..Bound::sample() };
        assert_eq!(super::bound(&latency), "latency (30% fma)");
        assert!(text.contains("against Peer: geometric mean 1.11 over 2 rows"), "{text}");
        assert!(text.contains("sizes below 0.9: 1: copy first 2048x2048 0.50"), "{text}");
    }
}
