//! Columns and paths as the formats count and write them.

/// A column in characters from 1 on, made of one in bytes. Without the text of the line it stays as it is.
pub(crate) fn column_in_chars(line: Option<&str>, col: u32) -> u32 {
    let col = col.max(1);
    let Some(line) = line else { return col };
    let bytes = (col - 1) as usize;
    let before = line.char_indices().take_while(|(at, _)| *at < bytes).count();
    // A column behind the end keeps its distance from it.
    let beyond = bytes.saturating_sub(line.len());
    u32::try_from(before + beyond + 1).unwrap_or(col)
}

/// A path with forward slashes, and without the `./` that says nothing.
pub(crate) fn with_slashes(file: &str) -> String {
    let file = file.replace('\\', "/");
    file.strip_prefix("./").map_or(file.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(column_in_chars(Some("äb"), 1), 1);
        assert_eq!(column_in_chars(Some("äb"), 3), 2, "b is the second character and the third byte");
        assert_eq!(column_in_chars(Some("äb"), 4), 3, "the end of the line");
        assert_eq!(column_in_chars(Some("äb"), 6), 5, "two columns behind the end");
        assert_eq!(column_in_chars(None, 3), 3);
        assert_eq!(column_in_chars(None, 0), 1);
    }
}
