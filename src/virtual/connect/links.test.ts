import assert from "node:assert/strict";
import { test } from "node:test";
import { processorMilliseconds } from "#kit";
import { type LinkBase, throughProxy, withLinks } from "./links.ts";

const base: LinkBase = { upstreamHost: "10.0.0.7:80", requestHost: "api.test:6443", prefix: "/p/proxy" };

const links: [name: string, link: string, expected: string][] = [
  ["with an absolute path", "/a/b?c=d#e", "/p/proxy/a/b?c=d#e"],
  ["to the root", "/", "/p/proxy/"],
  ["that is relative", "a/b", "a/b"],
  ["to a fragment", "#x", "#x"],
  ["to a query", "?x=/y", "?x=/y"],
  ["that has the proxy prefix already", "/p/proxy/a", "/p/proxy/a"],
  ["with the host of the server", "http://10.0.0.7:80/a", "/p/proxy/a"],
  ["with the host of the server, without a scheme", "//10.0.0.7:80/a", "/p/proxy/a"],
  ["with the host of the request", "https://api.test:6443/a", "https://api.test:6443/p/proxy/a"],
  ["to another server", "http://else.test/a", "http://else.test/a"],
  ["to another server without a path", "http://10.0.0.7:80", "http://10.0.0.7:80"],
  ["with another scheme", "mailto:/a", "mailto:/a"],
  ["that is empty", "", ""],
];
for (const [name, link, expected] of links)
  test(`a link ${name}`, () => assert.equal(throughProxy(link, base), expected));

const long = `/${"x".repeat(20_000)}`;
const pages: [name: string, page: string, expected: string][] = [
  ["links are rewritten", '<a href="/x">test</a>', '<a href="/p/proxy/x">test</a>'],
  [
    "all kinds of quotes are supported",
    "<A HREF='/x'><a href=/y><a\n  href = \"/z\" >",
    "<A HREF='/p/proxy/x'><a href=/p/proxy/y><a\n  href = \"/p/proxy/z\" >",
  ],
  [
    "all link attributes are rewritten",
    '<video poster="/a" src="/b" id="/c">',
    '<video poster="/p/proxy/a" src="/p/proxy/b" id="/c">',
  ],
  [
    "attributes of other elements are unchanged",
    '<p href="/x"><constructor href="/x">',
    '<p href="/x"><constructor href="/x">',
  ],
  [
    "quoted attributes may contain the end of a tag",
    '<a title="1>0" href="/x">',
    '<a title="1>0" href="/p/proxy/x">',
  ],
  ["links of self-closing tags are rewritten", '<img src="/x"/>', '<img src="/p/proxy/x"/>'],
  [
    "comments are unchanged",
    '<!-- <a href="/x"> --><a href="/y">',
    '<!-- <a href="/x"> --><a href="/p/proxy/y">',
  ],
  [
    "scripts are unchanged except for their source",
    `<script src="/s">if (a<b) '<a href="/x">'</SCRIPT><a href="/y">`,
    `<script src="/p/proxy/s">if (a<b) '<a href="/x">'</SCRIPT><a href="/p/proxy/y">`,
  ],
  ["text is unchanged", "1 < 2 </a> <- é < a", "1 < 2 </a> <- é < a"],
  ["an unterminated tag is unchanged", '<a href="/x', '<a href="/x'],
  ["an unterminated comment is unchanged", '<!-- <a href="/x">', '<!-- <a href="/x">'],
  ["a tag that is too long is unchanged", `<a href="${long}"><i>`, `<a href="${long}"><i>`],
];
for (const [name, page, expected] of pages) {
  test(`in a page, ${name}`, async () => {
    const bytes = Buffer.from(page);
    // A tag that is too long may still be complete if everything arrives at once.
    for (const size of bytes.length > 20_000 ? [1000] : [bytes.length, 7, 1]) {
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      }
      const parts: Buffer[] = [];
      for await (const part of withLinks(pieces(), (link) => throughProxy(link, base))) parts.push(part);
      assert.equal(Buffer.concat(parts).toString(), expected, `in pieces of ${size}`);
    }
  });
}

const hostile: [name: string, page: string][] = [
  ["unterminated quotes", `<a${'"'.repeat(1_000_001)}`],
  ["long element names", `<a ${"b".repeat(16_000)}>`.repeat(60)],
  ["attributes without values", `<a ${"b ".repeat(8_000)}>`.repeat(60)],
];
for (const [name, page] of hostile) {
  test(`a page of ${name} is processed in linear time, regardless of its chunks`, async () => {
    const taken = await processorMilliseconds(async () => {
      for (const size of [1, 1000]) {
        async function* pieces(): AsyncGenerator<Uint8Array> {
          const bytes = Buffer.from(page.slice(0, size * 100_000));
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        let length = 0;
        for await (const part of withLinks(pieces(), (link) => link)) length += part.length;
        assert.equal(length, Math.min(page.length, size * 100_000));
      }
    });
    assert.ok(taken < 10_000, `took ${taken} ms of processor time`);
  });
}
