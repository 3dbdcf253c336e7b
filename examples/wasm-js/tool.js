// `json_pick` returns one part of a JSON file.
//
// A Wasm component in JavaScript, built by jco with QuickJS. Files come from jig by `jp:host/filesystem`; the
// rules in jig.toml decide about each of them.

import { read } from "jp:host/filesystem@0.1.0";

export function run(context, name, args, answers) {
  const { path, pick = "" } = JSON.parse(args);
  if (typeof path !== "string" || typeof pick !== "string") {
    return failed("Invalid arguments: `path` and `pick` must be strings");
  }
  if (context.action === "format-arguments") {
    return { tag: "success", val: `${pick || "all"} of ${path}` };
  }
  let value;
  try {
    value = JSON.parse(decoded(read(path)));
  } catch (error) {
    // An error of the host is a text that says what was refused and why.
    return failed(`Failed to read \`${path}\`: ${error.payload ?? error.message ?? error}`);
  }
  for (const key of pick.split(".").filter((key) => key !== "")) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) {
      return failed(`there is no \`${key}\` in \`${path}\``);
    }
    value = value[key];
  }
  return { tag: "success", val: JSON.stringify(value, null, 2) };
}

// The engine has no TextDecoder.
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
        pick: { type: "string", description: "Keys and indices, joined by dots; all if absent." },
      },
      required: ["path"],
    };
    const description = "Returns one part of a JSON file.";
    return [{ name: "json_pick", description, parameters: JSON.stringify(parameters) }];
  },
};
