// An index of the rules of many grants by verb and resource, for users with hundreds of bindings: it finds
// the first grant that allows an action without evaluating all others.
//
//   get ── pods ──> rule of grant 3, rule of grant 41
//    *  ── *    ──> rule of grant 17                      get pods: grant 3

import type { PolicyRule } from "#api";
import type { Attributes } from "./authorizer.ts";
import { ruleAllows } from "./rules.ts";

interface Indexed {
  /** The position of the grant in the list. */
  readonly order: number;
  readonly rule: PolicyRule;
}

export interface GrantIndex {
  /** Returns the position of the first grant whose rules allow an action, or undefined. */
  find(attributes: Attributes): number | undefined;
  /** The number of entries. */
  readonly size: number;
}

/** Maximum number of entries: rules with very long lists of verbs and resources are not indexed. */
export const maxEntries = 20_000;

/**
 * Builds the index from the rules of each grant in order; returns undefined if there are too many entries.
 */
export function grantIndex(rules: Iterable<readonly PolicyRule[]>): GrantIndex | undefined {
  const byVerb = new Map<string, Map<string, Indexed[]>>();
  const ofPaths: Indexed[] = [];
  let size = 0;
  let order = 0;
  for (const ofGrant of rules) {
    for (const rule of ofGrant) {
      if (rule.nonResourceURLs?.length) ofPaths.push({ order, rule });
      for (const verb of new Set(rule.verbs))
        for (const resource of new Set(rule.resources ?? [])) {
          if (++size > maxEntries) return undefined;
          let byResource = byVerb.get(verb);
          if (!byResource) byVerb.set(verb, (byResource = new Map()));
          const found = byResource.get(resource);
          if (found) found.push({ order, rule });
          else byResource.set(resource, [{ order, rule }]);
        }
    }
    order++;
  }
  return {
    size,
    find: (attributes) => {
      const { verb, resource } = attributes;
      if (!resource) return ofPaths.find(({ rule }) => ruleAllows(rule, attributes))?.order;
      const whole = resource.subresource ? `${resource.resource}/${resource.subresource}` : resource.resource;
      const words = resource.subresource ? [whole, "*", `*/${resource.subresource}`] : [whole, "*"];
      let first = Infinity;
      for (const byResource of [byVerb.get(verb), byVerb.get("*")])
        for (const word of words)
          for (const { order: at, rule } of byResource?.get(word) ?? []) {
            if (at >= first) break;
            if (ruleAllows(rule, attributes)) first = at;
          }
      return first === Infinity ? undefined : first;
    },
  };
}
