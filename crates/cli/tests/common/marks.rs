//! What a source says of the findings that it must have: `//~ KIND` stands on each line that one must name.

use std::collections::BTreeSet;

/// What findings name: line and kind.
pub type Marks = BTreeSet<(u64, String)>;

/// The marks in a source.
pub fn marks(text: &str) -> Marks {
    let marks = text.lines().zip(1..).filter_map(|(line, n)| Some((n, line.split_once("//~ ")?.1)));
    marks.flat_map(|(n, kinds)| kinds.split_whitespace().map(move |kind| (n, kind.to_owned()))).collect()
}
