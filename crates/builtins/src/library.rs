//! Which of the library's sources may define a function.

pub use crate::lib_sources::FILES;

/// Numbers of the files in which a function's name stands, the likeliest first: definitions begin at the start of a line, or
/// are made by a macro, of which the name is an argument.
pub fn candidates(name: &str) -> Vec<usize> {
    candidates_in(FILES, name)
}

fn candidates_in(files: &[(&str, &str)], name: &str) -> Vec<usize> {
    let mut found: Vec<(bool, usize)> = files
        .iter()
        .enumerate()
        .filter_map(|(i, (_, text))| {
            let mut defines = false;
            let mut any = false;
            for line in text.lines().filter(|l| mentions(l, name)) {
                any = true;
                defines |= !line.starts_with(char::is_whitespace) && !line.trim_start().starts_with("//");
            }
            any.then_some((!defines, i))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, i)| i).collect()
}

/// Whether the name stands in the line as a word.
fn mentions(line: &str, name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| !line[..at].ends_with(word) && !line[at + name.len()..].starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_come_before_uses_and_parts_of_words_do_not_count() {
        let files = [
            ("a.cl", "float pow(float x) {\n    return exp(x) + log2(x);\n}\n"),
            ("b.cl", "float exp(float x);\n"),
            ("c.cl", "MAKE(log)\nfloat expm1(float x) { return 0; }\n"),
        ];
        assert_eq!(candidates_in(&files, "exp"), [1, 0]);
        assert_eq!(candidates_in(&files, "log"), [2]);
        assert_eq!(candidates_in(&files, "sin"), [0usize; 0]);
    }
}
