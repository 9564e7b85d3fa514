// A compact notation for policy rules, one per line:
//
//   read core pods,pods/log                 verbs, groups, resources
//   get,update coordination leases =name    only objects with that name
//   get url /livez,/readyz                  non-resource paths
//   Gate? read core pods                    only if that feature gate is enabled
//
// `core` is the group with the empty name; `read`, `change`, `write` and `all` are the sets of verbs below.

import type { PolicyRule } from "#api";
import { type Dialect, groupName } from "#dialect";

const verbSets: Readonly<Record<string, string>> = {
  read: "get,list,watch",
  change: "get,list,watch,update,patch",
  write: "create,update,patch,delete,deletecollection",
  all: "get,list,watch,create,update,patch,delete,deletecollection",
};
const unbranded = new Set(["*", "apps", "autoscaling", "batch", "extensions", "policy"]);

export type GateCheck = (gate: string) => boolean;

/** Returns the rules of these lines, with sorted lists as they are published. */
export function policyRules(dialect: Dialect, gates: GateCheck, lines: readonly string[]): PolicyRule[] {
  return lines.flatMap((line): PolicyRule[] => {
    const gate = /^(\w+)\? /.exec(line);
    if (gate && !gates(gate[1]!)) return [];
    const [verbs = "", groups = "", what = "", names = ""] = line.slice(gate?.[0].length ?? 0).split(" ");
    const sorted = (text: string): string[] => text.split(",").toSorted();
    const allVerbs = sorted(verbSets[verbs] ?? verbs);
    if (groups === "url") return [{ nonResourceURLs: sorted(what), verbs: allVerbs }];
    const apiGroups = groups
      .split(",")
      .map((group) => (group === "core" ? "" : groupName(dialect, { group, branded: !unbranded.has(group) })))
      .toSorted();
    return [
      {
        apiGroups,
        ...(names && { resourceNames: sorted(names.slice(1)) }),
        resources: sorted(what),
        verbs: allVerbs,
      },
    ];
  });
}

/** The rule every controller needs to record events. */
export const recordEvents = "create,patch,update core,events events";
