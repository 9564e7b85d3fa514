// docs/SCOPE.md lists the settings that are known and refused. The lists are generated from the declarations
// of the settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";
import { golden } from "#kit";
import { nodeagentOptions } from "#nodeagent";
import type { AnyOption } from "#options";

const programs: [marker: string, options: readonly AnyOption[]][] = [
  [
    "refused flags",
    apiserverOptions(dialects.orch).sections.flatMap(({ options }) => options as readonly AnyOption[]),
  ],
  [
    "refused settings of the agent",
    nodeagentOptions(dialects.orch).sections.flatMap(({ options }) => options as readonly AnyOption[]),
  ],
];

for (const [marker, options] of programs) {
  test(`the list of ${marker} in docs/SCOPE.md is up to date`, () => {
    const [begin, end] = [`<!-- ${marker}, kept by \`npm run golden\` -->`, `<!-- end of ${marker} -->`];
    const text = readFileSync(join(import.meta.dirname, "..", "docs", "SCOPE.md"), "utf8");
    const [before = "", rest = ""] = text.split(begin);
    const after = rest.split(end)[1] ?? "";
    const reasons = new Map<string, string[]>();
    for (const { flag, config, unavailable } of options) {
      if (unavailable !== undefined)
        reasons.set(unavailable, [
          ...(reasons.get(unavailable) ?? []),
          `\`${flag === undefined ? config : `--${flag}`}\``,
        ]);
    }
    const rows = [...reasons].map(([why, names]) => `| ${why} | ${names.join(", ")} |`);
    golden(
      "docs/SCOPE.md",
      `${before}${begin}\n\n| why | flags |\n|---|---|\n${rows.join("\n")}\n\n${end}${after}`,
    );
  });
}
