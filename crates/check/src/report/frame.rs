//! A line of the host's stack. In comes a line such as `main app.c:88`; out come its function, its file and its line.
//!
//! SARIF needs the place, suppressions need the function and the file.

/// The parts of a line of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame<'a> {
    /// The function, or all of the line if it names no place.
    pub function: &'a str,
    /// The file and its line, if the stack has them.
    pub place: Option<(&'a str, u32)>,
}

impl<'a> Frame<'a> {
    /// The parts of `FUNCTION FILE:LINE`, `FILE:LINE` or `FUNCTION`. A function of C++ may have spaces in its name; a
    /// file may not.
    pub fn parse(text: &'a str) -> Frame<'a> {
        let text = text.trim();
        let (function, rest) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
        let place = rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match place.filter(|(file, _)| !file.is_empty()) {
            Some(place) => Frame { function: function.trim_end(), place: Some(place) },
            None => Frame { function: text, place: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_a_function_and_a_place() {
        let frame = |function, place| Frame { function, place };
        assert_eq!(Frame::parse("main app.c:88"), frame("main", Some(("app.c", 88))));
        assert_eq!(Frame::parse("run(int, char) C:\\a.cpp:5"), frame("run(int, char)", Some(("C:\\a.cpp", 5))));
        assert_eq!(Frame::parse("app.c:88"), frame("", Some(("app.c", 88))));
        assert_eq!(Frame::parse("std::sort"), frame("std::sort", None));
        assert_eq!(Frame::parse("libx.so+0x12"), frame("libx.so+0x12", None));
        assert_eq!(Frame::parse(""), frame("", None));
    }
}
