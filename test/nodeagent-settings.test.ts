// Help text and reference page of the node agent.
import { test } from "node:test";
import { dialects } from "#dialect";
import { golden } from "#kit";
import { nodeagentOptions } from "#nodeagent";
import { helpText, renderReference } from "#options";

const introduction = [
  "Settings are given as flags or in the file of `--config`; flags take precedence. Dashes and underscores in flag names are interchangeable; durations are written as `1h30m`.",
  "Some defaults differ with a file: both are shown. `nodeagent --write-config-to -` prints the effective configuration, `orch config migrate -- nodeagent <flags…>` the configuration file equivalent to a command line, and `orch config explain -- nodeagent <flags…>` the source of every value.",
];

test("the reference page of nodeagent is up to date", () => {
  golden(
    "docs/reference/nodeagent.md",
    renderReference(nodeagentOptions(dialects.orch), { title: "nodeagent", introduction }),
  );
});

for (const dialect of Object.values(dialects)) {
  test(`the help text of nodeagent in the dialect ${dialect.name} is up to date`, () => {
    golden(`test/golden/nodeagent.${dialect.name}.txt`, helpText(nodeagentOptions(dialect), { width: 100 }));
  });
}
