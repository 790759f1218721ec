//! The documents: their Markdown is well-formed, their links and anchors lead somewhere, their commands are ones that
//! the program takes, and do what is said without an error, and the table of environment variables is that of the
//! program.

mod common;

use common::Bench;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The longest line outside of tables and code.
const WIDEST: usize = 140;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    for folder in [root.clone(), root.join("docs"), root.join("docs/internals")] {
        let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
        found.extend(files.filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    found.sort();
    found
}

/// The anchor that a heading gets where the documents are read.
fn anchor(heading: &str) -> String {
    let heading = heading.to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

struct Document {
    anchors: BTreeSet<String>,
    links: Vec<String>,
    /// Code that is shown as typed into a shell.
    consoles: Vec<String>,
    wrong: Vec<String>,
}

fn read(path: &Path) -> Document {
    let text = std::fs::read_to_string(path).unwrap();
    let mut document =
        Document { anchors: BTreeSet::new(), links: Vec::new(), consoles: Vec::new(), wrong: Vec::new() };
    let line_of = |at: usize| text[..at].matches('\n').count();
    let mut exempt = vec![false; text.lines().count() + 1];
    let (mut heading, mut console): (Option<String>, Option<String>) = (None, None);
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                document.anchors.insert(anchor(&heading.take().unwrap_or_default()));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                exempt[line_of(range.start)..=line_of(range.end - 1)].fill(true);
                let block = text[range.clone()].trim_end();
                if block.lines().count() < 2 || !block.lines().last().unwrap().trim().starts_with("```") {
                    document.wrong.push(format!("line {}: a fence that is not closed", line_of(range.start) + 1));
                }
                console = (&*language == "console").then(String::new);
            }
            Event::End(TagEnd::CodeBlock) => document.consoles.extend(console.take()),
            Event::Start(Tag::Table(columns)) => {
                exempt[line_of(range.start)..=line_of(range.end - 1)].fill(true);
                for (i, row) in text[range.clone()].lines().enumerate() {
                    let row = row.trim().replace("\\|", "");
                    let cells = row.trim_start_matches('|').trim_end_matches('|').split('|').count();
                    let cells = if row.chars().all(|c| matches!(c, '|' | ' ')) { columns.len() } else { cells };
                    if cells != columns.len() {
                        let line = line_of(range.start) + i + 1;
                        document.wrong.push(format!("line {line}: {cells} cells in a table of {}", columns.len()));
                    }
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                document.links.push(dest_url.to_string());
            }
            Event::Text(t) | Event::Code(t) => {
                heading.iter_mut().chain(console.iter_mut()).for_each(|into| into.push_str(&t));
            }
            _ => {}
        }
    }
    for (i, line) in text.lines().enumerate() {
        if line.chars().count() > WIDEST && !exempt[i] {
            document.wrong.push(format!("line {}: longer than {WIDEST} characters", i + 1));
        }
        if !exempt[i] && line.trim_start().starts_with('|') {
            document.wrong.push(format!("line {}: a row of no table", i + 1));
        }
    }
    document
}

