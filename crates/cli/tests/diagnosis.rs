//! `info` and `doctor`: their findings about a registered driver, a missing one, and a file that is no driver.

mod common;

use common::Bench;
use serde_json::Value;

/// A folder of .icd files with this text in one of them.
fn with_icd(text: &str) -> Bench {
    let b = Bench::new();
    std::fs::create_dir(b.path("vendors")).unwrap();
    b.file("vendors/one.icd", text);
    let folder = b.path("vendors");
    b.set("OCL_ICD_VENDORS", folder)
}

/// The path of Cloom's driver, as `doctor` reports it.
fn own_driver() -> String {
    let json = with_icd("/nowhere.so\n").cloom("doctor --json").json();
    let what = json["findings"].as_array().unwrap().iter().map(|f| f["what"].as_str().unwrap().to_owned());
    let line = what.into_iter().find(|w| w.contains("is not registered")).expect("the driver is built with the tests");
    line.split(" is not registered").next().unwrap().to_owned()
}

fn findings<'a>(json: &'a Value, area: &str, status: &str) -> Vec<&'a Value> {
    let all = json["findings"].as_array().unwrap();
    all.iter().filter(|f| f["area"] == area && f["status"] == status).collect()
}

#[test]
fn a_registered_driver_is_fine_and_listed() {
    let b = with_icd(&own_driver());
    let ran = b.cloom("doctor --json").expect(0);
    let json = ran.json();
    assert_eq!((&json["schema"], &json["problems"]), (&"cloom-doctor/1".into(), &0.into()));
    assert!(
        findings(&json, "drivers", "ok").iter().any(|f| f["what"].as_str().unwrap().contains("computes")),
        "{json:#}"
    );
    assert!(json["environment"].as_array().unwrap().iter().any(|r| r["name"] == "CLOOM_CPU"));
    let info = b.cloom("info --json").expect(0).json();
    assert_eq!(info["schema"], "cloom-info/1");
    assert_eq!(info["devices"][0]["platform"], "Cloom");
    assert!(info["devices"][0]["extensions"].as_array().unwrap().contains(&"cl_khr_fp64".into()));
    let text = b.cloom("info -e").expect(0).out;
    assert!(text.starts_with("platform 0: Cloom") && text.contains("cl_khr_fp64"), "{text}");
    assert!(b.cloom("info --platform nothing").expect(2).err.contains("cloom info"));
}

#[test]
fn each_broken_driver_has_its_reason_and_advice() {
    for (text, reason, advice) in [
        ("/nowhere/libx.so\n", "no such file", "delete"),
        ("libnowhere.so.7\n", "cannot open shared object file", "full path"),
        ("\n", "first line", "path"),
        ("/etc/passwd\n", "cannot be loaded", "install"),
        ("libm.so.6\n", "offers no device", ""),
    ] {
        let b = with_icd(text);
        let ran = b.cloom("doctor --json").expect(1);
        let json = ran.json();
        let all = json["findings"].as_array().unwrap();
        let found = all.iter().find(|f| f["area"] == "drivers" && f["what"].as_str().unwrap().contains(reason));
        let found = found.unwrap_or_else(|| panic!("{text}: {json:#}"));
        assert!(found["advice"].as_str().unwrap().contains(advice), "{text}: {found}");
        // That Cloom is not registered is the other problem.
        assert!(ran.out.contains("is not registered"));
    }
}

#[test]
fn what_a_loader_would_take_into_the_path_is_a_problem() {
    let driver = own_driver();
    for (text, reason) in [(format!("{driver}\r\n"), "CR LF"), (format!("{driver} \n"), "blanks")] {
        let b = with_icd(&text);
        // It is: programs do not find the driver.
        let info = b.cloom("info");
        assert!(info.status == 2 && !info.out.contains("Cloom"), "{info:?}");
        let json = b.cloom("doctor --json").expect(1).json();
        let problems = findings(&json, "drivers", "problem");
        let found = problems.iter().find(|f| f["what"].as_str().unwrap().contains(reason));
        let found = found.unwrap_or_else(|| panic!("{text:?}: {json:#}"));
        let advice = found["advice"].as_str().unwrap();
        assert!(advice.contains(&format!("printf '%s\\n' '{driver}'")), "{advice}");
    }
}

