//! The text of source files: for excerpts, and for what a position in a line is.
//!
//! Positions in the IR have a line and a column, and no end. What begins there is found in the text again.

use std::collections::BTreeMap;
use std::ops::Range;

/// Source files by the names that the IR has for them.
#[derive(Clone, Default, Debug)]
pub struct Sources(BTreeMap<String, Text>);

/// A text with the places at which its lines begin.
#[derive(Clone, Default, Debug)]
struct Text {
    text: String,
    lines: Vec<usize>,
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(ends).filter(|&i| i < text.len()).collect();
        Text { text, lines }
    }
}

impl<const N: usize> From<[(String, String); N]> for Sources {
    fn from(files: [(String, String); N]) -> Sources {
        Sources(files.into_iter().map(|(name, text)| (name, text.into())).collect())
    }
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.insert(name.into(), text.into().into());
    }

    /// The whole text of a file.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.0.get(file).map(|file| file.text.as_str())
    }

    /// A line, counted from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        let Text { text, lines } = self.0.get(file)?;
        let begin = *lines.get(line.checked_sub(1)? as usize)?;
        text.get(begin..)?.lines().next()
    }

    /// The operand that begins at a column: a name with its member accesses, indices and call, or one symbol.
    pub fn operand(&self, file: &str, line: u32, col: u32) -> Option<Range<usize>> {
        let text = self.line(file, line)?;
        let start = col.checked_sub(1)? as usize;
        text.get(start..).filter(|rest| !rest.is_empty())?;
        Some(start..operand_end(text, start))
    }

    /// The name that begins at a column, or nothing.
    pub fn name(&self, file: &str, line: u32, col: u32) -> &str {
        let rest = self.line(file, line).and_then(|text| text.get(col.checked_sub(1)? as usize..));
        let rest = rest.unwrap_or_default();
        &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())]
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where an operand ends: `t[i + 1].x`, `f(a, b)`, `*p`, `+`.
fn operand_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(b' ');
    let word = |mut i: usize| {
        while i < bytes.len() && (is_word(at(i) as char) || !at(i).is_ascii()) {
            i += 1;
        }
        i
    };
    let mut end = start;
    // Unary operators belong to what follows.
    while matches!(at(end), b'*' | b'&' | b'!' | b'~' | b'-') && end < bytes.len() {
        end += 1;
    }
    let name = end;
    end = word(end);
    if end == name {
        return (start + text[start..].chars().next().map_or(1, char::len_utf8)).min(text.len());
    }
    loop {
        match (at(end), at(end + 1)) {
            (open @ (b'[' | b'('), _) => match closing(bytes, end, open) {
                Some(close) => end = close + 1,
                None => return end,
            },
            (b'.', _) if is_word(at(end + 1) as char) => end = word(end + 1),
            (b'-', b'>') => end = word(end + 2),
            _ => return end,
        }
    }
}

/// The bracket that closes the one at `open`, in this line.
fn closing(bytes: &[u8], open: usize, kind: u8) -> Option<usize> {
    let close = if kind == b'[' { b']' } else { b')' };
    let mut depth = 0;
    for (i, &b) in bytes.iter().enumerate().skip(open) {
        if b == kind {
            depth += 1;
        } else if b == close {
            depth -= 1;
            if depth == 0 {
                return Some(i);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operand_has_its_indices_and_members() {
        let mut sources = Sources::default();
        sources.add("a.cl", "x\n  t[i + s[1]].m += f(a, (b)) * q->n;\n  *p = a[;");
        let operand = |line, col| sources.operand("a.cl", line, col).map(|r| &sources.line("a.cl", line).unwrap()[r]);
        assert_eq!(operand(2, 3), Some("t[i + s[1]].m"));
        assert_eq!(operand(2, 20), Some("f(a, (b))"));
        assert_eq!(operand(2, 32), Some("q->n"));
        assert_eq!(operand(2, 17), Some("+"));
        assert_eq!(operand(3, 3), Some("*p"));
        assert_eq!(operand(3, 8), Some("a"));
        assert_eq!((operand(3, 99), operand(9, 1), operand(0, 0)), (None, None, None));
        assert_eq!(sources.name("a.cl", 2, 20), "f");
        sources.add("b.cl", "one\r\ntwo\n");
        assert_eq!([0, 1, 2, 3].map(|n| sources.line("b.cl", n)), [None, Some("one"), Some("two"), None]);
    }
}
