//! Paths as tools write them.

use jig_proto::vfs::{ErrorReply, Method};
use jig_proto::{PathSyntaxError, ProjectPath};

/// Reads a path of a request.
///
/// It must be relative and must not hold `..`, also where that would stay inside: what `a/../b`
/// means depends on whether `a` is a link. Nothing is decoded: `%2e%2e` is a name like any other.
pub(crate) fn wire_path(method: Method, text: &str) -> Result<ProjectPath, ErrorReply> {
    if text.split('/').any(|name| name == "..") {
        return Err(ErrorReply::escape(text));
    }
    ProjectPath::normalize(text).map_err(|error| match error {
        PathSyntaxError::Absolute | PathSyntaxError::Escape => ErrorReply::escape(text),
        other => ErrorReply::invalid_params(method, other),
    })
}

#[cfg(test)]
mod tests {
    use jig_proto::vfs::{ErrorKind, Method};

    use super::wire_path;

    #[test]
    fn x11_v042_v043_absolute_paths_and_dots_are_escapes() {
        let check = |text: &str, expected: Result<&str, ErrorKind>| {
            let path = wire_path(Method::FsRead, text);
            let path = path.as_ref().map(|path| path.as_str());
            assert_eq!(path.map_err(|error| error.kind()), expected, "{text:?}");
        };
        check("src/main.rs", Ok("src/main.rs"));
        check(".", Ok(""));
        check("./src//main.rs/", Ok("src/main.rs"));
        check("...", Ok("..."));
        check("a/..b", Ok("a/..b"));
        check("%2e%2e/x", Ok("%2e%2e/x"));
        check("..\\x", Ok("..\\x"));
        check("/etc/passwd", Err(ErrorKind::Escape));
        check("//etc", Err(ErrorKind::Escape));
        check("..", Err(ErrorKind::Escape));
        check("../x", Err(ErrorKind::Escape));
        check("src/../x", Err(ErrorKind::Escape));
        check("src/..", Err(ErrorKind::Escape));
        check("", Err(ErrorKind::InvalidParams));
        check("a\0b", Err(ErrorKind::InvalidParams));
        check("../\0", Err(ErrorKind::Escape));
    }
}
