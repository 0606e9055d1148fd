//! Routes in a leader's answers, and what makes room for what.
use super::*;

#[test]
fn routes_name_only_owners_of_this_round() {
    let mut a = member("a", &said("a", &[]));
    a.owned = Some(lists("orders", &[0, 1, 2, 3]));
    let group = group(vec![a, member("b", &said("b", &[]))]);
    let (assignments, led) = lead(&cooperative(), &mut Memory::default(), &group);
    let withheld = &led.members["b"].withheld["orders"];
    assert_eq!(withheld.len(), 2);
    let routes = Routes::decode(&assignments["a"].user_data)
        .expect("readable")
        .expect("there are tables");
    assert_eq!(routes.hosts, ["a:80", "b:80"]);
    let counts = &routes.groups[0];
    assert_eq!(counts.active.len(), 1);
    assert_eq!(
        counts.active[0].partitions,
        led.members["a"].active["orders"]
    );
    let copies = counts.standby.iter().filter(|copy| copy.host == 1);
    assert!(
        copies
            .flat_map(|copy| copy.partitions.iter())
            .any(|p| withheld.contains(p))
    );
}

#[test]
fn members_that_share_a_host_are_named_and_both_are_routed() {
    let shared = SubscriptionUserData {
        host: Some("a:80".to_owned()),
        ..said("b", &[])
    };
    let group = group(vec![member("a", &said("a", &[])), member("b", &shared)]);
    let (assignments, led) = lead(&eager(), &mut Memory::default(), &group);
    assert_eq!(kinds(&led), [("group", "shared-host")]);
    let detail = &led.warnings[0].detail;
    assert!(detail.contains("\"a\" and \"b\""), "{detail}");
    let routes = decode(&assignments["a"]).expect("there are hosts");
    assert_eq!(routes.hosts, ["a:80"]);
    let counts = &routes.groups[0];
    assert_eq!(counts.active[0].partitions, (0..4).collect());
    assert_eq!(counts.standby[0].partitions, (0..4).collect());
}

#[test]
fn a_member_that_left_is_in_no_route() {
    let mut memory = Memory::default();
    let with = group(vec![
        member("a", &said("a", &[])),
        member("b", &said("b", &[])),
    ]);
    let (before, _) = lead(&cooperative(), &mut memory, &with);
    assert_eq!(
        decode(&before["a"]).expect("routes").hosts,
        ["a:80", "b:80"]
    );
    let mut without = group(vec![member("a", &said("a", &[]))]);
    without.generation = 6;
    let (after, _) = lead(&cooperative(), &mut memory, &without);
    assert_eq!(decode(&after["a"]).expect("routes").hosts, ["a:80"]);
}

#[test]
fn without_any_host_there_are_no_routes() {
    let unreachable = SubscriptionUserData {
        host: None,
        ..said("a", &[])
    };
    let group = group(vec![member("a", &unreachable)]);
    let (assignments, _) = lead(&eager(), &mut Memory::default(), &group);
    assert_eq!(decode(&assignments["a"]), None);
}

fn decode(assignment: &Assignment) -> Option<Routes> {
    Routes::decode(&assignment.user_data).expect("readable")
}

#[test]
fn routes_of_topics_without_tables_make_room_for_those_of_tables() {
    let mut declares = said("a", &[]);
    declares.copartition = Some(Vec::new());
    let stateless = (0..1_150).map(|n| format!("a-topic-{}", scrambled(n)));
    let mut group = group(Vec::new());
    group.topics.extend(stateless.map(|name| (name, topic(1))));
    let topics: Vec<_> = group.topics.keys().cloned().collect();
    let members = ('a'..='j').map(|id| hosted(&id.to_string(), &declares, &topics));
    group.members = members.collect();
    let (assignments, led) = lead(&eager(), &mut Memory::default(), &group);
    assert_eq!(kinds(&led), [("group", "too-large")]);
    let routes = decode(&assignments["b"]).expect("routes of tables");
    assert_eq!(routes.groups.len(), 1);
    assert_eq!(routes.groups[0].tables, ["counts"]);
}

fn hosted(id: &str, declares: &SubscriptionUserData, topics: &[String]) -> Member {
    let said = SubscriptionUserData {
        host: Some(format!("{id}:80")),
        ..declares.clone()
    };
    Member {
        topics: topics.to_vec(),
        ..member(id, &said)
    }
}

/// Text that does not compress.
fn scrambled(n: u64) -> String {
    let step = |n: u64| n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    let words = [step(n), step(step(n)), step(step(step(n)))];
    words.map(|word| format!("{word:016x}")).concat()
}

#[test]
fn routes_go_first_when_the_groups_record_gets_too_large() {
    let topics: Vec<String> = (0..60)
        .map(|n| format!("a-topic-with-a-rather-long-name-{n}"))
        .collect();
    let declares = SubscriptionUserData {
        copartition: Some(Vec::new()),
        tables: topics
            .iter()
            .map(|topic| table(&format!("table-of-{topic}"), topic))
            .collect(),
        ..said("a", &[])
    };
    let hosted = |n: usize| SubscriptionUserData {
        host: Some(format!("host-{n}:80")),
        ..declares.clone()
    };
    let mut members: Vec<_> = (0..300)
        .map(|n| member(&format!("m{n:03}"), &hosted(n)))
        .collect();
    for member in &mut members {
        member.topics = topics.clone();
    }
    let mut group = group(members);
    group.topics = topics
        .iter()
        .map(|name| (name.clone(), topic(10)))
        .collect();
    let (assignments, led) = lead(&eager(), &mut Memory::default(), &group);
    assert_eq!(kinds(&led), [("group", "too-large")]);
    for assignment in assignments.values() {
        assert_eq!(decode(assignment), None);
        assert!(AssignmentUserData::decode(&assignment.user_data).is_ok());
    }
}
