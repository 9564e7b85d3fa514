import assert from "node:assert/strict";
import { test } from "node:test";
import { urlProblem, urlScheme } from "./go-url.ts";

// The answers of Go 1.21.
const cases: [text: string, problem: string | undefined, scheme?: string][] = [
  [":foo", "missing protocol scheme"],
  ["foo", undefined, ""],
  ["unix://foo:%zz", 'invalid port ":%zz" after host'],
  ["unix:///a/b.sock", undefined, "unix"],
  ["unix://k.sock", undefined, "unix"],
  ["HTTP://x", undefined, "http"],
  ["http:opaque", undefined, "http"],
  ["a b:c", "first path segment in URL cannot contain colon"],
  ["1a:b", "first path segment in URL cannot contain colon"],
  ["a/b:c", undefined, ""],
  ["http://[::1", "missing ']' in host"],
  ["http://[::1]:x", 'invalid port ":x" after host'],
  ["http://a b/", 'invalid character " " in host name'],
  ["http://a%zz/", 'invalid URL escape "%zz"'],
  ["http://a%41b", 'invalid URL escape "%41"'],
  ["http://a%", 'invalid URL escape "%"'],
  ['http://a"b', undefined, "http"],
  ["/a%zz", 'invalid URL escape "%zz"'],
  ["http://u er@h/", "net/url: invalid userinfo"],
  ["http://h:80:90/", undefined, "http"],
  ["http://h/x?a=%zz", undefined, "http"],
  ["http://h/#%zz", 'invalid URL escape "%zz"'],
];
for (const [text, problem, scheme] of cases) {
  test(`${JSON.stringify(text)} is ${problem ?? "a URL"}`, () => {
    assert.equal(urlProblem(text), problem && `parse ${JSON.stringify(text)}: ${problem}`);
    if (scheme !== undefined) assert.equal(urlScheme(text), scheme);
  });
}
