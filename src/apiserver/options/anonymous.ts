// Whether requests without a credential are let in.

/** As in kube-apiserver, they are not where every request is allowed. */
export const allowsAnonymous = ({
  anonymousAuth,
  authorizationMode,
}: {
  readonly anonymousAuth: boolean;
  readonly authorizationMode: readonly string[];
}): boolean => anonymousAuth && !authorizationMode.includes("AlwaysAllow");
