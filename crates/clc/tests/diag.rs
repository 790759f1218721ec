//! Every `diag/*.cl` is preprocessed and parsed; its diagnostics must equal the file `.expected` of the same name. With
//! `BLESS=1` in the environment the expectations are rewritten. A first line `// options: …` gives build options;
//! `#include "x"` finds `diag/x`.

use std::path::{Path, PathBuf};

use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::pp::{self, IncludeRequest, IncludeResolver, IncludedFile, PpOptions};
use cloom_clc::source::Session;
use cloom_clc::syntax::{self, ParseOptions};

struct Folder(PathBuf);

impl IncludeResolver for Folder {
    fn resolve(&mut self, request: IncludeRequest<'_>) -> Option<IncludedFile> {
        let bytes = std::fs::read(self.0.join(request.name)).ok()?;
        Some(IncludedFile { name: request.name.to_owned(), bytes })
    }
}

fn diagnose(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut session = Session::default();
    let file = session.sources.add(name, &bytes, None).unwrap();
    let text = session.sources.file(file).text.clone();
    let line = text.lines().next().and_then(|l| l.strip_prefix("// options: ")).unwrap_or("");
    let options = BuildOptions::parse(line, OptionSet::Build, &mut session.diags);
    session.diags.silence_warnings(options.no_warnings);
    session.diags.warnings_are_errors(options.warnings_are_errors);
    let c_version = options.std.map_or(120, cloom_clc::options::ClStd::number);
    let pp_options = PpOptions { macros: options.macros, c_version, ..PpOptions::default() };
    let mut resolver = Folder(path.parent().unwrap().to_owned());
    let program = pp::preprocess(&mut session, file, &pp_options, &mut resolver);
    syntax::parse(&mut session, &program, ParseOptions { c_version, ..ParseOptions::default() });
    cloom_clc::render(&session.sources, &session.diags)
}

#[test]
fn diagnostics_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diag");
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "cl") {
            continue;
        }
        count += 1;
        let got = diagnose(&path);
        let expected_path = path.with_extension("expected");
        if bless {
            std::fs::write(&expected_path, &got).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if got != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- got\n{got}", path.display()));
        }
    }
    assert!(count > 0, "no cases in {}", folder.display());
    assert!(wrong.is_empty(), "run with BLESS=1 if this is meant:\n{}", wrong.join("\n"));
}
