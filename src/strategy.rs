//! The strategy list: names of the application's and of ours, in the user's order.
//!
//! Pure: what it is told of assignors is their name and protocol.
use crate::assignor::RebalanceProtocol;
use crate::register::CreateError;

/// librdkafka's own assignors.
const BUILT_IN: [(&str, RebalanceProtocol); 3] = [
    ("range", RebalanceProtocol::Eager),
    ("roundrobin", RebalanceProtocol::Eager),
    ("cooperative-sticky", RebalanceProtocol::Cooperative),
];

/// Longest name the wire can carry.
const LONGEST_NAME: usize = i16::MAX as usize;

/// A strategy list that librdkafka can be given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Strategies {
    /// All names in the user's order, each once.
    pub all: Vec<String>,
    /// The built-in ones among them.
    pub built_in: Vec<String>,
}

impl Strategies {
    /// From the user's list, or, if there is none, the registered assignors in their order.
    pub(crate) fn new(
        list: Option<&str>,
        registered: &[(&str, RebalanceProtocol)],
    ) -> Result<Self, CreateError> {
        for (index, (name, _)) in registered.iter().enumerate() {
            check_name(name)?;
            if registered
                .iter()
                .take(index)
                .any(|(earlier, _)| earlier == name)
            {
                return Err(CreateError::DuplicateName((*name).to_owned()));
            }
        }
        let all = match list {
            Some(list) => names(list),
            None => registered
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
        };
        check_known(&all, registered)?;
        if let Some((name, _)) = registered
            .iter()
            .find(|(name, _)| !all.iter().any(|listed| listed == name))
        {
            return Err(CreateError::NotListed((*name).to_owned()));
        }
        check_protocols(&all, registered)?;
        let built_in = all
            .iter()
            .filter(|name| built_in(name).is_some())
            .cloned()
            .collect();
        Ok(Strategies { all, built_in })
    }
}

