//! What may be built, and what is refused.
use super::*;

fn shop() -> Builder {
    Copartitioned::builder("shop")
}

fn refused(builder: Builder) -> ConfigError {
    builder.build().expect_err("this must not be built")
}

#[test]
fn what_every_setting_refuses() {
    let twice = |name: &str| ConfigError::TableTwice(name.to_owned());
    let topic = |name: &str| ConfigError::TopicName(name.to_owned());
    let table = |name: &str| ConfigError::TableName(name.to_owned());
    let name = |name: &str, reason| ConfigError::AssignorName {
        name: name.to_owned(),
        reason,
    };
    let leader = ConfigError::LeaderTopicUsed("shop-__assignor-__leader".to_owned());
    let one = NonZeroU32::MIN;
    let cases = [
        (Copartitioned::builder(""), ConfigError::EmptyAppId),
        (
            Copartitioned::builder("my shop"),
            ConfigError::AppId("my shop".to_owned()),
        ),
        (shop().rack(""), ConfigError::EmptyRack),
        (shop().name("a,b"), name("a,b", "it contains a comma")),
        (shop().name(""), name("", "it is empty")),
        (
            shop().name("range"),
            name("range", "it is that of a built-in assignor"),
        ),
        (shop().table("", "orders"), ConfigError::EmptyTableName),
        (shop().table("a", ""), topic("")),
        (shop().table("a", ".."), topic("..")),
        (shop().table("a b", "orders"), table("a b")),
        (shop().global_table("a b", one), table("a b")),
        (
            shop().table_with_changelog("a", "orders", "a b"),
            topic("a b"),
        ),
        (shop().table("a", "x").table("a", "y"), twice("a")),
        (
            shop()
                .table_with_changelog("b", "y", "shop-a-changelog")
                .global_table("a", one),
            ConfigError::ChangelogTwice("shop-a-changelog".to_owned()),
        ),
        (
            shop().table("a", "x").table_with_changelog("a", "y", "z"),
            twice("a"),
        ),
        (shop().table("a", "x").global_table("a", one), twice("a")),
        (
            shop().global_table("a", one).global_table("a", one),
            twice("a"),
        ),
        (
            shop()
                .table("a", "x")
                .table_with_changelog("b", "y", "shop-a-changelog"),
            ConfigError::ChangelogTwice("shop-a-changelog".to_owned()),
        ),
        (
            shop().table("a", "shop-__assignor-__leader"),
            leader.clone(),
        ),
        (shop().copartition(["shop-__assignor-__leader"]), leader),
        (
            shop().copartition(Vec::<String>::new()),
            ConfigError::EmptySet,
        ),
        (
            shop().copartition(["a", "b"]).copartition(["b", "c"]),
            ConfigError::TopicTwice("b".to_owned()),
        ),
        (
            shop().copartition(["a", "a"]),
            ConfigError::TopicTwice("a".to_owned()),
        ),
        (shop().copartition(["a", "b/c"]), topic("b/c")),
    ];
    for (builder, error) in cases {
        assert_eq!(refused(builder), error);
    }
}

#[test]
fn a_name_longer_than_kafka_takes_is_refused_although_it_is_derived() {
    let name = "a".repeat(249 - "shop--changelog".len());
    assert!(shop().table(name.clone(), "orders").build().is_ok());
    let error = refused(shop().table(name + "a", "orders"));
    assert!(matches!(error, ConfigError::TableName(_)), "{error:?}");
}

#[test]
fn a_leader_topic_that_is_switched_off_is_a_topic_like_any_other() {
    let leader = "shop-__assignor-__leader";
    let off = shop().leader_topic(false);
    assert!(off.table("a", leader).copartition([leader]).build().is_ok());
}

#[test]
fn errors_name_what_the_application_wrote() {
    let app = refused(Copartitioned::builder("my shop")).to_string();
    assert!(
        app.starts_with(r#"the application id "my shop" cannot be part of a topic's name: "#),
        "{app}"
    );
    let table = refused(shop().table("a b", "orders")).to_string();
    assert!(table.starts_with(r#"the table "a b" cannot be"#), "{table}");
}

#[test]
fn a_host_has_a_name_and_a_port() {
    for host in ["localhost:80", "10.0.0.1:8080", "[::1]:8080"] {
        assert!(shop().host(host).build().is_ok(), "{host}");
    }
    for host in [
        "",
        "localhost",
        ":80",
        "a:",
        "a:0",
        "a:65536",
        "a:b",
        "::1:80",
        "[x]:80",
        "a b:80",
    ] {
        assert_eq!(
            refused(shop().host(host)),
            ConfigError::Host(host.to_owned())
        );
    }
}

#[test]
fn an_empty_declaration_is_not_the_same_as_none() {
    assert_eq!(shop().settle().copartition, None);
    assert_eq!(
        shop().copartition_declared_only().settle().copartition,
        Some(vec![])
    );
}

#[test]
fn the_order_of_settings_does_not_matter() {
    let sets = |builder: Builder| builder.settle().copartition;
    let one = sets(shop().copartition(["b", "a"]).copartition(["d", "c"]));
    let other = sets(shop().copartition(["c", "d"]).copartition(["a", "b"]));
    assert_eq!(one, other);
    let tables = |builder: Builder| builder.settle().tables;
    assert_eq!(
        tables(shop().table("a", "x").table("b", "y")),
        tables(shop().table("b", "y").table("a", "x"))
    );
}

#[test]
fn local_state_of_tables_that_are_not_declared_is_ignored() {
    let on_disk =
        || TopicPartitions::from([("a".to_owned(), vec![0]), ("old".to_owned(), vec![1])]);
    let settings = shop().table("a", "x").local_state(on_disk).settle();
    assert_eq!(
        settings.local_state(),
        TopicPartitions::from([("a".to_owned(), vec![0])])
    );
}

#[test]
fn the_rack_is_the_consumers_rack() {
    let mut config = rdkafka::ClientConfig::new();
    let assignor = shop().rack("a").build().expect("valid settings");
    crate::assignor::Assignor::configure(&assignor, &mut config);
    assert_eq!(config.get("client.rack"), Some("a"));
}
