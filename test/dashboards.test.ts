// The dashboard and the alert rules query only metrics that the server declares, with their declared labels.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parseYaml } from "#schema";

const sources = globSync("src/**/*.ts")
  .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

const fromFlowControl =
  sources.includes('"apiserver_flowcontrol_"') || sources.includes("`apiserver_flowcontrol_");

/** Returns the metric names in an expression, without the suffixes of histograms. */
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)(?=\s*[{[]|\s*==|\s*\))/g)]
    .map((found) => found[1]!.replace(/_(bucket|sum|count)$/, ""))
    .filter((name) => !["histogram_quantile", "label_values"].includes(name));

const isDeclared = (name: string): boolean =>
  sources.includes(name) ||
  // A metric whose own name ends in _count, or a name composed with a prefix.
  sources.includes(`${name}_count`) ||
  (fromFlowControl && sources.includes(name.replace("apiserver_flowcontrol_", "")));

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
const dashboard = JSON.parse(readFileSync("docs/ops/dashboard.json", "utf8")) as Dashboard;
const rules = (parseYaml(readFileSync("docs/ops/alerts.yaml", "utf8")).value as Rules).groups.flatMap(
  (group) => group.rules,
);

const queries: [where: string, expression: string][] = [
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  ),
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
];
for (const [where, expression] of queries)
  test(`${where} queries existing metrics: ${expression.slice(0, 60)}`, () => {
    const names = metricsIn(expression);
    assert.ok(names.length > 0, "no metric found in the expression");
    assert.deepEqual(
      names.filter((name) => !isDeclared(name)),
      [],
    );
  });

test("every alert describes the symptom and the remedy", () => {
  for (const { alert, annotations } of rules)
    assert.deepEqual(Object.keys(annotations), ["summary", "action"], alert);
});
