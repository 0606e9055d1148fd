//! The leader topic's name and place in a subscription; [`Handle::subscription`](crate::Handle::subscription) says why.

/// Name of an application's leader topic.
pub(crate) fn name(app_id: &str) -> String {
    format!("{app_id}-__assignor-__leader")
}

/// The topics with the leader topic, which may be missing; as they are if it is among them already.
pub(crate) fn subscription<'a>(
    topics: impl IntoIterator<Item = &'a str>,
    leader_topic: Option<&str>,
) -> Vec<String> {
    let mut topics: Vec<String> = topics.into_iter().map(str::to_owned).collect();
    let Some(leader) = leader_topic.map(literally) else {
        return topics;
    };
    let alternative = format!("|{leader})$");
    let alone = format!("^{leader}$");
    let includes = |topic: &String| *topic == alone || topic.ends_with(&alternative);
    if topics.iter().any(includes) {
        return topics;
    }
    match topics.iter_mut().find(|topic| !topic.starts_with('^')) {
        Some(topic) => *topic = format!("^({}{alternative}", literally(topic)),
        None => topics.push(alone),
    }
    topics
}

/// As an expression. Of the characters that topic names are made of only the dot means something in one.
fn literally(topic: &str) -> String {
    topic.replace('.', "[.]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscribed(topics: &[&str]) -> Vec<String> {
        subscription(topics.iter().copied(), Some(&name("eu.shop")))
    }

    #[test]
    fn the_leader_topic_hides_behind_a_topic_that_exists() {
        let with_leader = "^(a[.]b|eu[.]shop-__assignor-__leader)$";
        assert_eq!(subscribed(&["a.b", "c"]), [with_leader, "c"]);
        assert_eq!(subscribed(&["^c.*", "a.b"]), ["^c.*", with_leader]);
    }

    #[test]
    fn expressions_of_the_application_are_left_alone() {
        assert_eq!(
            subscribed(&["^c.*"]),
            ["^c.*", "^eu[.]shop-__assignor-__leader$"]
        );
    }

    #[test]
    fn a_subscription_is_its_own_subscription() {
        for topics in [&["a.b", "c"][..], &["^c.*", "a.b"], &["^c.*"], &[]] {
            let once = subscribed(topics);
            let again: Vec<&str> = once.iter().map(String::as_str).collect();
            assert_eq!(subscribed(&again), once);
        }
    }

    #[test]
    fn without_a_leader_topic_there_is_nothing_to_add() {
        assert_eq!(subscription(["orders"], None), ["orders"]);
    }
}
