// What must hold of the sources before any test runs: types, lint, format. The architecture is a test of its
// own.
import { runTool } from "./setup.mjs";

export const checks = [
  { name: "types", run: () => runTool("tsc", ["-p", "."], { quiet: true }) },
  { name: "types of the page", run: () => runTool("tsc", ["-p", "src/ui"], { quiet: true }) },
  { name: "lint", run: () => runTool("oxlint", ["--deny-warnings"], { quiet: true }) },
  { name: "format", run: () => runTool("oxfmt", ["--check"], { quiet: true }) },
];
