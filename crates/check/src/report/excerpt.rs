//! Pieces of the sources with the events of a finding in them. In come the events and the texts; out come lines with
//! marks, for the text and for the page.
//!
//! A place may be wrong, as a source can have changed since the run, and a line can be as long as the source. So each
//! mark is put inside its line, and of a long line only a window around the mark is shown.

use crate::finding::{Finding, Place};
use crate::source::Sources;
use std::collections::BTreeMap;
use std::ops::Range;

/// The longest line that is shown whole, in bytes.
const MAX_LINE: usize = 240;
/// What is shown of a longer line before the mark,
const BEFORE: usize = 80;
/// and from the mark's start on.
const AFTER: usize = 160;
/// Lines between two marks of one excerpt.
const MAX_GAP: u32 = 1000;
/// What stands where a line is cut.
const CUT: &str = "...";

/// A part of a line that an event points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// The bytes in the text that is shown.
    pub range: Range<usize>,
    /// The index of the event.
    pub event: usize,
    /// Whether it is the event at which the finding is shown.
    pub is_primary: bool,
}

/// A line as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Its number in the file, from 1 on.
    pub number: u32,
    /// What is shown of it. Control characters but tabs are blank.
    pub text: String,
    /// Its marks, in the order of the events.
    pub marks: Vec<Mark>,
}

/// Lines of one file, in order. Lines far from any mark are left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Excerpt<'a> {
    /// The place of the first event that it shows.
    pub place: &'a Place,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// All excerpts of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Excerpts<'a> {
    /// In the order of the events that they show first.
    pub shown: Vec<Excerpt<'a>>,
    /// The indices of the events that have no text.
    pub rest: Vec<usize>,
}

/// An excerpt to which events are still added.
struct Piece<'a> {
    place: &'a Place,
    /// By the number of the line: what is shown of it, and its marks as bytes of the whole line.
    lines: BTreeMap<u32, (Range<usize>, Vec<Mark>)>,
}

impl Piece<'_> {
    /// Whether a mark at this place can be shown here.
    fn takes(&self, place: &Place, line: &str, start: usize) -> bool {
        if self.place.file != place.file {
            return false;
        }
        if let Some((window, _)) = self.lines.get(&place.line) {
            return window.contains(&start) || (start == window.end && start == line.len());
        }
        self.lines.keys().any(|line| line.abs_diff(place.line) <= MAX_GAP)
    }
}

/// The excerpts of a finding, with this many lines around each mark.
pub(crate) fn excerpts<'a>(finding: &'a Finding, sources: &Sources, context: u32) -> Excerpts<'a> {
    let primary = finding.events.iter().position(|e| e.place.is_some());
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut rest = Vec::new();
    for (event, e) in finding.events.iter().enumerate() {
        let found = e.place.as_ref().and_then(|place| Some((place, sources.line(&place.file, place.line)?)));
        let Some((place, line)) = found else {
            rest.push(event);
            continue;
        };
        let range = marked(line, place);
        let mark = Mark { range: range.clone(), event, is_primary: primary == Some(event) };
        let piece = match pieces.iter_mut().position(|p| p.takes(place, line, range.start)) {
            Some(i) => &mut pieces[i],
            None => {
                pieces.push(Piece { place, lines: BTreeMap::new() });
                let last = pieces.len() - 1;
                &mut pieces[last]
            }
        };
        let (_, marks) = piece.lines.entry(place.line).or_insert_with(|| (window(line, range.start), Vec::new()));
        marks.push(mark);
    }
    let shown = pieces.into_iter().map(|piece| finished(piece, sources, context)).collect();
    Excerpts { shown, rest }
}

/// Looks up the lines of a piece and those around them.
fn finished<'a>(piece: Piece<'a>, sources: &Sources, context: u32) -> Excerpt<'a> {
    let mut lines: Vec<Line> = Vec::new();
    let text = sources.text(&piece.place.file).unwrap_or_default();
    let last = piece.lines.keys().next_back().copied().unwrap_or_default().saturating_add(context);
    for (number, line) in (1..=last).zip(text.lines()) {
        let around = number.saturating_sub(context)..=number.saturating_add(context);
        if piece.lines.range(around).next().is_none() {
            continue;
        }
        lines.push(match piece.lines.get(&number) {
            Some((window, marks)) => cut(number, line, window.clone(), marks),
            None => cut(number, line, window(line, 0), &[]),
        });
    }
    Excerpt { place: piece.place, lines }
}

/// The part of a line to which a place points, at least one character unless it points behind the end.
pub(crate) fn marked(line: &str, place: &Place) -> Range<usize> {
    let start = boundary(line, (place.col as usize).saturating_sub(1));
    let end = boundary(line, (place.end_col as usize).saturating_sub(1)).max(start);
    let first = line[start..].chars().next().map_or(0, char::len_utf8);
    start..end.max(start + first)
}

