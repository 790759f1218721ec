//! `agree`: Cloom is found beside the platforms of the machine, and what it prints adds up, however many there are.

mod common;

use common::Bench;

#[test]
fn every_device_of_the_machine_is_compared_and_cloom_is_one() {
    let b = Bench::new();
    let json = b.cloom("agree -k transpose -s 33x17 -i 1 --json").expect(0).json();
    assert_eq!(json["schema"], "cloom-agree/1");
    let devices = json["devices"].as_array().unwrap();
    assert!(devices.iter().any(|d| d.as_str().unwrap().starts_with("Cloom")), "{devices:?}");
    let programs = json["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 9, "the variants of transpose");
    for program in programs {
        let pairs = program["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), devices.len() * (devices.len() - 1) / 2);
        assert!(pairs.iter().all(|p| p["agree"] == true && p["how"] == "bit for bit"), "{pairs:?}");
        let runs = program["runs"].as_array().unwrap();
        assert!(runs.len() == devices.len() && runs.iter().all(|r| r["passed"] == true), "{runs:?}");
    }
    assert_eq!(json["complaints"], serde_json::json!([]));
}

#[test]
fn a_folder_of_vendors_without_cloom_is_completed_and_left_as_it_is() {
    let b = Bench::new();
    let vendors = b.path("vendors");
    std::fs::create_dir(&vendors).unwrap();
    b.file("vendors/nothing.icd", "/nowhere/libnothing.so\n");
    let b = b.set("OCL_ICD_VENDORS", &vendors).set("TMPDIR", &vendors);
    let out = b.cloom("agree -k lu -v team -s 20x1").expect(0).out;
    assert!(out.contains("on Cloom") && out.contains("one device alone"), "{out}");
    assert!(out.contains("1 results verified, 0 pairs of results agree"), "{out}");
    let left: Vec<_> = std::fs::read_dir(&vendors).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["nothing.icd"], "the folder that was made for the loader is gone");
}

#[test]
fn wrong_words_are_told() {
    let b = Bench::new();
    for line in [
        "agree -k nothing",
        "agree -k lu -v nothing",
        "agree -v team",
        "agree -s 0",
        "agree -i 0",
        "agree -c banks=3",
        "agree -k lu nothing",
        "agree -k copy -c banks=3",
    ] {
        let ran = b.cloom(line).expect(2);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{line}: {ran:?}");
    }
}
