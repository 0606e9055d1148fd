//! A small group, and assignments for it: what the tests of `round` and `target` start from.
use crate::assignor::{Assignment, Group, Member, Topic};

fn member(id: &str, topics: &[&str]) -> Member {
    Member {
        id: id.into(),
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
        ..Member::default()
    }
}

/// Two members, of which one subscribes to everything, and one topic in error.
pub(crate) fn group() -> Group {
    let topic = |partitions| Topic {
        partitions,
        ..Topic::default()
    };
    Group {
        id: "g".into(),
        generation: 3,
        leader: "a".into(),
        topics: [
            ("errored".into(), topic(0)),
            ("t".into(), topic(4)),
            ("u".into(), topic(2)),
        ]
        .into(),
        members: vec![member("a", &["errored", "t", "u"]), member("b", &["t"])],
    }
}

/// These partitions, without user data.
pub(crate) fn assignment(topics: &[(&str, &[i32])]) -> Assignment {
    let partitions = topics
        .iter()
        .map(|(topic, numbers)| ((*topic).to_owned(), numbers.to_vec()));
    Assignment {
        partitions: partitions.collect(),
        user_data: Vec::new(),
    }
}
