import assert from "node:assert/strict";
import { test } from "node:test";
import { type View, firstView, formatRoute, parseRoute } from "./route.ts";
import { hour } from "./time.ts";

const selected = { group: "apps", kind: "Deployment", namespace: "shop", name: "a/b?#&%", uid: "1-2" };
const views: [name: string, view: View][] = [
  ["the first view", firstView],
  ["a live timeline", { ...firstView, page: "timeline", range: { live: true, span: 6 * hour } }],
  [
    "a fixed range with a search",
    {
      ...firstView,
      page: "timeline",
      search: "deploy/web -n shop & co",
      range: { live: false, from: 1000, to: 9000 },
    },
  ],
  ["an object with the tab of its changes", { ...firstView, page: "timeline", selected, tab: "changes" }],
];
for (const [name, view] of views)
  test(`${name} survives encoding in a URL`, () => assert.deepEqual(parseRoute(formatRoute(view)), view));

const broken: string[] = [
  "",
  "#",
  "#/nowhere",
  "#/overview?last=never&object=a/b",
  "#/overview?since=x&until=y",
  "#/overview?object=%2525/%/a/b/c",
  "#/overview?tab=logs",
];
for (const hash of broken)
  test(`an invalid link shows the default view: ${JSON.stringify(hash)}`, () =>
    assert.deepEqual(parseRoute(hash), firstView));
