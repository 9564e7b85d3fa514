// Determines whether requests without credentials are accepted.
import type { AnonymousRule, Credentials } from "#authn";

/** As in kube-apiserver, anonymous requests are rejected in the mode AlwaysAllow. */
export const allowsAnonymous = (anonymousAuth: boolean, modes: readonly string[]): boolean =>
  anonymousAuth && !modes.includes("AlwaysAllow");

/** Follows a rule that may change at runtime; without a rule the flag decides. */
export const anonymousBy =
  (rule: () => AnonymousRule | undefined, flag: boolean, modes: readonly string[]) =>
  ({ path = "" }: Credentials): boolean => {
    const { enabled, paths } = rule() ?? { enabled: flag };
    return allowsAnonymous(enabled, modes) && (!paths || paths.has(path));
  };
