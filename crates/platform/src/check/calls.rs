//! Findings about calls of the host program: each has the place of the call in the program's source, if that is known.

use super::stack::{Frame, Stack, Symbols};
use super::state::State;
use cloom_check::finding::{self, AccessKind, Event, Place};
use cloom_check::{Finding, Kind, Sources};
use std::path::Path;
use std::sync::Arc;

/// A larger file is no source.
const MAX_SOURCE: u64 = 4 << 20;

impl State {
    /// A finding about a call. If its name is not given, that is what stands at its place in the source.
    pub fn finding(&mut self, kind: Kind, call: &str, stack: Option<&Stack>, message: String) -> Finding {
        let frames = stack.map(|stack| Symbols::new().frames(stack)).unwrap_or_default();
        let place = frames.iter().find_map(|frame| self.place(frame));
        let (file, line) = place.as_ref().map_or(("", 0), |p| (p.file.as_str(), p.line));
        // Without a place, the message tells findings apart.
        let text = self.sources.line(file, line).unwrap_or(&message);
        let id = finding::fingerprint(kind, file, call, text, 0);
        let named = place.as_ref().map_or("", |p| self.sources.name(&p.file, p.line, p.col));
        let call = if call.is_empty() { named } else { call };
        let call = Some(call.to_owned()).filter(|call| !call.is_empty());
        let event = place.map(|place| event(place, call.as_deref().unwrap_or("calls here")));
        Finding {
            message,
            call,
            events: event.into_iter().collect(),
            stack: frames.iter().map(Frame::to_string).collect(),
            ..Finding::new(id, kind)
        }
    }

    /// The place of a frame, if its file and line are known. The file's text is kept for the report.
    fn place(&mut self, frame: &Frame) -> Option<Place> {
        let (file, line, col) = frame.place.clone()?;
        let is_small = |path: &Path| path.metadata().is_ok_and(|m| m.is_file() && m.len() <= MAX_SOURCE);
        if self.sources.text(&file).is_none()
            && is_small(Path::new(&file))
            && let Ok(text) = std::fs::read_to_string(&file)
        {
            Arc::make_mut(&mut self.sources).add(file.clone(), text);
        }
        let (col, end_col) = columns(&self.sources, &file, line, col);
        Some(Place { file, line, col, end_col })
    }
}

/// The columns of a call, or of its whole line.
fn columns(sources: &Sources, file: &str, line: u32, col: Option<u32>) -> (u32, u32) {
    if let Some(col) = col
        && let Some(range) = sources.operand(file, line, col)
    {
        return (range.start as u32 + 1, range.end as u32 + 1);
    }
    let text = sources.line(file, line).unwrap_or_default();
    let begin = text.len() - text.trim_start().len();
    (begin as u32 + 1, text.trim_end().len().max(begin + 1) as u32 + 1)
}

/// The event of a call.
fn event(place: Place, label: &str) -> Event {
    Event {
        kind: AccessKind::Point,
        bytes: 0,
        place: Some(place),
        inlined: Vec::new(),
        global: [0; 3],
        local: [0; 3],
        group: [0; 3],
        atomic: None,
        iteration: None,
        label: label.to_owned(),
    }
}
