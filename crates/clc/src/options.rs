//! Build options: the string that an application gives to `clBuildProgram`, `clCompileProgram` or `clLinkProgram`.
//!
//! Applications write these strings as they would write a command line, so they are split as a shell splits words:
//! quotation marks group, a backslash takes the next quotation mark, backslash or space literally. A backslash before
//! anything else stays, because applications give Windows paths. An option that is not known is refused by name.

use crate::pp::MacroOption;
use crate::source::{Diagnostic, Diagnostics};

/// The versions of the language that `-cl-std=` names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the versions")]
pub enum ClStd {
    Cl1_0,
    Cl1_1,
    Cl1_2,
    Cl2_0,
    Cl3_0,
    Cl3_1,
}

impl ClStd {
    /// As `__OPENCL_C_VERSION__` has it.
    pub fn number(self) -> u32 {
        match self {
            ClStd::Cl1_0 => 100,
            ClStd::Cl1_1 => 110,
            ClStd::Cl1_2 => 120,
            ClStd::Cl2_0 => 200,
            ClStd::Cl3_0 => 300,
            ClStd::Cl3_1 => 310,
        }
    }
}

/// For which call the options are: not all options are allowed in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionSet {
    /// `clBuildProgram`: compiler and linker options.
    Build,
    /// `clCompileProgram`
    Compile,
    /// `clLinkProgram`
    Link,
}

