// The static token file: CSV lines `token,user,uid[,"group1,group2"]`. The last line with a token wins.

import { readFileSync } from "node:fs";
import type { TokenMethod } from "./bearer-token.ts";
import type { Identity } from "./user.ts";

export interface TokenFile extends TokenMethod {
  /** Warnings about empty and repeated tokens. */
  readonly warnings: readonly string[];
}

/** Reads a token file. Throws an error with file and line if it is malformed. */
export const tokenFile = (file: string): TokenFile => parseTokenFile(readFileSync(file, "utf8"), file);

export function parseTokenFile(text: string, file: string): TokenFile {
  const identities = new Map<string, Identity>();
  const warnings: string[] = [];
  for (const { line, fields } of csvRecords(text, file)) {
    const [token = "", name = "", uid = "", groups] = fields;
    if (fields.length < 3)
      throw new Error(
        `${file}:${line}: a token line needs at least 3 columns (token, user name, user uid), found ${fields.length}`,
      );
    if (token === "") {
      warnings.push(`${file}:${line}: the token is empty, the line is ignored`);
      continue;
    }
    if (identities.has(token))
      warnings.push(`${file}:${line}: the token was given before, this line replaces that one`);
    identities.set(token, {
      user: { name, ...(uid && { uid }), groups: groups === undefined ? [] : groups.split(",") },
    });
  }
  return { warnings, identify: (token) => identities.get(token) };
}

interface CsvRecord {
  readonly line: number;
  readonly fields: string[];
}

/** Parses CSV: quoted fields may contain commas, line breaks and doubled quotes; empty lines are skipped. */
function* csvRecords(text: string, file: string): Generator<CsvRecord> {
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const fields: string[] = [];
    const start = line;
    for (;;) {
      if (text[at] === '"') {
        const field = quotedField(
          text,
          at,
          () => new Error(`${file}:${line}: a quote is opened here and never closed`),
        );
        fields.push(field.value);
        line += field.value.split("\n").length - 1;
        at = field.end;
        if (at < text.length && !/[,\n\r]/.test(text[at]!))
          throw new Error(`${file}:${line}: text follows a closing quote`);
      } else {
        const end = nextOf(text, at);
        const value = text.slice(at, end).replace(/\r$/, "");
        if (value.includes('"')) throw new Error(`${file}:${line}: a quote stands inside an unquoted field`);
        fields.push(value);
        at = end;
      }
      if (text[at] === "\r" && text[at + 1] === "\n") at++;
      if (text[at] === ",") at++;
      else break;
    }
    at++;
    line++;
    if (fields.length > 1 || fields[0] !== "") yield { line: start, fields };
  }
}

function nextOf(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== "," && text[at] !== "\n") at++;
  return at;
}

function quotedField(text: string, from: number, unclosed: () => Error): { value: string; end: number } {
  let value = "";
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') value += text[at];
    else if (text[at + 1] === '"') value += text[at++];
    else return { value, end: at + 1 };
  }
  throw unclosed();
}
