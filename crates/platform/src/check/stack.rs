//! Where the host program has called from.
//!
//! In comes the moment of a call; out come its return addresses at once, and the frames of the host program when a
//! report needs them: functions, files and lines as far as the program has debug information. The driver's own frames
//! and those of the ICD loader are left out, as are those below `main`.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Frames that are kept of a stack, those of the driver included.
const MAX_FRAMES: usize = 64;
/// What the ICD loader's file is called.
const LOADER: &str = "libOpenCL.so";

/// The return addresses of a call, innermost first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stack(Arc<[usize]>);

impl Stack {
    /// The stack of this call.
    pub fn capture() -> Stack {
        let mut addresses = Vec::with_capacity(MAX_FRAMES);
        backtrace::trace(|frame| {
            addresses.push(frame.ip().addr());
            addresses.len() < MAX_FRAMES
        });
        Stack(addresses.into())
    }
}

/// One function of a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function, or the library that it is in.
    pub function: String,
    /// The file, its line, and the column if it is known.
    pub place: Option<(String, u32, Option<u32>)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match &self.place {
            Some((file, line, _)) => write!(f, " {file}:{line}"),
            None => Ok(()),
        }
    }
}

/// What is known of this process: which files its code is from.
pub struct Symbols {
    files: Vec<(Range<usize>, String)>,
    folder: Option<PathBuf>,
}

impl Symbols {
    /// Those of this process as it is now.
    pub fn new() -> Symbols {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Symbols { files: maps.lines().filter_map(mapping).collect(), folder: std::env::current_dir().ok() }
    }

    /// The host program's frames of a stack, innermost first.
    pub fn frames(&self, stack: &Stack) -> Vec<Frame> {
        let own = self.file(Symbols::new as *const () as usize);
        let program = std::env::current_exe().ok();
        // A Rust program contains the driver: there, names tell what is whose.
        let own = own.filter(|own| program.is_none_or(|program| program != Path::new(own)));
        let is_driver = |address: &usize| {
            let file = self.file(*address);
            let is_loader = file.is_some_and(|f| f.rsplit('/').next().is_some_and(|name| name.starts_with(LOADER)));
            is_loader || own.is_some() && file == own
        };
        let host = stack.0.iter().skip_while(|address| is_driver(address));
        let mut frames: Vec<Frame> = host.flat_map(|&address| self.resolved(address)).collect();
        if own.is_none() {
            let drivers = frames.iter().rposition(|f| is_own(&f.function)).map_or(0, |at| at + 1);
            frames.drain(..drivers);
        }
        if let Some(main) = frames.iter().position(|f| f.function == "main" || f.function.ends_with("::main")) {
            frames.truncate(main + 1);
        }
        frames
    }

    /// The file that the code at an address is from.
    fn file(&self, address: usize) -> Option<&str> {
        self.files.iter().find(|(range, _)| range.contains(&address)).map(|(_, file)| file.as_str())
    }

    /// The functions at a return address, the inlined ones first.
    fn resolved(&self, address: usize) -> Vec<Frame> {
        let mut frames = Vec::new();
        // The call is before the address to which it returns, which may be another line's.
        backtrace::resolve(std::ptr::without_provenance_mut(address.wrapping_sub(1)), |symbol| {
            let Some(name) = symbol.name() else { return };
            let place =
                symbol.filename().zip(symbol.lineno()).map(|(file, line)| (self.shown(file), line, symbol.colno()));
            frames.push(Frame { function: format!("{name:#}"), place });
        });
        if frames.is_empty() {
            let file = self.file(address).unwrap_or_default();
            let function = file.rsplit('/').next().filter(|f| !f.is_empty()).unwrap_or("?").to_owned();
            frames.push(Frame { function, place: None });
        }
        frames
    }

    /// A path as reports name it: relative to the working directory, if it is below it.
    fn shown(&self, file: &Path) -> String {
        let short = self.folder.as_ref().and_then(|folder| file.strip_prefix(folder).ok());
        short.unwrap_or(file).display().to_string()
    }
}

/// A stack as reports have it.
pub fn lines(stack: &Stack) -> Vec<String> {
    Symbols::new().frames(stack).iter().map(Frame::to_string).collect()
}

/// Whether a function is the driver's, by its name.
fn is_own(function: &str) -> bool {
    let name = function.trim_start_matches(['<', '&']);
    name.starts_with("cloom_") || name.starts_with("cloom::")
}

/// A line of `/proc/self/maps`: `55d0-55d4 r-xp 0000 08:01 77 /usr/bin/app`.
fn mapping(line: &str) -> Option<(Range<usize>, String)> {
    let mut words = line.split_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    // A path may have spaces; it begins with the first slash.
    let file = line.find('/').map_or("", |at| &line[at..]);
    Some((address(begin)?..address(end)?, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_addresses_and_a_file() {
        let line = "7f10-7f20 r-xp 00000000 08:01 77    /opt/my app/lib.so";
        assert_eq!(mapping(line), Some((0x7f10..0x7f20, "/opt/my app/lib.so".into())));
        assert_eq!(mapping("7f10-7f20 rw-p 00000000 00:00 0"), Some((0x7f10..0x7f20, String::new())));
        assert_eq!(mapping("nothing"), None);
    }

    #[test]
    fn the_drivers_functions_are_known_by_their_names() {
        for own in
            ["cloom_runtime::Queue::write", "<cloom_platform::check::Programs as X>::failed", "cloom::Queue::read"]
        {
            assert!(is_own(own), "{own}");
        }
        assert!(!is_own("main") && !is_own("app::cloom_like") && !is_own("cloomy::run"));
    }

    #[test]
    fn the_address_of_a_call_has_its_function() {
        let symbols = Symbols::new();
        // Of this program all functions are the driver's, so `frames` would have none of them.
        let frames: Vec<Frame> = Stack::capture().0.iter().flat_map(|&address| symbols.resolved(address)).collect();
        let here = "the_address_of_a_call_has_its_function";
        let here = frames.iter().find(|f| f.function.contains(here)).expect("this test is in its own stack");
        // A build without debug information has functions and no lines.
        if let Some((file, line, _)) = &here.place {
            assert!(file.ends_with("stack.rs") && *line > 100, "{file}:{line}");
        }
    }
}
