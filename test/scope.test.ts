// docs/SCOPE.md lists the flags that are known and refused. The list is made from the declarations of the settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiserverOptions } from "#apiserver";
import { dialects } from "#dialect";
import { golden } from "#kit";

const [begin, end] = ["<!-- refused flags, kept by `npm run golden` -->", "<!-- end of refused flags -->"];

test("the list of refused flags in docs/SCOPE.md is up to date", () => {
  const text = readFileSync(join(import.meta.dirname, "..", "docs", "SCOPE.md"), "utf8");
  const [before = "", rest = ""] = text.split(begin);
  const after = rest.split(end)[1] ?? "";
  const reasons = new Map<string, string[]>();
  for (const { flag, notYet } of apiserverOptions(dialects.orch).sections.flatMap(({ options }) => options)) {
    if (flag !== undefined && notYet !== undefined) reasons.set(notYet, [...(reasons.get(notYet) ?? []), `\`--${flag}\``]);
  }
  const rows = [...reasons].map(([why, flags]) => `| ${why} | ${flags.join(", ")} |`);
  golden("docs/SCOPE.md", `${before}${begin}\n\n| why | flags |\n|---|---|\n${rows.join("\n")}\n\n${end}${after}`);
});
