import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "./parse.ts";
import { titleOf } from "./title.ts";

const cases: [search: string, title: string][] = [
  ["", "All objects"],
  ["-n shop", "All objects in shop"],
  ["deploy/web -n shop", "Deployments web in shop"],
  ["pods type=warning reason=BackOff", "Pods of type Warning with reason BackOff"],
  ["web", "All objects with “web”"],
  ["node=n1 controller=scheduler", "All objects on n1 reported by scheduler"],
];
for (const [search, title] of cases)
  test(`${JSON.stringify(search)} has the title ${title}`, () =>
    assert.equal(titleOf(parseQuery(search)), title));
