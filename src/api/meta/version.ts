// The version information of a server.
import { type TypeOf, required, string } from "#schema";
import { version } from "../packages.ts";

const { message } = version;

export const Info = message("Info", "The build that answers.", {
  major: required(1, string, "Major version."),
  minor: required(2, string, "Minor version."),
  gitVersion: required(3, string, "Version, as tagged."),
  gitCommit: required(4, string, "Commit it was built from."),
  gitTreeState: required(5, string, "Whether the tree was clean."),
  buildDate: required(6, string, "When it was built."),
  goVersion: required(7, string, "Version of the language's runtime."),
  compiler: required(8, string, "What compiled it."),
  platform: required(9, string, "System and architecture it was built for."),
});
export type Info = TypeOf<typeof Info>;
