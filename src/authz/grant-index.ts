// The rules of many grants by verb and resource, for users with hundreds of bindings: the first grant that allows an
// action is found without asking all the others.
//
//   get ── pods ──> rule of grant 3, rule of grant 41
//    *  ── *    ──> rule of grant 17                      get pods: grant 3

import type { PolicyRule } from "#api";
import type { Attributes } from "./authorizer.ts";
import { ruleAllows } from "./rules.ts";

interface Indexed {
  /** The place of the grant among all. */
  readonly order: number;
  readonly rule: PolicyRule;
}

export interface GrantIndex {
  /** The place of the first grant whose rules allow an action; undefined where none does. */
  find(attributes: Attributes): number | undefined;
  /** How much it holds. */
  readonly size: number;
}

/** Rules with long lists of verbs and resources are not worth an index of their own size. */
export const mostEntries = 20_000;

/** The rules of each grant in order; undefined when there are too many words in them. */
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
          if (++size > mostEntries) return undefined;
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
