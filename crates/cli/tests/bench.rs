//! `bench` on Cloom's own driver alone: small sizes, every form of the answer.

mod common;

use common::Bench;

const QUICK: &str = "--platform cloom --runs 2 --warmups 0";

#[test]
fn results_are_confirmed_and_native_rust_stands_beside_them() {
    let b = Bench::new();
    let json = b.cloom(&format!("bench -k reduce,mandel -v contiguous,ocl -s 32 {QUICK} --json")).expect(0).json();
    assert_eq!((&json["schema"], &json["runs"]), (&"cloom-bench/1".into(), &2.into()));
    let names: Vec<&str> =
        json["participants"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Cloom", "Rust-1", "Rust"]);
    assert!(json["participants"][0]["about"].as_str().unwrap().contains("libcloom.so"), "which driver it was");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "one of reduce and three shapes of mandel");
    for row in rows {
        for entry in row["points"][0]["entries"].as_array().unwrap() {
            assert_eq!(entry["state"], "verified", "{entry}");
            assert!(entry["time"]["median_ms"].as_f64().unwrap() > 0.0 && entry["time"]["runs"] == 2, "{entry}");
        }
        let entries = &row["points"][0]["entries"];
        assert_eq!((&entries[0]["clock"], &entries[1]["clock"]), (&"device".into(), &"host".into()));
        assert!(entries[0]["ratio"].is_null() && entries[2]["ratio"].as_f64().unwrap() > 0.0);
        assert!(entries[0]["reached"].as_f64().unwrap() > 0.0);
        let bound = &row["points"][0]["bound"];
        if cfg!(target_arch = "x86_64") {
            let floors = bound["floors"].as_object().unwrap();
            let largest = floors.values().map(|ms| ms.as_f64().unwrap()).fold(0.0, f64::max);
            assert!(bound["floor_ms"] == largest && largest > 0.0, "{bound}");
            assert!(floors.contains_key("issue") && floors.contains_key("scalar"), "{bound}");
            assert!(bound["what"] == bound["resource"] || bound["what"] == "latency", "{bound}");
        }
    }
    if cfg!(target_arch = "x86_64") {
        for class in ["load", "store", "scalar", "fma", "divide", "issue", "vector"] {
            let is_class = |name: &String| name.trim_end_matches(|c: char| c.is_ascii_digit()) == class;
            let rates = json["ports"]["all"].as_object().unwrap();
            assert!(
                rates.iter().any(|(name, rate)| is_class(name) && rate.as_f64().unwrap() > 1e6),
                "{class}: {rates:?}"
            );
        }
    }
    assert!(json["machine"]["flops"].as_f64().unwrap() > 1e6);
    assert_eq!(json["summary"].as_array().unwrap().len(), 2);
    assert_eq!(json["complaints"], serde_json::json!([]));
}

#[test]
fn launches_and_builds_are_measured_and_make_a_table() {
    let b = Bench::new();
    let ran =
        b.cloom(&format!("bench -k launch,build --row queued,launch,peak {QUICK} --no-limits --no-native")).expect(0);
    let clocks = [("empty queued", "s* ±"), ("count queued", "s* ±"), ("one launch", "s* ±"), ("mad peak", "s† ")];
    for (row, clock) in clocks {
        let line = ran.out.lines().find(|l| l.contains(row)).unwrap_or_else(|| panic!("{row}: {}", ran.out));
        assert!(line.contains(clock), "the host's clock, or the processors': {line}");
    }
    assert!(ran.out.contains("processor time of 1 kernels of the gallery: Cloom "), "{}", ran.out);
    assert!(ran.err.contains("[1/5] launch empty queued"), "{}", ran.err);
}

