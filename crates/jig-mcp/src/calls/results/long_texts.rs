//! [`Shortener`]: texts that are too large to be sent, and the links in their place.

use jig_proto::{Block, Content};
use rmcp::model::Resource;

use crate::calls::large_outputs::{OutputStore, StoredOutput};

/// Keeps the texts of one result small: together they hold at most the limit, and what is beyond it becomes
/// an output of the caller, of which a beginning is left.
pub(super) struct Shortener<'a> {
    outputs: &'a OutputStore,
    tool: &'a str,
    /// How many bytes may still be sent.
    left: usize,
    /// How many bytes of a text that is too large are shown.
    beginning: usize,
    links: Vec<Resource>,
}

impl<'a> Shortener<'a> {
    pub(super) fn new(outputs: &'a OutputStore, tool: &'a str, limit: usize) -> Self {
        Self {
            outputs,
            tool,
            left: limit,
            beginning: limit.min(BEGINNING),
            links: Vec::new(),
        }
    }

    /// Whether a text of this length can be sent; then it counts as sent.
    pub(super) fn fits(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// The text, or its beginning and where the rest is.
    pub(super) fn text(&mut self, text: String, mime_type: Option<&str>) -> String {
        match self.fits(text.len()) {
            true => text,
            false => self.begin(text, mime_type),
        }
    }

    /// The same of a content's text, for a report that shows it as such.
    pub(super) fn content(&mut self, content: Content) -> Content {
        let bytes: usize = content.blocks().iter().map(shown_bytes).sum();
        match self.fits(bytes) {
            true => content,
            false => Content::text(self.begin(content.to_text(), None)),
        }
    }

    /// A copy of a text that is sent anyhow: whole if it is small, else its beginning.
    pub(super) fn peek(&self, text: String) -> String {
        match text.len() <= self.left {
            true => text,
            false => {
                let shown = beginning(&text, self.beginning);
                format!("{shown}\n[cut: the text of this result tells where all of it is]")
            }
        }
    }

    /// Keeps a text as an output: its beginning, and where all of it can be read.
    ///
    /// Of a text that cannot be kept, only the beginning is left.
    pub(super) fn begin(&mut self, text: String, mime_type: Option<&str>) -> String {
        if self.links.len() >= MAX_LINKS {
            let shown = beginning(&text, self.beginning);
            return format!("{shown}\n[cut: {} bytes in all]", text.len());
        }
        let shown = beginning(&text, self.beginning).to_owned();
        let total = text.len();
        let Ok(output) = self.outputs.keep(self.tool, mime_type, text) else {
            return format!("{shown}\n[cut: {total} bytes in all]");
        };
        self.links.push(output.link());
        let newline = if shown.ends_with('\n') { "" } else { "\n" };
        let (shown_bytes, where_to) = (shown.len(), place(&output));
        format!(
            "{shown}{newline}[these are the first {shown_bytes} of {total} bytes; {where_to}; if you can't read \
             resources, ask the tool for less at a time]"
        )
    }

    /// The links to what was kept, in order.
    pub(super) fn into_links(self) -> Vec<Resource> {
        self.links
    }

    /// Keeps a text whose link stands alone; gives it back if it cannot be kept.
    pub(super) fn link(&mut self, text: String, mime_type: Option<&str>) -> Result<(), String> {
        if self.links.len() >= MAX_LINKS {
            return Err(text);
        }
        let output = self.outputs.keep(self.tool, mime_type, text)?;
        self.links.push(output.link());
        Ok(())
    }
}

fn place(output: &StoredOutput) -> String {
    let uri = output.uri();
    match output.parts() {
        1 => format!("all of them are the resource {uri}"),
        parts => format!(
            "all of them are the resource {uri}, in {parts} parts: that one, then {uri}/2 and so on to /{parts}"
        ),
    }
}

/// The beginning of a text: whole lines, if they are not too long.
fn beginning(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    let line = text[..end].rfind('\n').map(|at| at + 1);
    &text[..line.filter(|line| *line > end / 2).unwrap_or(end)]
}

/// How much text is shown of a block.
fn shown_bytes(block: &Block) -> usize {
    use jig_proto::ResourceData;
    match block {
        Block::Text(text) => text.text.len(),
        Block::Resource(resource) => match (&resource.formatted, &resource.data) {
            (Some(formatted), _) => formatted.len(),
            (None, ResourceData::Text(text)) => text.len(),
            (None, ResourceData::Blob(_)) => resource.uri.len(),
        },
        Block::Question(question) => question.text.len(),
        Block::Foreign(_) => block.text_bytes(),
        _ => 0,
    }
}

/// How much of a large text is sent with the link to it, in bytes.
const BEGINNING: usize = 8 * 1024;

/// The most links in one result. A tool chooses how many blocks it has.
const MAX_LINKS: usize = 32;
