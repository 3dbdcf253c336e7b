// `my_tool` counts the lines, words and bytes of a text file.
//
// jig's rules decide about each file that is read: what they do not allow is an error that says why.

import { read } from "jp:host/filesystem@0.1.0";

export function run(context, name, args, answers) {
  const { path } = JSON.parse(args);
  if (typeof path !== "string") {
    return failed("Invalid arguments: `path` must be a string");
  }
  if (context.action === "format-arguments") {
    // What a person reads before the tool runs.
    return { tag: "success", val: `count ${path}` };
  }
  try {
    return { tag: "success", val: `${path}: ${counted(read(path))}` };
  } catch (error) {
    // An error of the host is a text that says what was refused and why.
    return failed(`Failed to read \`${path}\`: ${error.payload ?? error.message ?? error}`);
  }
}

function counted(content) {
  const text = decoded(content);
  const lines = text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0);
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  return `${lines} lines, ${words} words, ${content.length} bytes`;
}

// The engine, QuickJS, has no TextDecoder.
function decoded(content) {
  let bytes = "";
  for (let start = 0; start < content.length; start += 8192) {
    bytes += String.fromCharCode(...content.subarray(start, start + 8192));
  }
  return decodeURIComponent(escape(bytes));
}

function failed(message) {
  return { tag: "error", val: { message, trace: [], transient: false } };
}

// What jig tells a model about the tool. It is asked for once, without access to anything.
export const describe = {
  describe() {
    const parameters = {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the workspace." },
      },
      required: ["path"],
    };
    const description = "Counts the lines, words and bytes of a text file.";
    return [{ name: "my_tool", description, parameters: JSON.stringify(parameters) }];
  },
};
