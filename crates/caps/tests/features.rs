//! `docs/features.md` is true: its rows that say yes are the extensions and features that are advertised, with their
//! versions, and each name has one row.

use cloom_caps::{DeviceCaps, Named, PLATFORM_EXTENSIONS};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of the tables of names: name, version, answer.
fn rows() -> Vec<[String; 3]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features.md");
    let page = std::fs::read_to_string(path).unwrap();
    let cells = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
        [(); 3].map(|()| cells.next().unwrap_or_default())
    };
    let is_name = |row: &[String; 3]| ["cl_", "__opencl_c_"].iter().any(|prefix| row[0].starts_with(prefix));
    page.lines().filter(|line| line.starts_with("| `")).map(cells).filter(is_name).collect()
}

fn version(named: &Named) -> String {
    let v = named.version;
    format!("{}.{}.{}", v >> 22, v >> 12 & 0x3ff, v & 0xfff)
}

#[test]
fn what_the_page_says_yes_to_is_advertised() {
    let caps = DeviceCaps::full();
    let advertised = caps.extensions.iter().chain(caps.c_features.iter()).chain(PLATFORM_EXTENSIONS);
    let advertised: BTreeMap<String, String> = advertised.map(|n| (n.name.to_owned(), version(n))).collect();
    let yes = rows().into_iter().filter(|[_, _, answer]| answer.starts_with("yes"));
    let yes: BTreeMap<String, String> = yes.map(|[name, version, _]| (name, version)).collect();
    assert_eq!(yes, advertised);
}

#[test]
fn each_name_has_one_row_and_each_no_a_reason() {
    let rows = rows();
    for prefix in ["cl_", "__opencl_c_"] {
        let names: Vec<&str> = rows.iter().map(|row| &row[0][..]).filter(|name| name.starts_with(prefix)).collect();
        assert!(names.len() > 15 && names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
    for [name, version, answer] in rows {
        let reason = answer.strip_prefix("no: ").is_some_and(|why| !why.is_empty() && version.is_empty());
        assert!(reason || answer == "yes", "{name}: {answer}");
    }
}
