use super::*;

#[test]
fn lines_and_columns_count_from_one_in_characters() {
    let content = "a = 1\n\"ü\" = 2\r\n\nlast";
    let text = ConfigText::new(Layer::Workspace, "jig.toml", None, content.to_owned());
    let check = |at: usize, line: u32, column: u32, whole: &str| {
        let origin = Origin::new(&text, at..at + 1);
        assert_eq!(
            (origin.line(), origin.column()),
            (line, column),
            "byte {at}"
        );
        assert_eq!(&content[text.line_at(at)], whole, "byte {at}");
    };
    check(0, 1, 1, "a = 1");
    check(5, 1, 6, "a = 1");
    check(6, 2, 1, "\"ü\" = 2");
    check(10, 2, 4, "\"ü\" = 2");
    check(16, 3, 1, "");
    check(17, 4, 1, "last");
    check(content.len(), 4, 5, "last");
}

#[test]
fn an_origin_beyond_the_text_is_clipped() {
    let text = ConfigText::new(Layer::Set, "--set", None, "a=1".to_owned());
    let origin = Origin::new(&text, 90..99);
    assert_eq!(origin.span(), 3..3);
    assert_eq!((origin.line(), origin.column()), (1, 4));
}

#[test]
fn only_files_are_shown_with_lines() {
    let check = |layer: Layer, shown: &str| {
        let text = ConfigText::new(layer, "NAME", None, "\nx".to_owned());
        let origin = Origin::new(&text, 1..2);
        assert_eq!(origin.to_string(), shown);
        assert_eq!(origin.to_policy().to_string(), shown);
    };
    check(Layer::BuiltIn, "NAME");
    check(Layer::User, "NAME:2");
    check(Layer::Workspace, "NAME:2");
    check(Layer::File, "NAME:2");
    check(Layer::Environment, "NAME");
    check(Layer::Set, "NAME");
}
