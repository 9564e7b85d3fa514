// What --version says.
import { versionInfo } from "./serving/root-paths.ts";

export const versionText = (): string => `Orch ${versionInfo()["gitVersion"]}`;
