// Checks of the sources that run before the tests: types, lint, format. The architecture is a separate test.
import { runTool } from "./setup.mjs";

export const checks = [
  { name: "types", run: () => runTool("tsc", ["-p", "."], { quiet: true }) },
  { name: "types of the page", run: () => runTool("tsc", ["-p", "src/ui"], { quiet: true }) },
  { name: "lint", run: () => runTool("oxlint", ["--deny-warnings"], { quiet: true }) },
  { name: "format", run: () => runTool("oxfmt", ["--check"], { quiet: true }) },
];
