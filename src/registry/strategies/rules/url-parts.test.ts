import assert from "node:assert/strict";
import { test } from "node:test";
import { type UrlParts, urlParts } from "./url-parts.ts";

const none = { scheme: "", host: "", query: "", fragment: "" };
const read: [text: string, parts: Partial<UrlParts>][] = [
  ["", {}],
  ["not-a-url", {}],
  ["*", {}],
  ["HTTPS://a.example/x y", { scheme: "https", host: "a.example" }],
  ["https://a:8443", { scheme: "https", host: "a:8443" }],
  ["https://a:", { scheme: "https", host: "a:" }],
  ["https://[::1]:9", { scheme: "https", host: "[::1]:9" }],
  ["https:a", { scheme: "https" }],
  ["https:///a", { scheme: "https" }],
  ["///a", {}],
  ["//a/b", { host: "a" }],
  ["https://@a", { scheme: "https", user: "", host: "a" }],
  ["https://u:p@a", { scheme: "https", user: "u:p", host: "a" }],
  ["https://a?", { scheme: "https", host: "a" }],
  ["https://a?b=%z#", { scheme: "https", host: "a", query: "b=%z" }],
  ["https://a#b#c", { scheme: "https", host: "a", fragment: "b#c" }],
];
for (const [text, parts] of read)
  test(`${text} has parts`, () => assert.deepEqual(urlParts(text), { ...none, ...parts }));

const refused = [
  "://a",
  ":a",
  "1a://b",
  "https://a:b",
  "https://[::1",
  "https://[::1]x",
  "https://a b",
  "https://a%20b",
  "https://a/%zz",
  "%%",
  "https://a#%z",
  "https://u^@a",
  "https://a\n",
];
for (const text of refused)
  test(`${JSON.stringify(text)} is no URL`, () => assert.equal(urlParts(text), undefined));
