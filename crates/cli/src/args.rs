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

/// Options of EasyPAP that `run` does not have, in their short and their long form, and what there is instead.
const NOT_THERE: &[([&str; 2], &str)] = &[
    (["-a", ""], "it draws from what -c says; `cloom run -lv PROGRAM` lists the knobs"),
    (["-du", "--dump"], "--output FILE writes the picture"),
    (["-ft", "--first-touch"], "the platform places memory"),
    (["-lb", "--label"], "--json names the run by all its parameters"),
    (["-m", "--monitoring"], "`cloom show` explains a kernel"),
    (["-mpi", "--mpirun"], "start `mpirun -n N cloom run … -v ranks` instead"),
    (["-of", "--output-file"], "--json writes the times"),
    (["-p", "--pause"], "no window is shown; --output film.apng keeps each frame"),
    (["-q", "--quit"], "no window is shown, and a run always ends by itself"),
    (["-r", "--refresh-rate"], "no window is shown; --frame-rate is that of a film"),
    (["-sr", "--soft-rendering"], "no window is shown"),
    (["-t", "--trace"], "`cloom show` explains a kernel"),
    (["-wt", "--with-tile"], "-v chooses the variant with its tiles"),
    (["-so", "--show-ocl"], "`cloom info` lists the devices"),
    (["-g", "--gpu"], "--platform and --device choose the device"),
];

/// Commands that take build options.
const COMPILING: &[&str] = &["run", "check", "show", "compile", "link", "library", "agree", "bench"];

/// What to say of an option of EasyPAP that `run` does not have yet.
pub fn not_there_yet(words: &[OsString]) -> Option<String> {
    if words.get(1).is_none_or(|w| w != "run") {
        return None;
    }
    // What stands after `--` is for the compiler, and so is a `-g` of a file.
    let is_file = |w: &OsString| w.to_str().is_some_and(|w| !w.starts_with('-') && w.contains('.'));
    let has_file = words.iter().skip(2).any(is_file);
    let own = words.iter().skip(2).take_while(|w| *w != "--").filter_map(|w| w.to_str());
    own.filter(|w| w.starts_with('-')).find_map(|word| {
        // `normalise` has wrapped build options.
        let word = word.strip_prefix("--build-option=").filter(|w| *w == "-g" && !has_file).unwrap_or(word);
        let (_, instead) = NOT_THERE.iter().find(|(names, _)| names.contains(&word))?;
        Some(format!("{word} of EasyPAP is not there yet: {instead}"))
    })
}

/// Whether a word has the form of a build option.
fn is_build_option(word: &str) -> bool {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| word.starts_with(p));
    starts(&["-D", "-U", "-I", "-cl-", "-W", "-O"])
        || matches!(word, "-w" | "-g" | "-create-library" | "-enable-link-options")
}

/// The command line with long names.
pub fn normalise(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter();
    // The name of the program and the command, which no rule below applies to.
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    let command = out.get(1).and_then(|w| w.to_str()).unwrap_or_default();
    if !COMPILING.contains(&command) {
        out.extend(words);
        return out;
    }
    let takes_program = command == "check";
    let mut rest_is_options = false;
    while let Some(word) = words.next() {
        // A word that is not UTF-8 is a path: no option here has such a name.
        let Some(text) = word.to_str() else {
            out.push(word);
            continue;
        };
        if rest_is_options {
            out.push(format!("--build-option={text}").into());
        } else if text == "--" && takes_program {
            // A program and its arguments.
            out.push(word);
            out.extend(words.by_ref());
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
    fn easypaps_other_words_are_refused_by_name() {
        let said = |line: &str| not_there_yet(&normalise(line.split(' ').map(OsString::from)));
        assert!(said("cloom run -k mandel -m").unwrap().starts_with("-m of EasyPAP"));
        assert!(said("cloom run -k mandel --monitoring -n").unwrap().contains("cloom show"));
        assert!(said("cloom run -k mandel -g").is_some() && said("cloom run a.cl -g").is_none());
        assert!(said("cloom run -k mandel -tw 8 -lv").is_none() && said("cloom bench -m").is_none());
        assert!(said("cloom run a.cl -- -t").is_none());
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
