//! Every `semantics/*.cl` is compiled; its diagnostics must equal the file `.expected` of the same name. With `BLESS=1`
//! in the environment the expectations are rewritten. A first line `// options: …` gives build options.

use cloom_clc::options::{BuildOptions, ClStd, OptionSet};
use cloom_clc::pp::NoIncludes;
use cloom_clc::source::Diagnostics;
use cloom_clc::{Input, Mode, Target, compile};
use std::path::Path;

#[test]
fn diagnostics_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics");
    let bless = std::env::var_os("BLESS").is_some();
    let target = Target::default();
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "cl") {
            continue;
        }
        count += 1;
        let source = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let std = ["atomics", "blocks", "enqueue", "generic", "pipes", "variables"]
            .iter()
            .any(|n| name.starts_with(n))
            .then_some(ClStd::Cl3_0);
        let text = String::from_utf8_lossy(&source).into_owned();
        let line = text.lines().next().and_then(|l| l.strip_prefix("// options: ")).unwrap_or("");
        let parsed = BuildOptions::parse(line, OptionSet::Build, &mut Diagnostics::default());
        let options = BuildOptions { std: parsed.std.or(std), ..parsed };
        let input = Input { name, source: &source, headers: &mut NoIncludes, options: &options, target: &target };
        let output = compile(input, Mode::User);
        assert_eq!(output.module.is_none(), output.diagnostics.has_errors(), "{name}");
        let got = output.log();
        let expected = path.with_extension("expected");
        if bless {
            std::fs::write(&expected, &got).unwrap();
        } else if got != std::fs::read_to_string(&expected).unwrap_or_default() {
            wrong.push(format!("{name}:\n{got}"));
        }
    }
    assert!(count > 5, "the tests are not where they were");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
