//! The comments at the head of the kernels of oneAPI's Construction Kit: `CL_STD`, `DEFINITIONS` and `CLC OPTIONS`.

use super::cases::Case;
use std::path::Path;

/// The compilation that the head of a file asks for.
pub fn case(name: &str, path: &Path, text: &str) -> Case {
    let mut case = Case::plain(name, path);
    for line in text.lines() {
        let Some((key, value)) = line.strip_prefix("//").and_then(|l| l.split_once(':')) else { continue };
        // Words stand between semicolons, some of them in quotes.
        let words = value.split(';').map(|w| w.trim().trim_matches('"').trim()).filter(|w| !w.is_empty());
        match key.trim() {
            "CL_STD" => case.options.push(format!("-cl-std=CL{}", value.trim())),
            "DEFINITIONS" => case.options.extend(words.map(str::to_owned)),
            // Others are of their vectoriser.
            "CLC OPTIONS" => {
                case.options.extend(words.filter(|w| w.starts_with("-cl-") && !w.contains("wfv")).map(str::to_owned));
            }
            _ => {}
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Vec<String> {
        case("a.cl", Path::new("/a.cl"), text).options
    }

    #[test]
    fn the_keys_are_read() {
        let text = "// Copyright: none\n// REQUIRES: double; half;\n// CL_STD: 3.0\n\
                    // DEFINITIONS: \"-DN=4\";\"-DM=1\"\n// CLC OPTIONS: -cl-fast-relaxed-math\nkernel void f() {}\n";
        assert_eq!(options(text), ["-cl-std=CL3.0", "-DN=4", "-DM=1", "-cl-fast-relaxed-math"]);
        assert_eq!(options("// DEFINITIONS: -D NUM_INPUTS=16\n"), ["-D NUM_INPUTS=16"]);
        assert_eq!(options("// CLC OPTIONS: -cl-wfv=always\n// SPIRV OPTIONS: -w\n"), [""; 0]);
    }
}