/// Names in order, without the spaces around them, each once.
fn names(list: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        if !names.iter().any(|earlier| earlier == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn check_name(name: &str) -> Result<(), CreateError> {
    let Some(reason) = unfit(name) else {
        return Ok(());
    };
    let name = name.to_owned();
    Err(CreateError::InvalidName { name, reason })
}

/// Why an assignor of one's own cannot have this name; `None` if it can.
pub(crate) fn unfit(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.contains(',') {
        Some("it contains a comma")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it contains white space or a control character")
    } else if name.len() > LONGEST_NAME {
        Some("it is too long")
    } else {
        built_in(name).map(|_| "it is that of a built-in assignor")
    }
}

fn check_known(
    all: &[String],
    registered: &[(&str, RebalanceProtocol)],
) -> Result<(), CreateError> {
    let unknown = |name: &&String| protocol(name, registered).is_none();
    let Some(name) = all.iter().find(unknown) else {
        return Ok(());
    };
    let registered = registered.iter().map(|(name, _)| (*name).to_owned());
    Err(CreateError::UnknownName {
        name: name.clone(),
        registered: registered.collect(),
    })
}

/// All assignors of a list use one protocol; that is librdkafka's rule.
fn check_protocols(
    all: &[String],
    registered: &[(&str, RebalanceProtocol)],
) -> Result<(), CreateError> {
    let first = |wanted| {
        all.iter()
            .find(|name| protocol(name, registered) == Some(wanted))
    };
    let eager = first(RebalanceProtocol::Eager);
    match (eager, first(RebalanceProtocol::Cooperative)) {
        (Some(eager), Some(cooperative)) => Err(CreateError::MixedProtocols {
            eager: eager.clone(),
            cooperative: cooperative.clone(),
        }),
        _ => Ok(()),
    }
}

fn protocol(name: &str, registered: &[(&str, RebalanceProtocol)]) -> Option<RebalanceProtocol> {
    registered
        .iter()
        .find(|(ours, _)| *ours == name)
        .map(|(_, protocol)| *protocol)
        .or_else(|| built_in(name))
}

fn built_in(name: &str) -> Option<RebalanceProtocol> {
    BUILT_IN
        .iter()
        .find(|(built_in, _)| *built_in == name)
        .map(|(_, protocol)| *protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use RebalanceProtocol::{Cooperative, Eager};

    fn all(
        list: Option<&str>,
        registered: &[(&str, RebalanceProtocol)],
    ) -> Result<Vec<String>, String> {
        Strategies::new(list, registered)
            .map(|strategies| strategies.all)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn order_of_the_list_is_kept_and_built_in_names_are_told_apart() {
        let strategies = Strategies::new(
            Some(" roundrobin ,\tb,,a, range,b"),
            &[("a", Eager), ("b", Eager)],
        )
        .unwrap();
        assert_eq!(strategies.all, ["roundrobin", "b", "a", "range"]);
        assert_eq!(strategies.built_in, ["roundrobin", "range"]);
    }

    #[test]
    fn without_a_list_the_registered_assignors_stand_in_their_order() {
        assert_eq!(
            all(None, &[("b", Cooperative), ("a", Cooperative)]).unwrap(),
            ["b", "a"]
        );
    }

    #[test]
    fn unknown_name_in_the_list_is_an_error() {
        assert_eq!(
            all(Some("a,rnage"), &[("a", Eager)]).unwrap_err(),
            "partition.assignment.strategy names \"rnage\", which is neither built in nor registered \
             (registered: \"a\")"
        );
    }

    #[test]
    fn typing_error_is_told_with_what_could_be_meant() {
        let error = all(Some("aa"), &[("a", Eager), ("b", Eager)]).unwrap_err();
        assert!(error.contains(r#""aa""#), "{error}");
        assert!(error.ends_with(r#"(registered: "a", "b")"#), "{error}");
    }

    #[test]
    fn registered_assignor_that_the_list_forgets_is_an_error() {
        let expected = CreateError::NotListed("a".into()).to_string();
        assert_eq!(all(Some("range"), &[("a", Eager)]).unwrap_err(), expected);
        assert_eq!(all(Some(""), &[("a", Eager)]).unwrap_err(), expected);
    }

    #[test]
    fn names_that_no_list_can_hold_are_errors() {
        for name in [
            "",
            "a,b",
            "a b",
            " a",
            "a\u{a0}b",
            "a\0",
            "range",
            "cooperative-sticky",
            &"x".repeat(40_000),
        ] {
            let error = Strategies::new(None, &[(name, Eager)]).unwrap_err();
            assert!(
                matches!(error, CreateError::InvalidName { .. }),
                "{name:?}: {error}"
            );
        }
    }

    #[test]
    fn one_name_twice_is_an_error() {
        let error = Strategies::new(None, &[("a", Eager), ("a", Eager)]).unwrap_err();
        assert!(matches!(error, CreateError::DuplicateName(name) if name == "a"));
    }

    #[test]
    fn copartitioned_says_how_it_gets_eager() {
        let mixed = |name| all(None, &[(name, Cooperative), ("b", Eager)]).unwrap_err();
        let hint = "; Copartitioned is eager with .protocol(RebalanceProtocol::Eager)";
        assert!(mixed("copartitioned").ends_with(hint));
        assert!(!mixed("other").contains(hint));
    }

    #[test]
    fn eager_and_cooperative_assignors_do_not_mix() {
        let mixed = |list, registered: &[_]| {
            matches!(
                Strategies::new(Some(list), registered),
                Err(CreateError::MixedProtocols { .. })
            )
        };
        assert!(mixed("a,b", &[("a", Eager), ("b", Cooperative)]));
        assert!(mixed("a,range", &[("a", Cooperative)]));
        assert!(mixed("a,cooperative-sticky", &[("a", Eager)]));
        assert!(!mixed("a,cooperative-sticky", &[("a", Cooperative)]));
        assert!(!mixed("a,range,roundrobin", &[("a", Eager)]));
    }
}
