// The version information of a server.
import { type TypeOf, required, string } from "#schema";
import { version } from "../packages.ts";

const { message } = version;

export const Info = message("Info", "Version of the server.", {
  major: required(1, string, "Major version."),
  minor: required(2, string, "Minor version."),
  gitVersion: required(3, string, "Version as tagged in git."),
  gitCommit: required(4, string, "Git commit of the build."),
  gitTreeState: required(5, string, "State of the git tree at build time, such as clean."),
  buildDate: required(6, string, "Date of the build."),
  goVersion: required(7, string, "Version of the language runtime."),
  compiler: required(8, string, "Compiler used for the build."),
  platform: required(9, string, "Operating system and architecture that the server was built for."),
});
export type Info = TypeOf<typeof Info>;
