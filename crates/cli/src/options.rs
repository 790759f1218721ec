//! Build options of OpenCL C, shared by `run`, `show`, `compile`, `link` and `library`.

/// Options for the compiler of OpenCL C.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct BuildOptions {
    /// Build options as one text, split as clBuildProgram splits them
    #[arg(long = "options", value_name = "TEXT", allow_hyphen_values = true, help_heading = "Build options")]
    text: Option<String>,
    /// One build option; -D… -U… -I… -cl-… -w -W… -g -O… and all after `--` may be written without this name
    #[arg(long = "build-option", value_name = "OPTION", allow_hyphen_values = true, help_heading = "Build options")]
    words: Vec<String>,
}

impl BuildOptions {
    /// The text for `clBuildProgram`.
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = self.text.iter().cloned().collect();
        parts.extend(self.words.iter().map(|w| quoted(w)));
        parts.join(" ")
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.words.is_empty()
    }
}

/// The text for `clBuildProgram` of these words.
pub fn joined(words: &[&str]) -> String {
    words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word so that splitting the text gives it back; the shell has removed the quotation marks around it.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\')) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_compiler::{Compiler, Config, Source};

    #[test]
    fn words_reach_the_compiler_as_they_were_written() {
        let words = ["-DTEXT=\"a b\\\\c\"", "-DTWO=1 + 1", "-DCHAR='x'"].map(str::to_owned).to_vec();
        let options = BuildOptions { text: Some("-cl-mad-enable -DONE".into()), words };
        let text = b"constant char t[] = TEXT; int a[TWO == 2 && CHAR == 'x' && sizeof t == 6 && ONE ? 1 : -1];";
        // A variable at program scope without an address space is refused; so the array goes into a function.
        let text =
            String::from_utf8_lossy(text).replace(" int a[", " kernel void k() { int a[").replace("-1];", "-1]; }");
        let source = Source { name: "t.cl", text: text.as_bytes() };
        let built = Compiler::new(Config::default()).build(&source, &options.text(), &Default::default());
        assert!(built.result.is_ok(), "{}", built.log);
    }
}
