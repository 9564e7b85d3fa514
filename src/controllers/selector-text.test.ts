import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabelSelector } from "#api";
import { selectorText } from "./selector-text.ts";

const cases: [selector: LabelSelector | undefined, text: string][] = [
  [undefined, "nil"],
  [{}, "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"],
  [
    { matchLabels: { b: "2", a: "1" }, matchExpressions: [{ key: "k", operator: "In", values: ["x", "y"] }] },
    "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
  ],
];
for (const [selector, text] of cases)
  test(`a selector is formatted as ${text}`, () => assert.equal(selectorText(selector), text));
