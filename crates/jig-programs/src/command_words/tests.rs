use super::*;

#[test]
fn where_a_template_ends() {
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(
            template_end(text).map(|end| &text[..end]),
            expected,
            "{text}"
        );
    };
    check("{{x}} y", Some("{{x}}"));
    check("{{ x | default('}}') }}z", Some("{{ x | default('}}') }}"));
    check(
        "{{ x | default(\"a\\\"}}\") }}z",
        Some("{{ x | default(\"a\\\"}}\") }}"),
    );
    check("{% if x %}y", Some("{% if x %}"));
    check("{# a ' note #}b", Some("{# a ' note #}"));
    check("{{ x", None);
    check("{x}", None);
    check("ü{{x}}", None);
}