/// What is shown of a line of which a mark begins here.
fn window(line: &str, start: usize) -> Range<usize> {
    if line.len() <= MAX_LINE {
        return 0..line.len();
    }
    boundary(line, start.saturating_sub(BEFORE))..boundary(line, start + AFTER)
}

/// A line of which only the window is shown. Marks that end behind the window end with it.
fn cut(number: u32, line: &str, window: Range<usize>, marks: &[Mark]) -> Line {
    let before = if window.start > 0 { CUT } else { "" };
    let after = if window.end < line.len() { CUT } else { "" };
    // Each control character is one byte and gives one blank, so that the marks stay right.
    let blank = |c: char| if c.is_ascii_control() && c != '\t' { ' ' } else { c };
    let text: String = line[window.clone()].chars().map(blank).collect();
    let place = |at: usize| at.clamp(window.start, window.end) - window.start + before.len();
    let marks = marks.iter().map(|m| Mark { range: place(m.range.start)..place(m.range.end), ..m.clone() });
    Line { number, marks: marks.collect(), text: format!("{before}{text}{after}") }
}

/// The start of the character that holds this byte, or the end of the text.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::tests::{event, finding, place};
    use super::*;

    fn of(text: &str, places: &[(u32, u32, u32)]) -> (Finding, Sources) {
        let mut f = finding();
        let at = |&(line, col, end): &(u32, u32, u32)| event(Some(place("a.cl", line, col, end)), "label");
        f.events = places.iter().map(at).collect();
        (f, Sources::from([("a.cl".to_owned(), text.to_owned())]))
    }

    #[test]
    fn marks_stay_inside_of_their_line() {
        for (line, col, end, text) in [
            ("a = b;", 5, 6, "b"),
            ("a = b;", 0, 0, "a"),
            ("a = b;", 5, 2, "b"),
            ("a = b;", 7, 9, ""),
            ("a = b;", 900, 901, ""),
            ("ä = b;", 2, 3, "ä"),
            ("", 1, 2, ""),
        ] {
            assert_eq!(&line[marked(line, &place("a.cl", 1, col, end))], text, "{line} from {col} to {end}");
        }
    }

    #[test]
    fn a_long_line_is_shown_in_windows() {
        let line = format!("{}FIRST{}SECOND{}", "ä".repeat(500), "b".repeat(50), "c".repeat(5000));
        let second = 1 + line.find("SECOND").unwrap() as u32;
        let (f, sources) = of(&line, &[(1, 1001, 1006), (1, second, second + 6), (1, 4000, 9000)]);
        let all = excerpts(&f, &sources, 2);
        assert_eq!(all.shown.len(), 2, "the third mark is far from the others");
        let near = &all.shown[0].lines[0];
        let texts: Vec<&str> = near.marks.iter().map(|m| &near.text[m.range.clone()]).collect();
        assert_eq!(texts, ["FIRST", "SECOND"]);
        assert!(near.text.starts_with("...ä") && near.text.ends_with("c..."), "{}", near.text);
        let far = &all.shown[1].lines[0];
        assert_eq!(far.marks[0].range.len(), AFTER, "the mark ends with the window");
        assert!(far.text.len() <= BEFORE + AFTER + 2 * CUT.len());
    }

    #[test]
    fn only_lines_near_marks_are_kept() {
        let text: String = (1..3001).map(|i| format!("line {i}\n")).collect();
        let (f, sources) = of(&text, &[(20, 1, 5), (3000, 1, 5), (10, 1, 5)]);
        let all = excerpts(&f, &sources, 1);
        let numbers = |e: &Excerpt<'_>| e.lines.iter().map(|l| l.number).collect::<Vec<_>>();
        assert_eq!(numbers(&all.shown[0]), [9, 10, 11, 19, 20, 21]);
        assert_eq!(numbers(&all.shown[1]), [2999, 3000], "far away, and at the end of the file");
        let primary: Vec<u32> =
            all.shown[0].lines.iter().filter(|l| l.marks.iter().any(|m| m.is_primary)).map(|l| l.number).collect();
        assert_eq!(primary, [20], "the first event, though it stands below");
    }

    #[test]
    fn events_without_text_are_left() {
        let (mut f, sources) = of("one\n", &[(1, 1, 2), (2, 1, 2)]);
        f.events.push(event(None, "the end of the kernel"));
        f.events.push(event(Some(place("b.cl", 1, 1, 2)), "elsewhere"));
        let all = excerpts(&f, &sources, 1);
        assert_eq!((all.shown.len(), all.rest), (1, vec![1, 2, 3]));
    }
}
