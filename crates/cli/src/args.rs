//! Normalises the command line before clap parses it: EasyPAP's short options of two letters (`-tw`) and OpenCL's build
//! options (`-DX=1`, `-cl-…`) become long options.
//!
//! Example: `cloom run k.cl -tw 8 -DX=1` becomes `cloom run k.cl --tile-width 8 --build-option=-DX=1`.

use std::ffi::OsString;

/// EasyPAP's options of two letters.
const EASYPAP: &[(&str, &str)] = &[
    ("-tw", "--tile-width"),
    ("-th", "--tile-height"),
    ("-ts", "--tile-size"),
    ("-lk", "--list-kernels"),
    ("-lv", "--list-variants"),
];

/// Commands that take build options.
const COMPILING: &[&str] = &["run", "show", "compile", "link", "library"];

/// Whether a word has the form of a build option.
fn is_build_option(word: &str) -> bool {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| word.starts_with(p));
    starts(&["-D", "-U", "-I", "-cl-", "-W", "-O"])
        || matches!(word, "-w" | "-g" | "-create-library" | "-enable-link-options")
}

/// The command line with long names.
pub fn normalise(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter();
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    let command = out.get(1).and_then(|w| w.to_str()).unwrap_or_default();
    if !COMPILING.contains(&command) {
        out.extend(words);
        return out;
    }
    let mut rest_is_options = false;
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            out.push(word);
            continue;
        };
        if rest_is_options {
            out.push(format!("--build-option={text}").into());
        } else if text == "--" {
            rest_is_options = true;
        } else if let Some((_, long)) = EASYPAP.iter().find(|(short, _)| *short == text) {
            out.push(long.into());
        } else if text == "--options" {
            // Its argument is one text, whatever it begins with.
            let next = words.next().unwrap_or_default();
            out.push(format!("--options={}", next.to_string_lossy()).into());
        } else if text == "-MD" {
            out.push("--depend".into());
        } else if text == "-MF" {
            out.push(format!("--depend={}", words.next().unwrap_or_default().to_string_lossy()).into());
        } else if matches!(text, "-D" | "-U" | "-I") {
            // With its argument as the next word; without one, the compiler says what is missing.
            let next = words.next().unwrap_or_default();
            out.push(format!("--build-option={text}{}", next.to_string_lossy()).into());
        } else if is_build_option(text) {
            out.push(format!("--build-option={text}").into());
        } else {
            out.push(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(line: &str) -> String {
        let words = normalise(line.split(' ').map(OsString::from));
        words.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn easypaps_words_get_long_names() {
        assert_eq!(
            normal("cloom run -k mandel -tw 16 -th 8 -lv -i 3"),
            "cloom run -k mandel --tile-width 16 --tile-height 8 --list-variants -i 3"
        );
        assert_eq!(normal("cloom info -lk"), "cloom info -lk");
        assert_eq!(normal("cloom"), "cloom");
    }

    #[test]
    fn build_options_are_told_from_others() {
        assert_eq!(
            normal("cloom compile a.cl -DX=1 -I inc -cl-mad-enable -o out -w -- -cl-nv-x b"),
            "cloom compile a.cl --build-option=-DX=1 --build-option=-Iinc --build-option=-cl-mad-enable -o out \
             --build-option=-w --build-option=-cl-nv-x --build-option=b"
        );
        assert_eq!(normal("cloom compile --options -DX=1 a.cl"), "cloom compile --options=-DX=1 a.cl");
        assert_eq!(normal("cloom compile a.cl -MD -MF a.d"), "cloom compile a.cl --depend --depend=a.d");
    }
}