/// The parsed options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildOptions {
    /// `-D` and `-U`, in order.
    pub macros: Vec<MacroOption>,
    /// `-I`, in order.
    pub include_dirs: Vec<String>,
    /// `-cl-std=`; the last one counts.
    pub std: Option<ClStd>,
    /// `-w`
    pub no_warnings: bool,
    /// `-Werror`
    pub warnings_are_errors: bool,
    /// `-g`
    pub debug_info: bool,
    /// `-cl-opt-disable`, `-O0`
    pub opt_disable: bool,
    /// `-cl-mad-enable`
    pub mad_enable: bool,
    /// `-cl-no-signed-zeros`
    pub no_signed_zeros: bool,
    /// `-cl-unsafe-math-optimizations`
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`
    pub finite_math_only: bool,
    /// `-cl-fast-relaxed-math`
    pub fast_relaxed_math: bool,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// `-cl-single-precision-constant`
    pub single_precision_constant: bool,
    /// `-cl-fp32-correctly-rounded-divide-sqrt`
    pub correctly_rounded_divide_sqrt: bool,
    /// `-cl-strict-aliasing`
    pub strict_aliasing: bool,
    /// `-cl-uniform-work-group-size`
    pub uniform_work_group_size: bool,
    /// `-cl-no-subgroup-ifp`
    pub no_subgroup_ifp: bool,
    /// `-cl-kernel-arg-info`
    pub kernel_arg_info: bool,
    /// `-cloom-check`: the code has marks for the checker of kernels.
    pub check: bool,
    /// `-create-library`
    pub create_library: bool,
    /// `-enable-link-options`
    pub enable_link_options: bool,
}

impl BuildOptions {
    /// Whether kernels may run in groups of which the last of a dimension is smaller than the others.
    pub fn partial_groups(&self) -> bool {
        self.std.is_some_and(|std| std.number() >= 200) && !self.uniform_work_group_size
    }

    /// Reads an option string; what is wrong is reported, the rest is kept.
    pub fn parse(text: &str, set: OptionSet, diags: &mut Diagnostics) -> Self {
        let words = match split(text) {
            Ok(words) => words,
            Err(quote) => {
                let message = format!("a quotation that starts with {quote} in the build options has no end");
                diags.push(Diagnostic::error_nowhere("E0004", message));
                return Self::default();
            }
        };
        let mut this = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if let Err(d) = this.option(&word, &mut words, set) {
                diags.push(*d);
            }
        }
        if this.create_library || !this.enable_link_options {
            return this;
        }
        let message = "`-enable-link-options` without `-create-library`";
        diags.push(Diagnostic::error_nowhere("E0005", message));
        this
    }

    fn option(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = String>,
        set: OptionSet,
    ) -> Result<(), Box<Diagnostic>> {
        // With an argument, joined or as the next word.
        // These come first: any text may follow them, also one that looks like another option.
        for (flag, what) in [("-D", "a macro"), ("-U", "the name of a macro"), ("-I", "a folder")] {
            let Some(joined) = word.strip_prefix(flag) else { continue };
            let joined = if flag == "-I" { joined.strip_prefix('=').unwrap_or(joined) } else { joined };
            let arg = if joined.trim().is_empty() { rest.next() } else { Some(joined.to_owned()) };
            let Some(arg) = arg.map(|a| a.trim().to_owned()).filter(|a| !a.is_empty()) else {
                return fail("E0002", format!("build option `{flag}` lacks its argument, {what}"));
            };
            if set == OptionSet::Link {
                return fail("E0005", format!("build option `{flag}` is not for linking"));
            }
            match flag {
                "-I" => self.include_dirs.push(arg),
                "-U" => self.macros.push(MacroOption::Undefine(macro_name(&arg)?)),
                _ => {
                    let (name, text) = match split_definition(&arg) {
                        Some((name, text)) => (name, text.to_owned()),
                        None => (arg.as_str(), "1".to_owned()),
                    };
                    self.macros.push(MacroOption::Define { name: macro_name(name)?, text });
                }
            }
            return Ok(());
        }
        if let Some(value) = word.strip_prefix("-cl-std=") {
            self.std = Some(match value.to_ascii_uppercase().as_str() {
                "CL1.0" => ClStd::Cl1_0,
                "CL1.1" => ClStd::Cl1_1,
                "CL1.2" => ClStd::Cl1_2,
                "CL2.0" => ClStd::Cl2_0,
                "CL3.0" => ClStd::Cl3_0,
                "CL3.1" => ClStd::Cl3_1,
                _ => {
                    let help = "the versions are CL1.0, CL1.1, CL1.2, CL2.0, CL3.0 and CL3.1";
                    let d = Diagnostic::error_nowhere("E0003", format!("`-cl-std={value}` names no version"));
                    return Err(Box::new(d.help(help)));
                }
            });
            return if set == OptionSet::Link { not_for_linking(word) } else { Ok(()) };
        }
        // Those that a linker takes, too.
        let shared = match word {
            "-cl-denorms-are-zero" => Some(&mut self.denorms_are_zero),
            "-cl-no-signed-zeros" => Some(&mut self.no_signed_zeros),
            "-cl-unsafe-math-optimizations" => Some(&mut self.unsafe_math),
            "-cl-finite-math-only" => Some(&mut self.finite_math_only),
            "-cl-fast-relaxed-math" => Some(&mut self.fast_relaxed_math),
            "-cl-no-subgroup-ifp" => Some(&mut self.no_subgroup_ifp),
            "-create-library" | "-enable-link-options" => {
                if set != OptionSet::Link {
                    let message = format!("build option `{word}` is for linking only");
                    let help = "compile with clCompileProgram and give the option to clLinkProgram";
                    return Err(Box::new(Diagnostic::error_nowhere("E0005", message).help(help)));
                }
                Some(if word == "-create-library" { &mut self.create_library } else { &mut self.enable_link_options })
            }
            _ => None,
        };
        if let Some(flag) = shared {
            *flag = true;
            return Ok(());
        }
        let compile = match word {
            "-w" => Some(&mut self.no_warnings),
            "-Werror" => Some(&mut self.warnings_are_errors),
            "-g" => Some(&mut self.debug_info),
            "-cl-opt-disable" | "-O0" => Some(&mut self.opt_disable),
            "-cl-mad-enable" => Some(&mut self.mad_enable),
            "-cl-single-precision-constant" => Some(&mut self.single_precision_constant),
            "-cl-fp32-correctly-rounded-divide-sqrt" => Some(&mut self.correctly_rounded_divide_sqrt),
            "-cl-strict-aliasing" => Some(&mut self.strict_aliasing),
            "-cl-uniform-work-group-size" => Some(&mut self.uniform_work_group_size),
            "-cl-kernel-arg-info" => Some(&mut self.kernel_arg_info),
            "-cloom-check" => Some(&mut self.check),
            _ => None,
        };
        if let Some(flag) = compile {
            *flag = true;
            return if set == OptionSet::Link { not_for_linking(word) } else { Ok(()) };
        }
        // Levels of optimisation and habits of command lines that change nothing here.
        let is_habit = matches!(word, "-O" | "-O1" | "-O2" | "-O3" | "-Os" | "-Wall" | "-Wextra");
        if is_habit || word.starts_with("-Wno-") {
            return Ok(());
        }
        let mut d = Diagnostic::error_nowhere("E0001", format!("unknown build option `{word}`"));
        if let Some(near) = crate::source::nearest(word, KNOWN.iter().copied()) {
            d = d.help(format!("did you mean `{near}`?"));
        } else if word.starts_with("-cl-nv-") {
            d = d.note("options that start with `-cl-nv-` are those of one vendor's compiler");
        }
        Err(Box::new(d))
    }
}

/// Flags, for suggestions.
const KNOWN: &[&str] = &[
    "-cl-std=CL1.2",
    "-cl-std=CL3.0",
    "-cl-std=CL3.1",
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-no-subgroup-ifp",
    "-create-library",
    "-enable-link-options",
    "-Werror",
    "-cl-opt-disable",
    "-cl-mad-enable",
    "-cl-single-precision-constant",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-kernel-arg-info",
];

fn fail(code: &'static str, message: String) -> Result<(), Box<Diagnostic>> {
    Err(Box::new(Diagnostic::error_nowhere(code, message)))
}

fn not_for_linking(word: &str) -> Result<(), Box<Diagnostic>> {
    fail("E0005", format!("build option `{word}` is not for linking"))
}

/// Splits `name=text` and `name(a, b)=text` at the first `=` outside of the parameters.
fn split_definition(arg: &str) -> Option<(&str, &str)> {
    let i = arg.find('=')?;
    Some((&arg[..i], &arg[i + 1..]))
}

/// A macro's name, with or without parameters.
fn macro_name(name: &str) -> Result<String, Box<Diagnostic>> {
    let name = name.trim();
    // Only the name is checked here: the preprocessor reads parameters and text as it reads a `#define`.
    let plain = name.split('(').next().unwrap_or(name).trim_end();
    let starts = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && plain.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') {
        return Ok(name.to_owned());
    }
    Err(Box::new(Diagnostic::error_nowhere("E0003", format!("`{name}` in the build options is not a macro's name"))))
}