#[test]
fn fences_tables_links_and_lines_are_well_formed() {
    let all: HashMap<PathBuf, Document> = documents().into_iter().map(|p| (p.clone(), read(&p))).collect();
    assert!(all.len() > 20);
    let mut wrong = Vec::new();
    for path in documents() {
        let document = &all[&path];
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        wrong.extend(document.wrong.iter().map(|w| format!("{shown} {w}")));
        for link in document.links.iter().filter(|l| !l.contains("://") && !l.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(f, a)| (f, Some(a)));
            let target =
                if file.is_empty() { Some(path.clone()) } else { path.with_file_name(file).canonicalize().ok() };
            let Some(target) = target else {
                wrong.push(format!("{shown}: {link} leads nowhere"));
                continue;
            };
            let known = |a: &str| all.get(&target).is_none_or(|d| d.anchors.contains(a));
            if anchor.is_some_and(|a| !known(a)) {
                wrong.push(format!("{shown}: {link} has no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of a command line, as a shell splits them, up to a comment or another command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(q)) if c == q => quote = None,
            (' ', None) => words.extend(word.take()),
            ('#' | '|' | '&' | ';' | '>' | '<', None) if word.is_none() => break,
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The words after `cloom` of each command in the fences.
fn commands() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for path in documents() {
        for line in read(&path).consoles.iter().flat_map(|c| c.lines()) {
            let Some(line) = line.strip_prefix("$ ") else { continue };
            // Behind a pipe, and behind variables that are set for the command.
            for part in line.split(" | ") {
                let words = words(part);
                let is_setting = |w: &String| {
                    w.split_once('=').is_some_and(|(n, _)| n.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
                };
                let mut words = words.into_iter().skip_while(is_setting);
                if words.next().is_some_and(|w| w == "cloom") {
                    let shown = path.strip_prefix(root()).unwrap().display().to_string();
                    found.push((format!("{shown}: {line}"), words.collect()));
                }
            }
        }
    }
    found
}

#[test]
fn every_command_is_one_that_the_program_takes() {
    let b = Bench::new();
    let all = commands();
    assert!(all.len() > 100, "{}", all.len());
    let mut wrong = Vec::new();
    for (shown, mut words) in all {
        // With `--help`, everything before it is read, and nothing runs.
        let end = words.iter().position(|w| w == "--").unwrap_or(words.len());
        words.insert(end, "--help".into());
        let ran = b.words(&words);
        if ran.status != 0 {
            wrong.push(format!("{shown}\n    {}", ran.err.lines().next().unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files that commands of the documents name.
const FILES: &[(&str, &str)] = &[
    ("a.cl", "int twice(int x); kernel void a(global int *p) { p[get_global_id(0)] = twice(3); }"),
    ("b.cl", "kernel void b(global int *p) { p[get_global_id(0)] = 4; }"),
    ("util.cl", "int twice(int x) { return 2 * x; }"),
    ("both/a.cl", "kernel void a(global int *p) { p[get_global_id(0)] = 3; }"),
    ("both/b.cl", "kernel void b(global int *p) { p[get_global_id(0)] = 4; }"),
    ("kernel.cl", BLUR),
    ("kernels.cl", BLUR),
    ("blur.cl", BLUR),
    (
        "sums.cl",
        "kernel void sums(global const int *in, global int *out) {
            local int t[16];
            int l = get_local_id(0), sum = 0;
            for (int r = 0; r < 2; r++) {
                t[l] = in[32 * get_group_id(0) + 16 * r + l];
                barrier(CLK_LOCAL_MEM_FENCE);
                sum += t[15 - l];
            }
            out[get_global_id(0)] = sum;
        }",
    ),
    (
        "saxpy.cl",
        "kernel void saxpy(global float *y, global const float *x, float a) {
            size_t i = get_global_id(0);
            y[i] = a * x[i] + y[i];
        }",
    ),
];

const BLUR: &str = "#ifndef RADIUS
#define RADIUS 1
#endif
kernel void blur(global float *out, global const float *in) {
    int i = get_global_id(0), n = get_global_size(0);
    float sum = 0;
    for (int d = -RADIUS; d <= RADIUS; ++d) sum += in[clamp(i + d, 0, n - 1)];
    out[i] = sum;
}
";

/// Commands that are not run here, and why.
fn why_not(words: &[String]) -> Option<&'static str> {
    let has = |word: &str| words.iter().any(|w| w.contains(word));
    match words.first().map(String::as_str) {
        Some("bench") if !has(".cl") && !has("--list") => Some("minutes to hours; tests/bench.rs runs small ones"),
        Some("agree") if words.len() == 1 => Some("the whole gallery; tests/agreement.rs has the parts"),
        _ if has("pocl") || has("intel") => Some("other platforms, which not every machine has"),
        _ if has("sm_90") || words.windows(2).any(|w| w == ["--device", "1"]) => Some("a GPU"),
        Some("check") if words.iter().any(|w| w == "--") => Some("a program of the reader's"),
        _ if has(".mp4") => Some("the program ffmpeg, and a film of the reader's"),
        _ => None,
    }
}

/// The same with small sizes and few iterations.
fn small(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    for i in 1..words.len() {
        let most = match words[i - 1].as_str() {
            "-s" => 256,
            "-i" => 3,
            _ => continue,
        };
        let sides =
            words[i].split('x').map(|n| n.parse::<u32>().map_or_else(|_| n.to_owned(), |n| n.min(most).to_string()));
        words[i] = sides.collect::<Vec<_>>().join("x");
    }
    words
}

#[test]
fn commands_run() {
    let b = Bench::new();
    std::fs::create_dir(b.path("both")).unwrap();
    std::fs::create_dir(b.path("include")).unwrap();
    FILES.iter().for_each(|(name, text)| b.file(name, text));
    // Pictures that the reader is to bring.
    for name in ["first.png", "second.png", "picture.png"] {
        b.words(&["run", "-k", "mandel", "-s", "64", "-i", "1", "--output", name].map(String::from)).expect(0);
    }
    let mut seen = BTreeSet::new();
    let (mut ran, mut wrong) = (0, Vec::new());
    for (shown, mut words) in commands() {
        if why_not(&words).is_some() || !seen.insert(words.clone()) {
            continue;
        }
        words = small(&words);
        // Two sources that are compiled apart and linked have all that they call.
        if words.iter().any(|w| w == "both.clbin") {
            words.iter_mut().filter(|w| w.ends_with(".cl")).for_each(|w| w.insert_str(0, "both/"));
        }
        let input = if words.iter().any(|w| w == "-") { BLUR } else { "" };
        let outcome = b.with_input(&words, input);
        // `doctor` says whether this machine has a problem, and `check` finds some in the kernels of the documents.
        let is_right = outcome.status == 0 || (["doctor", "check"].contains(&&*words[0]) && outcome.status == 1);
        if !is_right {
            let error = outcome.err.lines().chain(outcome.out.lines()).next().unwrap_or_default();
            wrong.push(format!("{shown}\n    status {}: {error}", outcome.status));
        }
        ran += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 70, "{ran}");
}

#[test]
fn the_environment_is_the_programs() {
    let page = std::fs::read_to_string(root().join("docs/environment.md")).unwrap();
    let json = Bench::new().cloom("doctor --json").json();
    let rows = json["environment"].as_array().unwrap();
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    for row in rows {
        let (name, meaning) = (text(row, "name"), text(row, "meaning"));
        let line = match meaning.strip_suffix(')').and_then(|m| m.rsplit_once(" (default: ")) {
            Some((meaning, default)) => format!("| `{name}` | {meaning} | {default} |"),
            None => format!("| `{name}` | "),
        };
        assert!(page.contains(&line), "docs/environment.md has no line\n{line}");
    }
    for name in
        page.split('`').filter(|w| w.starts_with("CLOOM_") && w.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    {
        assert!(name == "CLOOM_" || rows.iter().any(|r| r["name"] == name), "{name} is no variable of the program");
    }
}
