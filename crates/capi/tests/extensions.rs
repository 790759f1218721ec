//! Extensions: their functions, found by name as applications find them, their queries and properties.

#![allow(unsafe_code, reason = "it calls the C interface")]

mod common;
use common::*;

#[test]
fn integer_dot_products_are_described() {
    let t = Session::new();
    let both = CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT;
    assert_eq!(t.device_info::<u64>(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES), both);
    for name in [
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT,
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED,
    ] {
        let six = list::<u32>(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
        assert!(six.len() == 6 && six.iter().all(|&b| b <= CL_TRUE), "{six:?}");
    }
    let bytes = query(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_OPENCL_C_FEATURES, s, v, r));
    let features = String::from_utf8_lossy(&bytes).into_owned();
    assert!(features.contains("__opencl_c_integer_dot_product_input_4x8bit\0"));
    assert!(features.contains("__opencl_c_integer_dot_product_input_4x8bit_packed\0"));
}
