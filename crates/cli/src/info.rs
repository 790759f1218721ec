//! `info`: lists the platforms and devices that programs on this machine see.

use crate::outcome::{Answer, Exit, Failure};
use crate::stats::bytes;
use crate::{driver, probe};
use cloom_gallery::{Choice, Found, cl};
use serde::Serialize;
use std::fmt::Write;

/// Options of `info`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Only platforms with this number, or with this in their name, vendor or version; also pocl, rocm, oneapi
    #[arg(long, value_name = "NAME|NUMBER")]
    platform: Option<String>,
    /// Only devices with this number, or with this in their name
    #[arg(long, value_name = "NAME|NUMBER")]
    device: Option<String>,
    /// The extensions too, one a line
    #[arg(short, long)]
    extensions: bool,
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// A device, as JSON.
#[derive(Serialize, Debug)]
pub struct DeviceInfo {
    platform_index: usize,
    platform: String,
    platform_version: String,
    device_index: usize,
    device: String,
    kind: &'static str,
    version: String,
    c_version: String,
    driver_version: String,
    compute_units: u32,
    max_work_group_size: usize,
    global_memory: u64,
    local_memory: u64,
    max_buffer: u64,
    extensions: Vec<String>,
}

impl From<&Found> for DeviceInfo {
    fn from(f: &Found) -> Self {
        Self {
            platform_index: f.platform_index,
            platform: f.platform.clone(),
            platform_version: f.platform_version.clone(),
            device_index: f.device_index,
            device: f.device.clone(),
            kind: f.kind,
            version: f.version.clone(),
            c_version: f.c_version.clone(),
            driver_version: f.driver.clone(),
            compute_units: f.units,
            max_work_group_size: f.max_group,
            global_memory: f.global_memory,
            local_memory: f.local_memory,
            max_buffer: f.max_buffer,
            extensions: f.extensions.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    loader: Option<String>,
    devices: Vec<DeviceInfo>,
}

/// Runs `info`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let mut choice = Choice { platform: options.platform.clone(), device: options.device.clone() };
    let named_cloom = choice.platform.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(driver::PLATFORM));
    // Only where Cloom is asked for by name may the environment be changed to have it: else the list must be what
    // programs see.
    if named_cloom {
        choice = driver::choose(choice)?;
    }
    let found = cl::devices()?;
    let of_platform: Vec<&Found> = match &choice.platform {
        None => found.iter().collect(),
        Some(wanted) => cl::of_platform(&found, wanted),
    };
    let is_chosen = |f: &Found| match &choice.device {
        None => true,
        Some(wanted) => match wanted.parse::<usize>() {
            Ok(i) => i == f.device_index,
            Err(_) => f.device.to_lowercase().contains(&wanted.to_lowercase()),
        },
    };
    let devices: Vec<DeviceInfo> = of_platform.into_iter().filter(|f| is_chosen(f)).map(DeviceInfo::from).collect();
    if devices.is_empty() {
        return Err(Failure::wrong("no such platform or device; `cloom info` lists all there are"));
    }
    if options.json {
        return Answer::json(
            &Document { schema: "cloom-info/1", loader: probe::loaded_library(), devices },
            Exit::Fine,
        );
    }
    let mut text = table(&devices, options.extensions);
    let cloom = found.iter().any(|f| f.platform.to_lowercase().contains(driver::PLATFORM));
    if !cloom && choice.platform.is_none() {
        text += "\nCloom's own platform is not among them; `cloom doctor` says why.\n";
    }
    Ok(Answer::text(text, Exit::Fine))
}

fn table(devices: &[DeviceInfo], extensions: bool) -> String {
    let mut text = String::new();
    let mut platform = None;
    for d in devices {
        if platform != Some(d.platform_index) {
            platform = Some(d.platform_index);
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "platform {}: {} ({})", d.platform_index, d.platform, d.platform_version);
        }
        let _ = writeln!(text, "  device {}: {}", d.device_index, d.device);
        let rows = [
            ("type", d.kind.to_owned()),
            ("version", format!("{}, {}, driver {}", d.version.trim(), d.c_version.trim(), d.driver_version)),
            ("compute units", d.compute_units.to_string()),
            ("largest group", format!("{} work-items", d.max_work_group_size)),
            (
                "memory",
                format!(
                    "{} global, {} local, buffers up to {}",
                    bytes(d.global_memory),
                    bytes(d.local_memory),
                    bytes(d.max_buffer)
                ),
            ),
            ("extensions", d.extensions.len().to_string()),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "    {name:<15}{value}");
        }
        if extensions {
            for e in &d.extensions {
                let _ = writeln!(text, "      {e}");
            }
        }
    }
    text
}