/// The loader of this machine without the variables that name the folder of .icd files.
fn stubborn_loader(b: &Bench) -> std::path::PathBuf {
    let json = b.cloom("doctor --json").json();
    let what = findings(&json, "loader", "ok")[0]["what"].as_str().unwrap();
    let mut bytes = std::fs::read(what.split(" is ").next().unwrap()).unwrap();
    for name in [b"OCL_ICD_VENDORS\0".as_slice(), b"OPENCL_VENDOR_PATH\0"] {
        for at in 0..bytes.len() - name.len() {
            if bytes[at..].starts_with(name) {
                bytes[at] = b'X';
            }
        }
    }
    let path = b.path("libOpenCL-stubborn.so.1");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_loader_that_reads_no_folder_variable_is_told_and_slanders_no_driver() {
    let b = with_icd(&own_driver());
    let loader = stubborn_loader(&b);
    let b = b.set("OPENCL_DYLIB_PATH", loader);
    let json = b.cloom("doctor --json").json();
    let warnings = findings(&json, "loader", "warning");
    let set = warnings.iter().find(|f| f["what"].as_str().unwrap().starts_with("OCL_ICD_VENDORS is set"));
    assert!(set.is_some_and(|f| f["advice"].as_str().unwrap().contains("/etc/OpenCL/vendors")), "{json:#}");
    let all = json["findings"].as_array().unwrap();
    assert!(!all.iter().any(|f| f["what"].as_str().unwrap().contains("loads and offers no device")), "{json:#}");
    // Cloom's own is tested without that loader.
    let ok = findings(&json, "drivers", "ok");
    assert!(ok.iter().any(|f| f["what"].as_str().unwrap().ends_with("computes")), "{json:#}");
}

#[test]
fn the_driver_may_stand_in_the_loaders_place() {
    let b = Bench::new();
    std::fs::create_dir(b.path("lib")).unwrap();
    std::os::unix::fs::symlink(own_driver(), b.path("lib/libOpenCL.so.1")).unwrap();
    let folder = b.path("lib");
    let b = b.set("LD_LIBRARY_PATH", folder);
    assert_eq!(b.cloom("info --json").expect(0).json()["devices"][0]["platform"], "Cloom");
    let json = b.cloom("doctor --json").json();
    assert!(findings(&json, "loader", "warning")[0]["what"].as_str().unwrap().contains("driver itself"), "{json:#}");
    b.cloom("run -k sample -s 32 -i 1 -n").expect(0);
}

#[test]
fn wrong_settings_are_named() {
    let b = with_icd(&own_driver()).set("CLOOM_CPU", "pentium").set("CLOOM_TREADS", "2").set("CLOOM_THREADS", "none");
    let json = b.cloom("doctor --json").expect(0).json();
    let warnings = findings(&json, "settings", "warning");
    let said = |word: &str| warnings.iter().any(|f| f["what"].as_str().unwrap().contains(word));
    assert!(said("CLOOM_CPU=pentium") && said("CLOOM_TREADS") && said("CLOOM_THREADS=none"), "{warnings:?}");
    let text = b.cloom("doctor").expect(0).out;
    assert!(text.contains("3 warnings") && text.contains("→ set it to one of sse4.2"), "{text}");
}

#[test]
fn a_driver_without_a_device_is_a_problem_and_values_that_mean_nothing_are_named() {
    let b = with_icd(&own_driver()).set("CLOOM_DEVICES", "gpu").set("LD_LIBRARY_PATH", "/nowhere");
    let out = b.cloom("doctor").out;
    if out.contains("the library of NVIDIA's driver does not load") {
        let ran = b.cloom("doctor").expect(1);
        assert!(ran.out.contains("no program finds a device") && ran.out.contains("CLOOM_DEVICES=gpu"), "{ran:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let b = with_icd(&own_driver()).set("CLOOM_LANES", "abc").set("CLOOM_LOG", "maybe");
    let b = b.set("CLOOM_CACHE_DIR", folder.path().join("kernels"));
    let text = b.cloom("doctor").expect(0).out;
    assert!(text.contains("CLOOM_LANES=abc") && text.contains("CLOOM_LOG=maybe means nothing"), "{text}");
    assert!(!folder.path().join("kernels").exists(), "doctor makes no folder");
}

#[test]
fn a_broken_driver_is_told_once() {
    let b = with_icd("/nowhere/libx.so\n");
    b.file("vendors/two.icd", "/nowhere/libx.so\n");
    let out = b.cloom("doctor").expect(1).out;
    assert_eq!(out.matches("cannot be loaded").count(), 1, "{out}");
}

#[test]
fn no_platform_is_wrong_environment_with_advice() {
    let b = Bench::new();
    std::fs::create_dir(b.path("empty")).unwrap();
    let folder = b.path("empty");
    let b = b.set("OCL_ICD_VENDORS", folder);
    let ran = b.cloom("info").expect(2);
    assert!(ran.err.contains("cloom doctor"), "{ran:?}");
    let json = b.cloom("info --json").expect(2).json();
    assert_eq!(json["schema"], "cloom-error/1");
    assert!(b.cloom("doctor").expect(1).out.contains("there is no .icd file"));
}

#[test]
fn help_and_version_are_there() {
    let b = Bench::new();
    assert!(b.cloom("--version").expect(0).out.starts_with("cloom 0."));
    for command in ["run", "show", "compile", "info", "doctor"] {
        assert!(b.cloom("--help").expect(0).out.contains(command));
        assert!(b.cloom(&format!("{command} --help")).expect(0).out.contains("--json"));
    }
    b.cloom("").expect(2);
}
