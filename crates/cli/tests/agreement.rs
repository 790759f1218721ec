//! `agree`: Cloom is found beside the platforms of the machine, and what it prints adds up, however many there are.

mod common;

use common::Bench;

#[test]
fn every_device_of_the_machine_is_compared_and_cloom_is_one() {
    let b = Bench::new();
    let json = b.cloom("agree -k transpose -s 33x17 -i 1 --json").expect(0).json();
    assert_eq!(json["schema"], "cloom-agree/2");
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
    assert!(out.contains("1 result verified, 0 pairs of results agree"), "{out}");
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
        "agree --arg 4",
        "agree kernels.cl -k saxpy --arg 4",
        "agree kernels.cl -v team",
        "agree -k lu --timeout 0",
        "agree -k copy -c banks=3",
    ] {
        let ran = b.cloom(line).expect(2);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{line}: {ran:?}");
    }
}

#[test]
fn kernels_of_a_file_are_compared_and_a_crash_is_a_finding_of_its_platform() {
    let b = Bench::new();
    let saxpy = "agree kernels.cl -k saxpy --arg y=64:index --arg x=64:random --arg a=2";
    let json = b.cloom(&format!("{saxpy} --json")).expect(0).json();
    let devices = json["devices"].as_array().unwrap().len();
    assert_eq!(json["programs"][0]["program"], "saxpy");
    assert_eq!(json["programs"][0]["pairs"].as_array().unwrap().len(), devices * (devices - 1) / 2);
    assert!(b.cloom(saxpy).expect(0).out.contains("saxpy"));
    b.file("f.cl", "kernel void far(global int *p, ulong n) { p[get_global_id(0) + n] = 1; }");
    let ran = b.cloom("agree f.cl --arg 8 --arg 0x400000000000").expect(1);
    assert!(ran.out.contains("WRONG: far: Cloom") && ran.out.contains("crashes (segmentation fault"), "{ran:?}");
    // The rest of the answer is there nevertheless.
    assert!(ran.out.lines().last().unwrap().contains("about 0 results"), "{ran:?}");
}

#[test]
fn a_kernel_that_does_not_end_is_ended() {
    let b = Bench::new();
    b.file("e.cl", "kernel void endless(volatile global int *p) { while (p[0] == 0) p[1] += 1; }");
    let ran = b.cloom("agree e.cl --arg 2 --global 1 --timeout 1").expect(1);
    assert!(ran.out.contains("no result after 1 s"), "{ran:?}");
}
