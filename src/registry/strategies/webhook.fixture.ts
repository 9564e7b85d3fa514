// Test fixture: a valid webhook, to be sent with one fault or more.

export const rule = {
  operations: ["CREATE"],
  apiGroups: ["example.com"],
  apiVersions: ["v1"],
  resources: ["nothings"],
};

export const hook = {
  name: "a.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  rules: [rule],
};

/** Returns what a configuration with the webhook, changed by the fields given, consists of. */
export const hooks = (given: object): object => ({ webhooks: [{ ...hook, ...given }] });
