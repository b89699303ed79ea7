#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcpwire_engine_tests::fuzz::run("http", data));
