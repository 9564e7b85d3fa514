// Whether requests without a credential are let in.
import type { AnonymousRule, Credentials } from "#authn";

/** As in kube-apiserver, they are not where every request is allowed. */
export const allowsAnonymous = (asked: boolean, modes: readonly string[]): boolean =>
  asked && !modes.includes("AlwaysAllow");

/** Follows a rule that may change; without one, what the flag says. */
export const anonymousBy =
  (rule: () => AnonymousRule | undefined, flag: boolean, modes: readonly string[]) =>
  ({ path = "" }: Credentials): boolean => {
    const { enabled, paths } = rule() ?? { enabled: flag };
    return allowsAnonymous(enabled, modes) && (!paths || paths.has(path));
  };
