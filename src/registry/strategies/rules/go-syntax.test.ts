import assert from "node:assert/strict";
import { test } from "node:test";
import { goIntOrString, goMap, goNodeSelector, goParent, goSelector } from "./go-syntax.ts";

const cases: [name: string, shown: { readonly text: string }, text: string][] = [
  ["labels in sorted order", goMap({ b: "2", a: "1" }), 'map[string]string{"a":"1", "b":"2"}'],
  ["no labels", goMap(undefined), "map[string]string(nil)"],
  ["a number", goIntOrString(3), 'intstr.IntOrString{Type:0, IntVal:3, StrVal:""}'],
  ["a percentage", goIntOrString("10%"), 'intstr.IntOrString{Type:1, IntVal:0, StrVal:"10%"}'],
  [
    "an empty selector",
    goSelector({}),
    "v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
  ],
  [
    "a selector",
    goSelector({ matchLabels: { a: "b" }, matchExpressions: [{ key: "k", operator: "In", values: ["v"] }] }),
    'v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"k", Operator:"In", Values:[]string{"v"}}}}',
  ],
  [
    "a node selector",
    goNodeSelector({ nodeSelectorTerms: [{ matchFields: [{ key: "k", operator: "In", values: ["v"] }] }] }),
    'core.NodeSelector{NodeSelectorTerms:[]core.NodeSelectorTerm{core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement(nil), MatchFields:[]core.NodeSelectorRequirement{core.NodeSelectorRequirement{Key:"k", Operator:"In", Values:[]string{"v"}}}}}}',
  ],
  [
    "a parent reference",
    goParent({ resource: "services", name: "s" }),
    'networking.ParentReference{Group:"", Resource:"services", Namespace:"", Name:"s", UID:""}',
  ],
];
for (const [name, shown, text] of cases) test(`${name} as Go shows it`, () => assert.equal(shown.text, text));
