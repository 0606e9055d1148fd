//! The leader topic: whoever is given partition 0 of `{app}-__assignor-__leader` leads the application.
//!
//! A missing topic in a subscription is reported by every poll, so the topic joins as a regular expression that
//! matches its name alone: librdkafka adds it to the subscription when it first sees it in its metadata
//! (`topic.metadata.refresh.interval.ms`), and rejoins by itself.
//!
//! | application | topic | subscription entry |
//! |---|---|---|
//! | `shop` | `shop-__assignor-__leader` | `^shop-__assignor-__leader$` |
//! | `eu.shop` | `eu.shop-__assignor-__leader` | `^eu\.shop-__assignor-__leader$` |

/// Name of an application's leader topic.
pub(crate) fn name(app_id: &str) -> String {
    format!("{app_id}-__assignor-__leader")
}

/// A regular expression, as librdkafka's `subscribe` takes it, that matches `topic` and nothing else.
///
/// Of the characters that topic names are made of only the dot means something in one.
pub(crate) fn pattern(topic: &str) -> String {
    format!("^{}$", topic.replace('.', "\\."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_the_name_match_only_dots() {
        assert_eq!(pattern(&name("eu.shop")), "^eu\\.shop-__assignor-__leader$");
    }
}
