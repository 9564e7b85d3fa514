import assert from "node:assert/strict";
import { test } from "node:test";
import { imageMatches, parseLocation } from "./image-pattern.ts";

const matches: [pattern: string, image: string, is: boolean][] = [
  ["registry.example", "registry.example/app", true],
  ["https://registry.example", "registry.example/app", false],
  ["r[ae]gistry.example", "registry.example/app", true],
  ["registry.example/team", "registry.example/teams/app", true],
  ["*.registry.example", "a.registry.example/app", true],
  ["*.registry.example", "a.b.registry.example/app", false],
  ["*.registry.example", "registry.example/app", false],
  ["sub.*.tld", "sub.mid.tld/app", true],
  ["registry.*", "registry.io/app", true],
  ["app*.example", "app7.example/x", true],
  ["registry.example:8080", "registry.example:8080/app", true],
  ["registry.example:8080", "registry.example/app", false],
  ["registry.example", "registry.example:8080/app", false],
  ["registry.example/team", "registry.example/team/app", true],
  ["registry.example/team", "registry.example/other/app", false],
  ["registry.example", "registryxexample/app", false],
];
for (const [pattern, image, is] of matches) {
  test(`${pattern} ${is ? "matches" : "does not match"} ${image}`, () =>
    assert.equal(imageMatches(pattern, image), is));
}

for (const text of ["[.example", "[ab].example", "a b.example", "registry.example:port"])
  test(`${text} is not a valid location`, () => assert.equal(parseLocation(text), undefined));
