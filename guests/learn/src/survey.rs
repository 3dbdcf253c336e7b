//! What the host wants to know for a system prompt: what there is to load, and all that is loaded from the
//! start. The answer is JSON: nobody but the host asks for it.

use serde_json::json;

use crate::arguments::Arguments;
use crate::listing::{MOST_NAMES, sorted};
use crate::load::{MOST_SUBJECTS, gather, label};
use crate::subject::Subject;
use crate::walk::walk;

pub(crate) fn survey(arguments: &Arguments) -> Result<String, String> {
    let found = walk(arguments, arguments.learned(), true)?;
    let (available, _) = sorted(arguments, &found);
    let is_learned = |subject: &&Subject| arguments.is_learned(subject);
    let mut chosen: Vec<&Subject> = found.subjects.iter().filter(is_learned).collect();
    let mut notes = Vec::new();
    if let Some(more @ 1..) = chosen.len().checked_sub(MOST_SUBJECTS) {
        chosen.truncate(MOST_SUBJECTS);
        notes.push(format!(
            "{more} more subjects are `learned`: narrow its patterns"
        ));
    }
    let learned = gather(&chosen, arguments.most(), &mut notes);
    let learned: Vec<_> = learned
        .iter()
        .map(|(subject, text)| json!({ "name": label(subject, &chosen), "text": text }))
        .collect();
    if !found.is_complete {
        notes.push("the directory holds more files than can be looked at".to_owned());
    }
    let named = &available[..available.len().min(MOST_NAMES)];
    let answer = json!({
        "subjects": named,
        "more": available.len() - named.len(),
        "learned": learned,
        "notes": notes,
    });
    Ok(answer.to_string())
}
