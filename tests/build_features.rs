//! The features of this crate reach the librdkafka that it is linked with.
use rdkafka::ClientConfig;

#[test]
fn librdkafka_has_the_features_that_were_asked_for_and_no_others() {
    let native = ClientConfig::new()
        .create_native_config()
        .expect("an empty configuration is valid");
    let builtin = native
        .get("builtin.features")
        .expect("every librdkafka tells its features");
    let builtin: Vec<_> = builtin.split(',').collect();

    let ssl = cfg!(any(
        feature = "ssl",
        feature = "ssl-vendored",
        feature = "sasl"
    ));
    for (name, asked_for) in [
        ("gzip", true),
        ("ssl", ssl),
        ("sasl_gssapi", cfg!(feature = "sasl")),
        ("zstd", cfg!(feature = "zstd")),
    ] {
        assert_eq!(builtin.contains(&name), asked_for, "{name} in {builtin:?}");
    }
}
