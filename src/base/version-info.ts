// The version of the programs, as served at /version and exported as a metric.
import { builtFrom } from "./built-from.ts";
import { releaseVersion } from "./release.ts";

const release = { major: "1", minor: "27", gitVersion: releaseVersion };

export function versionInfo(): Record<string, string> {
  const { commit, tree, date } = builtFrom();
  return {
    ...release,
    gitCommit: commit,
    gitTreeState: tree,
    buildDate: date,
    goVersion: process.version,
    compiler: "node",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
