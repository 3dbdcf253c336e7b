//! Connections of programs, judged by looking at every rule.

use jig_policy::{DeclaredNetRule, OwnedSpeaks, Verdict};

use super::{
    Answer, PlainUrl, counted, decide_net, plain_host, ports_of, prefix_segments, rank_of_host,
    segments,
};

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
            .filter(|rule| rank_of_host(rule, &host).is_some())
            .collect(),
        host,
        port,
    };
    match speaks {
        OwnedSpeaks::Http { method, path } => {
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
                method: Some(method.to_uppercase()),
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
        let of_tls = |rule: &DeclaredNetRule| {
            let scheme = scheme(rule);
            let plain = scheme.as_deref() == Some("http") || scheme.as_deref() == Some("ws");
            let default = scheme.is_none() && rule.port.is_none();
            !plain && self.is_on_port(rule) && (!default || self.port == 443)
        };
        let names_wss = self
            .rules
            .iter()
            .any(|rule| scheme(rule).as_deref() == Some("wss"));
        // A rule that decides about all of them hides those on less exact hosts.
        let decides = |rule: &DeclaredNetRule| match scheme(rule).as_deref() {
            None => true,
            Some("https") => !names_wss,
            Some(_) => false,
        };
        let whole = self.best(|rule| of_tls(rule) && !looks_inside(rule) && decides(rule));
        let hidden = self.best(|rule| of_tls(rule) && looks_inside(rule));
        let rank = |rule: &DeclaredNetRule| rank_of_host(rule, &self.host);
        if let Some(rule) =
            hidden.filter(|hidden| whole.is_none_or(|whole| rank(whole) <= rank(hidden)))
        {
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
                method: None,
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
        let unseen = self.best(|rule| looks_inside(rule) && self.is_on_port(rule));
        let winner = self.best(|rule| {
            !looks_inside(rule)
                && match scheme(rule) {
                    None => rule.port == Some(self.port),
                    Some(scheme) => {
                        let web = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss");
                        !web && self.is_on_port(rule)
                    }
                }
        });
        let rank = |rule: &DeclaredNetRule| rank_of_host(rule, &self.host);
        if let Some(rule) =
            unseen.filter(|unseen| winner.is_none_or(|winner| rank(winner) <= rank(unseen)))
        {
            let origin = Some(rule.origin.to_string());
            return Answer::new(Verdict::Deny, "path unseen", origin);
        }
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
        let mut best: Option<((Option<usize>, usize), &DeclaredNetRule)> = None;
        for rule in self.rules.iter().filter(|rule| wanted(rule)) {
            let specificity = (rank_of_host(rule, &self.host), counted(rule));
            if best.is_none_or(|(other, _)| specificity >= other) {
                best = Some((specificity, rule));
            }
        }
        best.map(|(_, rule)| rule)
    }
}

fn looks_inside(rule: &DeclaredNetRule) -> bool {
    !prefix_segments(rule).is_empty() || rule.methods.is_some()
}

fn scheme(rule: &DeclaredNetRule) -> Option<String> {
    rule.scheme.as_ref().map(|scheme| scheme.to_lowercase())
}
