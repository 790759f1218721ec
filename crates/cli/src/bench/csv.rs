//! Writes the report as comma-separated values: one line for each result of each participant.

use super::report::{Entry, Point, Report, Row};
use crate::outcome::Failure;

const HEAD: [&str; 25] = [
    "program",
    "row",
    "size",
    "plot",
    "line",
    "x",
    "participant",
    "state",
    "clock",
    "runs",
    "median_ms",
    "min_ms",
    "lower_ms",
    "upper_ms",
    "max_ms",
    "wall_median_ms",
    "build_ms",
    "rate",
    "unit",
    "ratio",
    "limit",
    "reached",
    "bound",
    "bound_ms",
    "bound_part",
];

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}

// The type ties the number of cells to the head; their order follows it.
fn line(row: &Row, point: &Point, entry: &Entry) -> [String; HEAD.len()] {
    let place = |part: fn(&super::report::Place) -> &str| point.place.as_ref().map_or("", part).to_owned();
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    let time = entry.time;
    // It is that of Cloom, the first participant.
    let is_first = point.entries.first().is_some_and(|first| first.participant == entry.participant);
    let bound = point.bound.as_ref().filter(|_| is_first);
    [
        row.program.to_owned(),
        row.row.clone(),
        point.size.clone(),
        place(|p| p.plot),
        place(|p| &p.line),
        place(|p| &p.x),
        entry.participant.clone(),
        entry.state.to_owned(),
        text(entry.clock),
        time.map_or_else(String::new, |t| t.runs.to_string()),
        number(time.map(|t| t.median_ms)),
        number(time.map(|t| t.min_ms)),
        number(time.map(|t| t.lower_ms)),
        number(time.map(|t| t.upper_ms)),
        number(time.map(|t| t.max_ms)),
        number(entry.wall.map(|w| w.median_ms)),
        number(entry.build_ms),
        number(entry.rate),
        text(entry.unit),
        number(entry.ratio),
        text(point.floor.as_ref().map(|f| f.what)),
        number(entry.reached),
        text(bound.map(|b| b.what.as_str())),
        number(bound.map(|b| b.floor_ms)),
        number(bound.map(|b| b.part)),
    ]
}

/// All results as CSV text.
pub fn text(report: &Report) -> Result<Vec<u8>, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::wrong(format!("cannot write the values: {e}"));
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(HEAD).map_err(|e| failed(&e))?;
    for row in report.rows.iter().chain(&report.sweeps) {
        for point in &row.points {
            for entry in &point.entries {
                writer.write_record(line(row, point, entry)).map_err(|e| failed(&e))?;
            }
        }
    }
    writer.into_inner().map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::sample;

    #[test]
    fn each_result_is_a_line_and_a_wrong_one_has_no_time() {
        let bytes = text(&sample()).unwrap();
        let mut reader = ::csv::Reader::from_reader(bytes.as_slice());
        assert_eq!(reader.headers().unwrap().len(), HEAD.len());
        let lines: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert!(lines.len() > 8);
        let wrong: Vec<_> = lines.iter().filter(|l| &l[7] == "wrong").collect();
        assert_eq!((wrong.len(), &wrong[0][10], &wrong[0][19]), (1, "", ""));
        assert_eq!((&lines[0][0], &lines[0][6], &lines[0][10], &lines[0][21]), ("copy", "Cloom", "10", "0.5"));
        assert_eq!((&lines[0][22], &lines[0][23], &lines[0][24], &lines[1][22]), ("fma", "8", "0.8", ""));
        assert_eq!((&lines[1][6], &lines[1][10], &lines[1][19]), ("Peer", "30", "3"));
    }
}
