//! Connections of programs, judged by looking at every rule.

use jig_policy::{DeclaredNetRule, OwnedSpeaks, Verdict};

use super::{Answer, PlainUrl, decide_net, plain_host, ports_of, prefix_segments, segments};

/// What the rules say of a connection.
pub(crate) fn decide_connection(
    rules: &[DeclaredNetRule],
    host: &str,
    port: u16,
    speaks: &OwnedSpeaks,
) -> Answer {
    if rules.is_empty() {
        return Answer::new(Verdict::Uncovered, "default withholds", None);
    }
    let Some(host) = plain_host(host) else {
        return Answer::new(Verdict::Uncovered, "no rule", None);
    };
    let place = Place {
        rules: rules
            .iter()
            .filter(|rule| plain_host(&rule.host).as_ref() == Some(&host))
            .collect(),
        host,
        port,
    };
    match speaks {
        OwnedSpeaks::Http { path } => {
            let path = path.split('?').next().unwrap_or("");
            let (segments, ambiguous) = segments(path);
            let odd = path.contains(['#', ' ', '\t', '\r', '\n']);
            let odd = odd || !(path.is_empty() || path.starts_with('/'));
            let url = PlainUrl {
                scheme: "http".to_owned(),
                host: place.host,
                port,
                segments,
                ambiguous: ambiguous || odd,
            };
            decide_net(rules, &url)
        }
        OwnedSpeaks::Tls => place.tls(rules),
        OwnedSpeaks::Other | OwnedSpeaks::Unknown => place.other(),
    }
}

/// The rules on a host, and a port of it.
struct Place<'r> {
    rules: Vec<&'r DeclaredNetRule>,
    host: String,
    port: u16,
}

impl Place<'_> {
    fn tls(&self, all: &[DeclaredNetRule]) -> Answer {
        let hidden = self.best(|rule| {
            let scheme = scheme(rule);
            let plain = scheme.as_deref() == Some("http") || scheme.as_deref() == Some("ws");
            let default = scheme.is_none() && rule.port.is_none();
            !prefix_segments(rule).is_empty()
                && !plain
                && self.is_on_port(rule)
                && (!default || self.port == 443)
        });
        if let Some(rule) = hidden {
            let origin = Some(rule.origin.to_string());
            return Answer::new(Verdict::Deny, "path under TLS", origin);
        }
        let web = |scheme: &str| {
            let url = PlainUrl {
                scheme: scheme.to_owned(),
                host: self.host.clone(),
                port: self.port,
                segments: Vec::new(),
                ambiguous: false,
            };
            decide_net(all, &url)
        };
        let [https, wss, other] = [web("https"), web("wss"), self.other()];
        let by_scheme = |answer: &Answer| {
            let rule = self
                .rules
                .iter()
                .find(|rule| Some(rule.origin.to_string()) == answer.rule);
            answer.reason == "withheld" && rule.is_some_and(|rule| rule.scheme.is_some())
        };
        if https.verdict == Verdict::Deny {
            return https;
        }
        for answer in [&wss, &other] {
            if by_scheme(answer) {
                return answer.clone();
            }
        }
        let mut readings = [https, wss, other].into_iter();
        readings
            .find(|answer| answer.verdict == Verdict::Allow)
            .unwrap_or(Answer::new(Verdict::Uncovered, "no rule", None))
    }

    fn other(&self) -> Answer {
        let unseen = self.best(|rule| !prefix_segments(rule).is_empty() && self.is_on_port(rule));
        if let Some(rule) = unseen {
            let origin = Some(rule.origin.to_string());
            return Answer::new(Verdict::Deny, "path unseen", origin);
        }
        let winner = self.best(|rule| match scheme(rule) {
            None => rule.port == Some(self.port),
            Some(scheme) => {
                let web = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss");
                !web && self.is_on_port(rule)
            }
        });
        super::by_grant(winner.map(|rule| (rule.allow, rule.origin.to_string())))
    }

    fn is_on_port(&self, rule: &DeclaredNetRule) -> bool {
        match (rule.port, scheme(rule)) {
            (Some(port), _) => port == self.port,
            (None, Some(scheme)) => ports_of(&scheme).is_some_and(|(port, _)| port == self.port),
            (None, None) => self.port == 80 || self.port == 443,
        }
    }

    /// The most specific of some rules, and of several the last.
    fn best(&self, wanted: impl Fn(&DeclaredNetRule) -> bool) -> Option<&DeclaredNetRule> {
        let mut best: Option<(usize, &DeclaredNetRule)> = None;
        for rule in self.rules.iter().filter(|rule| wanted(rule)) {
            let specificity = usize::from(rule.scheme.is_some())
                + usize::from(rule.port.is_some())
                + prefix_segments(rule).len();
            if best.is_none_or(|(other, _)| specificity >= other) {
                best = Some((specificity, rule));
            }
        }
        best.map(|(_, rule)| rule)
    }
}

fn scheme(rule: &DeclaredNetRule) -> Option<String> {
    rule.scheme.as_ref().map(|scheme| scheme.to_lowercase())
}
