// Help texts and reference pages of the programs.
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";
import { golden } from "#kit";
import { helpText, renderReference } from "#options";

const introduction = [
  "Settings are given as flags or as fields of the file of `--config`; flags take precedence. Dashes and underscores in flag names are interchangeable; durations are written as `1h30m`.",
];

test("the reference page of orch-apiserver is up to date", () => {
  golden(
    "docs/reference/orch-apiserver.md",
    renderReference(apiserverOptions(dialects.orch), { title: "orch-apiserver", introduction }),
  );
});

for (const dialect of [dialects.orch, dialects.kubernetes]) {
  test(`the help text of orch-apiserver in the dialect ${dialect.name} is up to date`, () => {
    golden(
      `test/golden/orch-apiserver.${dialect.name}.txt`,
      helpText(apiserverOptions(dialect), { width: 100 }),
    );
  });
}