#[test]
fn the_self_check_runs_every_width_and_tells_a_slow_row_by_its_status() {
    let b = Bench::new();
    let ran = b.cloom("bench -k idioms -v gather,reduction --row size_t --self-check -s 64 --runs 2 --json");
    let json = ran.json();
    assert_eq!(json["schema"], "cloom-self-check/1");
    assert_eq!(json["complaints"], serde_json::json!([]));
    let rows = json["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|r| r["row"].as_str().unwrap()).collect();
    assert_eq!(names, ["gather size_t", "reduction size_t", "reduction pairs size_t", "reduction grid_stride size_t"]);
    for row in rows {
        let entries = row["entries"].as_array().unwrap();
        let lanes: Vec<&str> = entries.iter().map(|e| e["lanes"].as_str().unwrap()).collect();
        assert_eq!(lanes, ["default", "1", "4", "8"]);
        assert!(entries.iter().all(|e| e["state"] == "verified" && e["time"]["runs"] == 2), "{row}");
        assert_eq!(row["slow"], row["ratio"].as_f64().unwrap() < 0.9);
    }
    // What is slow at this size is up to the machine; the status says what the rows say.
    assert_eq!(ran.status, i32::from(rows.iter().any(|r| r["slow"] == true)), "{}", ran.err);
    assert!(b.cloom("bench -k launch --self-check").expect(2).err.contains("--list"));
}

#[test]
fn values_and_the_page_have_every_row() {
    let b = Bench::new();
    let line = format!("bench -k mad -v ocl -s 16 {QUICK} --no-limits --no-native --csv --html page.html");
    let ran = b.cloom(&line).expect(0);
    assert_eq!(ran.out.lines().filter(|l| l.starts_with("mad,ocl k=")).count(), 7, "{}", ran.out);
    let page = std::fs::read_to_string(b.path("page.html")).unwrap();
    assert!(page.contains("<svg id=\"plot mad\"") && page.contains("ocl k=96"));
    b.cloom(&format!("bench -k copy -s 8 {QUICK} --no-limits --no-native --html none/page.html")).expect(2);
}

#[test]
fn the_kernel_of_a_file_is_a_row_and_the_head_says_when_and_where() {
    let b = Bench::new();
    let saxpy = format!("bench kernels.cl -k saxpy --arg y=4096 --arg x=4096:random --arg a=2 {QUICK}");
    let ran = b.cloom(&saxpy).expect(0);
    assert!(ran.out.lines().any(|l| l.starts_with("kernel     saxpy")), "{ran:?}");
    let head = ran.out.lines().next().unwrap();
    assert!(head.contains(" UTC on ") && head.contains("cloom 0."), "{head}");
    let json = b.cloom(&format!("{saxpy} --json")).expect(0).json();
    assert!(json["circumstances"]["processors"].as_u64().unwrap() > 0);
    assert!(json["rows"][0]["points"][0]["entries"][0]["noisy"].is_boolean(), "{json}");
    b.file("f.cl", "kernel void far(global int *p, ulong n) { p[get_global_id(0) + n] = 1; }");
    let ran = b.cloom(&format!("bench f.cl --arg 8 --arg 0x400000000000 {QUICK}")).expect(1);
    assert!(ran.err.contains("crashes (segmentation fault") && ran.err.contains("measuring kernel far"), "{ran:?}");
    assert!(ran.out.contains("Medians of 2 runs"), "the table is written: {ran:?}");
    b.cloom("bench --arg 4").expect(2);
}

#[test]
fn wrong_use_is_told_before_anything_is_measured() {
    let b = Bench::new();
    assert!(b.cloom("bench -k nothing").expect(2).err.contains("histogram"), "the answer lists what there is");
    assert!(b.cloom("bench -k copy --row nothing").expect(2).err.contains("--list"));
    assert!(b.cloom("bench -k copy -s 8 --platform nothing").expect(2).err.contains("Cloom"));
    b.cloom("bench --runs 0").expect(2);
    let list = b.cloom("bench --list").expect(0).out;
    assert!(list.contains("launch") && list.contains("build") && list.contains("2048x2048"), "{list}");
}
