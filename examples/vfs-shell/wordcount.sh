#!/bin/sh
# Counts the words of a file. The tool has no files of its own: it asks its host for the content,
# one line of JSON on standard output, and reads the answer, one line of JSON on standard input.
set -eu

read -r init
path=$(printf '%s' "$init" | jq -r '.params.tool.arguments.path')

jq -cn --arg path "$path" '{jsonrpc: "2.0", id: 1, method: "fs.read", params: {$path}}'

# What is not text comes as base64, in which there are no words to count.
exec jq -cn --arg path "$path" '
    def words: [split("\n")[] | split("\r")[] | split("\t")[] | split(" ")[] | select(. != "")];
    first(inputs | select(.id == 1 or .method == "cancel")) |
    if .result.encoding then {method: "error", params: {message: "\($path) is not text"}}
    elif .result then
        {method: "result", params: {content: "\(.result.content | words | length) words in \($path)"}}
    else {method: "error", params: {message: (.error.message // "cancelled")}} end |
    {jsonrpc: "2.0"} + .'
