//! Suggestions: the known name with the least edit distance to a misspelt one.

/// The candidate most like `text`, if one is like enough: one edit for short names, a third of the length for others.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars: Vec<char> = text.chars().take(64).collect();
    let limit = (chars.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| c.len().abs_diff(text.len()) <= limit && *c != text)
        // A difference in case alone is the smallest distance.
        .map(|c| if c.eq_ignore_ascii_case(text) { (0, c) } else { (distance(&chars, c), c) })
        .filter(|&(d, _)| d <= limit)
        // The first of several at one distance: names from a hash table must be sorted, or messages would change.
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// How many insertions, removals, replacements and swaps of neighbours lead from one to the other.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut d = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                d = d.min(before[j - 1] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_of_the_finger_only() {
        assert_eq!(nearest("Sin", ["min", "sin"]), Some("sin"));
        assert_eq!(nearest("GET_GLOBAL_ID", ["get_global_id"]), Some("get_global_id"));
        let all = ["__kernel", "__global", "float4", "for"];
        assert_eq!(nearest("__kernal", all), Some("__kernel"));
        assert_eq!(nearest("__kenrel", all), Some("__kernel"));
        assert_eq!(nearest("flaot4", all), Some("float4"));
        assert_eq!(nearest("x", all), None);
        assert_eq!(nearest("while", all), None);
    }
}
