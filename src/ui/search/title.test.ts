import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "./parse.ts";
import { titleOf } from "./title.ts";

const cases: [search: string, title: string][] = [
  ["", "All objects"],
  ["-n shop", "All objects in shop"],
  ["deploy/web -n shop", "Deployments web in shop"],
  ["pods type=warning reason=BackOff", "Pods of type Warning because of BackOff"],
  ["web", "All objects with “web”"],
  ["node=n1 controller=scheduler", "All objects on n1 told by scheduler"],
];
for (const [search, title] of cases)
  test(`${JSON.stringify(search)} is called ${title}`, () =>
    assert.equal(titleOf(parseQuery(search)), title));
