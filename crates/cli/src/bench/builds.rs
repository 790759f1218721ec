//! The summary of the builds: what compiling the gallery takes, and where a peer is faster.

use super::BUILD;
use super::report::{Entry, Row};
use super::statistics::geometric_mean;
use cloom_gallery::builds::Group;
use serde::Serialize;

/// The summary.
#[derive(Clone, Debug, Serialize)]
pub struct Builds {
    /// Kernels of the gallery of which every participant with a device has a time.
    pub kernels: usize,
    /// For each of these participants, the geometric mean of its processor time over those kernels, in milliseconds.
    pub gallery_ms: Vec<(String, f64)>,
    /// Cloom against each peer.
    pub against: Vec<Against>,
}

/// Cloom against a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// The peer.
    pub peer: String,
    /// The peer's processor time divided by Cloom's: the geometric mean over the gallery's kernels.
    pub gallery: Option<f64>,
    /// Rows that both have.
    pub rows: usize,
    /// Rows of any group in which the peer is faster, with the ratio.
    pub slower: Vec<String>,
}

fn entries<'a>(row: &'a Row, group: &'a str) -> impl Iterator<Item = &'a Entry> {
    row.points.iter().filter(move |p| p.size == group).flat_map(|p| &p.entries)
}

impl Builds {
    /// The summary of the rows about builds; `None` if there is none.
    pub fn of(rows: &[Row], peers: &[String]) -> Option<Builds> {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.program == BUILD).collect();
        let gallery = Group::Gallery.name();
        let kernels: Vec<&Row> = rows.iter().copied().filter(|r| entries(r, gallery).next().is_some()).collect();
        // Native Rust compiles nothing here.
        let takes_part = |e: &&Entry| e.state != "unsupported";
        let mut names: Vec<&str> = Vec::new();
        for e in rows.iter().flat_map(|r| &r.points).flat_map(|p| &p.entries).filter(takes_part) {
            if !names.contains(&e.participant.as_str()) {
                names.push(&e.participant);
            }
        }
        if names.is_empty() {
            return None;
        }
        let time = |row: &Row, name: &str| {
            let mut own = entries(row, gallery).filter(|e| e.participant == name);
            own.find_map(|e| e.time.map(|t| t.median_ms))
        };
        // A mean over other kernels for each participant could not be compared.
        let common: Vec<&Row> =
            kernels.into_iter().filter(|row| names.iter().all(|name| time(row, name).is_some())).collect();
        let mean = |name: &&str| {
            let mean = geometric_mean(common.iter().filter_map(|row| time(row, name)))?;
            Some(((*name).to_owned(), mean))
        };
        let against = |peer: &String| {
            let mut ratios = Vec::new();
            let mut of_gallery = Vec::new();
            for row in &rows {
                for point in &row.points {
                    let of_peer = point.entries.iter().find(|e| e.participant == *peer);
                    let Some(ratio) = of_peer.and_then(|e| e.ratio) else { continue };
                    ratios.push((row.row.as_str(), ratio));
                    if point.size == gallery {
                        of_gallery.push(ratio);
                    }
                }
            }
            let slower = ratios.iter().filter(|(_, ratio)| *ratio < 1.0);
            Against {
                peer: peer.clone(),
                gallery: geometric_mean(of_gallery),
                rows: ratios.len(),
                slower: slower.map(|(name, ratio)| format!("{name} {ratio:.2}")).collect(),
            }
        };
        Some(Builds {
            kernels: common.len(),
            gallery_ms: names.iter().filter_map(mean).collect(),
            against: peers.iter().filter(|p| names.contains(&p.as_str())).map(against).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Fate, Sample};
    use super::super::report::{Label, Report, point, tests::sample};
    use super::super::statistics::Quartiles;
    use super::*;
    use std::time::Duration;

    fn fate(processor: u64, wall: u64) -> Fate {
        let of = |ms| Quartiles::of(&[Duration::from_millis(ms)]).unwrap();
        let processor = Some(of(processor)).filter(|_| processor > 0);
        let (about, wall) = (String::new(), of(wall));
        Fate::Verified(Box::new(Sample { about, wall, device: None, processor, build_ms: 1.0, work: None }))
    }

    #[test]
    fn processor_time_counts_in_the_gallery_and_builds_stay_out_of_the_other_summary() {
        let mut report = Report { rows: Vec::new(), ..sample() };
        let names = ["Cloom".to_owned(), "Peer".to_owned()];
        let mut add = |row: &str, size: &str, fates: [Fate; 2]| {
            let label = Label { program: BUILD, row: row.into(), size: size.into(), place: None, only_plot: false };
            report.add(&label, point(&label, &names, &fates, Some(0), None));
        };
        add("a", "gallery", [fate(10, 5), fate(40, 2)]);
        add("b", "gallery", [fate(40, 20), fate(10, 90)]);
        add("c", "gallery", [fate(1000, 20), Fate::Failed("it crashes".into())]);
        add("m", "first result", [fate(0, 20), fate(0, 10)]);
        report.conclude(&["Peer".to_owned()]);
        let builds = report.builds.unwrap();
        assert_eq!(builds.kernels, 2);
        assert!(builds.gallery_ms.iter().all(|(_, ms)| (ms - 20.0).abs() < 1e-9), "{builds:?}");
        let against = &builds.against[0];
        assert!((against.gallery.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!((against.rows, &against.slower[..]), (3, &["b 0.25".to_owned(), "m 0.50".to_owned()][..]));
        assert!(report.summary.is_empty());
    }
}