/// The words of an option string; the quotation mark if one has no end.
fn split(text: &str) -> Result<Vec<String>, char> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut any = false;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            // In single quotation marks nothing is special, as in a shell.
            (Some('\''), _) => word.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                any = true;
            }
            (_, '\\') => {
                any = true;
                match chars.peek() {
                    Some(&next) if matches!(next, '"' | '\\') || (quote.is_none() && matches!(next, '\'' | ' ')) => {
                        word.push(next);
                        chars.next();
                    }
                    _ => word.push('\\'),
                }
            }
            (None, c) if c.is_whitespace() || c == '\0' => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => {
                word.push(c);
                any = true;
            }
        }
    }
    if let Some(quote) = quote {
        return Err(quote);
    }
    if any {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (BuildOptions, Vec<String>) {
        let mut diags = Diagnostics::default();
        let options = BuildOptions::parse(text, OptionSet::Build, &mut diags);
        (options, diags.iter().map(|d| format!("{}: {}", d.code, d.message)).collect())
    }

    fn define(name: &str, text: &str) -> MacroOption {
        MacroOption::Define { name: name.into(), text: text.into() }
    }

    #[test]
    fn words_as_applications_write_them() {
        let (o, errors) = parse(
            r#"-D A -DB=2 -D  C="x y" -DD=\"s\" '-DE=f(1, 2)' -DF="\"q r\"" -I "a b/c" -I"d" -Ie\ f -IC:\g\h -UX -DG= -D'H(x)=x+1'"#,
        );
        assert_eq!(errors, [""; 0]);
        assert_eq!(
            o.macros,
            [
                define("A", "1"),
                define("B", "2"),
                define("C", "x y"),
                define("D", "\"s\""),
                define("E", "f(1, 2)"),
                define("F", "\"q r\""),
                MacroOption::Undefine("X".into()),
                define("G", ""),
                define("H(x)", "x+1"),
            ]
        );
        assert_eq!(o.include_dirs, ["a b/c", "d", "e f", r"C:\g\h"]);
    }

    #[test]
    fn flags() {
        let (o, errors) = parse("-cl-std=CL1.1 -w -cl-fast-relaxed-math\t-O3 -g -cl-std=CL3.0\n-cl-kernel-arg-info");
        assert_eq!(errors, [""; 0]);
        assert_eq!(o.std, Some(ClStd::Cl3_0));
        assert!(o.no_warnings && o.fast_relaxed_math && o.debug_info && o.kernel_arg_info && !o.opt_disable);
    }

    #[test]
    fn every_version_has_its_number() {
        for (name, number) in
            [("CL1.0", 100), ("CL1.1", 110), ("CL1.2", 120), ("CL2.0", 200), ("CL3.0", 300), ("cl3.1", 310)]
        {
            let (o, errors) = parse(&format!("-cl-std={name}"));
            assert_eq!((o.std.map(ClStd::number), o.partial_groups(), errors.len()), (Some(number), number >= 200, 0));
        }
    }

    #[test]
    fn wrong_options_are_named_and_the_rest_is_kept() {
        let (o, errors) = parse("-cl-nv-verbose -cl-std=CL9 -D -DA");
        assert_eq!(
            errors,
            [
                "E0001: unknown build option `-cl-nv-verbose`",
                "E0003: `-cl-std=CL9` names no version",
                "E0003: `-DA` in the build options is not a macro's name"
            ]
        );
        assert_eq!(o.macros, []);
        assert_eq!(parse("-I").1, ["E0002: build option `-I` lacks its argument, a folder"]);
        assert_eq!(parse("-D 1=2").1.len(), 1);
        assert_eq!(parse("-D 'x").1.len(), 1);
        for set in [OptionSet::Build, OptionSet::Compile, OptionSet::Link] {
            let mut diags = Diagnostics::default();
            let options = BuildOptions::parse("-create-library -enable-link-options", set, &mut diags);
            assert_eq!(diags.error_count(), if set == OptionSet::Link { 0 } else { 2 }, "{set:?}");
            assert_eq!(options.create_library, set == OptionSet::Link);
        }
        let mut diags = Diagnostics::default();
        BuildOptions::parse("-enable-link-options", OptionSet::Link, &mut diags);
        assert_eq!(diags.error_count(), 1);
        let mut diags = Diagnostics::default();
        BuildOptions::parse("-D A -cl-mad-enable -create-library", OptionSet::Link, &mut diags);
        assert_eq!(diags.error_count(), 2);
    }
}
