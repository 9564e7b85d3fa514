// The version of the programs, as served at /version and exported as a metric.
import { builtFrom } from "./built-from.ts";
import { firstRelease, versionOfRelease } from "./release.ts";

/** Returns the version of a program that implements this minor release. */
export function versionInfo(minor = firstRelease): Record<string, string> {
  const { commit, tree, date } = builtFrom();
  return {
    major: "1",
    minor: String(minor),
    gitVersion: versionOfRelease(minor),
    gitCommit: commit,
    gitTreeState: tree,
    buildDate: date,
    goVersion: process.version,
    compiler: "node",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
