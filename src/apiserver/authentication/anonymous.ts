// Whether requests without a credential are let in.
import type { ApiserverSettings } from "../options/settings.ts";

/** As in kube-apiserver, they are not where every request is allowed. */
export const allowsAnonymous = (
  settings: Pick<ApiserverSettings, "anonymousAuth" | "authorizationMode">,
): boolean => settings.anonymousAuth && !settings.authorizationMode.includes("AlwaysAllow");
