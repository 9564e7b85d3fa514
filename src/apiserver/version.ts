// What --version says.
import { versionInfo } from "./paths.ts";

export const versionText = (): string => `Orch ${versionInfo()["gitVersion"]}`;
