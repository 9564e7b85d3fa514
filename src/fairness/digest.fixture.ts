// For tests: request digests, and objects with default specs.
import type { LevelSpec } from "./level.ts";
import type { SchemaSpec } from "./flow-control.ts";
import type { ListRequest, RequestDigest } from "./request-digest.ts";

export const digest = (
  parts: Partial<RequestDigest> & { readonly parameters?: Partial<ListRequest> } = {},
): RequestDigest => {
  const { parameters, ...rest } = parts;
  return {
    userName: "alice",
    groups: ["system:authenticated"],
    verb: "get",
    isResource: true,
    path: "/api/v1/namespaces/default/pods",
    group: "",
    version: "v1",
    namespace: "default",
    resource: "pods",
    subresource: "",
    name: "",
    list: () => ({
      limit: 0,
      resourceVersion: "",
      continues: false,
      selects: false,
      exactMatch: false,
      ...parameters,
    }),
    ...rest,
  };
};

export const limitedLevel = (
  shares: number,
  more: Partial<NonNullable<LevelSpec["limited"]>> = {},
): LevelSpec => ({
  type: "Limited",
  limited: { nominalConcurrencyShares: shares, limitResponse: { type: "Reject" }, ...more },
});

export const queuing = (queues: number, handSize: number, queueLengthLimit: number) => ({
  limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit } },
});

/** A schema that matches all requests of one user, or of all users. */
export const schemaFor = (
  level: string,
  precedence: number,
  userName = "*",
  method?: "ByUser" | "ByNamespace",
): SchemaSpec => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence: precedence,
  ...(method && { distinguisherMethod: { type: method } }),
  rules: [
    {
      subjects: [{ kind: "User", user: { name: userName } }],
      resourceRules: [
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true },
      ],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    },
  ],
});
